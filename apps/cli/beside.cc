#include "beside.h"

#include <algorithm>
#include <filesystem>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/source.h"
#include "gauze/ledger/ledger.h"
#include "text.h"

namespace gauze::cli {
namespace {

namespace fs = std::filesystem;

/// Whatever has this name, a link to nowhere included: what it leads to may be away for a while.
bool lies_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

/// Files with this ending in the folders, and those beside a folder that have its name.
std::vector<std::string> with_ending(const std::set<fs::path>& folders, std::string_view ending) {
  std::set<std::string> found;
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder)) continue;
    for (const std::string& file : listed(folder.string()))
      if (file.ends_with(ending)) found.insert(file);
    // A trailing slash leaves no name.
    const fs::path named = folder.has_filename() ? folder : folder.parent_path();
    const std::string outside = named.string() + std::string(ending);
    if (lies_there(outside)) found.insert(outside);
  }
  return {found.begin(), found.end()};
}

bool keeps_count_of(const std::string& ledger, const std::string& dataset) {
  const auto datasets = Ledger::open(ledger).datasets();
  return std::any_of(datasets.begin(), datasets.end(),
                     [&](const DatasetBudget& each) { return each.dataset == dataset; });
}

bool is_one_of(const std::string& path, const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(),
                     [&](const std::string& each) { return same_file(each, path); });
}

bool speaks_of_any(const Schema& schema, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return speaks_of(schema, name); });
}

/// The budget with the schema's name, or the one beside the data that knows the data set.
std::string choose_ledger(const std::string& schema_path, const std::string& dataset,
                          const std::vector<TableFiles>& tables) {
  std::set<std::string> ledgers;
  for (const TableFiles& table : tables) ledgers.insert(table.ledgers.begin(), table.ledgers.end());
  std::string own;
  if (schema_path.ends_with(kSchemaEnding)) {
    own = schema_path.substr(0, schema_path.size() - kSchemaEnding.size()) +
          std::string(kLedgerEnding);
    if (!lies_there(own)) own.clear();
  }
  if (!own.empty() && (ledgers.empty() || is_one_of(own, {ledgers.begin(), ledgers.end()})))
    return own;
  std::string found;
  for (const std::string& each : ledgers) {
    if (!keeps_count_of(each, dataset)) continue;
    require(found.empty() && own.empty(),
            "--ledger: several beside the data or its schema keep count of it; say which pays");
    found = each;
  }
  return found.empty() ? own : found;
}

/// The steward may keep count of some data sets of a folder; whoever brings a schema from elsewhere may not choose which, nor say whose
/// the rows are.
void expect_paid(const TableFiles& files, const std::string& schema_path, const Schema& schema,
                 const std::string& ledger) {
  if (files.ledgers.empty()) return;
  const bool is_beside = is_one_of(schema_path, files.schemas);
  const bool pays = !ledger.empty() && is_one_of(ledger, files.ledgers);
  if (is_beside && pays) return;
  bool agrees = files.schemas.empty();
  for (const std::string& path : files.schemas) {
    if (same_file(path, schema_path)) continue;
    const Schema other = read_schema(path);
    const auto counts =
        std::find_if(files.ledgers.begin(), files.ledgers.end(),
                     [&](const std::string& each) { return keeps_count_of(each, other.dataset); });
    const bool alike = other.dataset == schema.dataset && speaks_of(other, files.table) &&
                       other.table(files.table).unit == schema.table(files.table).unit;
    agrees = agrees || alike;
    if (counts == files.ledgers.end() || (alike && pays) || !speaks_of_any(other, files.names))
      continue;
    throw Error(ErrorCode::kInvalidOption,
                "--schema: '" + path + "' beside the data speaks of the same rows as '" +
                    schema_path + "', and '" + *counts +
                    "' keeps count by it; use that schema, or say which budget pays with --ledger");
  }
  if (is_beside || (pays && agrees)) return;
  throw Error(
      ErrorCode::kInvalidOption,
      "--schema: a budget lies beside the rows of '" + files.table + "', '" +
          files.ledgers.front() + "', and '" + schema_path + "', which calls the data set '" +
          schema.dataset.substr(0, 60) +
          (pays ? "', is none of the schemas there that say whose rows they are; use one of those, "
                : "', does not lead to it; use the schema beside the data, ") +
          "or say which budget pays with --ledger");
}

}  // namespace

std::vector<std::string> listed(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    files.push_back(entry.path().string());
  if (failed) throw Error(ErrorCode::kIo, "the folder '" + folder + "' cannot be read");
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

TableFiles look_beside(const std::string& table, const std::string& text,
                       const std::vector<std::string>& files) {
  TableFiles result{table, {table, table_name(text)}, {}, {}};
  if (const std::string inside = table_inside(text); !inside.empty()) result.names.insert(inside);
  // Of a glob, where all of them lie.
  const std::string fixed = text.substr(0, text.find_first_of("*?["));
  std::set<fs::path> folders = {fs::weakly_canonical(fs::absolute(fixed).parent_path())};
  for (const std::string& file : files) {
    const fs::path real = fs::weakly_canonical(fs::absolute(file));
    folders.insert(fs::weakly_canonical(fs::absolute(file).parent_path()));
    folders.insert(real.parent_path());
    result.names.insert({table_name(file), table_name(real.string())});
  }
  result.schemas = with_ending(folders, kSchemaEnding);
  result.ledgers = with_ending(folders, kLedgerEnding);
  return result;
}

std::string schema_about(const TableFiles& table) {
  for (const std::string& path : table.schemas)
    if (speaks_of_any(read_schema(path), table.names)) return path;
  return "";
}

std::string find_ledger(const std::string& schema_path, const Schema& schema,
                        const std::vector<TableFiles>& tables) {
  const std::string ledger = choose_ledger(schema_path, schema.dataset, tables);
  for (const TableFiles& each : tables) expect_paid(each, schema_path, schema, ledger);
  return ledger;
}

}  // namespace gauze::cli
