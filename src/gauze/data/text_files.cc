#include <algorithm>
#include <fstream>

#include "gauze/base/address.h"
#include "gauze/base/words.h"
#include "gauze/data/text_files_internal.h"

namespace gauze::internal {
namespace {

constexpr std::size_t kLongestLine = 1 << 24;
/// Several threads bring lines in any order: the first that came need not be the first of the file.
constexpr const char* kInOrder = "ignore_errors = true, parallel = false";

}  // namespace

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
    return text.size() >= ending.size() &&
           same_name(text.substr(text.size() - ending.size()), ending);
  });
}

std::string shown_path(const std::string& path) {
  return std::string("'").append(shown_address(path).substr(0, 300)).append("'");
}

bool is_packed(std::string_view path) {
  return ends_with_any(path, {".gz", ".zst"});
}

std::string as_pattern(const std::string& file) {
  std::string pattern;
  for (const char c : file) {
    const bool special = c == '*' || c == '?' || c == '[';
    pattern += special ? std::string("[") + c + "]" : std::string(1, c);
  }
  return pattern;
}

std::string sql_files(const std::vector<std::string>& files) {
  std::vector<std::string> patterns;
  for (const std::string& file : files) patterns.push_back(sql_text(as_pattern(file)));
  return '[' + joined(patterns, ", ") + ']';
}

std::string scan_lines(const std::vector<std::string>& files, const char* passed_over) {
  return "read_csv(" + sql_files(files) +
         ", auto_detect = false, header = false, columns = {'line': 'VARCHAR'}, delim = '\x01', "
         "quote = '', escape = '', strict_mode = false, max_line_size = " +
         std::to_string(kLongestLine) + ", buffer_size = " + std::to_string(2 * kLongestLine) +
         ", " + passed_over + ")";
}

void forget_rejects(DuckDbConnection& connection) {
  for (const char* noted :
       {"DROP TABLE IF EXISTS reject_errors", "DROP TABLE IF EXISTS reject_scans"})
    connection.run(noted, ErrorCode::kInternal, "the embedded engine keeps its notes");
}

namespace {

/// The first line of a packed file. Lines that are passed over are noted; when the first is among
/// them, another stands in its place and must not name the columns.
std::string first_packed_line(DuckDbConnection& connection, const std::string& file) {
  DuckDbResult line, passed_over;
  const bool read =
      connection.try_run("SELECT line FROM " +
                             scan_lines({file}, "store_rejects = true, parallel = false") +
                             " LIMIT 1",
                         line) &&
      connection.try_run("SELECT line FROM reject_errors WHERE line = 1", passed_over);
  forget_rejects(connection);
  if (!read || passed_over.rows())
    throw Error(ErrorCode::kInvalidInput, "cannot read the first line of " + shown_path(file) +
                                              "; is it packed text in UTF-8?");
  return line.rows() ? line.text(0, 0) : "";
}

CsvHeader read_header(DuckDbConnection& connection, const std::string& file) {
  if (is_packed(file))
    return parse_csv_header(first_packed_line(connection, file), shown_path(file));
  constexpr std::size_t kMost = 1'000'000;
  std::ifstream stream(file, std::ios::binary);
  std::string line(kMost, '\0');
  stream.read(line.data(), static_cast<std::streamsize>(line.size()));
  if (stream.bad() || !stream.is_open())
    throw Error(ErrorCode::kIo, "cannot read the first line of " + shown_path(file));
  line.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_csv_header(line.substr(0, line.find_first_of("\r\n")), shown_path(file));
}

/// Objects in a list or one per line: by the name, .ndjson or .jsonl, or by the first character
/// that is no space. Nothing else of the rows is looked at.
bool is_list(DuckDbConnection& connection, const std::string& file) {
  if (is_packed(file)) {
    DuckDbResult first;
    const std::string blank = "chr(9) || chr(13) || ' '";
    const bool read = connection.try_run("SELECT ltrim(line, " + blank + ")[1] FROM " +
                                             scan_lines({file}, kInOrder) + " WHERE trim(line, " +
                                             blank + ") <> '' LIMIT 1",
                                         first);
    // A file with no line of less than 16 MiB is one list.
    return read && (first.rows() == 0 || first.text(0, 0) == "[");
  }
  constexpr std::string_view kBlank = " \t\r\n\xef\xbb\xbf";
  std::ifstream stream(file, std::ios::binary);
  char c = ' ';
  while (stream && kBlank.find(c) != std::string_view::npos) stream.get(c);
  return c == '[';
}

}  // namespace

CsvHeader common_header(DuckDbConnection& connection, const std::string& path,
                        const std::vector<std::string>& files) {
  const CsvHeader header = read_header(connection, files.front());
  for (const std::string& file : files) {
    if (read_header(connection, file) != header)
      throw Error(ErrorCode::kInvalidInput, "the files of " + shown_path(path) +
                                                " do not have the same columns; see " +
                                                shown_path(file));
  }
  return header;
}

std::string scan_csv(const CsvHeader& header, const std::vector<std::string>& files) {
  // Nothing is detected from rows: one of them could change how all others are read.
  std::string columns;
  for (const std::string& name : header.names)
    columns += (columns.empty() ? "" : ", ") + sql_text(name) + ": 'VARCHAR'";
  // A thread that begins in the middle of a file takes the lines of a quoted cell there for rows:
  // one person's text could add rows of people who are not there, and hide others'. So one thread
  // reads from the beginning. null_padding would fail on rows with quoted line ends, so lines that
  // are too short are dropped.
  return "read_csv(" + sql_files(files) + ", auto_detect = false, header = true, columns = {" +
         columns + "}, delim = " + sql_text(std::string(1, header.delimiter)) +
         ", quote = '\"', escape = '\"', ignore_errors = true, strict_mode = false, "
         "parallel = false, hive_types_autocast = false, max_line_size = " +
         std::to_string(kLongestRecord) + ')';
}

bool are_lists(DuckDbConnection& connection, const std::string& path,
               const std::vector<std::string>& files) {
  std::string_view stem = files.front();
  while (is_packed(stem)) stem = stem.substr(0, stem.rfind('.'));
  if (ends_with_any(stem, {".ndjson", ".jsonl"})) return false;
  const bool list = is_list(connection, files.front());
  for (const std::string& file : files) {
    if (is_list(connection, file) != list)
      throw Error(ErrorCode::kInvalidInput, "some files of " + shown_path(path) +
                                                " are JSON lists and some are lines; see " +
                                                shown_path(file));
    if (list && is_packed(file))
      throw Error(ErrorCode::kInvalidInput,
                  shown_path(file) +
                      " is a packed list of JSON: unpack it, or write one object per line as "
                      ".ndjson.gz");
  }
  return list;
}

std::string objects_of(const std::string& lines) {
  return "(SELECT json FROM (SELECT TRY_CAST(line AS JSON) AS json FROM " + lines +
         ") WHERE json_type(json) = 'OBJECT')";
}

std::vector<std::string> first_names(DuckDbConnection& connection, const std::string& path,
                                     const std::vector<std::string>& lines_files) {
  std::vector<std::string> columns;
  DuckDbResult names;
  connection.try_run("SELECT unnest(json_keys(json)) FROM (SELECT json FROM " +
                         objects_of(scan_lines(lines_files, kInOrder)) + " LIMIT 1)",
                     names);
  for (std::size_t i = 0; i < names.rows(); ++i) columns.push_back(names.text(i, 0));
  if (columns.empty())
    throw Error(
        ErrorCode::kInvalidInput,
        shown_path(path) +
            " is not JSON that can be read: a list of objects, or one per line, whose names "
            "are the columns");
  return columns;
}

std::string scan_json(const std::string& path, const std::string& objects,
                      const std::vector<std::string>& columns) {
  std::string sql;
  for (const std::string& name : columns) {
    if (name.find_first_of("\"\\") != std::string::npos)
      throw Error(ErrorCode::kInvalidInput,
                  "a column of " + shown_path(path) + " has a quote or backslash in its name");
    sql += (sql.empty() ? "" : ", ") +
           ("json_extract_string(json, " + sql_text("$.\"" + name + "\"")) + ") AS " +
           duckdb_dialect().identifier(name);
  }
  return "(SELECT " + sql + " FROM " + objects + ")";
}

}  // namespace gauze::internal
