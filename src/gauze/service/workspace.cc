#include "gauze/service/workspace.h"

#include <fnmatch.h>
#include <glob.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/service/files.h"
#include "gauze/service/values.h"

namespace gauze::service {
namespace {

namespace fs = std::filesystem;

bool holds_rows(const std::string& name) {
  return !name.ends_with(kSchemaEnding) && is_rows_file(name);
}

void add_table(std::map<std::string, std::string>& tables, const std::string& name,
               const std::string& path) {
  if (tables.emplace(name, path).second) return;
  throw Error(ErrorCode::kInvalidOption, "--data: two files hold the table '" + name +
                                             "'; name them apart, like --data " + name +
                                             "2=" + path);
}

/// The only file in the folder with this ending; "" when there is none.
std::string only_file(const fs::path& folder, std::string_view ending, const char* option) {
  std::string found;
  for (const std::string& file : listed(folder.string())) {
    if (!file.ends_with(ending)) continue;
    if (!found.empty()) {
      throw Error(ErrorCode::kInvalidOption, std::string(option) + ": there are several *" +
                                                 std::string(ending) + " in '" + folder.string() +
                                                 "'; say which, with " + option);
    }
    found = file;
  }
  return found;
}

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

/// The file, glob or folder of `--data FILE`, `NAME=FILE` or `FOLDER`.
fs::path path_of(const std::string& data) {
  const std::size_t equals = name_end(data);
  return equals == std::string::npos ? data : data.substr(equals + 1);
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
    const fs::path own = folder / (table_name(path_of(each).string()) + std::string(kSchemaEnding));
    if (fs::exists(own)) return own.lexically_normal().string();
    if (!fs::is_directory(folder)) continue;
    if (std::string only = only_file(folder, kSchemaEnding, "--schema"); !only.empty())
      return fs::path(only).lexically_normal().string();
  }
  return "";
}

/// The tables that are read, and what lies beside them. Of a database nothing does.
std::vector<TableFiles> look_beside_all(const std::vector<std::string>& data, const Schema* schema,
                                        Source& source) {
  std::vector<TableFiles> result;
  if (is_postgres(data.front())) return result;
  for (const auto& [table, text] : tables_of(data, schema))
    result.push_back(look_beside(table, text, source.files(table)));
  return result;
}

/// Without a schema nobody knows which data set these rows belong to, so no budget beside them may be passed over.
void refuse_quick_form(const std::vector<TableFiles>& tables, const std::string& ledger) {
  for (const TableFiles& each : tables) {
    if (const std::string path = schema_about(each); !path.empty())
      throw Error(ErrorCode::kInvalidOption,
                  "--unit: is for data without a schema, and '" + path + "' speaks of '" +
                      each.table + "'; leave --unit out, and that schema and its budget are used");
    if (const std::string budget = budget_beside(each); !budget.empty() && ledger.empty())
      throw Error(ErrorCode::kInvalidOption,
                  "--unit: a budget lies beside the data, '" + budget +
                      "', and without a schema nobody knows whether it is theirs; say which budget "
                      "pays with --ledger, or give a schema with --schema");
  }
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

/// Whether a new file of this name would be one of those that a glob stands for.
bool would_match(const std::string& path, const std::string& glob) {
  const int across = glob.find("**") == std::string::npos ? FNM_PATHNAME : 0;
  return fnmatch(fs::absolute(glob).lexically_normal().c_str(),
                 fs::absolute(path).lexically_normal().c_str(), across) == 0;
}

}  // namespace

std::string caller() {
  const passwd* user = getpwuid(getuid());
  return "gauze " GAUZE_VERSION ", " + (user != nullptr ? user->pw_name : std::to_string(getuid()));
}

bool is_postgres(const std::string& data) {
  return is_server_address(data);
}

std::map<std::string, std::string> tables_of(const std::vector<std::string>& data,
                                             const Schema* schema) {
  std::map<std::string, std::string> tables;
  for (const std::string& each : data) {
    const std::size_t equals = name_end(each);
    if (equals != std::string::npos) {
      add_table(tables, each.substr(0, equals), each.substr(equals + 1));
    } else if (fs::is_directory(each)) {
      for (const std::string& file : listed(each)) {
        const bool wanted = schema == nullptr || speaks_of(*schema, table_name(file));
        if (wanted && holds_rows(file)) add_table(tables, table_name(file), file);
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

namespace {

/// The file that is handed in there; "" for a pipe or a terminal.
std::string standard_input() {
  struct stat about {};
  if (fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return "";
  std::error_code failed;
  const fs::path path = fs::read_symlink("/proc/self/fd/0", failed);
  return failed || !fs::exists(path, failed) ? "" : path.string();
}

}  // namespace

void expect_plain_values(const DataOptions& options, const std::string& table,
                         const std::string& file) {
  for (const auto& [option, value] : {std::pair("--ledger", options.ledger),
                                      {"--analyst", options.analyst},
                                      {"--schema", options.schema},
                                      {"--unit", options.unit},
                                      {"--rows-per-unit", options.rows_per_unit},
                                      {"--table", table}}) {
    if (!value.empty())
      throw Error(ErrorCode::kInvalidOption,
                  std::string(option) + ": goes with --data " + (file == "-" ? "FILE" : file) +
                      "; plain values have no schema, and no budget pays for them");
  }
  const std::string path = file.empty() || file == "-" ? standard_input() : file;
  if (path.empty()) return;
  const TableFiles values = look_beside(table_name(path), path, {path});
  if (const std::string found = schema_about(values); !found.empty())
    throw Error(ErrorCode::kInvalidOption,
                "'" + found + "' speaks of '" + values.table + "'; ask with --data " + path +
                    " and --column, and its units and its budget are used");
  if (const std::string budget = budget_beside(values); !budget.empty())
    throw Error(ErrorCode::kInvalidOption,
                "a budget lies beside '" + path + "', '" + budget +
                    "', and plain values are charged to none; ask with --data " + path +
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

Workspace::Workspace(const DataOptions& options, Pays pays)
    : data_(options.data), analyst_(options.analyst) {
  require(!options.data.empty(), "--data: is missing; it says where the rows are, like people.csv");
  for (const std::string& each : options.data) expect_there(each);
  schema_path_ =
      options.schema.empty() && options.unit.empty() ? find_schema(options.data) : options.schema;
  require(options.schema.empty() || options.unit.empty(),
          "--unit: is for data without a schema; leave out --unit or --schema");
  // A missing file is worth more words than a missing schema.
  if (schema_path_.empty() && options.unit.empty()) {
    source_ = open_source(options);
    no_schema(options);
  }
  if (!schema_path_.empty()) schema_ = read_schema(schema_path_);
  source_ = open_source(options, schema_path_.empty() ? nullptr : &schema_);
  is_quick_ = schema_path_.empty();
  chooses_ledger_ = !options.ledger.empty();
  if (is_quick_) {
    beside_ = look_beside_all(options.data, nullptr, *source_);
    refuse_quick_form(beside_, options.ledger);
    schema_ = quick_schema(options, *source_);
  }
  if (pays == Pays::kNo) return;
  ledger_path_ = options.ledger;
  if (ledger_path_.empty() && !is_quick_) {
    beside_ = look_beside_all(options.data, &schema_, *source_);
    ledger_path_ = find_ledger(schema_path_, schema_, beside_);
  }
  if (!ledger_path_.empty()) ledger_ = Ledger::open(ledger_path_);
}

void Workspace::expect_unchanged() const {
  if (chooses_ledger_) return;
  const auto now = look_beside_all(data_, is_quick_ ? nullptr : &schema_, *source_);
  if (is_quick_) refuse_quick_form(now, "");
  const bool same =
      std::equal(now.begin(), now.end(), beside_.begin(), beside_.end(),
                 [](const TableFiles& a, const TableFiles& b) { return a.files == b.files; });
  if (same && (is_quick_ || find_ledger(schema_path_, schema_, now) == ledger_path_)) return;
  throw Error(ErrorCode::kInvalidOption,
              "--data: the files, or the budget beside them, are no longer those of the beginning; "
              "begin anew");
}

std::optional<Budget> Workspace::left() const {
  if (!ledger_) return std::nullopt;
  return ledger_->left(schema_.dataset, analyst_);
}

std::optional<Budget> Workspace::left_after() const {
  try {
    return left();
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool Workspace::reads(const std::string& path) const {
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    if (!ledger_path_.empty() && same_file(path, ledger_path_ + part)) return true;
  }
  if (!schema_path_.empty() && same_file(path, schema_path_)) return true;
  if (is_postgres(data_.front())) return false;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path));
  for (const std::string& each : data_) {
    if (fs::is_directory(each) && same_file(canonical.parent_path().string(), each) &&
        holds_rows(canonical.filename().string()) &&
        speaks_of(schema_, table_name(canonical.string())))
      return true;
  }
  for (const auto& [table, text] : tables_of(data_, &schema_)) {
    const auto files = source_->files(table);
    if (would_match(path, text) || std::any_of(files.begin(), files.end(), [&](const auto& file) {
          return same_file(path, file);
        }))
      return true;
  }
  return false;
}

Request Workspace::request(const std::string& text, const Ratio& epsilon,
                           const Ratio& delta) const {
  return {.dataset = schema_.dataset,
          .analyst = analyst_,
          .caller = caller(),
          .text = text,
          .asked = Budget::approximate(epsilon, delta)};
}

}  // namespace gauze::service
