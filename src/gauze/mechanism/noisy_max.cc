#include "gauze/mechanism/noisy_max.h"

#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/noisy_order_internal.h"
#include "gauze/mechanism/selection_internal.h"

namespace gauze {

ReportNoisyMax::ReportNoisyMax(Options options) : options_(std::move(options)) {
  internal::check_selection(options_.epsilon, options_.sensitivity, options_.monotone,
                            options_.relation);
  noise_ = internal::order_noise(options_.noise, Ratio(rate() * options_.sensitivity.get()));
}

Event ReportNoisyMax::event() const {
  return {events::Pure{options_.epsilon}, options_.relation};
}

Accuracy ReportNoisyMax::accuracy(std::uint64_t candidates, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  // The chosen one trails the best by at most the largest noise (one-sided), or by twice that.
  const double sides = options_.noise == MaxNoise::kGeometric ? 1 : 2;
  const double step =
      round_up(Ratio(options_.sensitivity.get() / Ratio(internal::kSensitivitySteps)));
  return {sides * internal::selection_radius(rate(), candidates, beta) + 3 * step, confidence,
          "score of the choice"};
}

Release<std::size_t> ReportNoisyMax::run(std::span<const double> scores, Context& context) const {
  context.meter.charge(event());
  internal::check_scores(scores);
  const auto steps = internal::scores_in_steps(scores, options_.sensitivity);
  return {internal::noisy_largest(steps, 1, *noise_, context.bits).front(), accuracy(scores.size()),
          event()};
}

Ratio ReportNoisyMax::rate() const {
  return internal::selection_rate(options_.epsilon, options_.sensitivity, options_.monotone);
}

}  // namespace gauze
