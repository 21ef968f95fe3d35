#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "gauze/base/error.h"
#include "gauze/data/steward.h"
#include "gauze/registry/wording.h"
#include "gauze/service/workspace.h"
#include "schema_text.h"
#include "text.h"

namespace gauze::cli {
namespace {

/// Names and types alone are looked at; standard output is the schema, so that it can be kept.
void write_template(const std::vector<std::string>& data, const std::vector<std::string>& tables,
                    bool json) {
  DataOptions options;
  options.data = data;
  std::vector<std::string> names = tables;
  if (data.size() == 1 && is_duckdb_file(data.front()) && !names.empty()) {
    options.data.clear();
    for (const std::string& name : names)
      options.data.push_back(name + "=" + data.front() + ":" + name);
  } else if (names.empty()) {
    require(!is_postgres(data.front()) && !is_duckdb_file(data.front()),
            "--table: is missing; say which tables of the database, like --table visits");
    for (const auto& [name, texts] : tables_of(data)) names.push_back(name);
  }
  print_line(schema_template(*open_source(options), names).dump(json ? -1 : 2));
}

Json as_json(const SchemaCheck& check) {
  Json tables = Json::array();
  for (const SchemaCheck::Table& table : check.tables) {
    Json columns = Json::array();
    for (const SchemaCheck::Column& column : table.columns) {
      columns.push_back({{"name", column.name},
                         {"unreadable", column.unreadable},
                         {"outside", column.outside},
                         {"nulls_not_declared", column.nulls_not_declared}});
    }
    tables.push_back({{"name", table.name},
                      {"rows", table.rows},
                      {"broken_rows", table.unseen.rows},
                      {"rows_cut_off", table.unseen.row_ends},
                      {"files_broken_off", table.unseen.file_ends},
                      {"rows_without_unit", table.rows_without_unit},
                      {"units", table.units},
                      {"units_over_bound", table.units_over_bound},
                      {"repeated_keys", table.repeated_keys},
                      {"columns", columns}});
  }
  return {{"tables", tables}};
}

void print_columns(const SchemaCheck::Table& checked) {
  std::vector<std::vector<std::string>> rows = {
      {"column", "unreadable", "outside", "null, not declared"}};
  for (const SchemaCheck::Column& column : checked.columns) {
    if (column.unreadable + column.outside + column.nulls_not_declared == 0) continue;
    rows.push_back({column.name, grouped(column.unreadable), grouped(column.outside),
                    grouped(column.nulls_not_declared)});
  }
  if (rows.size() > 1)
    print(table(rows));
  else
    print_line("  every value keeps what the schema says");
}

void print_check(const Schema& schema, const SchemaCheck& check) {
  for (const SchemaCheck::Table& checked : check.tables) {
    print_line(heading(checked.name) + "  " + many(checked.rows, "row"));
    const auto tell = [](const std::string& what, std::uint64_t count, const std::string& then) {
      if (count > 0) print(wrap(what + ": " + grouped(count) + "; " + then, "  "));
    };
    tell("lines with too few fields, or that are no text", checked.unseen.rows,
         "they are left out");
    tell("rows with more fields than there are columns", checked.unseen.row_ends,
         "what is beyond is passed over. Perhaps a cell with a comma lacks its quotes");
    tell("packed files that break off", checked.unseen.file_ends,
         "the rows behind that are missing. Fetch them again");
    const TableSchema& declared = schema.table(checked.name);
    if (declared.unit.kind == UnitSchema::Kind::kColumn ||
        declared.unit.kind == UnitSchema::Kind::kThrough) {
      print_line("  " + many(checked.units, "privacy unit") + "; with more than " +
                 many(declared.rows_per_unit, "row") + ": " + grouped(checked.units_over_bound) +
                 "; rows that belong to nobody: " + grouped(checked.rows_without_unit));
    }
    for (const std::uint64_t repeated : checked.repeated_keys) {
      if (repeated > 0)
        print_line("  a key that should be unique comes twice " + grouped(repeated) + " times");
    }
    print_columns(checked);
  }
  print_line();
  print(wrap(
      "These are exact counts of private rows: for the steward's eyes alone. None of it is an "
      "error: "
      "values outside are moved to the nearer end or become the default, rows beyond the bound are "
      "left out at random.",
      "  "));
}

void check(const DataOptions& options, bool json) {
  Workspace workspace(options, Pays::kNo);
  const SchemaCheck result = check_schema(workspace.source(), workspace.schema());
  if (json) return print_json(as_json(result));
  print_check(workspace.schema(), result);
}

void show(const std::string& path, const std::string& table, bool json) {
  Schema schema = read_schema(path);
  if (!json) return print(schema_text(schema, table));
  if (!table.empty()) schema.tables = {schema.table(table)};
  print_line(to_json(schema).dump());
}

void add_template(CLI::App& command) {
  CLI::App* sub = command.add_subcommand(
      "template", "Write a schema to fill in, from the names and types of the columns");
  auto data = std::make_shared<std::vector<std::string>>();
  auto tables = std::make_shared<std::vector<std::string>>();
  sub->add_option("data", *data,
                  "CSV, Parquet or JSON files, NAME=FILE, a folder; base.duckdb or "
                  "postgresql://... with --table")
      ->required();
  sub->add_option("--table", *tables,
                  "Which tables of a database or a file of DuckDB (of files: all)")
      ->allow_extra_args(false);
  sub->footer(
      "Example: gauze schema template people.csv > people.schema.json\n"
      "What is null there only the steward can know: fill it in or delete the line.");
  auto json = std::make_shared<bool>(false);
  sub->add_flag("--json", *json, "Print it in one line");
  sub->callback([data, tables, json] { write_template(*data, *tables, *json); });
}

void add_check(CLI::App& command) {
  CLI::App* sub = command.add_subcommand(
      "check", "For the steward: count the rows that do not keep what the schema says");
  auto options = std::make_shared<DataOptions>();
  auto json = std::make_shared<bool>(false);
  sub->add_option("--data,-d", options->data, "As for `gauze sql`")
      ->required()
      ->allow_extra_args(false);
  sub->add_option("--schema", options->schema, "NAME.schema.json beside the data");
  sub->add_flag("--json", *json, "Print the counts as JSON");
  sub->footer("It prints exact counts of private rows. Do not hand them on.");
  sub->callback([options, json] { check(*options, *json); });
}

void add_show(CLI::App& command) {
  CLI::App* sub = command.add_subcommand("show", "Show what a schema says, table by table");
  auto path = std::make_shared<std::string>();
  auto table = std::make_shared<std::string>();
  sub->add_option("schema", *path, "The file")->required();
  sub->add_option("table", *table, "One table (all)");
  auto json = std::make_shared<bool>(false);
  sub->add_flag("--json", *json, "Print it as JSON, in one line");
  sub->callback([path, table, json] { show(*path, *table, *json); });
}

}  // namespace

void add_schema(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("schema", "Write down, show and check what is publicly known of tables");
  command->require_subcommand(1);
  add_template(*command);
  add_show(*command);
  add_check(*command);
}

}  // namespace gauze::cli
