#include "gauze/mechanism/laplace.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"

namespace gauze {

Laplace::Laplace(Options options) : options_(std::move(options)) {
  require(options_.l1_sensitivity.get() > 0, "l1_sensitivity must be positive");
  require(options_.scale.get() > 0, "scale must be positive: larger is more private");
  require(options_.dimension >= 1, "dimension must be at least 1");
  noise_ = std::make_shared<const internal::LatticeNoise>(
      internal::LatticeNoise::laplace(options_.l1_sensitivity, options_.scale, options_.dimension));
  terms_ = std::make_shared<const internal::Terms>(internal::Terms{event(), accuracy()});
}

// On the lattice the noise is discrete: its loss is that of `discrete_laplace`, which reaches its
// maximum with a slightly larger probability than the continuous one.
Event Laplace::event() const {
  return {noise_->laplace_event(), options_.relation};
}

Accuracy Laplace::accuracy(double confidence) const {
  return {noise_->laplace_radius(internal::failure_probability(confidence)), confidence,
          "each value"};
}

Accuracy Laplace::joint_accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {noise_->laplace_radius(beta / static_cast<double>(options_.dimension)), confidence,
          "all values"};
}

Ratio Laplace::lattice_step() const {
  return noise_->lattice().step();
}

Release<double> Laplace::run(double value, Context& context) const {
  auto all = run(std::span(&value, 1), context);
  return {all.value.front(), all.accuracy, all.spent};
}

Release<std::vector<double>> Laplace::run(std::span<const double> values, Context& context) const {
  context.meter.charge(terms_->event);
  return {internal::noised(values, options_.dimension, *noise_, context.bits), terms_->accuracy,
          terms_->event};
}

}  // namespace gauze
