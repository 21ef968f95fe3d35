#include "gauze/registry/entries.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/bound.h"
#include "gauze/data/table.h"

namespace gauze {
namespace {

/// States the error bar where it is known before the run.
Task::Draw with_promise(Task::Draw draw, std::optional<Accuracy> promise) {
  if (!promise) return draw;
  return [draw = std::move(draw), promise = std::move(promise)](Context& context) {
    Release<Result> answer = draw(context);
    answer.accuracy = *promise;
    return answer;
  };
}

/// What is promised of an input of this size.
std::optional<Accuracy> promised(const Task::Promise& promise, std::uint64_t size,
                                 double confidence) {
  return promise ? promise(size, confidence) : std::nullopt;
}

/// The task on plain rows, with error bars at this confidence.
Task on_plain_rows(Task task, double confidence) {
  task.read = [read = task.read, promise = task.accuracy, confidence](
                  const Input& input, Context& context) -> Task::Draw {
    Task::Draw draw = read(input, context);
    return with_promise(std::move(draw),
                        promised(promise, std::get<Rows>(input).size(), confidence));
  };
  return task;
}

/// An entry whose task is made on plain values and then wrapped. Tables are refused.
Algorithm with_maker(Algorithm about, std::function<Task(const Asked& asked, Task plain)> wrap,
                     MakeTask make) {
  const auto refused = std::make_shared<const Algorithm>(about);
  about.make = [refused, make = std::move(make), wrap = std::move(wrap)](const Asked& asked) {
    if (asked.schema != nullptr) expect_form_for_tables(*refused);
    return wrap(asked, make(OptionValues(refused->options, asked.options)));
  };
  return about;
}

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

/// One column of a private table, as an algorithm reads it.
struct ColumnOfTable {
  TableSchema table;
  std::string column = {};      ///< "" where the algorithm needs none
  nlohmann::json options = {};  ///< filled in with what the schema knows and what tables imply
  std::vector<std::string> read = {};  ///< the column, and the unit's where it is another
  ColumnUse use = {};
};

nlohmann::json completed(const Algorithm& algorithm, const ColumnOfTable& of,
                         nlohmann::json options) {
  if (!options.is_object()) options = nlohmann::json::object();
  if (!options.contains("relation")) options["relation"] = name(Relation::kAddRemove);
  require(options["relation"] == name(Relation::kAddRemove),
          "relation: is add_remove on tables, for the number of privacy units is private");
  if (of.column.empty()) {
    require(of.use.optional, "column: is missing; say which column to look at");
    return options;
  }
  const ColumnSchema& column = column_of(of.table, of.column);
  if (has_option(algorithm, "lower") && !is_numeric(column.domain.type)) {
    throw Error(ErrorCode::kInvalidOption, "column: '" + column.name + "' holds " +
                                               std::string(name(column.domain.type)) + ", and '" +
                                               algorithm.name + "' takes numbers");
  }
  for (const char* option : {"lower", "upper"}) {
    if (has_option(algorithm, option) && !options.contains(option))
      options[option] = declared(column, option);
  }
  return options;
}

/// The columns that are read. Whoever has no column to look at is counted by any: the unit's own, or the first.
std::vector<std::string> columns_of(const ColumnOfTable& of) {
  const std::string unit = bounds_of(of.table).unit;
  const std::string& column = !of.column.empty() ? of.column
                              : !unit.empty()    ? unit
                                                 : of.table.columns.front().name;
  if (unit.empty() || same_name(unit, column)) return {column};
  return {column, unit};
}

ColumnOfTable column_of_table(const Algorithm& algorithm, const Asked& asked, ColumnUse use) {
  ColumnOfTable of{.table = private_table(*asked.schema, asked.table), .use = use};
  if (of.table.is_public()) {
    throw Error(ErrorCode::kInvalidOption,
                "the table '" + of.table.name + "' is public; read it without noise");
  }
  if (const auto column = asked.asks.find("column"); column != asked.asks.end()) {
    require(column->is_string(), "column: must be a text");
    of.column = column->get<std::string>();
  }
  of.options = completed(algorithm, of, asked.options);
  of.read = columns_of(of);
  return of;
}

/// The values of those who take part.
template <class Value, class Read>
std::vector<Value> taken(const Column& column, bool nulls_count, Read value) {
  std::vector<Value> values;
  values.reserve(column.size());
  for (std::size_t row = 0; row < column.size(); ++row)
    if (nulls_count || !column.is_null(row)) values.push_back(value(row));
  return values;
}

/// The same as numbers where they are; what is no value is an empty text.
Rows values_of(const Column& column, bool nulls_count) {
  const bool known = !nulls_count || !column.has_nulls();
  if (known && column.type() == Type::kInteger)
    return Rows::of_integers(taken<std::int64_t>(
        column, nulls_count, [all = column.integers()](std::size_t row) { return all[row]; }));
  if (known && !column.reals().empty())
    return Rows::of_numbers(taken<double>(
        column, nulls_count, [all = column.reals()](std::size_t row) { return all[row]; }));
  const bool text = column.type() == Type::kText;
  return Rows(taken<std::string>(column, nulls_count, [&](std::size_t row) {
    if (column.is_null(row)) return std::string();
    return text ? std::string(column.text(row)) : to_text(column.value(row));
  }));
}

Rows read_column(Source& source, const ColumnOfTable& of, Context& context) {
  TableBounds bounds = bounds_of(of.table);
  bounds.rows_per_unit = std::uint64_t{1};
  bounds.columns = std::vector<ColumnSchema>{column_of(of.table, of.read.front())};
  const auto progress = [&context](double done) { context.progress(std::min(done, 0.999)); };
  const BoundedTable table =
      bound(read_table(source, of.table, of.read, progress), std::move(bounds), context.bits);
  return values_of(table.rows().columns().front(), of.use.nulls_count);
}

/// Which rows take part.
std::string counted(const ColumnOfTable& of) {
  const bool rows = of.table.unit.kind == UnitSchema::Kind::kRow;
  const bool leaves_out = !of.use.nulls_count && column_of(of.table, of.column).domain.nullable;
  return (rows ? "each row is a privacy unit of its own"
               : "one row of each " + of.table.unit.column + ", chosen at random") +
         (leaves_out ? "; rows without a value are left out" : "");
}

/// The task on plain rows, made to read them from a table.
Task on_table(const std::string& algorithm, ColumnOfTable column, Task task, double confidence) {
  const auto of = std::make_shared<const ColumnOfTable>(std::move(column));
  task.words = nlohmann::json{
      {"algorithm", algorithm},
      {"options", of->options},
      {"table", of->table.name},
      {"column",
       of->column}}.dump();
  task.unit = of->table.unit.kind == UnitSchema::Kind::kRow ? "row" : of->table.unit.column;
  task.notes.push_back({"counted", counted(*of)});
  task.check = [of](Source& source) -> std::vector<Note> {
    expect_columns(source, of->table, of->read);
    return {};
  };
  task.read = [of, read = task.read, promise = task.accuracy, confidence](
                  const Input& input, Context& context) -> Task::Draw {
    Source& source = std::get<std::reference_wrapper<Source>>(input);
    // How many rows take part is private, so that no promise may depend on it.
    return with_promise(read(read_column(source, *of, context), context),
                        promised(promise, 1, confidence));
  };
  return task;
}

/// What was said to each line, and the accuracy of so many.
Release<Result> converse(const LineByLine& lines, Dialogue& dialogue, Context& context) {
  const LineByLine::Answer answer = lines.start(context);
  nlohmann::json all = nlohmann::json::array();
  for (bool last = false; !last;) {
    const auto line = dialogue.next();
    if (!line) break;
    if (line->size() != lines.width)
      throw Error(ErrorCode::kInvalidInput,
                  "a line must have " + std::to_string(lines.width) + " numbers, separated by ;");
    const Said said = answer(*line);
    all.push_back(said.json);
    dialogue.tell(said);
    last = said.last;
  }
  Release<Result> released{};
  released.value.json["value"] = std::move(all);
  return released;
}

}  // namespace

Algorithm on_rows(Algorithm about, MakeTask make) {
  about.kind = rows_kind();
  return with_maker(
      std::move(about),
      [](const Asked& asked, Task plain) {
        return on_plain_rows(std::move(plain), asked.confidence);
      },
      std::move(make));
}

Algorithm on_column(Algorithm about, MakeTask make, ColumnUse use) {
  about.kind = column_kind();
  if (use.optional) about.kind.asks.front().description += "; none is needed";
  const auto self = std::make_shared<const Algorithm>(about);
  about.make = [self, make = std::move(make), use](const Asked& asked) {
    if (asked.schema == nullptr)
      return on_plain_rows(make(OptionValues(self->options, asked.options)), asked.confidence);
    ColumnOfTable of = column_of_table(*self, asked, use);
    Task task = make(OptionValues(self->options, of.options));
    return on_table(self->name, std::move(of), std::move(task), asked.confidence);
  };
  return about;
}

Algorithm on_lines(Algorithm about, MakeTask make,
                   std::function<LineByLine(const OptionValues& values)> dialogue) {
  about.kind = lines_kind();
  const auto options = about.options;
  const auto wrap = [options, dialogue = std::move(dialogue)](const Asked& asked, Task plain) {
    const LineByLine lines = dialogue(OptionValues(options, asked.options));
    Task task = on_plain_rows(std::move(plain), asked.confidence);
    task.read = [read = task.read, lines, event = task.event, promise = task.accuracy,
                 confidence = asked.confidence](const Input& input,
                                                Context& context) -> Task::Draw {
      if (std::holds_alternative<Rows>(input)) return read(input, context);
      Dialogue& talk = std::get<std::reference_wrapper<Dialogue>>(input);
      return [lines, event, promise, confidence, &talk](Context& inner) {
        Release<Result> answer = converse(lines, talk, inner);
        if (auto accuracy = promised(promise, answer.value.json["value"].size(), confidence))
          answer.accuracy = *accuracy;
        answer.spent = event;
        return answer;
      };
    };
    return task;
  };
  return with_maker(std::move(about), wrap, std::move(make));
}

void expect_form_for_tables(const Algorithm& algorithm) {
  if (algorithm.kind.tables) return;
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
