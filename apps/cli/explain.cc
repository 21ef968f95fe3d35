#include <array>
#include <cmath>

#include "command.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "plot.h"
#include "text.h"

namespace gauze::cli {
namespace {

constexpr std::array<double, 6> kProbabilities = {0.001, 0.01, 0.1, 0.5, 0.75, 0.99};
constexpr std::array<double, 5> kReferences = {0.01, 0.1, 1, 5, 10};
constexpr std::array<double, 4> kFalsePositives = {0.001, 0.01, 0.05, 0.2};
constexpr std::array<std::uint64_t, 4> kGroups = {2, 5, 10, 100};

struct ExplainRequest {
  std::string epsilon;
  std::string delta = "0";
  bool json = false;
};

struct Promise {
  double epsilon;
  double delta;
};

std::string fixed(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  return buffer;
}

std::string percent(double value) {
  if (value > 0.9995 && value < 1) return "above 99.9 %";
  return fixed(100 * value, value < 0.1 ? 2 : 1) + " %";
}

std::string range(const Closeness& range) {
  return fixed(range.lowest, 4) + glyph("–", "-") + fixed(range.highest, 4);
}

std::string factor(double epsilon) {
  return epsilon > 27 ? "more than 10^" + fixed(std::floor(epsilon / std::log(10.0)), 0)
                      : upward(std::exp(epsilon), 3);
}

void print_promise(const Promise& promise) {
  const std::string eps = glyph("ε", "epsilon");
  std::string title = eps + " = " + upward(promise.epsilon);
  if (promise.delta > 0) title += glyph(", δ = ", ", delta = ") + upward(promise.delta);
  print_line(heading(title + ": " + std::string(verdict(band(promise.epsilon, promise.delta)))));
  print_line();
  print(
      wrap("Compare two worlds: in one your data was used, in the other it was left out. Whatever "
           "anybody decides about you after seeing the release, the probability of that decision "
           "(and of its opposite) in one world is at most e^" +
           eps + " = " + factor(promise.epsilon) + " times that in the other" +
           (promise.delta > 0 ? ", plus " + upward(promise.delta) +
                                    glyph(" (δ: roughly, the chance that this promise is off)",
                                          " (delta: roughly, the chance that this promise is off)")
                              : "") +
           "."));
  print(
      wrap("What can be learned about you from other people's data is the same in both worlds; "
           "no release that is of any use can prevent that."));
}

void print_closeness(const Promise& promise) {
  print_line();
  print_line(heading("A decision that would have probability p without your data"));
  print_line("  has, with it, a probability in this range (others for comparison)");
  print_line();
  std::vector<std::vector<std::string>> rows = {{"p", glyph("your ε", "yours")}};
  for (const double reference : kReferences) {
    rows[0].push_back(glyph("ε = ", "eps ") + nearest(reference));
  }
  for (const double p : kProbabilities) {
    std::vector<std::string> row = {nearest(p),
                                    range(close_probabilities(p, promise.epsilon, promise.delta))};
    for (const double reference : kReferences)
      row.push_back(range(close_probabilities(p, reference)));
    rows.push_back(row);
  }
  print(table(rows));
}

void print_test(const Promise& promise) {
  print_line();
  print_line(heading("Somebody who tries to tell whether your data was used"));
  print_line("  and starts from even odds, is right at most " +
             percent(best_guess(promise.epsilon, promise.delta)) + " of the time (a coin: 50 %);");
  print_line("  the odds move at most from 1 : 1 to " + factor(promise.epsilon) + " : 1" +
             (promise.delta > 0 ? glyph(", δ aside.", ", delta aside.") : "."));
  std::vector<std::vector<std::string>> rows = {{"  false alarms", "hits, at most"}};
  for (const double rate : kFalsePositives) {
    rows.push_back(
        {"  " + percent(rate), percent(highest_power(rate, promise.epsilon, promise.delta))});
  }
  print(table(rows));
  print_line();
  print(plot([&](double x) { return highest_power(x, promise.epsilon, promise.delta); },
             {.x = "false alarms", .y = "hits", .curve = "best test", .dotted = "a coin"}));
}

void print_groups(const Promise& promise) {
  print_line();
  print_line(heading("A group is protected less than a person"));
  std::vector<std::vector<std::string>> rows = {
      {"people", glyph("ε together", "epsilon together"), "factor at most"}};
  if (promise.delta > 0) rows[0].push_back(glyph("δ together", "delta together"));
  for (const std::uint64_t size : kGroups) {
    const GroupGuarantee group = group_guarantee(size, promise.epsilon, promise.delta);
    rows.push_back({std::to_string(size), upward(group.epsilon), factor(group.epsilon)});
    if (promise.delta > 0) rows.back().push_back(upward(group.delta, 3));
  }
  print(table(rows));
}

void print_bands(const Promise& promise) {
  print_line();
  print_line(heading("Where that stands"));
  constexpr std::array<std::pair<Band, const char*>, 6> kBands = {
      {{Band::kStrong, "to 0.1"},
       {Band::kAcceptable, "to 1"},
       {Band::kJustify, "below 5"},
       {Band::kDiscouraged, "below 10"},
       {Band::kRefused, "10 and more"},
       {Band::kLargeDelta, "delta 0.01 +"}}};
  for (const auto& [each, border] : kBands) {
    std::string line = each == band(promise.epsilon, promise.delta) ? glyph("▸ ", "> ") : "  ";
    line += border;
    line += std::string(13 - std::string_view(border).size(), ' ');
    print_line(line + std::string(verdict(each)));
  }
}

Json as_json(const Promise& promise) {
  Json closeness = Json::array();
  Json reference = Json::array();
  for (const double p : kProbabilities) {
    const Closeness own = close_probabilities(p, promise.epsilon, promise.delta);
    closeness.push_back({{"p", p}, {"lowest", own.lowest}, {"highest", own.highest}});
    for (const double epsilon : kReferences) {
      const Closeness other = close_probabilities(p, epsilon);
      reference.push_back(
          {{"p", p}, {"epsilon", epsilon}, {"lowest", other.lowest}, {"highest", other.highest}});
    }
  }
  Json power = Json::array();
  for (const double rate : kFalsePositives) {
    power.push_back({{"false_positive", rate},
                     {"true_positive", highest_power(rate, promise.epsilon, promise.delta)}});
  }
  Json groups = Json::array();
  for (const std::uint64_t size : kGroups) {
    const GroupGuarantee group = group_guarantee(size, promise.epsilon, promise.delta);
    groups.push_back({{"size", size}, {"epsilon", finite(group.epsilon)}, {"delta", group.delta}});
  }
  return {{"epsilon", promise.epsilon},
          {"delta", promise.delta},
          {"band", name(band(promise.epsilon, promise.delta))},
          {"verdict", verdict(band(promise.epsilon, promise.delta))},
          {"factor", finite(std::exp(promise.epsilon))},
          {"best_guess", best_guess(promise.epsilon, promise.delta)},
          {"closeness", closeness},
          {"power", power},
          {"groups", groups},
          {"reference", reference}};
}

void explain(const ExplainRequest& request) {
  const Promise promise{.epsilon = number(request.epsilon, "--epsilon", round_up),
                        .delta = number(request.delta, "--delta", round_up)};
  require(promise.epsilon >= 0 && std::isfinite(promise.epsilon),
          "--epsilon: must be 0 or more, and at most 1e308");
  require(promise.delta >= 0 && promise.delta <= 1, "--delta: must lie between 0 and 1");
  if (request.json) return print_json(as_json(promise));
  print_promise(promise);
  print_closeness(promise);
  print_test(promise);
  print_groups(promise);
  print_bands(promise);
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("explain", "Say in plain words what a guarantee means for a person");
  auto request = std::make_shared<ExplainRequest>();
  command->add_option("--epsilon", request->epsilon, "0 or more")->required();
  command->add_option("--delta", request->delta, "Between 0 and 1 (0: pure)");
  command->add_flag("--json", request->json, "Print the numbers as JSON");
  command->footer("Example: gauze explain --epsilon 1 --delta 1e-6");
  command->callback([request] { explain(*request); });
}

}  // namespace gauze::cli
