#include <algorithm>

#include "gauze/adaptive/history_answers.h"
#include "gauze/adaptive/register_internal.h"
#include "gauze/adaptive/thresholdout.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

// Questions that depend on answers.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;
using nlohmann::json;

json values_of(const std::vector<GuardedAnswer>& said) {
  json values = json::array();
  for (const GuardedAnswer& each : said) values.push_back(each.value);
  return values;
}

Said said_number(double value, bool last) {
  return {value, lines_of_value(value), last};
}

HistoryAnswers history_of(const OptionValues& values) {
  return HistoryAnswers({.epsilon = values.number("epsilon"),
                         .sensitivity = values.number("sensitivity"),
                         .threshold = values.number("threshold"),
                         .fresh = values.whole("fresh"),
                         .value_share = values.number("value_share"),
                         .first_guess = values.number("first_guess"),
                         .relation = values.relation()});
}

Task history_task(const OptionValues& values) {
  const auto mechanism = std::make_shared<const HistoryAnswers>(history_of(values));
  return values_task(mechanism->event(), promise_of(mechanism), [mechanism](const Rows& rows) {
    return [mechanism, numbers = rows.vector()](Context& context) {
      auto release = mechanism->run(numbers, context);
      return Release<json>{values_of(release.value), std::move(release.accuracy),
                           std::move(release.spent)};
    };
  });
}

LineByLine history_lines(const OptionValues& values) {
  const auto mechanism = std::make_shared<const HistoryAnswers>(history_of(values));
  const double first = values.real("first_guess");
  return {.start = [mechanism, first](Context& context) -> LineByLine::Answer {
    const auto conversation =
        std::make_shared<HistoryAnswers::Conversation>(mechanism->start(context));
    const auto guess = std::make_shared<double>(first);
    return [conversation, guess](std::span<const double> line) {
      *guess = conversation->ask(line[0], *guess).value;
      return said_number(*guess, conversation->ended());
    };
  }};
}

Algorithm history_answers() {
  return on_lines(
      {.name = "history_answers",
       .summary = "Follow a series of numbers, and pay only where it has drifted",
       .input =
           "one exact number per line, in the order of time; lines are read as they come. Each is "
           "answered by the last number that was released, or by a new one where that is too far "
           "off",
       .guarantee =
           "Pure differential privacy with the given epsilon for the whole series, however long.",
       .accuracy =
           "All answers are within the threshold plus 2 fresh sensitivity ln(lines/beta) / epsilon "
           "or so.",
       .cost = "Constant time and no memory per line.",
       .source =
           "Roth and Roughgarden, Interactive Privacy via the Median Mechanism (2010); Hardt and "
           "Rothblum (2010); Lyu, Su and Li (2017).",
       .document = "src/gauze/adaptive/history_answers.md",
       .example = "seq 0 5 500 | gauze release history_answers --epsilon 1 --threshold 100 --fresh "
                  "3 --sensitivity 1 -",
       .options = {epsilon_option(),
                   {"threshold", Type::kNumber, "how far off an answer may be, 0 or more", ""},
                   {"fresh", Type::kWhole, "how often a new number may be released; then it ends",
                    ""},
                   {"sensitivity", Type::kNumber, "how far one person can move any number, above 0",
                    ""},
                   {"first_guess", Type::kNumber, "taken for the first number", "0"},
                   {"value_share", Type::kNumber, "of epsilon, for new numbers", "0.5"},
                   relation_option("add_remove")},
       .neighbours =
           [](const OptionValues& values) {
             return audit::lines_of(
                 answers_about_threshold(values, values.whole("fresh"), /*monotone=*/false));
           }},
      history_task, history_lines);
}

/// Means on a holdout, of which one person moves each by one over its size, about where they differ
/// from those on the training set by the threshold.
audit::LinePairs holdout_means(const OptionValues& values) {
  constexpr double kTraining = 0.5;
  const double step = 1 / static_cast<double>(values.whole("holdout_size"));
  const double level = std::min(kTraining + values.real("threshold"), 1 - 3 * step);
  audit::LinePairs pairs = audit::lines_of(
      joined(audit::comparisons(values.whole("budget"), step, /*monotone=*/false, level),
             audit::scores(6, step, /*monotone=*/false, level)));
  for (auto& pair : pairs) {
    for (audit::Lines* lines : {&pair.first, &pair.second})
      for (std::string& line : *lines) line.append(";").append(audit::shortest(kTraining));
  }
  return pairs;
}

Thresholdout thresholdout_of(const OptionValues& values) {
  return Thresholdout({.holdout_size = values.whole("holdout_size"),
                       .threshold = values.number("threshold"),
                       .tolerance = values.number("tolerance"),
                       .budget = values.whole("budget")});
}

/// Both means of a row: 0.52;0.48.
std::pair<double, double> means_of(const std::string& cell) {
  const std::size_t middle = cell.find(';');
  const auto means =
      Rows({cell.substr(0, middle), middle == std::string::npos ? "" : cell.substr(middle + 1)})
          .vector();
  return {means[0], means[1]};
}

Task thresholdout_task(const OptionValues& values) {
  const auto mechanism = std::make_shared<const Thresholdout>(thresholdout_of(values));
  return values_task(mechanism->event(), promise_of(mechanism), [mechanism](const Rows& rows) {
    std::vector<std::pair<double, double>> means;
    for (const std::string& cell : rows.cells()) means.push_back(means_of(cell));
    return [mechanism, means = std::move(means)](Context& context) {
      auto release = mechanism->run(means, context);
      return Release<json>{values_of(release.value), std::move(release.accuracy),
                           std::move(release.spent)};
    };
  });
}

LineByLine thresholdout_lines(const OptionValues& values) {
  const auto mechanism = std::make_shared<const Thresholdout>(thresholdout_of(values));
  const auto start = [mechanism](Context& context) -> LineByLine::Answer {
    const auto conversation =
        std::make_shared<Thresholdout::Conversation>(mechanism->start(context));
    return [conversation](std::span<const double> line) {
      const double value = conversation->ask(line[0], line[1]).value;
      return said_number(value, conversation->ended());
    };
  };
  return {.start = start, .width = 2};
}

Algorithm thresholdout() {
  return on_lines(
      {.name = "thresholdout",
       .summary = "Check ideas on a holdout again and again without overfitting it",
       .input = "a line for each idea: its mean on the holdout, then on the training set, both "
                "between 0 "
                "and 1, like 0.52;0.48; lines are read as they come",
       .guarantee =
           "Pure differential privacy of the holdout, budget / (tolerance holdout_size), under "
           "replace. The training set is not protected at all.",
       .accuracy =
           "All answers are within the threshold plus some tolerances of the holdout's means.",
       .cost = "Constant time and no memory per line.",
       .source = "Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, The Reusable Holdout (2015).",
       .document = "src/gauze/adaptive/thresholdout.md",
       .example = "echo '0.52;0.48' | gauze release thresholdout --holdout-size 10000 --threshold "
                  "0.04 --tolerance 0.01 --budget 10 -",
       .options = {{"holdout_size", Type::kWhole, "rows of the holdout, a public number", ""},
                   {"threshold", Type::kNumber,
                    "how far training and holdout may differ, like 0.04", ""},
                   {"tolerance", Type::kNumber, "half the noise of an answer, like 0.01", ""},
                   {"budget", Type::kWhole,
                    "how many answers may come from the holdout; then it ends", ""}},
       .neighbours = holdout_means},
      thresholdout_task, thresholdout_lines);
}

}  // namespace

std::vector<Algorithm> history_algorithms() {
  return {history_answers(), thresholdout()};
}

}  // namespace gauze::internal
