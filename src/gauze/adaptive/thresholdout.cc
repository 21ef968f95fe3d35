#include "gauze/adaptive/thresholdout.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/numeric/exact_sum.h"

namespace gauze {
namespace {

double into_unit(double value) {
  return std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
}

HistoryAnswers answers_of(const Thresholdout::Options& options) {
  require(options.holdout_size >= 1, "holdout_size must be at least 1");
  require(options.tolerance.get() > 0, "tolerance must be positive");
  require(options.budget >= 1, "budget must be at least 1");
  const Ratio size{Integer(options.holdout_size.get())};
  const Ratio budget{Integer(options.budget.get())};
  // A mean is rounded to a double once, by at most 2^-54 on either side of a neighbouring pair.
  return HistoryAnswers({.epsilon = Ratio(budget / (options.tolerance.get() * size)),
                         .sensitivity = Ratio(1 / size + power_of_two(-53)),
                         .threshold = options.threshold,
                         .fresh = options.budget,
                         .relation = Relation::kReplace});
}

}  // namespace

Thresholdout::Thresholdout(const Options& options) : answers_(answers_of(options)) {}

Event Thresholdout::event() const {
  return answers_.event();
}

Accuracy Thresholdout::accuracy(std::uint64_t questions, double confidence) const {
  Accuracy promise = answers_.accuracy(questions, confidence);
  promise.of = "all answers, as the holdout's means";
  return promise;
}

double Thresholdout::mean(std::span<const double> values) {
  if (values.empty()) throw Error(ErrorCode::kInvalidInput, "values must not be empty");
  ExactSum sum;
  for (const double value : values) sum.add(into_unit(value));
  return nearest_double(Ratio(sum.value() / Ratio(Integer(values.size()))));
}

Thresholdout::Conversation Thresholdout::start(Context& context) const {
  return Conversation(answers_.start(context));
}

Release<std::vector<GuardedAnswer>> Thresholdout::run(
    std::span<const std::pair<double, double>> means, Context& context) const {
  Conversation conversation = start(context);
  std::vector<GuardedAnswer> said;
  for (std::size_t i = 0; i < means.size() && !conversation.ended(); ++i)
    said.push_back(conversation.ask(means[i].first, means[i].second));
  return {std::move(said), accuracy(means.size()), event()};
}

GuardedAnswer Thresholdout::Conversation::ask(double holdout_mean, double training_mean) {
  return answers_.ask(into_unit(holdout_mean), into_unit(training_mean));
}

}  // namespace gauze
