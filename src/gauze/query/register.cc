#include "gauze/query/register.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/numeric/decimal_text.h"
#include "gauze/query/plan.h"
#include "gauze/query/sql_query.h"
#include "gauze/registry/answer_json.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/wording.h"
#include "gauze/sql/parse.h"

namespace gauze {
namespace {

using Json = nlohmann::ordered_json;
using Kind = OptionSpec::Type;
using Wanted = Asked::Wanted;

/// Groups for which the error of an answer is foretold, by their rows.
constexpr std::array<std::uint64_t, 3> kForetold = {100, 1'000, 10'000};

/// "patient_id" of a unit described as "patient_id of visits"; "row" where each row is its own.
std::string unit_noun(const Plan& plan) {
  if (plan.unit_is_row) return "row";
  return plan.unit.substr(0, plan.unit.rfind(" of "));
}

/// What one unit may contribute: "at most 12 rows of each patient_id, in at most 6 groups, ..."
std::string bounds_text(const Plan& plan) {
  if (plan.unit_is_row) return "each row is a privacy unit of its own; nothing is left out";
  const Bounds& bounds = plan.bounds;
  const std::uint64_t groups = plan.keys.empty() ? 1 : bounds.groups_per_unit;
  const std::uint64_t rows = bounds.rows_per_group < bounds.rows_per_unit / groups
                                 ? groups * bounds.rows_per_group
                                 : bounds.rows_per_unit;
  std::string text = "at most " + many(rows, "row") + " of each " + unit_noun(plan);
  if (plan.keys.empty()) return text;
  text += ", in at most " + many(groups, "group");
  if (bounds.rows_per_group < rows)
    text += ", at most " + grouped(bounds.rows_per_group) + " in one";
  return text;
}

/// How far what is released will be off, 95 %: "± 12.3", of quantiles "± 40 ranks"; "-" where nobody knows.
std::string error_text(const MeasurementInfo& info) {
  if (info.rank_error)
    return half_width_text(std::ceil(*info.rank_error), Type::kInteger) + " ranks";
  return info.half_width ? half_width_text(*info.half_width, Type::kDouble) : "-";
}

bool keys_are_private(const Plan& plan) {
  return std::any_of(plan.keys.begin(), plan.keys.end(),
                     [](const KeyColumn& key) { return !key.domain; });
}

/// Per output column: its half width in groups of `kForetold` rows.
using Widths = std::vector<std::array<std::optional<double>, kForetold.size()>>;

Widths expected_widths(const SqlQuery& query) {
  Widths widths(query.plan().outputs.size());
  for (std::size_t i = 0; i < kForetold.size(); ++i) {
    const auto each = query.expected_half_widths(kForetold[i]);
    for (std::size_t column = 0; column < each.size(); ++column) widths[column][i] = each[column];
  }
  return widths;
}

/// Of the answers that are made of several measurements; what the others' is, stands with those.
Explanation::Table expected_table(const SqlQuery& query, const Widths& widths) {
  Explanation::Table table{{{"expected error, 95 %"}}, "lr"};
  for (const std::uint64_t count : kForetold)
    table.rows[0].push_back("with " + grouped(count) + " rows in a group");
  for (std::size_t column = 0; column < widths.size(); ++column) {
    if (!widths[column].front() || widths[column].front() == widths[column].back()) continue;
    const OutputColumn& output = query.plan().outputs[column];
    table.rows.push_back({output.name});
    for (const auto& width : widths[column])
      table.rows.back().push_back(width ? half_width_text(*width, output.type) : "-");
  }
  return table;
}

Json expected_json(const SqlQuery& query, const Widths& widths) {
  Json columns = Json::array();
  for (std::size_t column = 0; column < widths.size(); ++column) {
    for (std::size_t i = 0; i < kForetold.size(); ++i) {
      if (!widths[column][i]) continue;
      columns.push_back({{"column", query.plan().outputs[column].name},
                         {"rows", kForetold[i]},
                         {"half_width", finite(*widths[column][i])}});
    }
  }
  return columns;
}

Json measurements_json(const SqlQuery& query) {
  Json measurements = Json::array();
  for (const MeasurementInfo& each : query.measurements()) {
    measurements.push_back({{"of", each.of},
                            {"noise", each.noise},
                            {"sensitivity", each.sensitivity},
                            {"share", each.share},
                            {"half_width", each.half_width ? finite(*each.half_width) : Json()},
                            {"rank_error", each.rank_error ? finite(*each.rank_error) : Json()},
                            {"event", Json::parse(to_json(each.event).dump())}});
  }
  return measurements;
}

std::string unit_json(const Plan& plan) {
  return plan.unit_is_row ? "row" : plan.unit;
}

Json bounds_json(const Plan& plan) {
  return {{"rows_per_unit", plan.bounds.rows_per_unit},
          {"groups_per_unit", plan.bounds.groups_per_unit},
          {"rows_per_group", plan.bounds.rows_per_group}};
}

Explanation explanation_of(const SqlQuery& query) {
  const Plan& plan = query.plan();
  Explanation::Table moves{{{"released", "how far one privacy unit moves it"}}, "l"};
  Explanation::Table noise{{{"released", "noise", "share", "95 %"}}, "llrr"};
  for (const MeasurementInfo& each : query.measurements()) {
    moves.rows.push_back({each.of, each.sensitivity});
    noise.rows.push_back({each.of, each.noise, each.share, error_text(each)});
  }
  const Widths widths = expected_widths(query);
  Explanation::Table expected = expected_table(query, widths);
  Explanation result;
  result.parts = {describe(plan), std::move(moves), std::move(noise)};
  if (expected.rows.size() > 1) {
    result.parts.emplace_back(std::move(expected));
    result.parts.emplace_back(
        "It is supposed that values lie around the middle of their ranges, by a quarter of them, "
        "and are not correlated.");
  }
  if (!query.reason().empty()) result.notes.push_back({"noise", query.reason()});
  result.json = {{"sql", plan.sql},
                 {"dataset", plan.dataset},
                 {"plan", describe(plan)},
                 {"unit", unit_json(plan)},
                 {"bounds", bounds_json(plan)},
                 {"notes", Json::array()},
                 {"reason", query.reason()},
                 {"measurements", measurements_json(query)},
                 {"expected", expected_json(query, widths)}};
  return result;
}

Result result_of(const Plan& plan, Answer answer, Wanted wanted) {
  Result result;
  result.title = plan.dataset;
  Json columns = Json::array();
  for (const Answer::Column& column : answer.columns)
    columns.push_back({{"name", column.name}, {"type", name(column.type)}, {"key", column.is_key}});
  result.json["columns"] = std::move(columns);
  if (wanted == Wanted::kAll) {
    result.json["rows"] = rows_json(answer);
    result.figures.push_back({"", Figure::Bars{answer}});
  }
  result.json["dataset"] = plan.dataset;
  result.json["unit"] = unit_json(plan);
  result.json["bounds"] = bounds_json(plan);
  result.json["notes"] = Json::array();
  if (keys_are_private(plan))
    result.notes.push_back({"groups", "only those that enough privacy units share are named"});
  result.table = std::move(answer);
  return result;
}

std::vector<OptionSpec> question_options() {
  return {
      epsilon_option(),
      {"delta", Kind::kNumber, "from 0 to below 1; above 0 where groups have no public list", "0"},
      {"rows_per_unit", Kind::kWhole,
       "at most so many rows of a privacy unit; 0: as the schema says", "0"},
      {"groups_per_unit", Kind::kWhole, "in at most so many groups; 0: as the schema says", "0"},
      {"rows_per_group", Kind::kWhole, "and at most so many in one group; 0: as the schema says",
       "0"},
      {"memory", Kind::kText,
       "for rows that wait, like 4G, then they are spilled; 0: a quarter of the machine's", "0"},
      {"threads", Kind::kWhole, "at most so many threads; 0: all cores", "0"},
      {"accept_weak", Kind::kFlag, "allow an epsilon of 10 or more", "false"},
  };
}

InputKind question_kind() {
  return {.name = "sql",
          .plain = InputKind::Plain::kNone,
          .tables = true,
          .asks = {{"sql", Kind::kText, "the question: SELECT ...", ""}},
          .has_command = true,
          .writes_table = true};
}

PlanOptions bounds_of(const OptionValues& values) {
  const auto limit = [&](const char* option) -> std::optional<std::uint64_t> {
    const std::uint64_t count = values.whole(option);
    return count == 0 ? std::nullopt : std::optional(count);
  };
  return {.rows_per_unit = limit("rows_per_unit"),
          .groups_per_unit = limit("groups_per_unit"),
          .rows_per_group = limit("rows_per_group")};
}

/// Plans and proves; nothing is read.
SqlQuery query_of(const OptionValues& values, const std::string& sql, const Schema& schema) {
  const Ratio epsilon = values.number("epsilon");
  const Ratio delta = values.number("delta");
  require(epsilon > 0, "epsilon: must be above 0, like 0.5");
  require(delta >= 0 && delta < 1, "delta: must be from 0 to below 1, like 1e-6");
  const PlanOptions bounds = bounds_of(values);
  const std::uint64_t memory = values.bytes("memory");
  const unsigned threads = values.threads("threads");
  Plan plan = plan_query(sql, schema, bounds);
  std::vector<Answer::Column> columns;
  for (const OutputColumn& each : plan.outputs)
    columns.push_back({each.name, each.type, each.is_key});
  refuse_equal_names(columns);
  return SqlQuery({.plan = std::move(plan),
                   .epsilon = epsilon,
                   .delta = delta,
                   .memory = memory,
                   .threads = threads});
}

Task question_task(const Asked& asked) {
  require(asked.schema != nullptr, "sql: is about tables; say which with --data");
  require(asked.confidence == 0.95,
          "confidence: must be 0.95 here, for cells state their own error");
  const std::string sql = OptionValues(question_kind().asks, asked.asks).text("sql");
  const OptionValues values(question_options(), asked.options);
  const auto query = std::make_shared<const SqlQuery>(query_of(values, sql, *asked.schema));
  const Plan& plan = query->plan();
  Task task;
  task.event = query->event();
  task.accuracy = [](std::uint64_t, double) { return std::optional<Accuracy>(); };
  task.read = [query, wanted = asked.wanted](const Input& input, Context&) -> Task::Draw {
    Source& source = std::get<std::reference_wrapper<Source>>(input);
    return [query, wanted, &source](Context& context) -> Release<Result> {
      Release<Answer> answer = query->run(source, context);
      return {result_of(query->plan(), std::move(answer.value), wanted), std::move(answer.accuracy),
              std::move(answer.spent)};
    };
  };
  task.tells_drawing = true;
  task.words = plan.sql;
  task.check = [query](Source& source) {
    std::vector<Note> notes;
    for (std::string& each : read_otherwise(query->plan(), source))
      notes.push_back({"read", std::move(each)});
    return notes;
  };
  task.explain = [query] { return explanation_of(*query); };
  task.unit = unit_noun(plan);
  task.notes = {{"counted", bounds_text(plan)}};
  task.explain_only = is_explain(sql);
  return task;
}

}  // namespace

std::vector<Family> query_families() {
  return {{"Questions in SQL",
           {{.name = "sql",
             .summary = "A question in SQL about private tables, answered with error bars",
             .input = "tables of a schema, of which at least one is private",
             .guarantee = "(epsilon, delta) for one privacy unit of the schema more or less; pure "
                          "where delta is 0.",
             .accuracy = "Every number states its own; `gauze sql --explain` foretells it.",
             .cost = "Time proportional to the rows; memory bounded by an option.",
             .source = "Wilson and others (2020); Johnson, Near and Song (2018).",
             .document = "src/gauze/query/sql_query.md",
             .example = "gauze sql \"SELECT ward, COUNT(*) FROM visits GROUP BY ward\" --data "
                        "hospital --epsilon 1",
             .options = question_options(),
             .kind = question_kind(),
             .make = question_task}}}};
}

}  // namespace gauze
