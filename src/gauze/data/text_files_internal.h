#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/csv_header_internal.h"
#include "gauze/data/duckdb_internal.h"

namespace gauze::internal {

// CSV and JSON as SQL of the embedded engine. Names of columns come from first lines, and nothing
// else from rows.

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings);
/// Whether a file is, by its name.
bool is_packed(std::string_view path);
/// The text of a file, packed or not, piece by piece as long as `take` says so. Whether nothing
/// went wrong.
bool read_unpacked(const std::string& path,
                   const std::function<bool(std::string_view bytes)>& take);
/// Whether a packed file cannot be unpacked to its end; SELECTs then see what is before.
bool breaks_off(const std::string& path);
/// In quotes, for messages: no passwords, and not too long.
std::string shown_path(const std::string& path);

/// Files in SQL, each of them and no other: the engine takes names with brackets or stars for
/// patterns.
std::string sql_files(const std::vector<std::string>& files);
/// A file as a pattern that nothing else matches.
std::string as_pattern(const std::string& file);

/// What is longer is no record of CSV: two mebibytes.
inline constexpr std::uint64_t kLongestRecord = 1 << 21;

/// Files as a table of their lines. Those that are no text, or longer than 16 MiB, are passed over.
std::string scan_lines(const std::vector<std::string>& files,
                       const char* passed_over = "ignore_errors = true");
/// What a scan that notes what it passes over has noted.
void forget_rejects(DuckDbConnection& connection);

/// Files, said to be those of `path`, as a table of texts. Throws `kInvalidInput` unless all have
/// the same columns.
CsvHeader common_header(DuckDbConnection& connection, const std::string& path,
                        const std::vector<std::string>& files);
std::string scan_csv(const CsvHeader& header, const std::vector<std::string>& files);

/// Whether the files hold lists. Throws when some do, and when they are packed: the engine would
/// read such a list whole or not at all, and nothing else here unpacks.
bool are_lists(DuckDbConnection& connection, const std::string& path,
               const std::vector<std::string>& files);
/// Lines as a table `json` of objects; what is no object is passed over.
std::string objects_of(const std::string& lines);
/// The names in the first object of these lines, for whoever declared none.
std::vector<std::string> first_names(DuckDbConnection& connection, const std::string& path,
                                     const std::vector<std::string>& lines_files);
/// Objects as a table of texts with these columns.
std::string scan_json(const std::string& path, const std::string& objects,
                      const std::vector<std::string>& columns);

}  // namespace gauze::internal
