#include "question.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "answer_text.h"
#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/release.h"
#include "gauze/query/parse.h"
#include "gauze/random/system_bits.h"
#include "numbers.h"
#include "progress.h"

namespace gauze::cli {
namespace {

bool keys_are_private(const Plan& plan) {
  return std::any_of(plan.keys.begin(), plan.keys.end(),
                     [](const KeyColumn& key) { return !key.domain; });
}

bool is_rho(const Budget& budget) {
  return budget.currency == Budget::Currency::kZcdp;
}

void print_field(const char* name, const std::string& text) {
  const std::string label(name);
  std::string wrapped =
      wrap(shown(text), "            ", std::min<std::size_t>(terminal_width(), 100));
  wrapped.replace(2, label.size(), label);
  print(wrapped);
}

void print_cost(const Quote& quote) {
  const Plan& plan = quote.query.plan();
  print_field("cost", (is_rho(quote.price) ? cost_text(quote.epsilon, quote.delta)
                                           : price_text(quote.price)) +
                          " for one " + unit_noun(plan) + " more or less: " +
                          std::string(verdict(band(
                              round_up(quote.epsilon),
                              round_up(is_rho(quote.price) ? quote.delta : quote.price.delta)))));
  if (is_rho(quote.price)) print_field("charged", price_text(quote.price));
}

void print_counted(const Quote& quote) {
  print_field("counted", bounds_text(quote.query.plan()));
}

void print_notes(const Quote& quote) {
  for (const std::string& note : quote.notes) print_field("read", note);
}

/// Groups for which the error of an answer is foretold.
constexpr std::array<std::uint64_t, 3> kForetold = {100, 1'000, 10'000};

/// Per output column: its half width in groups of `kForetold` rows.
std::vector<std::array<std::optional<double>, kForetold.size()>> expected(const SqlQuery& query) {
  std::vector<std::array<std::optional<double>, kForetold.size()>> widths(
      query.plan().outputs.size());
  for (std::size_t i = 0; i < kForetold.size(); ++i) {
    const auto each = query.expected_half_widths(kForetold[i]);
    for (std::size_t column = 0; column < each.size(); ++column) widths[column][i] = each[column];
  }
  return widths;
}

/// Of the answers that are made of several measurements; what the others' is, stands with those.
void print_expected(const SqlQuery& query) {
  std::vector<std::vector<std::string>> rows = {{"expected error, 95 %"}};
  for (const std::uint64_t count : kForetold)
    rows[0].push_back("with " + grouped(count) + " rows in a group");
  const auto widths = expected(query);
  for (std::size_t column = 0; column < widths.size(); ++column) {
    if (!widths[column].front() || widths[column].front() == widths[column].back()) continue;
    const OutputColumn& output = query.plan().outputs[column];
    rows.push_back({shown(output.name)});
    for (const auto& width : widths[column])
      rows.back().push_back(width ? shown(half_width_text(*width, output.type)) : "-");
  }
  if (rows.size() == 1) return;
  print(table(rows, "  ", "lr"));
  print(
      wrap("It is supposed that values lie around the middle of their ranges, by a quarter of "
           "them, and are not correlated.",
           "  ", std::min<std::size_t>(terminal_width(), 100)));
  print_line();
}

Json expected_json(const SqlQuery& query) {
  Json columns = Json::array();
  const auto widths = expected(query);
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

Json value_json(const Value& value) {
  if (const auto* x = std::get_if<bool>(&value)) return *x;
  if (const auto* x = std::get_if<std::int64_t>(&value)) return *x;
  if (const auto* x = std::get_if<double>(&value)) return finite(*x);
  if (const auto* x = std::get_if<Ratio>(&value)) return finite(x->convert_to<double>());
  if (std::holds_alternative<std::monostate>(value)) return nullptr;
  return to_text(value);
}

Json budget_json(const Budget& budget) {
  return {{is_rho(budget) ? "rho" : "epsilon", decimal(budget.amount, round_down)},
          {"delta", decimal(budget.delta, round_down)}};
}

/// The guarantee, and beside it what a budget in rho is charged.
Json cost_json(const Quote& quote) {
  const Ratio& delta = is_rho(quote.price) ? quote.delta : quote.price.delta;
  Json cost = {{"epsilon", decimal(quote.epsilon, round_up)}, {"delta", decimal(delta, round_up)}};
  if (is_rho(quote.price)) cost["rho"] = decimal(quote.price.amount, round_up);
  return cost;
}

}  // namespace

Json rows_json(const Answer& answer) {
  Json rows = Json::array();
  for (const auto& row : answer.rows) {
    Json cells = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& name = answer.columns[i].name;
      cells[name] = value_json(row[i].value);
      if (row[i].half_width) cells[half_width_name(name)] = finite(*row[i].half_width);
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

Terms terms_of(const OptionValues& values) {
  const auto limit = [&](const char* option) -> std::optional<std::uint64_t> {
    const std::uint64_t count = values.whole(option);
    return count == 0 ? std::nullopt : std::optional(count);
  };
  Terms terms;
  terms.epsilon = values.number("epsilon");
  terms.delta = values.number("delta");
  require(terms.epsilon > 0, "epsilon: must be above 0, like 0.5");
  require(terms.delta >= 0 && terms.delta < 1, "delta: must be from 0 to below 1, like 1e-6");
  terms.accept_weak = values.flag("accept_weak");
  terms.bounds = {.rows_per_unit = limit("rows_per_unit"),
                  .groups_per_unit = limit("groups_per_unit"),
                  .rows_per_group = limit("rows_per_group")};
  terms.memory = bytes(values.text("memory"), "memory");
  terms.threads = thread_count(values.text("threads"));
  return terms;
}

Quote quote(Workspace& workspace, const std::string& sql, const Terms& terms) {
  refuse_weak(round_up(terms.epsilon), round_up(terms.delta), terms.accept_weak);
  Plan plan = plan_query(sql, workspace.schema(), terms.bounds);
  std::vector<Answer::Column> columns;
  for (const OutputColumn& each : plan.outputs)
    columns.push_back({each.name, each.type, each.is_key});
  refuse_equal_names(columns);
  // What the catalogue alone can refuse is refused before anything is paid.
  std::vector<std::string> notes = read_otherwise(plan, workspace.source());
  auto watch = std::make_shared<std::function<void(double)>>();
  SqlQuery query({.plan = std::move(plan),
                  .epsilon = terms.epsilon,
                  .delta = terms.delta,
                  .memory = terms.memory,
                  .threads = terms.threads,
                  .progress = [watch](double done) {
                    if (*watch) (*watch)(done);
                  }});
  Quote result{.query = std::move(query),
               .epsilon = terms.epsilon,
               .delta = terms.delta,
               .price = Budget::approximate(terms.epsilon, terms.delta),
               .explain_only = is_explain(sql),
               .watch = std::move(watch),
               .notes = std::move(notes)};
  const Event event = result.query.event();
  const Request request = workspace.request(sql, terms.epsilon, terms.delta);
  if (const auto basic = Budget::basic_price(event); basic && result.price.covers(*basic))
    result.price = *basic;
  if (workspace.ledger() == nullptr) return result;
  // What is wrong with the budget is said when the question is asked: explaining it needs none.
  try {
    result.price = workspace.ledger()->price(request, event);
    result.left = workspace.left();
    result.ledger = shown_address(workspace.ledger_path());
  } catch (const Error&) {
  }
  return result;
}

Answered ask(Workspace& workspace, Quote quote) {
  outlive_readers();
  Progress progress;
  *quote.watch = [&progress](double done) { progress.show(done); };
  SystemBits bits;
  const auto open = [&]() -> Source& { return workspace.source(); };
  const Request request = workspace.request(quote.query.plan().sql, quote.epsilon, quote.delta);
  Release<Answer> answer = workspace.ledger() != nullptr
                               ? release(request, quote.query, open, *workspace.ledger(), bits)
                               : release(quote.query, workspace.source(), bits);
  *quote.watch = nullptr;
  return {std::move(quote), std::move(answer.value), workspace.left_after(),
          shown_address(workspace.ledger_path())};
}

void print_answer(const Answered& answered) {
  const Plan& plan = answered.quote.query.plan();
  print(answer_text(answered.answer, terminal_width(), terminal_rows()));
  print_line();
  print_cost(answered.quote);
  print_counted(answered.quote);
  print_notes(answered.quote);
  if (keys_are_private(plan))
    print_field("groups", "only those that enough privacy units share are named");
  print_field("left", answered.left ? budget_text(*answered.left) + " in " + answered.ledger
                      : answered.ledger.empty()
                          ? "nobody keeps count; `gauze ledger init` sets a budget"
                          : "unknown: " + answered.ledger + " does not answer; this is paid for");
}

void print_quote(const Quote& quote) {
  const SqlQuery& query = quote.query;
  print(shown(describe(query.plan())));
  print_line();
  std::vector<std::vector<std::string>> noise = {{"released", "noise", "share", "95 %"}};
  std::vector<std::vector<std::string>> moves = {{"released", "how far one privacy unit moves it"}};
  for (const MeasurementInfo& each : query.measurements()) {
    noise.push_back({shown(each.of), shown(each.noise), each.share, shown(error_text(each))});
    moves.push_back({shown(each.of), shown(each.sensitivity)});
  }
  print(table(moves, "  ", "l"));
  print_line();
  print(table(noise, "  ", "llrr"));
  print_line();
  print_expected(query);
  if (!query.reason().empty()) print_field("noise", query.reason());
  print_cost(quote);
  print_counted(quote);
  print_notes(quote);
  if (quote.left)
    print_field("left", budget_text(*quote.left) + " in " + quote.ledger +
                            (quote.left->covers(quote.price) ? "" : ": too little for this"));
  print_line("  Nothing was read and nothing was spent.");
}

Json as_json(const Quote& quote) {
  const SqlQuery& query = quote.query;
  const Plan& plan = query.plan();
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
  return {{"sql", plan.sql},
          {"dataset", plan.dataset},
          {"plan", describe(plan)},
          {"unit", plan.unit_is_row ? "row" : plan.unit},
          {"bounds",
           {{"rows_per_unit", plan.bounds.rows_per_unit},
            {"groups_per_unit", plan.bounds.groups_per_unit},
            {"rows_per_group", plan.bounds.rows_per_group}}},
          {"cost", cost_json(quote)},
          {"notes", quote.notes},
          {"reason", query.reason()},
          {"measurements", measurements},
          {"expected", expected_json(query)}};
}

Json as_json(const Answered& answered) {
  const Answer& answer = answered.answer;
  Json columns = Json::array();
  for (const Answer::Column& column : answer.columns)
    columns.push_back({{"name", column.name}, {"type", name(column.type)}, {"key", column.is_key}});
  Json result = {{"columns", columns}, {"rows", rows_json(answer)}};
  const Json about = as_json(answered.quote);
  for (const char* field : {"cost", "dataset", "unit", "bounds", "notes"})
    result[field] = about[field];
  if (answered.left) result["left"] = budget_json(*answered.left);
  return result;
}

}  // namespace gauze::cli
