#include "gauze/service/answer_file.h"

#include <utility>
#include <variant>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/data/table.h"
#include "gauze/registry/answer_json.h"
#include "gauze/service/artifact.h"
#include "gauze/service/files.h"
#include "gauze/service/page.h"
#include "gauze/service/report.h"

namespace gauze::service {
namespace {

/// Released decimals are doubles in files.
Value stored(const Value& value) {
  if (const auto* x = std::get_if<Ratio>(&value)) return nearest_double(*x);
  return value;
}

/// A column's own type, unless a value has turned out to be of another.
Type stored_type(const Answer& answer, std::size_t column) {
  const Type declared = answer.columns[column].type;
  if (!is_numeric(declared)) return declared;
  for (const auto& row : answer.rows) {
    if (!std::holds_alternative<std::int64_t>(row[column].value) &&
        !std::holds_alternative<std::monostate>(row[column].value))
      return Type::kDouble;
  }
  return Type::kInteger;
}

Column values_of(const Answer& answer, std::size_t column) {
  const Type type = stored_type(answer, column);
  std::vector<Value> values;
  for (const auto& row : answer.rows) {
    Value value = stored(row[column].value);
    if (const auto* x = std::get_if<std::int64_t>(&value); x != nullptr && type == Type::kDouble)
      value = static_cast<double>(*x);
    values.push_back(std::move(value));
  }
  return Column::of_values(type, values);
}

Table table_of(const Answer& answer) {
  std::vector<std::string> names;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    names.push_back(answer.columns[i].name);
    columns.push_back(values_of(answer, i));
    if (answer.columns[i].is_key) continue;
    std::vector<Value> widths;
    bool any = false;
    for (const auto& row : answer.rows) {
      any = any || row[i].half_width.has_value();
      widths.push_back(row[i].half_width ? Value(*row[i].half_width) : Value());
    }
    if (!any && !answer.rows.empty()) continue;
    names.push_back(half_width_name(answer.columns[i].name));
    columns.push_back(Column::of_values(Type::kDouble, widths));
  }
  return Table(std::move(names), std::move(columns));
}

}  // namespace

void write_answer(const Answer& answer, const std::string& path) {
  write_table(table_of(answer), path);
}

void check_files(const Algorithm& algorithm, const AnswerFiles& files,
                 const std::function<bool(const std::string&)>& reads) {
  const bool tables = algorithm.kind.writes_table;
  require(tables || (files.output.empty() && files.report.empty()),
          "output and report: go with answers that are tables; a number is printed");
  require(files.artifact.empty() || !algorithm.artifact.empty(),
          ("artifact: '" + algorithm.name + "' leaves none behind").c_str());
  require(files.output.empty() || is_table_name(files.output),
          "output: must be a name that ends in .csv, .json or .parquet");
  // A file that cannot be made would lose an answer that was paid for.
  const std::pair<const char*, const std::string&> all[] = {
      {"output", files.output}, {"artifact", files.artifact}, {"report", files.report}};
  for (const auto& [option, path] : all) {
    if (path.empty()) continue;
    if (reads(path)) refuse_to_replace(path, option);
    check_writable(path);
    for (const auto& [other, before] : all) {
      if (other == option) break;
      if (before.empty() || !same_file(path, before)) continue;
      throw Error(ErrorCode::kInvalidOption, std::string(option) + ": is the same file as " +
                                                 other + "; give it another name");
    }
  }
  if (!files.report.empty()) check_page_name(files.report);
}

std::vector<std::string> write_files(const Outcome& outcome, const AnswerFiles& files) {
  const Result& result = outcome.release.value;
  std::vector<std::string> written;
  if (!files.output.empty() && result.table) {
    write_answer(*result.table, files.output);
    written.push_back(files.output);
  }
  if (!files.artifact.empty() && result.artifact) {
    write_artifact(*result.artifact, files.artifact);
    written.push_back(files.artifact);
  }
  if (!files.report.empty()) {
    write_all(files.report, report(outcome));
    written.push_back(files.report);
  }
  return written;
}

}  // namespace gauze::service
