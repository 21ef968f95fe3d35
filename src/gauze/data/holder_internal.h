#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/duckdb_internal.h"

namespace gauze::internal {

enum class Format : std::uint8_t { kCsv, kParquet, kJson, kDuckDb };

/// Of a file, by its ending.
std::optional<Format> format_of(std::string_view path);

/// What holds one table: a path or glob, the table in a database file, and the files, which are
/// those of the moment when it was opened.
struct Holder {
  Format format;
  std::string path;  ///< absolute
  std::string table;
  std::vector<std::string> files = {};
};

/// What `--data` says of a table, or the path of a file, by its ending; the files are still to be
/// found. Throws `kInvalidInput`.
Holder parse_holder(const std::string& table, const std::string& text);

/// The file, or those that a glob stands for. Throws `kIo` where there is none, or one that may not
/// be read.
std::vector<std::string> find_files(DuckDbConnection& connection, const std::string& path);

/// A folder x=1 would take the place of the column x: throws `kInvalidInput` where a file lies in
/// such a folder.
void expect_no_folder_of(const std::string& file, const std::string& column);

}  // namespace gauze::internal
