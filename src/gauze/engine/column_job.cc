#include "gauze/engine/column_job.h"

#include <algorithm>
#include <charconv>

#include "gauze/base/error.h"
#include "gauze/base/progress_ticks.h"
#include "gauze/base/words.h"
#include "gauze/data/bound.h"
#include "gauze/data/table.h"

namespace gauze {
namespace {

bool has_option(const Algorithm& algorithm, std::string_view option) {
  return std::any_of(algorithm.options.begin(), algorithm.options.end(),
                     [&](const OptionSpec& spec) { return spec.name == option; });
}

const ColumnSchema& column_of(const TableSchema& table, const std::string& column) {
  const ColumnSchema* found = table.find(column);
  if (found != nullptr) return *found;
  throw Error(ErrorCode::kUnknownName, "the table '" + table.name + "' has no column '" +
                                           column.substr(0, 100) + "' in its schema");
}

/// The end of the column's range, as an option is written.
std::string declared(const ColumnSchema& column, const std::string& option) {
  const std::optional<Value>& end = option == "lower" ? column.domain.lower : column.domain.upper;
  if (end) return to_text(*end);
  throw Error(ErrorCode::kMissingKnowledge,
              option + ": the schema has none for '" + column.name + "'; give --" + option +
                  ", or add \"lower\": ..., \"upper\": ... to the column in the schema");
}

/// Fills in what the schema knows and what tables imply.
ColumnJob::Options completed(ColumnJob::Options options) {
  const Algorithm& algorithm = find_algorithm(options.algorithm.get());
  expect_form_for_tables(algorithm);
  if (options.table->is_public()) {
    throw Error(ErrorCode::kInvalidOption,
                "the table '" + options.table->name + "' is public; read it without noise");
  }
  nlohmann::json& given = options.options;
  if (!given.is_object()) given = nlohmann::json::object();
  if (!given.contains("relation")) given["relation"] = name(Relation::kAddRemove);
  require(given["relation"] == name(Relation::kAddRemove),
          "relation: is add_remove on tables, for the number of privacy units is private");
  if (options.column.empty()) {
    require(algorithm.name == "count", "column: is missing; say which column to look at");
    return options;
  }
  const ColumnSchema& column = column_of(options.table, options.column);
  if (has_option(algorithm, "lower") && !is_numeric(column.domain.type)) {
    throw Error(ErrorCode::kInvalidOption, "column: '" + column.name + "' holds " +
                                               std::string(name(column.domain.type)) + ", and '" +
                                               algorithm.name + "' takes numbers");
  }
  for (const char* option : {"lower", "upper"}) {
    if (has_option(algorithm, option) && !given.contains(option))
      given[option] = declared(column, option);
  }
  return options;
}

/// The columns that are read. Whoever has no column to look at is counted by any: the unit's own, or the first.
std::vector<std::string> columns_of(const ColumnJob::Options& options) {
  const std::string unit = bounds_of(options.table).unit;
  const std::string& column = !options.column.empty() ? options.column
                              : !unit.empty()         ? unit
                                                      : options.table->columns.front().name;
  if (unit.empty() || same_name(unit, column)) return {column};
  return {column, unit};
}

std::string cell(const Column& column, std::size_t row) {
  if (column.is_null(row)) return "";
  const Type type = column.type();
  if (type == Type::kBoolean || type == Type::kDate || type == Type::kTimestamp)
    return to_text(column.value(row));
  char digits[32];
  char* end = digits;
  if (!column.integers().empty())
    end = std::to_chars(digits, digits + sizeof digits, column.integers()[row]).ptr;
  else if (!column.reals().empty())
    end = std::to_chars(digits, digits + sizeof digits, column.reals()[row]).ptr;
  else
    return std::string(column.text(row));
  return std::string(digits, end);
}

}  // namespace

ColumnJob::ColumnJob(Options options)
    : options_(completed(std::move(options))),
      read_(columns_of(options_)),
      job_(make_job(options_.algorithm.get(), options_.options)) {}

void ColumnJob::expect_columns(Source& source) const {
  gauze::expect_columns(source, options_.table, read_);
}

Release<nlohmann::json> ColumnJob::run(Source& source, Context& context) const {
  TableBounds bounds = bounds_of(options_.table);
  bounds.rows_per_unit = std::uint64_t{1};
  bounds.columns = std::vector<ColumnSchema>{column_of(options_.table, read_.front())};
  const BoundedTable table =
      bound(read_table(source, options_.table, read_, internal::before_the_end(options_.progress)),
            std::move(bounds), context.bits);
  const Column& values = table.rows().columns().front();
  std::vector<std::string> cells;
  cells.reserve(values.size());
  const bool counts_nulls = options_.algorithm.get() == "count";
  for (std::size_t row = 0; row < values.size(); ++row)
    if (counts_nulls || !values.is_null(row)) cells.push_back(cell(values, row));
  if (options_.progress) options_.progress(1);
  return job_.run(Rows(std::move(cells)), context);
}

void expect_form_for_tables(const Algorithm& algorithm) {
  if (algorithm.per_person) return;
  throw Error(ErrorCode::kInvalidOption,
              "data: '" + algorithm.name + "' has no form for tables, its input is " +
                  algorithm.input +
                  "; ask tables in SQL, which names, counts and ranks groups: gauze sql \"SELECT "
                  "ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 3\"");
}

const TableSchema& private_table(const Schema& schema, const std::string& table) {
  if (!table.empty()) return schema.table(table);
  const TableSchema* only = nullptr;
  for (const TableSchema& each : schema.tables) {
    if (each.is_public()) continue;
    require(only == nullptr, "table: is missing; there are several private ones");
    only = &each;
  }
  require(only != nullptr, "table: the schema has no private one");
  return *only;
}

}  // namespace gauze
