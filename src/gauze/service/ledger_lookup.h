#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/schema.h"

namespace gauze::service {

inline constexpr std::string_view kSchemaEnding = ".schema.json";
inline constexpr std::string_view kLedgerEnding = ".ledger";

/// A folder where files of a table lie, or links to them, and what lies in it or, by its name, next to it.
struct Place {
  std::string folder;  ///< to which no link leads
  std::vector<std::string> schemas;
  std::vector<std::string> ledgers;
};

/// A table that is read, and what lies beside its files.
struct TableFiles {
  std::string table;               ///< as questions call it
  std::set<std::string> names;     ///< by which a schema may speak of it: also those of its files
  std::vector<std::string> files;  ///< those that hold it, where links lead
  /// Of each file, the folders whose file it is: where it is named, where links lead, and what these are parts of.
  std::vector<std::set<std::string>> homes;
  std::vector<Place> places;
};

/// `text` is what `--data` says, a path or glob, also of a table in a file of DuckDB; `files` are those it
/// stands for.
TableFiles look_beside(const std::string& table, const std::string& text,
                       const std::vector<std::string>& files);

/// The schema beside the files of a table that speaks of it; "" when none does.
std::string schema_about(const TableFiles& table);
/// A budget beside the files of a table; "" when there is none.
std::string budget_beside(const TableFiles& table);

/// Which budget pays when nobody says so: `hospital.ledger` beside `hospital.schema.json`, or the one beside
/// the data that keeps count of the data set; "" where nobody keeps count. In no place of the data is a budget
/// passed over, nor said otherwise whose the rows are than by the schemas there that it counts by, nor by rows of
/// another place, nor a row counted under two names: each is `kInvalidOption`.
std::string find_ledger(const std::string& schema_path, const Schema& schema,
                        const std::vector<TableFiles>& tables);

/// Whatever is in a folder, in order. Throws `kIo`.
std::vector<std::string> listed(const std::string& folder);
/// people of people.csv.gz.
std::string table_name(const std::string& file);
/// Of `base.duckdb:visits` visits; of a file nothing.
std::string table_inside(const std::string& text);
bool speaks_of(const Schema& schema, std::string_view table);

}  // namespace gauze::service
