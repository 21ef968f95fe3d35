#include "desk.h"

#include <fnmatch.h>
#include <glob.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/engine/release.h"
#include "text.h"

namespace gauze::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchemaEnding = ".schema.json";
constexpr std::string_view kLedgerEnding = ".ledger";

std::string table_name(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.'));
}

bool holds_rows(const std::string& name) {
  if (name.ends_with(kSchemaEnding)) return false;
  constexpr std::array<std::string_view, 9> kEndings = {
      ".csv", ".csv.gz", ".csv.zst", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".json.gz"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Of `base.duckdb:visits` visits; of a file nothing.
std::string table_inside(const std::string& file) {
  const std::size_t colon = file.rfind(':');
  const bool inside = colon != std::string::npos && is_duckdb_file(file.substr(0, colon));
  return inside ? file.substr(colon + 1) : "";
}

std::vector<fs::path> listed(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) files.push_back(entry.path());
  if (failed) throw Error(ErrorCode::kIo, "the folder '" + folder.string() + "' cannot be read");
  std::sort(files.begin(), files.end());
  return files;
}

void add_table(std::map<std::string, std::string>& tables, const std::string& name,
               const std::string& path) {
  if (tables.emplace(name, path).second) return;
  throw Error(ErrorCode::kInvalidOption, "--data: two files hold the table '" + name +
                                             "'; name them apart, like --data " + name +
                                             "2=" + path);
}

bool speaks_of(const Schema& schema, std::string_view name) {
  return std::any_of(schema.tables.begin(), schema.tables.end(),
                     [&](const TableSchema& table) { return same_name(table.name, name); });
}

/// The only file in the folder with this ending; "" when there is none.
std::string only_file(const fs::path& folder, std::string_view ending, const char* option) {
  std::string found;
  for (const fs::path& file : listed(folder)) {
    if (!file.filename().string().ends_with(ending)) continue;
    if (!found.empty()) {
      throw Error(ErrorCode::kInvalidOption, std::string(option) + ": there are several *" +
                                                 std::string(ending) + " in '" + folder.string() +
                                                 "'; say which, with " + option);
    }
    found = file.string();
  }
  return found;
}

/// The file, glob or folder of `--data FILE`, `NAME=FILE` or `FOLDER`.
fs::path path_of(const std::string& data) {
  const std::size_t equals = data.find('=');
  return equals == std::string::npos || fs::exists(data) ? data : data.substr(equals + 1);
}

/// Where that lies; of a glob over folders, where all of them lie.
fs::path folder_of(const std::string& data) {
  fs::path folder = path_of(data);
  if (!fs::is_directory(folder)) folder = folder.parent_path();
  while (folder.string().find_first_of("*?[") != std::string::npos && !fs::is_directory(folder))
    folder = folder.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool has_glob(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos && !fs::exists(path);
}

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

/// Whatever has this name, a link to nowhere included: what it leads to may be away for a while.
bool lies_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

/// All folders whose files are read: of links both where they lie and where they lead to.
std::set<fs::path> folders_of(const std::string& data) {
  const fs::path path = path_of(data);
  std::set<fs::path> folders = {fs::weakly_canonical(fs::absolute(folder_of(data)))};
  const auto add = [&](const fs::path& file) {
    folders.insert(fs::weakly_canonical(fs::absolute(file).parent_path()));
    folders.insert(fs::weakly_canonical(fs::absolute(file)).parent_path());
  };
  if (fs::is_directory(path)) {
    for (const fs::path& file : listed(path)) {
      if (holds_rows(file.filename().string())) add(file);
    }
  } else if (has_glob(path.string())) {
    for (const std::string& file : matches(path.string())) add(file);
    if (path.string().find("**") != std::string::npos) {
      std::error_code failed;
      constexpr auto kSkips = fs::directory_options::skip_permission_denied;
      for (const auto& entry : fs::recursive_directory_iterator(folder_of(data), kSkips, failed))
        add(entry.path());
    }
  } else {
    add(table_inside(path.string()).empty()
            ? path
            : fs::path(path.string().substr(0, path.string().rfind(':'))));
  }
  return folders;
}

/// Refuses databases of other kinds, and files and folders that do not exist; a glob may find nothing.
void expect_there(const std::string& data) {
  if (is_postgres(data)) return;
  if (const std::size_t mark = data.find("://"); mark != std::string::npos && !fs::exists(data))
    throw Error(ErrorCode::kInvalidOption,
                "--data: " + data.substr(0, std::min<std::size_t>(mark, 20)) +
                    ":// is no database that Gauze knows; there is postgresql://, and files and "
                    "folders");
  const std::string path = path_of(data).string();
  // The table of `base.duckdb:visits` is in the file before the colon.
  if (has_glob(path) || fs::exists(path) || fs::exists(path.substr(0, path.rfind(':')))) return;
  throw Error(ErrorCode::kIo, "--data: there is no file or folder '" + path + "'");
}

/// `people.schema.json` beside `people.csv`, or the only schema in its folder.
std::string find_schema(const std::vector<std::string>& data) {
  for (const std::string& each : data) {
    if (is_postgres(each)) continue;
    const fs::path folder = folder_of(each);
    const fs::path own = folder / (table_name(path_of(each)) + std::string(kSchemaEnding));
    if (fs::exists(own)) return own.lexically_normal().string();
    if (!fs::is_directory(folder)) continue;
    if (std::string only = only_file(folder, kSchemaEnding, "--schema"); !only.empty())
      return fs::path(only).lexically_normal().string();
  }
  return "";
}

/// Files with this ending in the folders of the data, and those beside a folder that have its name.
std::vector<std::string> beside(const std::vector<std::string>& data, std::string_view ending) {
  std::vector<std::string> found;
  for (const std::string& each : data) {
    if (is_postgres(each)) continue;
    for (const fs::path& folder : folders_of(each)) {
      if (!fs::is_directory(folder)) continue;
      for (const fs::path& file : listed(folder)) {
        if (file.filename().string().ends_with(ending)) found.push_back(file.string());
      }
      // A trailing slash leaves no name.
      const fs::path named = folder.has_filename() ? folder : folder.parent_path();
      const std::string outside = named.string() + std::string(ending);
      if (lies_there(outside)) found.push_back(outside);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
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

/// Calls visit(other, path, differs) for each other schema of these that speaks of a file that is read; `differs`: it says otherwise whose
/// rows they are.
template <class Visit>
void each_rival(const std::vector<std::string>& schemas, const std::string& schema_path,
                const Schema& schema, const std::vector<std::string>& data, Visit visit) {
  for (const std::string& path : schemas) {
    if (same_file(path, schema_path)) continue;
    const Schema other = read_schema(path);
    bool shares = false, differs = false;
    for (const auto& [name, file] : tables_of(data, &schema)) {
      for (const std::string& called : {name, table_name(file), table_inside(file)}) {
        if (!speaks_of(schema, name) || !speaks_of(other, called)) continue;
        shares = true;
        differs = differs || schema.table(name).unit != other.table(called).unit;
      }
    }
    if (shares) visit(other, path, differs);
  }
}

/// `hospital.ledger` beside `hospital.schema.json`, or whichever beside the data keeps count of the data set: a
/// budget that lies there is never passed over.
std::string find_ledger(const std::string& schema_path, const Schema& schema,
                        const std::vector<std::string>& data) {
  const auto ledgers = beside(data, kLedgerEnding), schemas = beside(data, kSchemaEnding);
  std::string own;
  if (schema_path.ends_with(kSchemaEnding)) {
    own = schema_path.substr(0, schema_path.size() - kSchemaEnding.size()) +
          std::string(kLedgerEnding);
    if (!lies_there(own)) own.clear();
  }
  if (!own.empty() && (ledgers.empty() || is_one_of(own, ledgers))) return own;
  std::string found;
  for (const std::string& each : ledgers) {
    if (!keeps_count_of(each, schema.dataset)) continue;
    require(found.empty() && own.empty(),
            "--ledger: several beside the data or its schema keep count of it; say which pays");
    found = each;
  }
  // The steward may keep count of some data sets of a folder; somebody's schema from elsewhere may not choose, nor say whose the rows are.
  const bool is_beside = is_one_of(schema_path, schemas);
  const auto refuse = [&](const Schema& other, const std::string& path, bool differs) {
    const auto counts = std::find_if(ledgers.begin(), ledgers.end(), [&](const std::string& each) {
      return keeps_count_of(each, other.dataset);
    });
    if (counts == ledgers.end() || !(found.empty() || differs)) return;
    throw Error(ErrorCode::kInvalidOption,
                "--schema: '" + path + "' beside the data speaks of the same rows as '" +
                    schema_path + "', and '" + *counts +
                    "' keeps count by it; use that schema, or say which budget pays with --ledger");
  };
  if (!ledgers.empty() && (found.empty() || !is_beside))
    each_rival(schemas, schema_path, schema, data, refuse);
  if (!found.empty()) return found;
  if (!own.empty() || ledgers.empty() || is_beside) return own;
  throw Error(ErrorCode::kInvalidOption,
              "--schema: '" + schema_path + "' calls the data set '" +
                  schema.dataset.substr(0, 60) + "', which the budget beside the data, '" +
                  ledgers.front() + "', does not know; say which budget pays with --ledger");
}

/// Without a schema nobody knows which data set these rows belong to, so no budget beside them may be passed over.
void refuse_quick_form(const DataOptions& options) {
  for (const std::string& path : beside(options.data, kSchemaEnding)) {
    const Schema schema = read_schema(path);
    for (const auto& [table, file] : tables_of(options.data)) {
      if (!speaks_of(schema, table) && !speaks_of(schema, table_name(file)) &&
          !speaks_of(schema, table_inside(file)))
        continue;
      throw Error(ErrorCode::kInvalidOption,
                  "--unit: is for data without a schema, and '" + path + "' speaks of '" + table +
                      "'; leave --unit out, and that schema and its budget are used");
    }
  }
  const auto ledgers = beside(options.data, kLedgerEnding);
  if (ledgers.empty() || !options.ledger.empty()) return;
  throw Error(ErrorCode::kInvalidOption,
              "--unit: a budget lies beside the data, '" + ledgers.front() +
                  "', and without a schema nobody knows whether it is theirs; say which budget "
                  "pays with --ledger, or give a schema with --schema");
}

/// The two steps that lead to a schema for a database, which has no place beside it.
std::string database_form(const std::string& address) {
  return "`gauze schema template " + shown_address(address) +
         " --table visits > visits.schema.json` writes a form to fill in for the table visits; "
         "then "
         "give it with --schema visits.schema.json";
}

[[noreturn]] void no_schema(const DataOptions& options) {
  const std::string& first = options.data.front();
  if (is_postgres(first)) {
    throw Error(ErrorCode::kMissingKnowledge,
                "no schema says what is publicly known of the database: whose rows they are, and "
                "the ranges of the columns. " +
                    database_form(first));
  }
  const std::string name = table_name(first);
  throw Error(ErrorCode::kMissingKnowledge,
              "no schema says what is publicly known of '" + first +
                  "': whose rows they are, and the ranges of the columns. `gauze schema template " +
                  first + " > " + name +
                  ".schema.json` writes a form to fill in; or, for counts "
                  "alone, say whose rows they are: --unit COLUMN --rows-per-unit N");
}

/// Counts need to know no more than whose rows they are: everything else comes from the catalogue.
Schema quick_schema(const DataOptions& options, Source& source) {
  if (is_postgres(options.data.front())) {
    throw Error(ErrorCode::kMissingKnowledge,
                "--unit: works on files; a database needs a schema. " +
                    database_form(options.data.front()));
  }
  const bool row = options.unit == "row";
  if (!row && options.rows_per_unit.empty()) {
    throw Error(ErrorCode::kMissingKnowledge,
                "--rows-per-unit: say how many rows of one " + options.unit +
                    " may count, like --rows-per-unit 5; more are left out at random");
  }
  Schema schema;
  for (const auto& [name, path] : tables_of(options.data)) {
    TableSchema table;
    table.name = name;
    table.unit.kind = row ? UnitSchema::Kind::kRow : UnitSchema::Kind::kColumn;
    if (!row) table.unit.column = options.unit;
    table.rows_per_unit = row ? 1 : whole(options.rows_per_unit, "--rows-per-unit", 1);
    for (const ColumnInfo& column : source.columns(name)) {
      Domain domain;
      domain.type = column.type;
      // As in a schema, whoever a row belongs to is an integer or a text.
      const bool unit = !row && same_name(column.name, options.unit);
      if (unit && column.type != Type::kInteger) domain.type = Type::kText;
      table.columns.push_back({column.name, domain});
    }
    if (!row && table.find(options.unit) == nullptr) {
      throw Error(ErrorCode::kUnknownName,
                  "--unit: the table '" + name + "' has no column '" + options.unit + "'");
    }
    if (schema.dataset.empty()) schema.dataset = name;
    schema.tables.push_back(std::move(table));
  }
  return schema;
}

void refuse_unknown(const std::map<std::string, std::string>& tables, const Schema& schema) {
  std::string names;
  for (const TableSchema& table : schema.tables)
    names.append(names.empty() ? "" : ", ").append(table.name);
  for (const auto& [name, path] : tables) {
    if (speaks_of(schema, name)) continue;
    throw Error(ErrorCode::kUnknownName, "the schema speaks of " + names + ", not of '" + name +
                                             "'; give the file its table's name: --data " +
                                             schema.tables.front().name + "=" + path);
  }
}

/// Of what `tables_of` gives: `base.duckdb:visits` is in the file base.duckdb, and a name that is no file may be a
/// glob of several.
bool is_among(const std::string& path, const std::string& files) {
  if (same_file(path, files)) return true;
  if (const std::size_t colon = files.rfind(':');
      colon != std::string::npos && same_file(path, files.substr(0, colon)))
    return true;
  if (fs::exists(files)) return false;
  const int across = files.find("**") == std::string::npos ? FNM_PATHNAME : 0;
  if (fnmatch(fs::absolute(files).lexically_normal().c_str(),
              fs::absolute(path).lexically_normal().c_str(), across) == 0)
    return true;
  return is_one_of(path, matches(files));
}

}  // namespace

std::string caller() {
  const passwd* user = getpwuid(getuid());
  return "gauze " GAUZE_VERSION ", " + (user != nullptr ? user->pw_name : std::to_string(getuid()));
}

void add_data_options(CLI::App& command, DataOptions& options) {
  command
      .add_option("--data,-d", options.data,
                  "CSV, Parquet or JSON: FILE, NAME=FILE, a folder; base.duckdb with the tables of "
                  "the schema, "
                  "NAME=base.duckdb:TABLE, or postgresql://...; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--schema", options.schema,
                     "What is publicly known of the tables (NAME.schema.json beside the data)");
  command.add_option(
      "--ledger", options.ledger,
      "Which budget pays (what lies beside the schema or the data, if anything does)");
  command.add_option("--analyst", options.analyst, "Whose share of the budget pays");
  command.add_option("--unit", options.unit,
                     "Without a schema: the column that says whose row it is, or the word row");
}

std::uint64_t bytes(const std::string& text, const char* option) {
  if (text.empty() || text == "0") return 0;
  std::string digits = text;
  if (digits.ends_with('B') || digits.ends_with('b')) digits.pop_back();
  const std::size_t unit = std::string("kmgt").find(static_cast<char>(
      digits.empty() ? ' ' : std::tolower(static_cast<unsigned char>(digits.back()))));
  if (unit != std::string::npos) digits.pop_back();
  const Ratio factor = unit == std::string::npos
                           ? Ratio(1)
                           : Ratio(Integer(1) << static_cast<unsigned>(10 * (unit + 1)));
  const Ratio value = exact(digits, option) * factor;
  require(value >= 1 << 20 && value <= Ratio(INT64_MAX),
          (std::string(option) + ": must be at least 1M, like 512M or 4G").c_str());
  return round_down(value) >= 9.2e18 ? INT64_MAX
                                     : static_cast<std::uint64_t>(std::floor(round_down(value)));
}

unsigned thread_count(const std::string& text) {
  if (text.empty()) return 0;
  const std::uint64_t count = whole(text, "threads", 0);
  require(count <= 1024, "threads: must be from 1 to 1024; 0 takes all cores");
  // More would take memory in proportion: a limit that whoever asks could choose so that somebody's rows exceed it.
  return static_cast<unsigned>(
      std::min<std::uint64_t>(count, std::max(1u, std::thread::hardware_concurrency())));
}

bool is_postgres(const std::string& data) {
  return is_server_address(data);
}

std::map<std::string, std::string> tables_of(const std::vector<std::string>& data,
                                             const Schema* schema) {
  std::map<std::string, std::string> tables;
  for (const std::string& each : data) {
    const std::size_t equals = each.find('=');
    if (equals != std::string::npos && !fs::exists(each)) {
      add_table(tables, each.substr(0, equals), each.substr(equals + 1));
    } else if (fs::is_directory(each)) {
      for (const fs::path& file : listed(each)) {
        const bool wanted = schema == nullptr || speaks_of(*schema, table_name(file));
        if (wanted && holds_rows(file.filename().string()))
          add_table(tables, table_name(file), file.string());
      }
    } else if (schema != nullptr && is_duckdb_file(each) && !speaks_of(*schema, table_name(each))) {
      for (const TableSchema& table : schema->tables)
        add_table(tables, table.name, each + ":" + table.name);
    } else {
      add_table(tables, table_name(each), each);
    }
  }
  return tables;
}

void expect_plain_values(const DataOptions& options, const std::string& table,
                         const std::string& file) {
  for (const auto& [option, value] : {std::pair("--ledger", options.ledger),
                                      {"--analyst", options.analyst},
                                      {"--schema", options.schema},
                                      {"--unit", options.unit},
                                      {"--table", table}}) {
    if (!value.empty())
      throw Error(ErrorCode::kInvalidOption,
                  std::string(option) + ": goes with --data " + (file == "-" ? "FILE" : file) +
                      "; plain values have no schema, and no budget pays for them");
  }
  if (file == "-" || file.empty()) return;
  const std::string name = table_name(file);
  std::string found;
  for (const std::string& path : beside({file}, kSchemaEnding))
    if (speaks_of(read_schema(path), name)) found = path;
  if (!found.empty())
    throw Error(ErrorCode::kInvalidOption,
                "'" + found + "' speaks of '" + name + "'; ask with --data " + file +
                    " and --column, and its units and its budget are used");
  const auto ledgers = beside({file}, kLedgerEnding);
  if (!ledgers.empty())
    throw Error(ErrorCode::kInvalidOption,
                "a budget lies beside '" + file + "', '" + ledgers.front() +
                    "', and plain values are charged to none; ask with --data " + file +
                    ", or keep values that it does not count in another folder");
}

std::unique_ptr<Source> open_source(const DataOptions& options, const Schema* schema) {
  for (const std::string& each : options.data) expect_there(each);
  if (std::any_of(options.data.begin(), options.data.end(), is_postgres)) {
    require(options.data.size() == 1, "--data: give one database, or files, not both");
    return open_postgres(options.data.front());
  }
  SourceOptions limits;
  limits.threads = thread_count(options.threads);
  const auto tables = tables_of(options.data, schema);
  if (tables.empty()) {
    throw Error(ErrorCode::kIo, "the folder '" + options.data.front() +
                                    "' holds no CSV, Parquet or JSON file" +
                                    (schema != nullptr ? " of a table in the schema" : ""));
  }
  if (schema != nullptr) {
    refuse_unknown(tables, *schema);
    for (const auto& [name, path] : tables)
      for (const ColumnSchema& column : schema->table(name).columns)
        limits.json_columns[name].push_back(column.name);
  }
  return open_files(tables, limits);
}

Desk::Desk(const DataOptions& options, Pays pays) : data_(options.data), analyst_(options.analyst) {
  require(!options.data.empty(), "--data: is missing; it says where the rows are, like people.csv");
  for (const std::string& each : options.data) expect_there(each);
  schema_path_ =
      options.schema.empty() && options.unit.empty() ? find_schema(options.data) : options.schema;
  require(options.schema.empty() || options.unit.empty(),
          "--unit: is for data without a schema; leave out --unit or --schema");
  if (!options.unit.empty()) refuse_quick_form(options);
  // A missing file is worth more words than a missing schema.
  if (schema_path_.empty() && options.unit.empty()) {
    source_ = open_source(options);
    no_schema(options);
  }
  if (!schema_path_.empty()) schema_ = read_schema(schema_path_);
  source_ = open_source(options, schema_path_.empty() ? nullptr : &schema_);
  if (schema_path_.empty()) schema_ = quick_schema(options, *source_);
  if (pays == Pays::kNo) return;
  ledger_path_ =
      options.ledger.empty() ? find_ledger(schema_path_, schema_, options.data) : options.ledger;
  if (!ledger_path_.empty()) ledger_ = Ledger::open(ledger_path_);
}

std::optional<Budget> Desk::left() const {
  if (!ledger_) return std::nullopt;
  return ledger_->left(schema_.dataset, analyst_);
}

std::optional<Budget> Desk::left_after() const {
  std::optional<Budget> budget;
  door::attempt([&] { budget = left(); });
  return budget;
}

bool Desk::reads(const std::string& path) const {
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    if (!ledger_path_.empty() && same_file(path, ledger_path_ + part)) return true;
  }
  if (!schema_path_.empty() && same_file(path, schema_path_)) return true;
  if (is_postgres(data_.front())) return false;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path));
  for (const std::string& each : data_) {
    if (fs::is_directory(each) && same_file(canonical.parent_path().string(), each) &&
        holds_rows(canonical.filename().string()) && speaks_of(schema_, table_name(canonical)))
      return true;
  }
  const auto tables = tables_of(data_, &schema_);
  return std::any_of(tables.begin(), tables.end(),
                     [&](const auto& table) { return is_among(path, table.second); });
}

Request Desk::request(const std::string& text, const Ratio& epsilon, const Ratio& delta) const {
  return {.dataset = schema_.dataset,
          .analyst = analyst_,
          .caller = caller(),
          .text = text,
          .asked = Budget::approximate(epsilon, delta)};
}

}  // namespace gauze::cli
