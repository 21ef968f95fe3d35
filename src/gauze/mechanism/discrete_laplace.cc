#include "gauze/mechanism/discrete_laplace.h"

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"

namespace gauze {

DiscreteLaplace::DiscreteLaplace(Options options) : options_(std::move(options)) {
  require(options_.l1_sensitivity >= 1, "l1_sensitivity must be at least 1");
  require(options_.scale.get() > 0, "scale must be positive: larger is more private");
  noise_ = std::make_shared<const AdditiveNoise>(AdditiveNoise::discrete_laplace(options_.scale));
  terms_ = std::make_shared<const internal::Terms>(internal::Terms{event(), accuracy()});
}

Event DiscreteLaplace::event() const {
  return {events::DiscreteLaplace{options_.scale, Ratio(Integer(options_.l1_sensitivity.get()))},
          options_.relation};
}

Accuracy DiscreteLaplace::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {discrete_laplace_radius(options_.scale, beta), confidence, "each value"};
}

Release<std::int64_t> DiscreteLaplace::run(std::int64_t value, Context& context) const {
  context.meter.charge(terms_->event);
  return {internal::noised(value, *noise_, context.bits), terms_->accuracy, terms_->event};
}

Release<std::vector<std::int64_t>> DiscreteLaplace::run(std::span<const std::int64_t> values,
                                                        Context& context) const {
  context.meter.charge(terms_->event);
  return {internal::noised(values, *noise_, context.bits), terms_->accuracy, terms_->event};
}

}  // namespace gauze
