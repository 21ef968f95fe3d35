#include "gauze/mechanism/enhanced_exponential.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/range_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/noise/choice.h"

namespace gauze {

EnhancedExponential::EnhancedExponential(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  require(options_.candidate_spread.get() > 0, "candidate_spread must be positive");
  require(!options_.record_spread || *options_.record_spread > 0, "record_spread must be positive");
  require(!options_.record_spread || options_.relation == Relation::kReplace,
          "record_spread compares two records and needs relation replace; leave it out");
}

Event EnhancedExponential::event() const {
  return {events::Exponential{options_.epsilon}, options_.relation};
}

Accuracy EnhancedExponential::accuracy(std::uint64_t candidates, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {internal::selection_radius(rate(), candidates, beta), confidence, "score of the choice"};
}

Release<std::size_t> EnhancedExponential::run(std::span<const double> scores,
                                              Context& context) const {
  context.meter.charge(event());
  internal::check_scores(scores);
  return {choose_exp(scores, rate(), context.bits), accuracy(scores.size()), event()};
}

Ratio EnhancedExponential::rate() const {
  const Ratio& spread = options_.candidate_spread;
  if (options_.relation == Relation::kAddRemove) return options_.epsilon.get() / spread;
  return options_.epsilon.get() / (2 * std::min(spread, options_.record_spread.value_or(spread)));
}

}  // namespace gauze
