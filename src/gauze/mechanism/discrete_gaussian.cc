#include "gauze/mechanism/discrete_gaussian.h"

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"

namespace gauze {

DiscreteGaussian::DiscreteGaussian(Options options) : options_(std::move(options)) {
  const Ratio& sigma = options_.sigma;
  require(options_.l2_sensitivity.get() > 0, "l2_sensitivity must be positive");
  require(sigma > 0, "sigma must be positive: larger is more private");
  require((options_.dimension != 1 && options_.moved != 1) ||
              denominator(options_.l2_sensitivity.get()) == 1,
          "l2_sensitivity must be a whole number in one dimension; round it up");
  noise_ =
      std::make_shared<const AdditiveNoise>(AdditiveNoise::discrete_gaussian(Ratio(sigma * sigma)));
  terms_ = std::make_shared<const internal::Terms>(internal::Terms{event(), accuracy()});
}

Event DiscreteGaussian::event() const {
  // Coordinates that are the same for both neighbours get the same noise and lose nothing.
  const std::uint64_t dimension = options_.moved != 0 ? options_.moved : options_.dimension;
  return {events::DiscreteGaussian{options_.sigma, options_.l2_sensitivity, dimension},
          options_.relation};
}

Accuracy DiscreteGaussian::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {discrete_gaussian_radius(options_.sigma, beta), confidence, "each value"};
}

Release<std::int64_t> DiscreteGaussian::run(std::int64_t value, Context& context) const {
  context.meter.charge(terms_->event);
  return {internal::noised(value, *noise_, context.bits), terms_->accuracy, terms_->event};
}

Release<std::vector<std::int64_t>> DiscreteGaussian::run(std::span<const std::int64_t> values,
                                                         Context& context) const {
  context.meter.charge(terms_->event);
  if (options_.dimension != 0 && values.size() != options_.dimension) {
    throw Error(ErrorCode::kInvalidInput, "dimension must be the number of values, or 0 for any");
  }
  return {internal::noised(values, *noise_, context.bits), terms_->accuracy, terms_->event};
}

}  // namespace gauze
