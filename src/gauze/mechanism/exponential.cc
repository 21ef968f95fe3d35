#include "gauze/mechanism/exponential.h"

#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/noise/choice.h"

namespace gauze {

ExponentialMechanism::ExponentialMechanism(Options options) : options_(std::move(options)) {
  internal::check_selection(options_.epsilon, options_.sensitivity, options_.monotone,
                            options_.relation);
}

Event ExponentialMechanism::event() const {
  return {events::Exponential{options_.epsilon}, options_.relation};
}

Accuracy ExponentialMechanism::accuracy(std::uint64_t candidates, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {internal::selection_radius(rate(), candidates, beta), confidence, "score of the choice"};
}

Release<std::size_t> ExponentialMechanism::run(std::span<const double> scores,
                                               Context& context) const {
  context.meter.charge(event());
  internal::check_scores(scores);
  return {choose_exp(scores, rate(), context.bits), accuracy(scores.size()), event()};
}

Ratio ExponentialMechanism::rate() const {
  return internal::selection_rate(options_.epsilon, options_.sensitivity, options_.monotone);
}

}  // namespace gauze
