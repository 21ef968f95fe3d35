#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/data/schema.h"
#include "gauze/data/source.h"
#include "gauze/engine/registry.h"

namespace gauze {

/// An algorithm of the registry on one column of a private table.
///
/// One row of each privacy unit takes part, chosen at random, and the column is normalised and bounded
/// as the schema says; so neighbours are one unit more or less. Rows without a value in the column are left
/// out, but for `count`, which counts units. `lower` and `upper` are the schema's when they are not given, and
/// `relation` is add_remove.
///
/// Privacy    that of the algorithm, per privacy unit of the table.
/// Accuracy   that of the algorithm, on the rows that take part.
/// Time       O(rows) and the algorithm's.
/// Argument   ../data/bound.md and the algorithm's page.
class ColumnJob {
 public:
  struct Options {
    Required<std::string> algorithm;
    nlohmann::json options = nlohmann::json::object();  ///< of the algorithm
    Required<TableSchema> table;
    std::string column = {};  ///< "" for `count`, which needs none
    /// While rows are read, and with 1 once, last before noise is drawn; may throw to cancel.
    std::function<void(double done)> progress = {};
  };

  /// Throws `kInvalidOption`, `kUnknownName`, `kMissingKnowledge` and `kUnboundedData`, and what the
  /// algorithm throws.
  explicit ColumnJob(Options options);

  Event event() const { return job_.event(); }
  std::optional<Accuracy> accuracy(double confidence) const { return job_.accuracy(1, confidence); }
  /// The options the algorithm was made with, filled in.
  const nlohmann::json& options() const { return options_.options; }

  /// Throws `kUnknownName` where the source lacks a column that is read: before anything is paid.
  void expect_columns(Source& source) const;
  Release<nlohmann::json> run(Source& source, Context& context) const;

 private:
  Options options_;
  std::vector<std::string> read_;  ///< the column, and the unit's where it is another
  Job job_;
};

/// Throws `kInvalidOption` with how to ask instead where the algorithm takes no people's rows.
void expect_form_for_tables(const Algorithm& algorithm);

/// The table of an algorithm's input: the named one, or the only private one. Throws `kUnknownName`,
/// and `kInvalidOption` when it must be named.
const TableSchema& private_table(const Schema& schema, const std::string& table);

}  // namespace gauze
