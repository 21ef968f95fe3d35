#include "gauze/service/ledger_lookup.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/source.h"
#include "gauze/ledger/ledger.h"
#include "gauze/service/files.h"

namespace gauze::service {
namespace {

namespace fs = std::filesystem;

/// Whatever has this name, a link to nowhere included: what it leads to may be away for a while.
bool lies_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

/// Files with this ending in the folder, and the one beside it that has its name.
std::vector<std::string> with_ending(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> found;
  for (const std::string& file : listed(folder.string()))
    if (file.ends_with(ending)) found.push_back(file);
  // A trailing slash leaves no name.
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  const std::string outside = named.string() + std::string(ending);
  if (lies_there(outside)) found.push_back(outside);
  return found;
}

/// Where links lead. What has no name, such as a pipe, is where it is.
fs::path real_path(const fs::path& path) {
  std::error_code failed;
  fs::path real = fs::weakly_canonical(path, failed);
  return failed ? path : real;
}

/// A folder, and those it is a part of by its name, as in visits/year=2024/month=5.
void add_home(std::set<fs::path>& homes, fs::path folder) {
  homes.insert(folder);
  while (folder.filename().string().find('=') != std::string::npos) {
    folder = folder.parent_path();
    homes.insert(folder);
  }
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

bool is_one_of(const std::string& path, const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(),
                     [&](const std::string& each) { return same_file(each, path); });
}

bool speaks_of_any(const Schema& schema, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return speaks_of(schema, name); });
}

/// Nothing of a form that is not filled in: it says nothing yet.
std::optional<Schema> filled_in(const std::string& path) {
  try {
    return read_schema(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kMissingKnowledge) throw;
    return std::nullopt;
  }
}

/// Who is to pay for a question, and by which schema.
struct Choice {
  const std::string& schema_path;
  const Schema& schema;
  std::string ledger = "";  ///< "": nobody
};

/// The budget with the schema's name, or the one beside the data that knows the data set.
std::string choose_ledger(const Choice& choice, const std::vector<TableFiles>& tables,
                          Books& books) {
  std::set<std::string> ledgers;
  for (const TableFiles& table : tables)
    for (const Place& place : table.places)
      ledgers.insert(place.ledgers.begin(), place.ledgers.end());
  std::string own;
  if (choice.schema_path.ends_with(kSchemaEnding)) {
    own = choice.schema_path.substr(0, choice.schema_path.size() - kSchemaEnding.size()) +
          std::string(kLedgerEnding);
    if (!lies_there(own)) own.clear();
  }
  if (!own.empty() && (ledgers.empty() || is_one_of(own, {ledgers.begin(), ledgers.end()})))
    return own;
  std::string found;
  for (const std::string& each : ledgers) {
    if (!books.count(each, choice.schema.dataset)) continue;
    require(found.empty() && own.empty(),
            "--ledger: several beside the data or its schema keep count of it; say which pays");
    found = each;
  }
  return found.empty() ? own : found;
}

/// The types by which rows are told to be the same unit's: of the table's column, and of what it refers to. 01 and 1 are one integer and two texts.
std::vector<Type> identity_types(const Schema& schema, const TableSchema& table) {
  std::vector<Type> types;
  const auto add = [&](const TableSchema& of, const std::string& column) {
    if (const ColumnSchema* found = of.find(column)) types.push_back(found->domain.type);
  };
  add(table, table.unit.column);
  if (table.unit.kind == UnitSchema::Kind::kThrough && speaks_of(schema, table.unit.table))
    add(schema.table(table.unit.table), table.unit.key);
  return types;
}

/// Whether both say that the table's rows are those of the same units of the same data set, or nobody's. Under
/// another name it would be another table, and two of them could count a row twice.
bool agree(const Schema& one, const Schema& other, const std::string& name) {
  if (!speaks_of(one, name) || !speaks_of(other, name)) return false;
  const TableSchema &table = one.table(name), &same = other.table(name);
  return table.unit == same.unit && identity_types(one, table) == identity_types(other, same) &&
         (one.dataset == other.dataset || table.is_public());
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::kInvalidOption,
              "--schema: " + why + ", or say which budget pays with --ledger");
}

/// The steward may keep count of some data sets of a place; whoever asks may not choose which, nor say whose the
/// rows are, wherever the schema lies.
void expect_paid(const TableFiles& files, const Place& place, const Choice& choice, Books& books) {
  if (place.ledgers.empty()) return;
  const bool pays = !choice.ledger.empty() && is_one_of(choice.ledger, place.ledgers);
  const bool is_public = choice.schema.table(files.table).is_public();
  bool is_here = false, agrees = place.schemas.empty();
  for (const std::string& path : place.schemas) {
    const bool is_it = same_file(path, choice.schema_path);
    is_here = is_here || is_it;
    const std::optional<Schema> other = is_it ? choice.schema : filled_in(path);
    if (!other || !speaks_of_any(*other, files.names)) continue;
    const bool alike = agree(*other, choice.schema, files.table);
    agrees = agrees || alike;
    if (alike && (pays || is_public)) continue;
    const auto counts = std::find_if(
        place.ledgers.begin(), place.ledgers.end(),
        [&](const std::string& ledger) { return books.count(ledger, other->dataset); });
    if (counts == place.ledgers.end()) continue;
    if (alike)
      refuse("'" + *counts + "' beside the rows of '" + files.table + "' keeps count of them by '" +
             path +
             "', and no other budget pays instead; use the data and the schema in its folder");
    refuse("'" + choice.schema_path +
           "' says otherwise which data set or whose rows these are than '" + path +
           "' beside the rows of '" + files.table + "', and '" + *counts +
           "' keeps count by it; use that schema, remove one of them");
  }
  if (is_here || (pays && agrees)) return;
  refuse("a budget lies beside the rows of '" + files.table + "', '" + place.ledgers.front() +
         "', and '" + choice.schema_path + "', which calls the data set '" +
         choice.schema.dataset.substr(0, 60) +
         (pays ? "', is none of the schemas there that say whose rows they are; use one of those"
               : "', does not lead to it; use the schema beside the data"));
}

/// The tables through which a table says whose its rows are.
std::vector<std::string> owners_of(const Schema& schema, const TableSchema& table) {
  std::vector<std::string> owners;
  for (const TableSchema* each = &table; each->unit.kind == UnitSchema::Kind::kThrough;) {
    owners.push_back(each->unit.table);
    if (!speaks_of(schema, owners.back()) || owners.size() > schema.tables.size()) break;
    each = &schema.table(owners.back());
  }
  return owners;
}

/// Whose rows a budget counts is said by rows that lie beside that budget, too: with others, whoever asks could give
/// all rows to one person, or each to one of their own.
void expect_owners(const Choice& choice, const TableFiles& files,
                   const std::vector<TableFiles>& tables) {
  if (choice.ledger.empty()) return;
  std::set<std::string> ledgers;  // names of the one that pays, beside this table
  for (const Place& place : files.places)
    for (const std::string& each : place.ledgers)
      if (same_file(each, choice.ledger)) ledgers.insert(each);
  if (ledgers.empty()) return;
  const auto pays_here = [&](const TableFiles& owner, const std::set<std::string>& homes) {
    return std::any_of(owner.places.begin(), owner.places.end(), [&](const Place& place) {
      return homes.contains(place.folder) &&
             std::any_of(place.ledgers.begin(), place.ledgers.end(),
                         [&](const std::string& each) { return ledgers.contains(each); });
    });
  };
  for (const std::string& name : owners_of(choice.schema, choice.schema.table(files.table)))
    for (const TableFiles& owner : tables) {
      if (!same_name(owner.table, name)) continue;
      for (const std::set<std::string>& homes : owner.homes)
        if (!pays_here(owner, homes))
          refuse("rows of '" + owner.table + "', which says whose the rows of '" + files.table +
                 "' are, do not lie beside the budget '" + *ledgers.begin() +
                 "' that keeps count of those; use the data in its folder");
    }
}

/// Where each row is a unit, nobody may have one twice: by a link beside the file, or in a table of another name.
void expect_once(const Schema& schema, const std::vector<TableFiles>& tables) {
  std::set<std::string> seen;
  for (const TableFiles& table : tables) {
    if (schema.table(table.table).unit.kind != UnitSchema::Kind::kRow) continue;
    for (const std::string& file : table.files)
      if (!seen.insert(file).second)
        throw Error(ErrorCode::kInvalidOption,
                    "--data: '" + file +
                        "' is read twice, and each of its rows would count as two people; name it "
                        "once, or say which budget pays with --ledger");
  }
}

}  // namespace

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

TableFiles look_beside(const std::string& table, const std::string& text,
                       const std::vector<std::string>& files) {
  TableFiles result{table, {table, table_name(text)}, {}, {}, {}};
  const std::string inside = table_inside(text);
  if (!inside.empty()) result.names.insert(inside);
  // Of a glob, where all of them lie.
  const bool is_file = files.size() == 1 && same_file(files.front(), text);
  const std::string fixed = is_file ? text : text.substr(0, text.find_first_of("*?["));
  std::set<fs::path> folders;
  add_home(folders, real_path(fs::absolute(fixed).parent_path()));
  for (const std::string& file : files) {
    const fs::path real = real_path(fs::absolute(file));
    std::set<fs::path> homes;
    add_home(homes, real_path(fs::absolute(file).parent_path()));
    add_home(homes, real.parent_path());
    folders.insert(homes.begin(), homes.end());
    result.homes.emplace_back(homes.begin(), homes.end());
    result.names.insert({table_name(file), table_name(real.string())});
    // A file of DuckDB holds several.
    result.files.push_back(real.string() + (is_duckdb_file(file)
                                                ? ":" + lower_case(inside.empty() ? table : inside)
                                                : ""));
  }
  for (const fs::path& folder : folders)
    if (fs::is_directory(folder))
      result.places.push_back({folder.string(), with_ending(folder, kSchemaEnding),
                               with_ending(folder, kLedgerEnding)});
  return result;
}

std::string schema_about(const TableFiles& table) {
  for (const Place& place : table.places)
    for (const std::string& path : place.schemas)
      if (const auto schema = filled_in(path); schema && speaks_of_any(*schema, table.names))
        return path;
  return "";
}

std::string budget_beside(const TableFiles& table) {
  for (const Place& place : table.places)
    if (!place.ledgers.empty()) return place.ledgers.front();
  return "";
}

std::string find_ledger(const std::string& schema_path, const Schema& schema,
                        const std::vector<TableFiles>& tables) {
  Books books;
  Choice choice{schema_path, schema};
  choice.ledger = choose_ledger(choice, tables, books);
  for (const TableFiles& each : tables) {
    for (const Place& place : each.places) expect_paid(each, place, choice, books);
    expect_owners(choice, each, tables);
  }
  if (!choice.ledger.empty()) expect_once(schema, tables);
  return choice.ledger;
}

}  // namespace gauze::service
