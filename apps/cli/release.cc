#include "gauze/engine/release.h"

#include <cmath>
#include <map>

#include "command.h"
#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/registry.h"
#include "gauze/random/system_bits.h"
#include "text.h"

namespace gauze::cli {
namespace {

struct Request {
  std::map<std::string, std::string> options;  ///< only those that were given
  std::string file = "-";
  ColumnChoice column;
  std::string confidence = "0.95";
  std::string delta = "1e-6";
  bool accept_weak = false;
  bool json = false;
};

/// The price as (epsilon, delta): at delta 0 where that exists, else at the delta asked for.
Guarantee price(const Event& event, double delta) {
  const std::vector<Event> events = {event};
  return epsilon_at(events, pure_epsilon(event) ? 0 : delta);
}

std::string shown(const nlohmann::json& value) {
  if (value.is_array()) {
    std::string lines;
    for (const auto& item : value) lines.append(lines.empty() ? "" : "\n").append(shown(item));
    return lines;
  }
  if (value.is_number_float()) return nearest(value.get<double>(), 10);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Infinity has no JSON number.
Json printable(const nlohmann::json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(printable(item));
    return list;
  }
  return value.is_number_float() ? finite(value.get<double>()) : Json(value);
}

void print_text(const Release<nlohmann::json>& answer, const Guarantee& cost) {
  print_line(shown(answer.value));
  print_line();
  const std::string plus_minus = glyph("±", "+-");
  print_line("  accuracy   " + answer.accuracy.of + " within " + plus_minus + " " +
             upward(answer.accuracy.half_width) + " with probability " +
             nearest(answer.accuracy.confidence));
  print_line("  cost       " + glyph("ε = ", "epsilon = ") + upward(cost.epsilon) +
             (cost.delta > 0 ? glyph(" at δ = ", " at delta = ") + upward(cost.delta) : "") +
             " under " + std::string(name(answer.spent.relation)) + ", by " +
             describe(answer.spent));
  print_line("             " + std::string(verdict(band(cost.epsilon))));
}

void run(const Algorithm& algorithm, const Request& request) {
  const double confidence = number(request.confidence, "--confidence");
  require(confidence > 0 && confidence < 1, "--confidence: must lie strictly between 0 and 1");
  const double delta = number(request.delta, "--quote-delta");
  require(delta > 0 && delta < 1, "--quote-delta: must lie strictly between 0 and 1, like 1e-6");

  // Everything that can fail fails here, before a row is read.
  const Job job = algorithm.make(OptionValues(algorithm.options, request.options));
  const Guarantee cost = price(job.event(), delta);
  refuse_weak(cost.epsilon, request.accept_weak);
  if (!job.accuracy(1, confidence) && confidence != 0.95) {
    throw Error(ErrorCode::kInvalidOption,
                "--confidence: must be 0.95 here, for the error bar comes with the noisy count");
  }

  const Rows rows = Rows::parse(read_all(request.file), request.column);
  SystemBits bits;
  Release<nlohmann::json> answer = release(job, rows, bits);
  if (auto promise = job.accuracy(rows.cells().size(), confidence)) answer.accuracy = *promise;
  if (request.json) {
    return print_json({{"value", printable(answer.value)},
                       {"accuracy",
                        {{"half_width", finite(answer.accuracy.half_width)},
                         {"confidence", answer.accuracy.confidence},
                         {"of", answer.accuracy.of}}},
                       {"cost", {{"epsilon", finite(cost.epsilon)}, {"delta", cost.delta}}},
                       {"spent", Json::parse(to_json(answer.spent).dump())}});
  }
  print_text(answer, cost);
}

std::string dashed(std::string name) {
  for (char& c : name) {
    if (c == '_') c = '-';
  }
  return name;
}

void add_algorithm(CLI::App& command, const Algorithm& algorithm) {
  CLI::App* sub = command.add_subcommand(algorithm.name, algorithm.summary);
  auto request = std::make_shared<Request>();
  for (const OptionSpec& option : algorithm.options) {
    const std::string described =
        option.description + (option.required() ? "" : " (" + option.fallback + ")");
    const auto keep = [request, key = option.name](const std::string& value) {
      request->options[key] = value;
    };
    sub->add_option_function<std::string>("--" + dashed(option.name), keep, described)
        ->required(option.required());
  }
  sub->add_option("file", request->file,
                  "The input, one number per line or CSV; - reads standard input (-)");
  sub->add_option("--column", request->column.column,
                  "Which column: a number from 1, or a name from the first line");
  sub->add_flag("--header", request->column.header, "The first line names the columns");
  sub->add_option("--confidence", request->confidence, "Of the error bar (0.95)");
  sub->add_option("--quote-delta", request->delta,
                  "At which the cost is quoted when there is no pure guarantee (1e-6)");
  sub->add_flag("--accept-weak", request->accept_weak, "Allow a cost of epsilon 10 or more");
  sub->add_flag("--json", request->json,
                "Print {\"value\": ..., \"accuracy\": ..., \"cost\": ..., \"spent\": ...}");
  sub->footer("Input: " + algorithm.input);
  sub->callback([request, &algorithm] { run(algorithm, *request); });
}

}  // namespace

void add_release(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("release", "Release a private answer about numbers from a file");
  command->require_subcommand(1);
  for (const Algorithm& algorithm : algorithms()) add_algorithm(*command, algorithm);
  command->footer(
      "Examples:\n"
      "  gauze release count --epsilon 0.5 --relation add_remove people.csv --header\n"
      "  seq 100 | gauze release median --epsilon 1 --lower 0 --upper 200 --relation add_remove -");
}

}  // namespace gauze::cli
