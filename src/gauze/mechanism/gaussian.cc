#include "gauze/mechanism/gaussian.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"

namespace gauze {

Gaussian::Gaussian(Options options) : options_(std::move(options)) {
  require(options_.l2_sensitivity.get() > 0, "l2_sensitivity must be positive");
  require(options_.sigma.get() > 0, "sigma must be positive: larger is more private");
  require(options_.dimension >= 1, "dimension must be at least 1");
  noise_ = std::make_shared<const internal::LatticeNoise>(internal::LatticeNoise::gaussian(
      options_.l2_sensitivity, options_.sigma, options_.dimension));
  terms_ = std::make_shared<const internal::Terms>(internal::Terms{event(), accuracy()});
}

Event Gaussian::event() const {
  return {events::DiscreteGaussian{noise_->scale_in_steps(), Ratio(noise_->sensitivity_in_steps()),
                                   options_.dimension},
          options_.relation};
}

Accuracy Gaussian::accuracy(double confidence) const {
  return {noise_->gaussian_radius(internal::failure_probability(confidence)), confidence,
          "each value"};
}

Accuracy Gaussian::joint_accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {noise_->gaussian_radius(beta / static_cast<double>(options_.dimension)), confidence,
          "all values"};
}

Ratio Gaussian::lattice_step() const {
  return noise_->lattice().step();
}

Release<double> Gaussian::run(double value, Context& context) const {
  auto all = run(std::span(&value, 1), context);
  return {all.value.front(), all.accuracy, all.spent};
}

Release<std::vector<double>> Gaussian::run(std::span<const double> values, Context& context) const {
  context.meter.charge(terms_->event);
  return {internal::noised(values, options_.dimension, *noise_, context.bits), terms_->accuracy,
          terms_->event};
}

}  // namespace gauze
