#include "gauze/learn/model_noise.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "gauze/accounting/calibrate.h"
#include "gauze/base/error.h"

namespace gauze {

namespace {

Ratio laplace_scale(const ModelNoise::Options& options) {
  return ratio_of_bits(options.l2_sensitivity) / options.epsilon.get();
}

Gaussian gaussian(const ModelNoise::Options& options, const Ratio& sigma) {
  return Gaussian({.l2_sensitivity = ratio_of_bits(options.l2_sensitivity),
                   .sigma = sigma,
                   .dimension = options.dimension.get(),
                   .relation = options.relation});
}

/// In units of the sensitivity, for which the search has a good start.
Ratio calibrated_sigma(const ModelNoise::Options& options) {
  const Ratio unit = ratio_of_bits(options.l2_sensitivity);
  const double multiple = calibrate(
      [&](const Ratio& size) {
        return std::vector<Event>{gaussian(options, Ratio(size * unit)).event()};
      },
      {.epsilon = round_down(options.epsilon), .delta = round_down(options.delta)});
  return ratio_of_decimal(multiple) * unit;
}

const ModelNoise::Options& checked(const ModelNoise::Options& options) {
  require(options.l2_sensitivity > 0 && std::isfinite(options.l2_sensitivity),
          "l2_sensitivity must be positive and finite");
  require(options.dimension >= 1 && options.dimension <= 65536, "dimension must lie in [1, 65536]");
  require(options.epsilon.get() > 0, "epsilon must be positive");
  require(options.delta >= 0 && options.delta < 1, "delta must lie in [0, 1)");
  return options;
}

}  // namespace

ModelNoise::Mechanism ModelNoise::chosen(const Options& options) {
  if (options.delta > 0) return gaussian(options, calibrated_sigma(options));
  return RadialLaplace({.l2_sensitivity = ratio_of_bits(options.l2_sensitivity),
                        .scale = laplace_scale(options),
                        .dimension = options.dimension,
                        .relation = options.relation});
}

ModelNoise::ModelNoise(const Options& options)
    : dimension_(checked(options).dimension), mechanism_(chosen(options)) {}

Event ModelNoise::event() const {
  return std::visit([](const auto& mechanism) { return mechanism.event(); }, mechanism_);
}

Accuracy ModelNoise::accuracy(double confidence) const {
  if (const auto* radial = std::get_if<RadialLaplace>(&mechanism_)) {
    return radial->accuracy(confidence);
  }
  require(confidence > 0 && confidence < 1, "confidence must lie in (0, 1)");
  const auto& normal = std::get<Gaussian>(mechanism_);
  const auto event = std::get<events::DiscreteGaussian>(normal.event().kind);
  const double step = round_up(normal.lattice_step());
  const boost::math::chi_squared_distribution<double> squares(dimension_);
  // Rounding moves each coordinate by half a step, before the noise and, compared with a normal one, in it.
  const double norm =
      std::sqrt(boost::math::quantile(boost::math::complement(squares, 1 - confidence))) *
          round_up(event.sigma) +
      std::sqrt(static_cast<double>(dimension_));
  return {norm * step * (1 + 1e-9), confidence, "Euclidean norm of the error"};
}

std::vector<double> ModelNoise::add(std::span<const double> model, BitSource& bits) const {
  return std::visit(
      [&](const auto& mechanism) {
        Meter paid(mechanism.event());
        Context context{paid, bits};
        return mechanism.run(model, context).value;
      },
      mechanism_);
}

}  // namespace gauze
