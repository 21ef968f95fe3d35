#include <unistd.h>

#include <filesystem>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/holder_internal.h"
#include "gauze/data/source.h"
#include "gauze/data/text_files_internal.h"

namespace gauze::internal {
namespace fs = std::filesystem;

std::optional<Format> format_of(std::string_view path) {
  std::string_view stem = path;
  if (ends_with_any(stem, {".gz"})) stem.remove_suffix(3);
  if (ends_with_any(stem, {".zst"})) stem.remove_suffix(4);
  if (ends_with_any(stem, {".csv", ".tsv", ".txt"})) return Format::kCsv;
  if (ends_with_any(path, {".parquet", ".pq"})) return Format::kParquet;
  if (ends_with_any(stem, {".json", ".ndjson", ".jsonl"})) return Format::kJson;
  if (is_duckdb_file(path)) return Format::kDuckDb;
  return std::nullopt;
}

namespace {

/// The file of base.duckdb:visits.
std::string path_of(const std::string& text) {
  const auto colon = text.rfind(':');
  const bool is_inside = colon != std::string::npos && is_duckdb_file(text.substr(0, colon));
  return is_inside ? text.substr(0, colon) : text;
}

}  // namespace

Holder parse_holder(const std::string& table, const std::string& text) {
  const std::string path = path_of(text);
  const std::string inside = path == text ? table : text.substr(path.size() + 1);
  if (const auto format = format_of(path))
    return {*format, fs::absolute(path).lexically_normal().string(),
            format == Format::kDuckDb ? inside : ""};
  throw Error(
      ErrorCode::kInvalidInput,
      "what is in " + shown_path(text) +
          "? Its name should end in .csv, .tsv, .parquet, .json, .ndjson (each also with .gz or "
          ".zst, except Parquet) or .duckdb");
}

namespace {

bool is_glob(std::string_view path) {
  return path.find_first_of("*?[") != std::string_view::npos;
}

std::vector<std::string> glob_files(DuckDbConnection& connection, const std::string& path) {
  std::vector<std::string> files;
  DuckDbResult found;
  if (connection.try_run("SELECT file FROM glob(" + sql_text(path) + ") ORDER BY file", found))
    for (std::size_t i = 0; i < found.rows(); ++i) files.push_back(found.text(i, 0));
  return files;
}

}  // namespace

std::vector<std::string> find_files(DuckDbConnection& connection, const std::string& path) {
  std::vector<std::string> files;
  std::error_code ignored;
  if (!is_glob(path) || fs::is_regular_file(path, ignored)) {
    if (fs::is_regular_file(path, ignored) || fs::is_fifo(path, ignored)) files.push_back(path);
  } else {
    files = glob_files(connection, path);
  }
  if (files.empty())
    throw Error(ErrorCode::kIo, "there is no file " + shown_path(path) +
                                    " (the working directory is " +
                                    shown_path(fs::current_path(ignored).string()) + ")");
  for (const std::string& file : files) {
    if (::access(file.c_str(), R_OK) != 0)
      throw Error(ErrorCode::kIo, "the file " + shown_path(file) + " may not be read by this user");
  }
  return files;
}

void expect_no_folder_of(const std::string& file, const std::string& column) {
  for (const fs::path& part : fs::path(file).parent_path()) {
    const std::string name = part.string();
    if (const auto equals = name.find('=');
        equals != std::string::npos && same_name(name.substr(0, equals), column))
      throw Error(ErrorCode::kInvalidInput,
                  "the folder '" + name.substr(0, 60) + "' and the file " + shown_path(file) +
                      " in it both have a column '" + column.substr(0, 60) +
                      "'; rename the folder, or leave the column out of the file");
  }
}

}  // namespace gauze::internal

namespace gauze {

std::vector<std::string> list_files(const std::string& text) {
  const std::string path = internal::path_of(text);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return {path};
  if (!internal::is_glob(path)) return {};
  SourceOptions options;
  options.threads = 1;
  internal::DuckDbDatabase database(options);
  return internal::glob_files(database.main(), path);
}

bool is_rows_file(std::string_view path) {
  const auto format = internal::format_of(path);
  const bool is_notes = internal::ends_with_any(path, {".txt", ".txt.gz", ".txt.zst"});
  return format && format != internal::Format::kDuckDb && !is_notes;
}

}  // namespace gauze
