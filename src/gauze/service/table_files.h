#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gauze/data/schema.h"

// Which files hold which table: by the schema, or by their names.
//
//   for (const auto& [table, texts] : tables_in("hospital", schema)) ...
namespace gauze::service {

inline constexpr std::string_view kSchemaEnding = ".schema.json";
inline constexpr std::string_view kLedgerEnding = ".ledger";

/// By table, paths and globs as `open_files` takes them.
using TableTexts = std::map<std::string, std::vector<std::string>>;

/// The files of the schema's tables, seen from a folder: those that "files" names, or else the file of the table's
/// name, the files in the folder of its name, or the only database file where no table has any of these. Tables
/// without a file are left out. Where several files have a table's name `kRefuse` throws `kInvalidOption`.
enum class Several : std::uint8_t { kRefuse, kTakeAll };
TableTexts tables_in(const std::string& folder, const Schema& schema,
                     Several several = Several::kRefuse);

/// Which files hold which table of `--data`. A file's table has the file's name up to the first dot. Of a folder,
/// with a schema, only the tables that it speaks of: answers may lie beside the data. Of a file of DuckDB,
/// unless the schema has a table of its name, all tables of the schema. Where several hold one `kRefuse` throws
/// `kInvalidOption`.
TableTexts tables_of(const std::vector<std::string>& data, const Schema* schema = nullptr,
                     Several several = Several::kRefuse);

/// What a path, a glob, or a table in a database file is on the disk, whatever links lead to it; nothing for what is
/// not there.
std::set<std::string> identities(const std::string& text, const std::string& table);

/// `NAME` and `FILE` of `NAME=FILE`; "" and all of it where there is no name.
std::pair<std::string, std::string> named_file(const std::string& data);

/// Whether a file is one of rows, by its name.
bool holds_rows(const std::string& file);
/// Whatever is in a folder, in order. Throws `kIo`.
std::vector<std::string> listed(const std::string& folder);
/// people of people.csv.gz.
std::string table_name(const std::string& file);
/// Of `base.duckdb:visits` visits; of a file nothing.
std::string table_inside(const std::string& text);
bool speaks_of(const Schema& schema, std::string_view table);

}  // namespace gauze::service
