#include "gauze/service/workspace.h"

#include <fnmatch.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/service/files.h"
#include "gauze/service/ledger_lookup.h"
#include "gauze/service/values.h"

namespace gauze::service {
namespace {

namespace fs = std::filesystem;

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
  const std::string path = named_file(data).second;
  // The table of `base.duckdb:visits` is in the file before the colon.
  if (has_glob(path) || fs::exists(path) || fs::exists(path.substr(0, path.rfind(':')))) return;
  throw Error(ErrorCode::kIo, "--data: there is no file or folder '" + path + "'");
}

/// Without a schema nobody knows which data set these rows belong to, so no budget beside them may be passed over.
void refuse_quick_form(const TableTexts& tables) {
  if (const std::string path = schema_about(tables); !path.empty())
    throw Error(ErrorCode::kInvalidOption,
                "--unit: is for data without a schema, and '" + path + "' speaks of '" +
                    tables.begin()->first +
                    "'; leave --unit out, and that schema and its budget are used");
  if (const std::string budget = budget_beside(tables); !budget.empty())
    throw Error(ErrorCode::kInvalidOption,
                "--unit: a budget lies beside the data, '" + budget +
                    "', and where one pays a schema says whose the rows are; write one (`gauze "
                    "schema template` makes a form) and give it with --schema, and the budget with "
                    "--ledger");
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
  for (const auto& [name, texts] : tables_of(options.data)) {
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

void refuse_unknown(const TableTexts& tables, const Schema& schema) {
  std::string names;
  for (const TableSchema& table : schema.tables)
    names.append(names.empty() ? "" : ", ").append(table.name);
  for (const auto& [name, texts] : tables) {
    if (speaks_of(schema, name)) continue;
    throw Error(ErrorCode::kUnknownName, "the schema speaks of " + names + ", not of '" + name +
                                             "'; give the file its table's name: --data " +
                                             schema.tables.front().name + "=" + texts.front());
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
  const TableTexts values = {{table_name(path), {path}}};
  if (const std::string found = schema_about(values); !found.empty())
    throw Error(ErrorCode::kInvalidOption,
                "'" + found + "' speaks of '" + table_name(path) + "'; ask with --data " + path +
                    " and --column, and its units and its budget are used");
  if (const std::string budget = budget_beside(values); !budget.empty())
    throw Error(ErrorCode::kInvalidOption,
                "a budget lies beside '" + path + "', '" + budget +
                    "', and plain values are charged to none; ask with --data " + path +
                    ", or keep values that it does not count in another folder");
}

namespace {

SourceOptions limits_of(const DataOptions& options, const TableTexts& tables,
                        const Schema* schema) {
  SourceOptions limits;
  limits.threads = thread_count(options.threads);
  for (const auto& [name, texts] : tables) {
    if (schema != nullptr)
      for (const ColumnSchema& column : schema->table(name).columns)
        limits.json_columns[name].push_back(column.name);
    if (texts.size() > 1) limits.more_files[name] = {texts.begin() + 1, texts.end()};
  }
  return limits;
}

std::unique_ptr<Source> open_tables_of(const DataOptions& options, const TableTexts& tables,
                                       const Schema* schema) {
  std::map<std::string, std::string> first;
  for (const auto& [name, texts] : tables) first.emplace(name, texts.front());
  return open_files(first, limits_of(options, tables, schema));
}

std::unique_ptr<Source> open_database(const DataOptions& options, const Schema* schema,
                                      bool any_schema) {
  require(options.data.size() == 1, "--data: give one database, or files, not both");
  PostgresOptions how{.any_schema = any_schema};
  if (schema != nullptr)
    for (const TableSchema& table : schema->tables)
      if (!table.relation.empty()) how.relations[table.name] = table.relation;
  return open_postgres(options.data.front(), how);
}

bool has_database(const DataOptions& options) {
  return std::any_of(options.data.begin(), options.data.end(), is_postgres);
}

/// The tables of --data by the steward's schema, whose folder is `home`. What --data names is no more than a
/// choice among them: each table whole, and none from elsewhere.
class CountedTables {
 public:
  CountedTables(const Schema& schema, std::string home, const std::string& ledger)
      : schema_(schema), home_(std::move(home)), ledger_(ledger), all_(tables_in(home_, schema)) {
    for (const auto& [table, texts] : all_)
      for (const std::string& text : texts) files_[table].merge(identities(text, table));
  }

  TableTexts chosen_by(const std::vector<std::string>& data) const {
    TableTexts chosen;
    std::map<std::string, std::set<std::string>> named;
    for (const std::string& each : data) {
      if (each.ends_with(kSchemaEnding) || (fs::is_directory(each) && same_file(each, home_)))
        chosen = all_;
      else
        add(each, named);
    }
    for (const auto& [table, files] : named) {
      if (files != files_.at(table))
        refuse("a part of the table '" + table + "' alone was named, and it counts as a whole");
      chosen.emplace(table, all_.at(table));
    }
    return chosen;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kInvalidOption,
                "--data: " + why + ". The schema by which '" + shown_address(ledger_) +
                    "' keeps count says which files hold which table; give their folder, --data " +
                    home_ +
                    ", or let whoever keeps the schema name the file there, under \"files\"");
  }

  /// A file, a glob, a folder or a database file; of the last two what is no table's is passed over.
  void add(const std::string& each, std::map<std::string, std::set<std::string>>& named) const {
    const auto [name, path] = named_file(each);
    const bool is_folder = fs::is_directory(path);
    const bool is_loose =
        is_folder || (name.empty() && is_duckdb_file(path) && table_inside(path).empty());
    bool is_any = false;
    for (const std::string& text : is_folder ? listed(path) : std::vector<std::string>{path}) {
      for (const auto& [table, files] : files_) {
        if (!name.empty() && !same_name(name, table)) continue;
        for (const std::string& file : identities(text, table)) {
          if (!files.contains(file)) {
            if (!name.empty())
              refuse("'" + path.substr(0, 200) + "' is not the table '" + table + "'");
            continue;
          }
          named[table].insert(file);
          is_any = true;
        }
      }
      if (!is_any && !is_loose) refuse("'" + text.substr(0, 200) + "' is the file of no table");
    }
    if (!is_any) refuse("'" + path.substr(0, 200) + "' holds no file of a table");
  }

  const Schema& schema_;
  std::string home_;
  const std::string& ledger_;
  TableTexts all_;
  std::map<std::string, std::set<std::string>> files_;
};

/// A form for a database that is named, or what says whose rows these are.
Schema known_schema(const std::string& path, const DataOptions& options) {
  if (!path.empty()) return read_schema(path);
  open_source(options);  // a missing file is worth more words than a missing schema
  no_schema(options);
}

}  // namespace

std::unique_ptr<Source> open_source(const DataOptions& options, const Schema* schema) {
  for (const std::string& each : options.data) expect_there(each);
  if (has_database(options)) return open_database(options, schema, false);
  const TableTexts tables = tables_of(options.data, schema);
  if (tables.empty()) {
    throw Error(ErrorCode::kIo, "the folder '" + options.data.front() +
                                    "' holds no CSV, Parquet or JSON file" +
                                    (schema != nullptr ? " of a table in the schema" : ""));
  }
  if (schema != nullptr) refuse_unknown(tables, *schema);
  return open_tables_of(options, tables, schema);
}

Workspace::Workspace(const DataOptions& options, Pays pays)
    : data_(options.data), analyst_(options.analyst) {
  require(!options.data.empty(), "--data: is missing; it says where the rows are, like people.csv");
  for (const std::string& each : options.data) expect_there(each);
  if (!options.unit.empty()) {
    open_quick_form(options);
    return;
  }
  schema_path_ = options.schema.empty() ? find_schema(options.data) : options.schema;
  schema_ = known_schema(schema_path_, options);
  if (pays == Pays::kYes) {
    ledger_path_ = options.ledger;
    if (ledger_path_.empty())
      ledger_path_ =
          find_ledger(schema_path_, schema_,
                      has_database(options) ? TableTexts()
                                            : tables_of(options.data, &schema_, Several::kTakeAll));
  }
  if (ledger_path_.empty()) {
    source_ = open_source(options, &schema_);
    return;
  }
  ledger_ = Ledger::open(ledger_path_);
  open_counted(options);
}

void Workspace::open_quick_form(const DataOptions& options) {
  require(options.schema.empty(),
          "--unit: is for data without a schema; leave out --unit or --schema");
  require(options.ledger.empty(),
          "--unit: is for data that no ledger counts; where one pays, a schema says whose the rows "
          "are: leave --unit out and give it with --schema (`gauze schema template` makes a form)");
  source_ = open_source(options);
  if (!has_database(options))
    refuse_quick_form(tables_of(options.data, nullptr, Several::kTakeAll));
  schema_ = quick_schema(options, *source_);
}

void Workspace::open_counted(const DataOptions& options) {
  std::optional<CountedSchema> counted;
  for (const DatasetBudget& each : ledger_->datasets())
    if (each.dataset == schema_.dataset) counted = each.schema;
  fs::path schema_file = fs::absolute(schema_path_);
  if (counted && !counted->file.empty())
    schema_file = fs::weakly_canonical(fs::absolute(ledger_path_)).parent_path() / counted->file;
  schema_file = schema_file.lexically_normal();
  if (counted && counted->digest != digest(schema_)) {
    throw Error(
        ErrorCode::kInvalidOption,
        "--schema: '" + schema_path_ + "' says otherwise than " +
            (counted->file.empty() ? "the steward's schema" : "'" + schema_file.string() + "'") +
            " did when the budget was set, and '" + shown_address(ledger_path_) +
            "' keeps count by it. Use that schema; or whoever keeps the budget has it "
            "count by this one with `gauze ledger schema " +
            shown_address(ledger_path_) + " --dataset " + schema_.dataset.substr(0, 60) +
            " --schema " + schema_path_ + "`");
  }
  const bool names_database = counted && !counted->database.empty();
  if (has_database(options)) {
    source_ = open_database(options, &schema_, names_database);
    if (names_database && source_->database() != counted->database) refuse_place();
    return;
  }
  if (names_database) refuse_place();
  home_ = schema_file.parent_path().string();
  const TableTexts tables = CountedTables(schema_, home_, ledger_path_).chosen_by(options.data);
  if (tables.empty())
    throw Error(ErrorCode::kIo,
                "the folder '" + home_ + "' holds no file of a table in the schema");
  source_ = open_tables_of(options, tables, &schema_);
}

void Workspace::refuse_place() const {
  throw Error(ErrorCode::kInvalidOption,
              "--data: '" + shown_address(ledger_path_) + "' counts the rows of '" +
                  schema_.dataset.substr(0, 60) +
                  "' in another database; give its address, or whoever keeps the budget names this "
                  "one with `gauze ledger schema " +
                  shown_address(ledger_path_) + " --dataset " + schema_.dataset.substr(0, 60) +
                  " --schema " + schema_path_ + " --data ADDRESS`");
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
  std::vector<std::string> folders = data_;
  if (!home_.empty()) folders.push_back(home_);
  for (const std::string& each : folders) {
    if (fs::is_directory(each) && same_file(canonical.parent_path().string(), each) &&
        holds_rows(canonical.filename().string()) &&
        speaks_of(schema_, table_name(canonical.string())))
      return true;
  }
  TableTexts tables = tables_of(data_, &schema_, Several::kTakeAll);
  if (!home_.empty()) tables.merge(tables_in(home_, schema_, Several::kTakeAll));
  for (const auto& [table, texts] : tables) {
    for (const std::string& text : texts)
      if (would_match(path, text)) return true;
    const auto files = source_->files(table);
    if (std::any_of(files.begin(), files.end(),
                    [&](const auto& file) { return same_file(path, file); }))
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
          .asked = Budget::approximate(epsilon, delta),
          .schema = schema_path_.empty() ? "" : digest(schema_)};
}

}  // namespace gauze::service
