#include "desk.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
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

/// `people.schema.json` beside `people.csv`, or the only schema in its folder.
std::string find_schema(const std::vector<std::string>& data) {
  for (const std::string& each : data) {
    if (is_postgres(each)) continue;
    const fs::path path = each.substr(each.find('=') == std::string::npos ? 0 : each.find('=') + 1);
    const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
    const fs::path beside = folder / (table_name(path) + std::string(kSchemaEnding));
    if (fs::exists(beside)) return beside.string();
    const fs::path searched = folder.empty() ? fs::path(".") : folder;
    if (!fs::is_directory(searched)) continue;
    if (std::string only = only_file(searched, kSchemaEnding, "--schema"); !only.empty())
      return only;
  }
  return "";
}

/// `hospital.ledger` beside `hospital.schema.json`: a budget that lies there is never passed over.
std::string find_ledger(const std::string& schema) {
  if (!schema.ends_with(kSchemaEnding)) return "";
  const std::string beside =
      schema.substr(0, schema.size() - kSchemaEnding.size()) + std::string(kLedgerEnding);
  return fs::exists(beside) ? beside : "";
}

[[noreturn]] void no_schema(const DataOptions& options) {
  const std::string& first = options.data.front();
  const std::string name = is_postgres(first) ? "tables" : table_name(first);
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
                "--unit: works on files; a database needs a schema: `gauze schema template " +
                    options.data.front() + "`");
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

bool speaks_of(const Schema& schema, std::string_view name) {
  return std::any_of(schema.tables.begin(), schema.tables.end(),
                     [&](const TableSchema& table) { return same_name(table.name, name); });
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

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

}  // namespace

void add_data_options(CLI::App& command, DataOptions& options) {
  command
      .add_option(
          "--data,-d", options.data,
          "CSV, Parquet or JSON: FILE, NAME=FILE, a folder, or postgresql://...; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--schema", options.schema,
                     "What is publicly known of the tables (NAME.schema.json beside the data)");
  command.add_option("--ledger", options.ledger,
                     "Which budget pays (NAME.ledger beside the schema, if there is one)");
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
  return static_cast<unsigned>(count);
}

bool is_postgres(const std::string& data) {
  return data.starts_with("postgresql://") || data.starts_with("postgres://");
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
    } else {
      add_table(tables, table_name(each), each);
    }
  }
  return tables;
}

std::unique_ptr<Source> open_source(const DataOptions& options, const Schema* schema) {
  if (is_postgres(options.data.front())) {
    require(options.data.size() == 1, "--data: give one database, or files, not both");
    return open_postgres(options.data.front());
  }
  SourceOptions limits;
  limits.memory = bytes(options.memory, "--memory");
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

Desk::Desk(const DataOptions& options) : analyst_(options.analyst) {
  require(!options.data.empty(), "--data: is missing; it says where the rows are, like people.csv");
  schema_path_ =
      options.schema.empty() && options.unit.empty() ? find_schema(options.data) : options.schema;
  // A missing file is worth more words than a missing schema.
  if (schema_path_.empty() && options.unit.empty()) {
    source_ = open_source(options);
    no_schema(options);
  }
  if (!schema_path_.empty()) schema_ = read_schema(schema_path_);
  source_ = open_source(options, schema_path_.empty() ? nullptr : &schema_);
  if (schema_path_.empty()) schema_ = quick_schema(options, *source_);
  ledger_path_ = options.ledger.empty() ? find_ledger(schema_path_) : options.ledger;
  if (!ledger_path_.empty()) ledger_ = Ledger::open(ledger_path_);
}

std::optional<Budget> Desk::left() const {
  if (!ledger_) return std::nullopt;
  return ledger_->left(schema_.dataset, analyst_);
}

Request Desk::request(const std::string& text, const Ratio& epsilon, const Ratio& delta) const {
  return {.dataset = schema_.dataset,
          .analyst = analyst_,
          .caller = "gauze " GAUZE_VERSION ", " + user_name(),
          .text = text,
          .asked = Budget::approximate(epsilon, delta)};
}

}  // namespace gauze::cli
