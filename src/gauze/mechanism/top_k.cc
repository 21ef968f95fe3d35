#include "gauze/mechanism/top_k.h"

#include <numeric>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/noisy_order_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/noise/choice.h"

namespace gauze {

TopK::TopK(Options options) : options_(std::move(options)) {
  require(options_.k >= 1, "k must be at least 1");
  internal::check_selection(options_.epsilon, options_.sensitivity, options_.monotone,
                            options_.relation);
  noise_ = internal::order_noise(MaxNoise::kGeometric, Ratio(rate() * options_.sensitivity.get()));
}

Event TopK::event() const {
  if (options_.method == TopKMethod::kPeeling) {
    return {events::Exponential{epsilon_of_one()}, options_.relation, options_.k};
  }
  return {events::Pure{options_.epsilon}, options_.relation};
}

Accuracy TopK::accuracy(std::uint64_t candidates, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const double step =
      round_up(Ratio(options_.sensitivity.get() / Ratio(internal::kSensitivitySteps)));
  return {internal::selection_radius(rate(), candidates, beta / static_cast<double>(options_.k)) +
              3 * step,
          confidence, "score of each choice"};
}

Release<std::vector<std::size_t>> TopK::run(std::span<const double> scores,
                                            Context& context) const {
  context.meter.charge(event());
  internal::check_scores(scores);
  if (scores.size() < options_.k) {
    throw Error(ErrorCode::kInvalidInput, "k must not exceed the number of scores");
  }
  if (options_.method == TopKMethod::kPeeling) {
    return {peel(scores, context.bits), accuracy(scores.size()), event()};
  }
  const auto steps = internal::scores_in_steps(scores, options_.sensitivity);
  return {internal::noisy_largest(steps, options_.k, *noise_, context.bits),
          accuracy(scores.size()), event()};
}

std::vector<std::size_t> TopK::peel(std::span<const double> scores, BitSource& bits) const {
  std::vector<double> left(scores.begin(), scores.end());
  std::vector<std::size_t> names(scores.size());
  std::iota(names.begin(), names.end(), std::size_t{0});
  std::vector<std::size_t> chosen;
  while (chosen.size() < options_.k) {
    const auto at = static_cast<std::ptrdiff_t>(choose_exp(left, rate(), bits));
    chosen.push_back(names[static_cast<std::size_t>(at)]);
    left.erase(left.begin() + at);
    names.erase(names.begin() + at);
  }
  return chosen;
}

Ratio TopK::epsilon_of_one() const {
  return options_.epsilon.get() / Ratio(Integer(options_.k.get()));
}

Ratio TopK::rate() const {
  return internal::selection_rate(epsilon_of_one(), options_.sensitivity, options_.monotone);
}

}  // namespace gauze
