#include "data_flags.h"

namespace gauze::cli {

void add_data_options(CLI::App& command, service::DataOptions& options) {
  command
      .add_option("--data,-d", options.data,
                  "CSV, Parquet or JSON: FILE, NAME=FILE, a folder or its schema; base.duckdb with "
                  "the tables of "
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

}  // namespace gauze::cli
