#include "gauze/mechanism/count.h"

#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/mechanism/range_internal.h"

namespace gauze {

Count::Count(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  noise_ = std::make_shared<const AdditiveNoise>(
      AdditiveNoise::discrete_laplace(Ratio(1 / options_.epsilon.get())));
  terms_ = std::make_shared<const internal::Terms>(internal::Terms{event(), accuracy()});
}

Event Count::event() const {
  return {events::DiscreteLaplace{1 / options_.epsilon.get(), 1}, options_.relation};
}

Accuracy Count::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {discrete_laplace_radius(Ratio(1 / options_.epsilon.get()), beta), confidence, "count"};
}

Release<std::int64_t> Count::run(std::int64_t count, Context& context) const {
  context.meter.charge(terms_->event);
  return {internal::noised(count, *noise_, context.bits), terms_->accuracy, terms_->event};
}

}  // namespace gauze
