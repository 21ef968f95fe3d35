#include "histogram_release.h"

#include <cmath>

#include "chart.h"
#include "column_release.h"
#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/engine/column_job.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/release.h"
#include "gauze/histogram/cell_condition.h"
#include "gauze/random/system_bits.h"
#include "histogram_view.h"
#include "html.h"
#include "numbers.h"
#include "page.h"
#include "progress.h"

namespace gauze::cli {
namespace {

constexpr std::size_t kMostBars = 32;

/// What was released, of whom, and what is left.
struct Released {
  std::string title;
  std::string unit;     ///< "patient_id"
  std::string counted;  ///< "at most 12 rows of each patient_id"
  Guarantee cost;
  Event spent;
  HistogramView view;
  Questions asked;
  std::string left = {};    ///< "" where nobody knows
  std::string ledger = {};  ///< "" where nobody keeps count
};

std::string rows_text(std::uint64_t rows) {
  return grouped(rows) + (rows == 1 ? " row" : " rows");
}

/// Counts in a file, by the rules of a histogram job.
struct CountsJob {
  HistogramMethod method;
  Shape shape;

  Event event() const { return method.event; }
  Release<RangeHistogram> run(const Rows& rows, Context& context) const {
    return method.run(points_of(shape, rows.integer_vector()), context);
  }
};

/// Cells of a file have numbers only.
Axis numbered(std::uint32_t cells, std::size_t axis, std::size_t axes) {
  ColumnSchema column;
  column.name = axes == 1 ? "cell" : "cell_" + std::to_string(axis + 1);
  column.domain.type = Type::kInteger;
  column.domain.lower = std::int64_t{0};
  column.domain.upper = std::int64_t{cells} - 1;
  return Axis(column, cells);
}

HistogramView view_of(const HistogramRequest& request, std::vector<Axis> axes,
                      RangeHistogram released) {
  // A method on points has boxes, in a domain that may be too large for a number in every cell.
  const bool points = find_algorithm(request.algorithm).points;
  RangeHistogram values = request.whole ? (points ? released.whole_leaves() : released.whole())
                          : request.non_negative ? released.non_negative()
                                                 : released;
  return {std::move(axes), std::move(released), std::move(values), points, request.whole};
}

/// What can be refused is refused before anything is paid.
Questions questions_of(const HistogramRequest& request, const std::vector<Axis>& axes) {
  Questions questions;
  for (const std::string& range : request.ranges) {
    questions.ranges.push_back(parse_range(axes, range));
    if (is_widened(axes, range))
      questions.widened.push_back("'" + range + "' was widened to " +
                                  label_of(axes, questions.ranges.back()) +
                                  ": cells are counted whole");
  }
  for (const std::string& condition : request.where)
    questions.where.emplace_back(condition, cells_where(axes, condition));
  return questions;
}

/// The options with the ranges that are asked, for methods that measure what suits them.
std::map<std::string, std::string> told(const HistogramRequest& request,
                                        const Questions& questions) {
  std::map<std::string, std::string> options = request.options;
  const auto workload = options.find("workload");
  if (workload == options.end() || workload->second != "asked" || options.contains("asked"))
    return options;
  require(questions.where.empty(), "workload: asked means --range; --where goes with any other");
  require(!questions.ranges.empty(),
          "workload: asked needs what will be asked; say it with --range, as often as you like");
  std::string& ends = options["asked"];
  for (const Box& box : questions.ranges)
    for (std::size_t axis = 0; axis < box.begin.size(); ++axis)
      ends.append(ends.empty() ? "" : ",")
          .append(std::to_string(box.begin[axis]) + "," + std::to_string(box.end[axis] - 1));
  return options;
}

Released release_counts(const HistogramRequest& request) {
  check_files(request.files, [&](const std::string& path) {
    return request.file != "-" && same_file(path, request.file);
  });
  const Algorithm& algorithm = find_algorithm(request.algorithm);
  OptionValues values(algorithm.options, request.options);
  CountsJob job;
  std::vector<Axis> axes;
  const std::vector<std::uint64_t> cells = values.wholes("cells");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    require(cells[i] >= 1 && cells[i] <= 1u << 31,
            "cells: must be how many counts the file holds along each axis, like 100 or 256,256");
    job.shape.extents.push_back(static_cast<std::uint32_t>(cells[i]));
    axes.push_back(numbered(job.shape.extents.back(), i, cells.size()));
  }
  Questions asked = questions_of(request, axes);
  values = OptionValues(algorithm.options, told(request, asked));
  job.method = algorithm.histogram(values, job.shape);
  const Guarantee cost = price_of(job.event(), request.quote_delta);
  refuse_weak(cost.epsilon, cost.delta, request.accept_weak);
  const Rows rows = Rows::parse(read_all(request.file), request.choice);
  SystemBits bits;
  outlive_readers();
  auto answer = release(job, rows, bits);
  return {"Counts of " + request.file,
          "person",
          "at most " + rows_text(values.whole("rows_per_unit")) +
              " of a person, if the counts were made so",
          cost,
          answer.spent,
          view_of(request, std::move(axes), std::move(answer.value)),
          std::move(asked)};
}

/// `progress` lives on: until the answer is handed out signals do not lose it.
Released release_columns(const HistogramRequest& request, std::optional<Progress>& progress) {
  DataOptions data = request.data;
  if (const auto rows = request.options.find("rows_per_unit"); rows != request.options.end())
    data.rows_per_unit = rows->second;
  Desk desk(data);
  check_files(request.files, [&](const std::string& path) { return desk.reads(path); });
  const TableSchema& table = private_table(desk.schema(), request.table);
  HistogramJob::Options options{.algorithm = request.algorithm,
                                .options = request.options,
                                .table = table,
                                .columns = request.columns,
                                .progress = until_drawn(progress, desk.ledger() != nullptr)};
  Questions asked = questions_of(request, HistogramJob::axes_of(options));
  options.options = told(request, asked);
  const HistogramJob job(std::move(options));
  const Guarantee cost = price_of(job.event(), request.quote_delta);
  refuse_weak(cost.epsilon, cost.delta, request.accept_weak);
  job.expect_columns(desk.source());
  const nlohmann::json text = {{"algorithm", request.algorithm},
                               {"options", job.options()},
                               {"table", table.name},
                               {"columns", request.columns}};
  SystemBits bits;
  outlive_readers();
  progress.emplace();
  auto answer = desk.ledger() == nullptr
                    ? release(job, desk.source(), bits)
                    : release(
                          request_for(desk, text, cost), job,
                          [&]() -> Source& { return desk.source(); }, *desk.ledger(), bits);
  const std::string unit = table.unit.kind == UnitSchema::Kind::kColumn ? table.unit.column : "row";
  std::string columns;
  for (const std::string& column : request.columns)
    columns.append(columns.empty() ? "" : ", ").append(column);
  Released released{
      columns + " of " + table.name,
      unit,
      unit == "row" ? "each row is a privacy unit of its own"
                    : "at most " + rows_text(job.rows_per_unit()) + " of each " + unit,
      cost,
      answer.spent,
      view_of(request, std::move(answer.value.axes), std::move(answer.value.histogram)),
      std::move(asked)};
  released.ledger = shown_address(desk.ledger_path());
  if (const std::optional<Budget> left = desk.left_after()) released.left = budget_text(*left);
  return released;
}

/// What was released in all: the value as it is shown, the error bar of what was measured.
RangeEstimate total_of(const HistogramView& view) {
  RangeEstimate total = view.released.total();
  total.value = view.values.total().value;
  return total;
}

/// What error bars leave out.
std::string left_out(const HistogramRequest& request, const std::string& note) {
  const std::string& algorithm = request.algorithm;
  const auto workload = request.options.find("workload");
  const bool by_strategy =
      workload != request.options.end() && (algorithm == "hdmm" || note.starts_with("strategy"));
  if (by_strategy && workload->second == "marginals")
    return "what spreading tables evenly over their cells adds is not in it";
  if (by_strategy && workload->second == "asked")
    return "cells that no question tells apart are spread evenly, which is not in it";
  if (algorithm == "fourier_histogram")
    return note.ends_with("dropped") ? "what the dropped frequencies held is not in it" : "";
  if (algorithm == "auto_histogram" && note.find("taken out") != std::string::npos)
    return "rows that were taken for noise are not in it";
  if (algorithm == "auto_histogram" && note.starts_with("flat")) return "";
  if (algorithm == "mwem") return "what no round has measured is not in it";
  if (algorithm == "sparse_histogram") return "rows of cells that are not named are not in it";
  for (const char* unbiased : {"flat_histogram", "hierarchical_histogram", "wavelet_histogram",
                               "hdmm", "matrix_mechanism"})
    if (algorithm == unbiased) return "";
  return "what spreading a box evenly adds is not in it";
}

std::string error_text(const HistogramRequest& request, const Released& released) {
  const std::string missing = left_out(request, released.view.released.note());
  return "± holds the noise 19 times in 20" + (missing.empty() ? "" : "; " + missing);
}

/// "flat_histogram", and where the method says more of itself "auto_histogram: dawa, because ...".
std::string method_text(const HistogramRequest& request, const Released& released) {
  const std::string& note = released.view.released.note();
  return request.algorithm + (note.empty() ? "" : ": " + note);
}

void print_text(const HistogramRequest& request, const Released& released) {
  const HistogramView& view = released.view;
  const std::size_t width = terminal_width();
  if (!released.asked.empty()) {
    print(bars_text(answers_to(view, released.asked), width));
  } else if (view.axes.size() == 2 && view.axes[0].is_ordered() && view.axes[1].is_ordered() &&
             view.axes[0].cells() > 4 && view.axes[1].cells() > 4) {
    print(heat_text(view, width));
  } else {
    print(bars_text(summary_of(view, kMostBars), width));
  }
  const RangeEstimate total = total_of(view);
  const std::uint64_t parts = view.leaves ? view.boxes().size() : view.released.shape().cells();
  print_line();
  print_line("  in all     " +
             shown(value_text({total.value, total.half_width}, Type::kDouble) + " " +
                   half_width_text({total.value, total.half_width})) +
             " in " + grouped(parts) +
             (view.leaves ? (parts == 1 ? " box" : " boxes") : (parts == 1 ? " cell" : " cells")));
  if (!view.released.note().empty()) print_line("  method     " + view.released.note());
  for (const std::string& note : released.asked.widened) print_line("  range      " + shown(note));
  print_line("  error      " + shown(error_text(request, released)));
  print_line("  cost       " + shown("ε = ") + upward(released.cost.epsilon) +
             (released.cost.delta > 0 ? shown(", δ = ") + upward(released.cost.delta) : "") +
             " for one " + released.unit + " more or less: " +
             std::string(verdict(band(released.cost.epsilon, released.cost.delta))));
  print_line("  counted    " + released.counted);
  if (!released.left.empty())
    print_line("  left       " + shown(released.left) + " in " + released.ledger);
}

Json as_json(const HistogramRequest& request, const Released& released) {
  const RangeEstimate total = total_of(released.view);
  Json json = {
      {"method", {{"algorithm", request.algorithm}, {"note", released.view.released.note()}}},
      {"total",
       {{"n", total.value},
        {"n_half_width", finite(total.half_width)},
        {"n_variance", finite(total.variance)}}},
      {"cost", {{"epsilon", finite(released.cost.epsilon)}, {"delta", released.cost.delta}}},
      {"unit", released.unit},
      {"spent", Json::parse(to_json(released.spent).dump())}};
  const Questions& asked = released.asked;
  const HistogramView& view = released.view;
  if (asked.empty()) json["rows"] = rows_json(rows_of(view));
  if (!asked.ranges.empty()) json["ranges"] = rows_json(answers_to(view, {asked.ranges, {}, {}}));
  for (std::size_t i = 0; i < asked.ranges.size(); ++i)
    json["ranges"][i][row_names(view.axes).count + "_variance"] =
        finite(view.released.range(asked.ranges[i]).variance);
  for (const auto& [condition, weights] : asked.where) {
    const RangeEstimate estimate = view.released.weighted(weights);
    json["where"].push_back({{"condition", condition},
                             {"n", view.values.weighted(weights).value},
                             {"n_half_width", finite(estimate.half_width)},
                             {"n_variance", finite(estimate.variance)}});
  }
  if (!asked.widened.empty()) json["notes"] = asked.widened;
  return json;
}

std::string report_of(const HistogramRequest& request, const Released& released) {
  const HistogramView& view = released.view;
  std::string body = element("h1", "", "A private histogram: " + escaped(released.title)) + "\n" +
                     cost_cards(released.cost.epsilon, released.cost.delta, released.left);
  if (view.axes.size() == 2 && view.axes[0].is_ordered() && view.axes[1].is_ordered()) {
    body += heat_svg(view);
    body += element("h2", "", "Coarsely") + "\n" + charts(summary_of(view, 36));
  } else {
    body += charts(summary_of(view, 48));
  }
  if (!released.asked.empty())
    body += element("h2", "", "Asked") + "\n" + charts(answers_to(view, released.asked));
  for (const std::string& note : released.asked.widened)
    body += element("p", "class=\"note\"", escaped(note) + ".") + "\n";
  body += element("h2", "", "What this means for a person") + "\n" +
          meaning_text(released.cost.epsilon, released.cost.delta, released.unit);
  body += element("h2", "", "How it was made") + "\n" +
          element("p", "",
                  "Method: " + escaped(method_text(request, released)) +
                      ". Counted: " + escaped(released.counted) + ". Released by " +
                      escaped(describe(released.spent)) +
                      ". Error: " + escaped(error_text(request, released)) + ".") +
          "\n";
  return page("A private histogram: " + released.title, body,
              std::string(chart_style()) + std::string(heat_style()));
}

}  // namespace

void release_histogram(const HistogramRequest& request) {
  if (request.data.data.empty()) expect_plain_values(request.data, request.table, request.file);
  std::optional<Progress> progress;
  const Released released =
      request.data.data.empty() ? release_counts(request) : release_columns(request, progress);
  hand_over(!released.ledger.empty(), [&] {
    if (request.json)
      print_json(as_json(request, released));
    else
      print_text(request, released);
    const HistogramView& view = released.view;
    if (!request.files.output.empty()) write_answer(rows_of(view), request.files.output);
    if (!request.files.report.empty())
      write_all(request.files.report, report_of(request, released));
    for (const std::string& each : {request.files.output, request.files.report})
      if (!request.json && !each.empty()) print_line("  written    " + each);
  });
}

}  // namespace gauze::cli
