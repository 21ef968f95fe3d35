#include "gauze/service/ledger_lookup.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/data/source.h"
#include "gauze/service/files.h"

namespace gauze::service {
namespace {

namespace fs = std::filesystem;

/// Whatever has this name, a link to nowhere included: what it leads to may be away for a while.
bool lies_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

fs::path real_path(const std::string& path) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(path);
  fs::path real = fs::weakly_canonical(absolute, failed);
  return failed ? absolute : real;
}

/// A folder with the schemas and the budgets in it, and the budget next to it that has its name.
struct Place {
  fs::path folder;
  bool holds_data;  ///< or is above such a folder
  std::vector<std::string> schemas = {}, ledgers = {};
};

Place look(const fs::path& folder, bool holds_data) {
  Place place{folder, holds_data};
  try {
    for (const std::string& file : listed(folder.string())) {
      if (file.ends_with(kSchemaEnding)) place.schemas.push_back(file);
      if (file.ends_with(kLedgerEnding)) place.ledgers.push_back(file);
    }
  } catch (const Error&) {
    if (holds_data) throw;
  }
  const std::string outside = folder.string() + std::string(kLedgerEnding);
  if (lies_there(outside)) place.ledgers.push_back(outside);
  return place;
}

/// Where files lie, by their names and where links lead, with the folders that these are parts of, as in
/// visits/year=2024/month=5, and the one above.
std::vector<Place> places_of(const std::vector<std::string>& files) {
  std::map<fs::path, bool> folders;
  for (const std::string& file : files)
    for (fs::path folder :
         {real_path(fs::absolute(file).parent_path().string()), real_path(file).parent_path()}) {
      folders[folder] = true;
      for (; folder.filename().string().find('=') != std::string::npos;
           folders[folder = folder.parent_path()] = true)
        continue;
      folders.try_emplace(folder.parent_path(), false);
    }
  std::vector<Place> places;
  for (const auto& [folder, holds_data] : folders)
    if (fs::is_directory(folder)) places.push_back(look(folder, holds_data));
  return places;
}

/// Nothing of a form that is not filled in: it says nothing yet. Nor of what is wrong with a schema above the data.
std::optional<Schema> filled_in(const std::string& path, const Place& place) {
  try {
    return read_schema(path);
  } catch (const Error& error) {
    if (place.holds_data && error.code() != ErrorCode::kMissingKnowledge) throw;
    return std::nullopt;
  }
}

/// Whether one of the files is a private table's of the schema.
bool counts_any(const Schema& schema, const Place& place, const std::set<std::string>& files) {
  for (const auto& [table, texts] : tables_in(place.folder.string(), schema, Several::kTakeAll)) {
    if (schema.table(table).is_public()) continue;
    for (const std::string& text : texts)
      for (const std::string& each : identities(text, table))
        if (files.contains(each)) return true;
  }
  return false;
}

std::vector<std::string> files_of(const TableTexts& tables) {
  std::vector<std::string> files;
  for (const auto& [table, texts] : tables)
    for (const std::string& text : texts)
      for (std::string& file : list_files(text)) files.push_back(std::move(file));
  return files;
}

std::set<std::string> identities_of(const TableTexts& tables) {
  std::set<std::string> found;
  for (const auto& [table, texts] : tables)
    for (const std::string& text : texts) found.merge(identities(text, table));
  return found;
}

/// What ledgers keep count of; each is read once, and only when it matters.
class Books {
 public:
  bool count(const std::string& ledger, const std::string& dataset) {
    const auto [datasets, is_new] = datasets_.try_emplace(ledger);
    if (is_new)
      for (const DatasetBudget& each : Ledger::open(ledger).datasets())
        datasets->second.insert(each.dataset);
    return datasets->second.contains(dataset);
  }

 private:
  std::map<std::string, std::set<std::string>> datasets_;
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::kInvalidOption, "--ledger: " + why);
}

std::string joined_names(const std::map<fs::path, std::string>& ledgers) {
  std::string names;
  for (const auto& [real, name] : ledgers)
    names.append(names.empty() ? "'" : ", '").append(name).append("'");
  return names;
}

}  // namespace

std::string find_schema(const std::vector<std::string>& data) {
  for (const std::string& each : data) {
    if (is_server_address(each)) continue;
    if (each.ends_with(kSchemaEnding)) return each;
    const std::string path = named_file(each).second;
    fs::path folder = fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path();
    // Of a glob over folders, where all of them lie.
    while (folder.string().find_first_of("*?[") != std::string::npos && !fs::is_directory(folder))
      folder = folder.parent_path();
    if (folder.empty()) folder = ".";
    const fs::path own = folder / (table_name(path) + std::string(kSchemaEnding));
    if (fs::exists(own)) return own.lexically_normal().string();
    if (!fs::is_directory(folder)) continue;
    const std::vector<std::string> schemas = [&] {
      std::vector<std::string> found = listed(folder.string());
      std::erase_if(found, [](const std::string& file) { return !file.ends_with(kSchemaEnding); });
      return found;
    }();
    if (schemas.size() > 1)
      throw Error(ErrorCode::kInvalidOption, "--schema: there are several *.schema.json in '" +
                                                 folder.string() + "'; say which, with --schema");
    if (!schemas.empty()) return fs::path(schemas.front()).lexically_normal().string();
  }
  return "";
}

std::string find_ledger(const std::string& schema_path, const Schema& schema,
                        const TableTexts& tables) {
  std::map<fs::path, std::string> paying;  // by where links lead
  if (schema_path.ends_with(kSchemaEnding)) {
    const std::string own = schema_path.substr(0, schema_path.size() - kSchemaEnding.size()) +
                            std::string(kLedgerEnding);
    if (lies_there(own)) paying.emplace(real_path(own), own);
  }
  Books books;
  for (const std::string& ledger : look(real_path(schema_path).parent_path(), false).ledgers)
    if (books.count(ledger, schema.dataset)) paying.emplace(real_path(ledger), ledger);
  const std::set<std::string> rows = identities_of(tables);
  for (const Place& place : places_of(files_of(tables))) {
    bool is_here = false;
    for (const std::string& path : place.schemas) {
      if (place.ledgers.empty()) break;
      is_here = is_here || same_file(path, schema_path);
      const auto other = filled_in(path, place);
      if (!other || !counts_any(*other, place, rows)) continue;
      for (const std::string& ledger : place.ledgers) {
        if (!books.count(ledger, other->dataset)) continue;
        if (other->dataset != schema.dataset)
          refuse("'" + schema_path + "' calls the data set '" + schema.dataset.substr(0, 60) +
                 "', '" + path + "' beside the rows calls it '" + other->dataset.substr(0, 60) +
                 "', and '" + ledger + "' keeps count by it; use that schema");
        paying.emplace(real_path(ledger), ledger);
      }
    }
    if (!place.holds_data || place.ledgers.empty()) continue;
    bool pays = false;
    for (const std::string& ledger : place.ledgers) {
      if (!books.count(ledger, schema.dataset)) continue;
      paying.emplace(real_path(ledger), ledger);
      pays = true;
    }
    if (!pays && !is_here)
      refuse("a budget lies beside the rows, '" + place.ledgers.front() + "', and '" + schema_path +
             "', which calls the data set '" + schema.dataset.substr(0, 60) +
             "', does not lead to it; use the schema beside the data, or say which budget pays "
             "with --ledger");
  }
  if (paying.size() > 1)
    refuse("several budgets could pay, " + joined_names(paying) + "; say which, with --ledger");
  return paying.empty() ? "" : paying.begin()->second;
}

std::string schema_about(const TableTexts& tables) {
  const std::vector<std::string> files = files_of(tables);
  const std::set<std::string> rows = identities_of(tables);
  std::set<std::string> names;
  for (const auto& [table, texts] : tables) {
    names.insert(table);
    for (const std::string& text : texts) names.insert({table_name(text), table_inside(text)});
  }
  for (const std::string& file : files)
    names.insert({table_name(file), table_name(real_path(file).string())});
  for (const Place& place : places_of(files))
    for (const std::string& path : place.schemas) {
      const auto schema = filled_in(path, place);
      if (!schema) continue;
      const bool has_name = place.holds_data &&
                            std::any_of(names.begin(), names.end(),
                                        [&](const auto& name) { return speaks_of(*schema, name); });
      if (has_name || counts_any(*schema, place, rows)) return path;
    }
  return "";
}

std::string budget_beside(const TableTexts& tables) {
  for (const Place& place : places_of(files_of(tables)))
    if (place.holds_data && !place.ledgers.empty()) return place.ledgers.front();
  return "";
}

std::string digest(const Schema& schema) {
  const std::string text = to_json(schema).dump();
  std::array<unsigned char, 32> bytes{};
  if (EVP_Digest(text.data(), text.size(), bytes.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw Error(ErrorCode::kInternal, "SHA-256 is not available");
  std::string digits;
  for (const unsigned char byte : bytes) {
    digits.push_back("0123456789abcdef"[byte >> 4]);
    digits.push_back("0123456789abcdef"[byte & 15]);
  }
  return digits;
}

CountedSchema counted_schema(const std::string& ledger, const std::string& dataset,
                             const std::string& schema_path) {
  const Schema schema = read_schema(schema_path);
  if (schema.dataset != dataset)
    throw Error(ErrorCode::kInvalidOption,
                "--schema: '" + schema_path + "' is about the data set '" +
                    schema.dataset.substr(0, 60) + "', not '" + dataset.substr(0, 60) + "'");
  if (is_server_address(ledger)) return {.digest = digest(schema)};
  const fs::path folder = real_path(ledger).parent_path();
  return {.digest = digest(schema),
          .file = real_path(schema_path).lexically_relative(folder).string()};
}

std::string schema_beside(const std::string& ledger, const std::string& dataset) {
  if (is_server_address(ledger)) return "";
  const Place place = look(real_path(ledger).parent_path(), false);
  std::vector<std::string> found;
  for (const std::string& path : place.schemas) {
    const auto schema = filled_in(path, place);
    if (!schema || schema->dataset != dataset) continue;
    if (real_path(ledger).stem() == table_name(path)) return path;
    found.push_back(path);
  }
  require(found.size() < 2, "--schema: several beside the ledger name the data set; say which");
  return found.empty() ? "" : found.front();
}

}  // namespace gauze::service
