#include "gauze/mechanism/radial_laplace.h"

#include <boost/math/distributions/gamma.hpp>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/noise/radial.h"

namespace gauze {

struct RadialLaplace::Parts {
  Lattice lattice;
  Ratio scale_in_steps;
  RadialNoise noise;
};

RadialLaplace::RadialLaplace(Options options) : options_(std::move(options)) {
  const Ratio& sensitivity = options_.l2_sensitivity;
  const Ratio& scale = options_.scale;
  const std::uint32_t dimension = options_.dimension;
  require(sensitivity > 0, "l2_sensitivity must be positive");
  require(scale > 0, "scale must be positive: larger is more private");
  require(dimension >= 1 && dimension <= 65536, "dimension must lie in [1, 65536]");
  const Lattice lattice = Lattice::for_noise(scale, 16, sensitivity, ceil_sqrt(dimension) + 1);
  const Ratio steps = Ratio(lattice.l2_steps(sensitivity, dimension)) * scale / sensitivity;
  require(steps <= power_of_two(40),
          "scale is too large for this l2_sensitivity and dimension (about 2^22/sqrt(dimension) "
          "times it); use Gaussian noise");
  parts_ = std::make_shared<const Parts>(Parts{lattice, steps, RadialNoise(dimension, steps)});
}

Event RadialLaplace::event() const {
  return {events::Pure{options_.l2_sensitivity.get() / options_.scale.get()}, options_.relation};
}

Accuracy RadialLaplace::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const double dimension = options_.dimension.get();
  const double scale = round_up(parts_->scale_in_steps);
  const double root = std::sqrt(dimension);
  // Lattice tails are within e^(root/scale) of the continuous ones half a cell further in; the
  // rounding of the input adds another half cell.
  const boost::math::gamma_distribution<double> norm(dimension, scale);
  const double steps =
      boost::math::quantile(boost::math::complement(norm, beta * std::exp(-root / scale))) + root;
  return {internal::times_up(steps * (1 + 1e-9), round_up(parts_->lattice.step())), confidence,
          "Euclidean norm of the error"};
}

Release<std::vector<double>> RadialLaplace::run(std::span<const double> values,
                                                Context& context) const {
  context.meter.charge(event());
  internal::check_dimension(values.size(), options_.dimension);
  std::vector<Integer> rounded;
  for (const double value : values) rounded.push_back(parts_->lattice.nearest(value));
  const std::vector<std::int64_t> noise = parts_->noise.draw(context.bits);
  std::vector<double> result;
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    result.push_back(parts_->lattice.value(rounded[i] + noise[i]));
  }
  return {result, accuracy(), event()};
}

}  // namespace gauze
