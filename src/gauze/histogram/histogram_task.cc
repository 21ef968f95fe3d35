#include "gauze/histogram/histogram_task.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/histogram/axis.h"
#include "gauze/histogram/cell_condition.h"
#include "gauze/histogram/histogram_job.h"
#include "gauze/histogram/histogram_view.h"
#include "gauze/numeric/decimal_text.h"
#include "gauze/registry/answer_json.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/wording.h"

namespace gauze {
namespace {

using Json = nlohmann::ordered_json;
using Wanted = Asked::Wanted;

constexpr std::size_t kMostBars = 32;       // for people
constexpr std::size_t kMostOnPage = 48;     // in a figure
constexpr std::size_t kMostBesideMap = 36;  // in a figure below a map

/// What is asked besides the options.
struct Asks {
  std::vector<std::string> columns, ranges, where;
  bool non_negative = false;
  bool whole = false;
};

/// A list of words, or one text with commas between them.
std::vector<std::string> columns_in(const nlohmann::json& asks) {
  const auto found = asks.find("columns");
  if (found == asks.end()) return {};
  std::vector<std::string> columns;
  if (found->is_array()) {
    for (const auto& each : *found) {
      require(each.is_string(), "columns: must be a list of texts");
      columns.push_back(each.get<std::string>());
    }
    return columns;
  }
  require(found->is_string(), "columns: must be a list of texts");
  const auto text = found->get<std::string>();
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    columns.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return columns;
}

Asks asks_of(nlohmann::json asks) {
  if (asks.is_null()) asks = nlohmann::json::object();
  Asks result;
  if (asks.is_object()) {
    result.columns = columns_in(asks);
    asks["columns"] = "";  // read above; the table below knows it
  }
  const OptionValues values(points_kind().asks, asks);
  result.ranges = values.texts("ranges");
  result.where = values.texts("where");
  result.non_negative = values.flag("non_negative");
  result.whole = values.flag("whole");
  return result;
}

/// Options as they would be typed: a ledger records them so, whoever gave them.
nlohmann::json typed(const nlohmann::json& options) {
  if (!options.is_object()) return options;  // refused by whoever reads them
  nlohmann::json words = nlohmann::json::object();
  for (const auto& [name, value] : options.items()) {
    std::string word;
    for (const auto& part : value.is_array() ? value : nlohmann::json::array({value}))
      word.append(word.empty() ? "" : ",")
          .append(part.is_string() ? part.get<std::string>() : part.dump());
    words[name] = std::move(word);
  }
  return words;
}

Questions questions_of(const Asks& asks, const std::vector<Axis>& axes) {
  Questions questions;
  for (const std::string& range : asks.ranges) {
    questions.ranges.push_back(parse_range(axes, range));
    if (is_widened(axes, range))
      questions.widened.push_back("'" + range + "' was widened to " +
                                  label_of(axes, questions.ranges.back()) +
                                  ": cells are counted whole");
  }
  for (const std::string& condition : asks.where)
    questions.where.emplace_back(condition, cells_where(axes, condition));
  return questions;
}

/// The options with the ranges that are asked, for methods that measure what suits them.
nlohmann::json with_ranges(nlohmann::json options, const Questions& questions) {
  const auto workload = options.find("workload");
  if (workload == options.end() || *workload != "asked" || options.contains("asked"))
    return options;
  require(questions.where.empty(), "workload: asked means --range; --where goes with any other");
  require(!questions.ranges.empty(),
          "workload: asked needs what will be asked; say it with --range, as often as you like");
  std::vector<std::string> ends;
  for (const Box& box : questions.ranges) {
    for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
      ends.push_back(std::to_string(box.begin[axis]));
      ends.push_back(std::to_string(box.end[axis] - 1));
    }
  }
  options["asked"] = gauze::joined(ends, ",");
  return options;
}

/// What makes results of what a method releases: all of it public.
struct Maker {
  std::shared_ptr<const HistogramEntry> entry;
  OptionValues values;
  std::string title;
  std::vector<Axis> axes;
  Questions questions;
  bool non_negative = false;
  bool whole = false;
  Wanted wanted = Wanted::kAll;

  Result operator()(RangeHistogram released) const;

 private:
  HistogramView view_of(RangeHistogram released) const;
  Json json_of(const HistogramView& view) const;
  std::vector<Note> notes_of(const HistogramView& view) const;
};

/// What was released in all: the value as it is shown, the error bar of what was measured.
RangeEstimate total_of(const HistogramView& view) {
  RangeEstimate total = view.released.total();
  total.value = view.values.total().value;
  return total;
}

bool is_map(const std::vector<Axis>& axes, std::uint32_t least) {
  return axes.size() == 2 && std::all_of(axes.begin(), axes.end(), [&](const Axis& axis) {
           return axis.is_ordered() && axis.cells() >= least;
         });
}

std::vector<Figure> figures_of(const HistogramView& view, const Questions& questions) {
  std::vector<Figure> figures;
  if (is_map(view.axes, 1)) {
    figures.push_back({"", heat_of(view)});
    figures.push_back({"Coarsely", Figure::Bars{summary_of(view, kMostBesideMap)}});
  } else {
    figures.push_back({"", Figure::Bars{summary_of(view, kMostOnPage)}});
  }
  if (!questions.empty()) figures.push_back({"Asked", Figure::Bars{answers_to(view, questions)}});
  return figures;
}

/// Values by cell where there are few enough, else [first cell ..., end ..., value] of each leaf.
nlohmann::json value_of(const RangeHistogram& histogram) {
  if (histogram.shape().cells() <= 1u << 20) return histogram.cells();
  nlohmann::json leaves = nlohmann::json::array();
  for (const RangeHistogram::Leaf& leaf : histogram.partition())
    leaves.push_back({leaf.box.begin, leaf.box.end, leaf.value});
  return leaves;
}

HistogramView Maker::view_of(RangeHistogram released) const {
  // A method on points has boxes, in a domain that may be too large for a number in every cell.
  RangeHistogram shown = whole ? (entry->points ? released.whole_leaves() : released.whole())
                         : non_negative ? released.non_negative()
                                        : released;
  return {axes, std::move(released), std::move(shown), entry->points, whole};
}

Json Maker::json_of(const HistogramView& view) const {
  const RangeEstimate total = total_of(view);
  Json json = {{"method", {{"algorithm", entry->about.name}, {"note", view.released.note()}}},
               {"total",
                {{"n", total.value},
                 {"n_half_width", finite(total.half_width)},
                 {"n_variance", finite(total.variance)}}}};
  const std::vector<Box>& ranges = questions.ranges;
  if (!ranges.empty()) json["ranges"] = rows_json(answers_to(view, {ranges, {}, {}}));
  for (std::size_t i = 0; i < ranges.size(); ++i)
    json["ranges"][i][row_names(view.axes).count + "_variance"] =
        finite(view.released.range(ranges[i]).variance);
  for (const auto& [condition, weights] : questions.where) {
    const RangeEstimate estimate = view.released.weighted(weights);
    json["where"].push_back({{"condition", condition},
                             {"n", view.values.weighted(weights).value},
                             {"n_half_width", finite(estimate.half_width)},
                             {"n_variance", finite(estimate.variance)}});
  }
  if (!questions.widened.empty()) json["notes"] = questions.widened;
  return json;
}

std::vector<Note> Maker::notes_of(const HistogramView& view) const {
  const RangeEstimate total = total_of(view);
  const std::string& note = view.released.note();
  const std::uint64_t parts = view.leaves ? view.boxes().size() : view.released.shape().cells();
  const Answer::Cell cell{total.value, total.half_width};
  std::vector<Note> notes = {
      {"in all",
       value_text(cell, Type::kDouble) + " " + half_width_text(cell) + " in " + grouped(parts) +
           (view.leaves ? (parts == 1 ? " box" : " boxes") : (parts == 1 ? " cell" : " cells"))}};
  if (!note.empty()) notes.push_back({"method", note});
  for (const std::string& each : questions.widened) notes.push_back({"range", each});
  const std::string missing = entry->left_out(values, note);
  notes.push_back(
      {"error", "± holds the noise 19 times in 20" + (missing.empty() ? "" : "; " + missing)});
  return notes;
}

Result Maker::operator()(RangeHistogram released) const {
  Result result;
  if (wanted == Wanted::kValue) {
    result.json["value"] = value_of(released);
    return result;
  }
  const HistogramView view = view_of(std::move(released));
  result.title = title;
  result.json = json_of(view);
  result.notes = notes_of(view);
  result.figures = figures_of(view, questions);
  if (!questions.empty())
    result.summary = answers_to(view, questions);
  else if (!is_map(axes, 5))
    result.summary = summary_of(view, kMostBars);
  if (wanted == Wanted::kAll) {
    result.table = rows_of(view);
    if (questions.empty()) result.json["rows"] = rows_json(*result.table);
  }
  return result;
}

/// A task that runs the method on points, which `read` reads.
template <class Read>
Task task_of(const HistogramMethod& method, Maker maker, Read read) {
  Task task;
  task.event = method.event;
  task.accuracy = [accuracy = method.accuracy](std::uint64_t, double confidence) {
    return accuracy(confidence);
  };
  const auto make = std::make_shared<const Maker>(std::move(maker));
  task.read = [run = method.run, make, read](const Input& input, Context& context) -> Task::Draw {
    return [run, make, points = read(input, context)](Context& drawing) -> Release<Result> {
      auto released = run(points, drawing);
      return {(*make)(std::move(released.value)), std::move(released.accuracy),
              std::move(released.spent)};
    };
  };
  return task;
}

/// Cells of a file have numbers only.
Axis numbered(std::uint32_t cells, std::size_t axis, std::size_t axes) {
  ColumnSchema column;
  column.name = axes == 1 ? "cell" : "cell_" + std::to_string(axis + 1);
  column.domain.type = Type::kInteger;
  column.domain.lower = std::int64_t{0};
  column.domain.upper = std::int64_t{cells} - 1;
  return Axis(column, cells);
}

Task on_counts(const std::shared_ptr<const HistogramEntry>& entry, const Asks& asks,
               const nlohmann::json& options, Wanted wanted) {
  const auto& known = entry->about.options;
  Shape shape;
  for (const std::uint64_t cells : OptionValues(known, options).wholes("cells")) {
    require(cells >= 1 && cells <= 1u << 31,
            "cells: must be how many counts the file holds along each axis, like 100 or 256,256");
    shape.extents.push_back(static_cast<std::uint32_t>(cells));
  }
  check_shape(shape);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < shape.axes(); ++i)
    axes.push_back(numbered(shape.extents[i], i, shape.axes()));
  Questions questions = questions_of(asks, axes);
  OptionValues values(known, with_ranges(options, questions));
  const HistogramMethod method = entry->on(values, shape);
  const std::uint64_t rows = values.whole("rows_per_unit");
  Task task = task_of(method,
                      {entry, std::move(values), "counts", std::move(axes), std::move(questions),
                       asks.non_negative, asks.whole, wanted},
                      [shape](const Input& input, Context&) {
                        return points_of(shape, std::get<Rows>(input).integer_vector());
                      });
  task.notes = {
      {"counted", "at most " + many(rows, "row") + " of a person, if the counts were made so"}};
  return task;
}

Task on_columns(const std::shared_ptr<const HistogramEntry>& entry, const Asks& asks,
                const nlohmann::json& options, const Asked& asked) {
  const TableSchema& table = private_table(*asked.schema, asked.table);
  HistogramJob::Options wanted{
      .method = *entry, .options = options, .table = table, .columns = asks.columns};
  std::vector<Axis> axes = HistogramJob::axes_of(wanted);
  Questions questions = questions_of(asks, axes);
  wanted.options = with_ranges(options, questions);
  const auto job = std::make_shared<const HistogramJob>(std::move(wanted));
  OptionValues values(entry->about.options, job->options());
  Task task =
      task_of(job->method(),
              {entry, std::move(values), gauze::joined(asks.columns, ", ") + " of " + table.name,
               std::move(axes), std::move(questions), asks.non_negative, asks.whole, asked.wanted},
              [job](const Input& input, Context& context) {
                return job->read(std::get<std::reference_wrapper<Source>>(input), context);
              });
  task.words = nlohmann::json({{"algorithm", entry->about.name},
                               {"options", job->options()},
                               {"table", table.name},
                               {"columns", asks.columns}})
                   .dump();
  const bool owned = table.unit.kind == UnitSchema::Kind::kColumn;
  task.unit = owned ? table.unit.column : "row";
  task.notes = {
      {"counted", owned ? "at most " + many(job->rows_per_unit(), "row") + " of each " + task.unit
                        : "each row is a privacy unit of its own"}};
  task.check = [job](Source& source) -> std::vector<Note> {
    job->expect_columns(source);
    return {};
  };
  return task;
}

}  // namespace

InputKind points_kind() {
  using Kind = OptionSpec::Type;
  return {
      .name = "points",
      .tables = true,
      .asks = {{"columns", Kind::kWords, "what to count by, an axis each: age or lon,lat", "",
                "column,columns"},
               {"ranges", Kind::kTexts,
                "only the count of this range: 18:65, or 18:65,0:100 for two columns; times with "
                "two dots, 2024-01-01 08:00:00..2024-01-01 17:00:00; a category by name; may be "
                "given again",
                "[]", "range"},
               {"where", Kind::kTexts,
                "only the count of the cells for which this holds, in SQL: \"age >= 18 AND ward IN "
                "('north', 'south')\"; may be given again",
                "[]"},
               {"non_negative", Kind::kFlag,
                "no negative counts, with the same total; biases small counts upwards", "false"},
               {"whole", Kind::kFlag,
                "whole numbers besides, for every cell, or every box of a method for points",
                "false"}},
      .writes_table = true};
}

Task histogram_task(const std::shared_ptr<const HistogramEntry>& entry, const Asked& asked) {
  require(asked.confidence == 0.95,
          "confidence: must be 0.95 here, for counts state their own error");
  const Asks asks = asks_of(asked.asks);
  const nlohmann::json options = typed(asked.options);
  return asked.schema == nullptr ? on_counts(entry, asks, options, asked.wanted)
                                 : on_columns(entry, asks, options, asked);
}

}  // namespace gauze
