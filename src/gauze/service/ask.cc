#include "gauze/service/ask.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/release.h"
#include "gauze/registry/entries.h"
#include "gauze/service/digest.h"
#include "gauze/service/workspace.h"

namespace gauze::service {
namespace {

bool has(const std::vector<OptionSpec>& table, std::string_view name) {
  return std::any_of(table.begin(), table.end(),
                     [&](const OptionSpec& each) { return each.name == name; });
}

/// The task with a watch, in the shape that the door takes.
struct Watched {
  const Task& task;
  const Watch& watch;

  Event event() const { return task.event; }
  Release<Result> run(const Input& input, Context& context) const {
    Context watched{context.meter, context.bits, &watch};
    return task.run(input, watched);
  }
};

/// The options of a question, each where it belongs.
struct Parts {
  nlohmann::json options = nlohmann::json::object();
  nlohmann::json asks = nlohmann::json::object();
  nlohmann::json common = nlohmann::json::object();
};

Parts parts_of(const Algorithm& algorithm, const nlohmann::json& given) {
  if (!given.is_object())
    throw Error(ErrorCode::kInvalidInput, "options must be an object like {\"epsilon\": 0.5}");
  const auto common = common_options(algorithm);
  Parts parts;
  for (const auto& [name, value] : given.items()) {
    const bool own = has(algorithm.options, name);
    const bool asked = !own && has(algorithm.kind.asks, name);
    // What nobody knows is refused with the algorithm's own options.
    (asked ? parts.asks : !own && has(common, name) ? parts.common : parts.options)[name] = value;
  }
  return parts;
}

/// One option alone: on tables the schema may know others that are not given.
std::optional<OptionValues> value_of(const std::vector<OptionSpec>& table,
                                     const nlohmann::json& given, const char* name) {
  const auto spec = std::find_if(table.begin(), table.end(),
                                 [&](const OptionSpec& each) { return each.name == name; });
  if (spec == table.end() || (!given.contains(name) && spec->required())) return std::nullopt;
  nlohmann::json one = nlohmann::json::object();
  if (given.contains(name)) one[name] = given.at(name);
  return OptionValues({*spec}, one);
}

/// What names the price, where the algorithm calls it so.
Named named_in(const Algorithm& algorithm, const Parts& parts, const OptionValues& common) {
  Named named;
  if (const auto own = value_of(algorithm.options, parts.options, "epsilon"))
    named.epsilon = own->number("epsilon");
  if (parts.options.contains("delta"))
    if (const auto own = value_of(algorithm.options, parts.options, "delta"))
      named.delta = own->number("delta");
  if (parts.common.contains("quote_delta")) named.quote_delta = common.number("quote_delta");
  return named;
}

bool accepts_weak(const Algorithm& algorithm, const Parts& parts, const OptionValues& common) {
  const auto own = value_of(algorithm.options, parts.options, "accept_weak");
  return own ? own->flag("accept_weak") : common.flag("accept_weak");
}

void refuse_weak_guarantee(const Cost& cost, const Named& named, bool accept_weak) {
  refuse_weak(cost.epsilon, cost.delta, accept_weak);
  refuse_weak(round_up(named.epsilon.value_or(0)), round_up(named.delta.value_or(0)), accept_weak);
}

struct Priced {
  Quote quote;
  Named named;
};

Priced priced(const Registry& registry, const Question& question, const Schema* schema) {
  const Algorithm& algorithm = registry.find(question.algorithm);
  const Parts parts = parts_of(algorithm, question.options);
  const OptionValues common(common_options(algorithm), parts.common);
  Quote quote{.algorithm = &algorithm, .task = {}, .cost = {}};
  if (has(common_options(algorithm), "confidence")) {
    quote.confidence = common.real("confidence");
    require(quote.confidence > 0 && quote.confidence < 1,
            "--confidence: must lie strictly between 0 and 1");
  }
  require(
      !has(common_options(algorithm), "rows_per_unit") || common.whole("rows_per_unit") == 1,
      "--rows-per-unit: is 1 here, for one row of each unit takes part; histograms and SQL take "
      "more");
  quote.task = algorithm.make({.options = parts.options,
                               .asks = parts.asks,
                               .schema = schema,
                               .table = question.table,
                               .confidence = quote.confidence,
                               .wanted = question.wanted});
  Named named = named_in(algorithm, parts, common);
  quote.cost = cost_of(quote.task.event, named);
  refuse_weak_guarantee(quote.cost, named, accepts_weak(algorithm, parts, common));
  require(quote.confidence == 0.95 || !quote.task.accuracy ||
              quote.task.accuracy(1, quote.confidence).has_value(),
          "--confidence: must be 0.95 here, for the error bar comes with the noisy count");
  const std::string dataset = schema == nullptr ? "" : schema->dataset;
  quote.dataset = dataset;
  quote.digest = digest_of(nlohmann::json{
      {"dataset", dataset},
      {"algorithm", algorithm.name},
      {"options", parts.options},
      {"asks", parts.asks},
      {"table",
       question.table}}.dump());
  return {std::move(quote), std::move(named)};
}

}  // namespace

std::vector<OptionSpec> common_options(const Algorithm& algorithm) {
  std::vector<OptionSpec> common;
  const auto add = [&](bool applies, OptionSpec option) {
    if (applies && !has(algorithm.options, option.name) && !has(algorithm.kind.asks, option.name))
      common.push_back(std::move(option));
  };
  add(algorithm.kind.one_row, {"rows_per_unit", OptionSpec::Type::kWhole,
                               "1 and no other: of each privacy unit one row takes part", "1"});
  add(!algorithm.kind.writes_table,
      {"confidence", OptionSpec::Type::kNumber, "of the error bar", "0.95"});
  add(true, {"quote_delta", OptionSpec::Type::kNumber,
             "at which the cost is quoted when there is no pure guarantee",
             "that of the release, or 1e-6"});
  add(true, {"accept_weak", OptionSpec::Type::kFlag,
             "allow a cost of epsilon 10 or more, or delta 0.01", "false"});
  return common;
}

std::vector<OptionSpec> all_options(const Algorithm& algorithm) {
  std::vector<OptionSpec> all = algorithm.options;
  for (const OptionSpec& each : algorithm.kind.asks) all.push_back(each);
  for (OptionSpec& each : common_options(algorithm)) all.push_back(std::move(each));
  return all;
}

Quote quote(const Registry& registry, Workspace& workspace, const Question& question) {
  expect_form_for_tables(registry.find(question.algorithm));
  auto [quote, named] = priced(registry, question, &workspace.schema());
  if (quote.task.check) quote.notes = quote.task.check(workspace.source());
  const Budget asked = asked_at(quote.cost, named);
  quote.request = workspace.request(quote.task.words, asked.amount, asked.delta);
  if (workspace.ledger() == nullptr) return std::move(quote);
  quote.ledger = shown_address(workspace.ledger_path());
  // What is wrong with the budget is said when the question is asked: explaining it needs none.
  try {
    quote.cost.price = workspace.ledger()->price(quote.request, quote.task.event);
    quote.left = workspace.left();
  } catch (const Error&) {
  }
  return std::move(quote);
}

Quote quote(const Registry& registry, const Question& question) {
  const Algorithm& algorithm = registry.find(question.algorithm);
  require(algorithm.kind.plain != InputKind::Plain::kNone,
          "--data: is missing; it says where the rows are, like people.csv");
  return priced(registry, question, nullptr).quote;
}

Outcome ask(Workspace& workspace, Quote quote, BitSource& bits, const Watch& watch) {
  const Watched task{quote.task, watch};
  // Behind the reservation: nothing is read before.
  const auto open = [&] { return Input(std::ref(workspace.source())); };
  Release<Result> answer = workspace.ledger() != nullptr
                               ? release(quote.request, task, open, *workspace.ledger(), bits)
                               : release(task, open(), bits);
  return {std::move(quote), std::move(answer), workspace.left_after()};
}

Outcome ask(const Input& input, Quote quote, BitSource& bits, const Watch& watch) {
  Release<Result> answer = release(Watched{quote.task, watch}, input, bits);
  return {std::move(quote), std::move(answer)};
}

void deliver(const Outcome& outcome, const std::function<void()>& show) {
  door::telling(show, [&] {
    return std::string("; the answer was released") +
           (outcome.quote.ledger.empty() ? "" : ", and it is paid for");
  });
}

}  // namespace gauze::service
