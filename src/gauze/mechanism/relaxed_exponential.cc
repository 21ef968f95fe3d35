#include "gauze/mechanism/relaxed_exponential.h"

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/noise/choice.h"
#include "gauze/numeric/interval.h"

namespace gauze {

RelaxedExponential::RelaxedExponential(Options options) : options_(std::move(options)) {
  require(options_.temperature.get() > 0, "temperature must be positive");
  require(options_.bound.get() > 0, "bound must be positive");
  require(options_.delta.get() >= 0 && options_.delta.get() < 1, "delta must lie in [0, 1)");
}

// Mir 2013, Theorem 5.2.2, whose proof loses the term ln(1/(1 - delta)).
Event RelaxedExponential::event() const {
  Ratio epsilon = 2 * options_.temperature.get() * options_.bound.get();
  if (options_.delta.get() > 0) {
    epsilon += ratio_of_bits((-log1p(-Interval(options_.delta, 128))).upper());
  }
  return {events::Approximate{epsilon, options_.delta}, options_.relation};
}

Accuracy RelaxedExponential::accuracy(std::uint64_t candidates, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {internal::selection_radius(options_.temperature, candidates, beta), confidence,
          "score of the choice"};
}

Release<std::size_t> RelaxedExponential::run(std::span<const double> scores,
                                             Context& context) const {
  context.meter.charge(event());
  internal::check_scores(scores);
  return {choose_exp(scores, options_.temperature, context.bits), accuracy(scores.size()), event()};
}

}  // namespace gauze
