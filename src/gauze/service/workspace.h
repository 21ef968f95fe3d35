#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/data/source.h"
#include "gauze/ledger/ledger.h"
#include "gauze/service/table_files.h"

namespace gauze::service {

/// Program and user, for the record of a ledger.
std::string caller();

/// Where the rows are, what is publicly known of them, who pays: options that all commands on
/// tables share.
struct DataOptions {
  std::vector<std::string> data;  ///< FILE, NAME=FILE, FOLDER, the schema or postgresql://...
  std::string schema;             ///< "": what lies beside the data
  std::string ledger;             ///< "": what lies beside the schema or the data, if anything does
  std::string analyst;
  std::string unit;           ///< the quick form without a schema
  std::string rows_per_unit;  ///< of the quick form
  std::string threads;        ///< of the source; "": as it chooses
};

bool is_postgres(const std::string& data);
/// For a file of plain values, without --data: refuses options of tables, which nothing would follow, and a file
/// beside which a schema speaks of it or a budget lies.
void expect_plain_values(const DataOptions& options, const std::string& table,
                         const std::string& file);
/// With a schema, tables it does not speak of are refused.
std::unique_ptr<Source> open_source(const DataOptions& options, const Schema* schema = nullptr);

/// Whether anything will be spent: what costs nothing needs no ledger, and none that is damaged stops it.
enum class Pays : std::uint8_t { kYes, kNo };

/// Everything a question needs, opened: nothing private has been read yet.
class Workspace {
 public:
  /// Throws `kIo`, `kMissingKnowledge` (no schema), `kUnavailable`, and what schemas throw.
  explicit Workspace(const DataOptions& options, Pays pays = Pays::kYes);

  Source& source() { return *source_; }
  const Schema& schema() const { return schema_; }
  const std::string& schema_path() const { return schema_path_; }

  /// Nothing when no ledger keeps count.
  Ledger* ledger() { return ledger_ ? &*ledger_ : nullptr; }
  const std::string& ledger_path() const { return ledger_path_; }
  const std::string& analyst() const { return analyst_; }
  std::optional<Budget> left() const;
  /// The same behind an answer, which is handed out whether or not the ledger still answers as it should.
  std::optional<Budget> left_after() const;

  /// Whether a file at `path` would take the place of the data, the schema or the ledger, or be taken
  /// for a table of the data's folder.
  bool reads(const std::string& path) const;

  /// A request to the ledger in the name of this workspace.
  Request request(const std::string& text, const Ratio& epsilon, const Ratio& delta) const;

 private:
  void open_quick_form(const DataOptions& options);
  /// The tables by the steward's schema, and nothing else.
  void open_counted(const DataOptions& options);
  [[noreturn]] void refuse_place() const;

  std::vector<std::string> data_;
  std::string home_;  ///< where a ledger pays for files: the folder of the steward's schema
  std::unique_ptr<Source> source_;
  Schema schema_;
  std::string schema_path_;
  std::optional<Ledger> ledger_;
  std::string ledger_path_;
  std::string analyst_;
};

}  // namespace gauze::service
