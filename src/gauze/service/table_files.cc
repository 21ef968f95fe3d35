#include "gauze/service/table_files.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/source.h"

namespace gauze::service {
namespace {

namespace fs = std::filesystem;

/// Where the name of `--data NAME=FILE` ends; nowhere in `FILE`, which may be one in folders called x=y.
std::size_t name_end(const std::string& data) {
  const std::size_t equals = data.find('=');
  if (equals == std::string::npos || data.find('/') < equals || fs::exists(data))
    return std::string::npos;
  glob_t found{};
  const bool is_pattern = data.find_first_of("*?[") != std::string::npos &&
                          ::glob(data.c_str(), 0, nullptr, &found) == 0;
  globfree(&found);
  return is_pattern ? std::string::npos : equals;
}

void add_table(TableTexts& tables, const std::string& name, const std::string& path,
               Several several = Several::kRefuse) {
  std::vector<std::string>& texts = tables[name];
  texts.push_back(path);
  if (texts.size() == 1 || several == Several::kTakeAll) return;
  throw Error(ErrorCode::kInvalidOption, "--data: two files hold the table '" + name +
                                             "'; name them apart, like --data " + name +
                                             "2=" + path);
}

/// The file of the table's name in a folder, or the files in the folder of its name.
std::vector<std::string> files_by_name(const std::string& folder, const std::string& table,
                                       Several several) {
  std::vector<std::string> found;
  for (const std::string& file : listed(folder)) {
    const bool is_file = holds_rows(file) || is_duckdb_file(file);
    if (!is_file || !same_name(table_name(file), table)) continue;
    if (!found.empty() && several == Several::kRefuse)
      throw Error(ErrorCode::kInvalidOption,
                  "--data: two files hold the table '" + table + "', '" + found.front() +
                      "' and '" + file + "'; say in the schema which, like \"files\": [\"" +
                      fs::path(file).filename().string() + "\"], or name one with --data");
    found.push_back(file + (is_duckdb_file(file) ? ":" + table : ""));
  }
  const fs::path inside = fs::path(folder) / table;
  if (found.empty() && fs::is_directory(inside))
    for (const std::string& file : listed(inside.string()))
      if (holds_rows(file)) found.push_back(file);
  return found;
}

}  // namespace

TableTexts tables_in(const std::string& folder, const Schema& schema, Several several) {
  TableTexts tables;
  for (const TableSchema& table : schema.tables) {
    std::vector<std::string> texts;
    for (const std::string& each : table.files)
      texts.push_back((fs::path(folder) / each).lexically_normal().string());
    if (texts.empty()) texts = files_by_name(folder, table.name, several);
    if (!texts.empty()) tables.emplace(table.name, std::move(texts));
  }
  if (!tables.empty()) return tables;
  std::vector<std::string> databases;
  for (const std::string& file : listed(folder))
    if (is_duckdb_file(file)) databases.push_back(file);
  if (databases.size() == 1)
    for (const TableSchema& table : schema.tables)
      add_table(tables, table.name, databases.front() + ":" + table.name);
  return tables;
}

TableTexts tables_of(const std::vector<std::string>& data, const Schema* schema, Several several) {
  TableTexts tables;
  const auto add = [&](const std::string& name, const std::string& path) {
    add_table(tables, name, path, several);
  };
  for (const std::string& each : data) {
    const auto [name, path] = named_file(each);
    const bool is_schema = each.ends_with(kSchemaEnding);
    if (!name.empty()) {
      add(name, path);
    } else if (schema != nullptr && (is_schema || fs::is_directory(each))) {
      const fs::path folder = is_schema ? fs::absolute(each).parent_path() : fs::path(each);
      for (const auto& [table, texts] : tables_in(folder.string(), *schema, several)) {
        if (tables.contains(table))
          add(table, texts.front());
        else
          tables.emplace(table, texts);
      }
    } else if (fs::is_directory(each)) {
      for (const std::string& file : listed(each))
        if (holds_rows(file)) add(table_name(file), file);
    } else if (schema != nullptr && is_duckdb_file(each) && !speaks_of(*schema, table_name(each))) {
      for (const TableSchema& table : schema->tables) add(table.name, each + ":" + table.name);
    } else {
      add(table_name(each), each);
    }
  }
  return tables;
}

std::set<std::string> identities(const std::string& text, const std::string& table) {
  std::set<std::string> found;
  const std::string inside = table_inside(text);
  for (const std::string& file : list_files(text)) {
    struct stat about {};
    if (stat(file.c_str(), &about) != 0) continue;
    std::string identity = std::to_string(about.st_dev) + "/" + std::to_string(about.st_ino);
    // A file of DuckDB holds several tables.
    if (is_duckdb_file(file)) identity += ":" + lower_case(inside.empty() ? table : inside);
    found.insert(identity);
  }
  return found;
}

std::pair<std::string, std::string> named_file(const std::string& data) {
  const std::size_t end = name_end(data);
  if (end == std::string::npos) return {"", data};
  return {data.substr(0, end), data.substr(end + 1)};
}

bool holds_rows(const std::string& file) {
  return !file.ends_with(kSchemaEnding) && is_rows_file(file);
}

std::vector<std::string> listed(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    files.push_back(entry.path().string());
  if (failed)
    throw Error(ErrorCode::kIo, "the folder '" + folder +
                                    "' cannot be listed; name files in it, and what lies beside "
                                    "them with --schema and --ledger");
  std::sort(files.begin(), files.end());
  return files;
}

std::string table_name(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  return name.substr(0, name.find('.'));
}

std::string table_inside(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool inside = colon != std::string::npos && is_duckdb_file(text.substr(0, colon));
  return inside ? text.substr(colon + 1) : "";
}

bool speaks_of(const Schema& schema, std::string_view table) {
  return std::any_of(schema.tables.begin(), schema.tables.end(),
                     [&](const TableSchema& each) { return same_name(each.name, table); });
}

}  // namespace gauze::service
