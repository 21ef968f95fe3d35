#include <cmath>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/table.h"
#include "gauze/registry/answer_json.h"
#include "page.h"
#include "question.h"
#include "report.h"

namespace gauze::cli {
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

void check_files(const AnswerFiles& files, const std::function<bool(const std::string&)>& reads) {
  const std::string& path = files.output;
  require(path.empty() || is_table_name(path),
          "output: must be a name that ends in .csv, .json or .parquet");
  // A file that cannot be made would lose an answer that was paid for.
  for (const auto& [option, each] :
       {std::pair("output", &files.output), std::pair("report", &files.report)}) {
    if (each->empty()) continue;
    if (reads(*each)) refuse_to_replace(*each, option);
    check_writable(*each);
  }
  require(path.empty() || files.report.empty() || !same_file(path, files.report),
          "report: is the same file as output; give it another name");
  if (!files.report.empty()) check_page_name(files.report);
}

void hand_out(const Answered& answered, const AnswerFiles& files, bool json) {
  hand_over(!answered.ledger.empty(), [&] {
    if (json)
      print_json(as_json(answered));
    else
      print_answer(answered);
    if (!files.output.empty()) write_answer(answered.answer, files.output);
    if (!files.report.empty()) write_all(files.report, report(answered));
    for (const std::string& each : {files.output, files.report}) {
      if (!json && !each.empty()) print_line("  written   " + each);
    }
  });
}

void hand_out(const Quote& quote, const AnswerFiles& files, bool json) {
  require(files.output.empty() && files.report.empty(),
          "output and report: explaining makes no answer to write; leave them out, or leave out "
          "EXPLAIN");
  return json ? print_json(as_json(quote)) : print_quote(quote);
}

}  // namespace gauze::cli
