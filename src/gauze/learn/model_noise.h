#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/gaussian.h"
#include "gauze/mechanism/radial_laplace.h"

namespace gauze {

/// The noise that a trained model gets once, at the end: with density e^(-‖z‖ / scale) for a pure guarantee,
/// Gaussian for (epsilon, delta).
///
///     const ModelNoise noise({.l2_sensitivity = s.total(), .dimension = 3, .epsilon = 1,
///                             .relation = Relation::kReplace});
///
/// Privacy    pure DP, epsilon; with delta > 0 (epsilon, delta)-DP, calibrated to the exact loss at any epsilon.
/// Accuracy   the Euclidean norm of the noise: about dimension * scale, or sqrt(dimension) * sigma.
/// Numerics   a public lattice, rounding to it paid for: see the mechanisms.
/// Argument   bolt_on.md
class ModelNoise {
 public:
  struct Options {
    Required<double> l2_sensitivity;    ///< > 0, rounded up
    Required<std::uint32_t> dimension;  ///< 1 to 65536
    Required<Ratio> epsilon;            ///< > 0
    Required<Relation> relation;
    Ratio delta = 0;  ///< in [0, 1)
  };

  explicit ModelNoise(const Options& options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// The model plus noise. Whoever calls has charged `event()`.
  std::vector<double> add(std::span<const double> model, BitSource& bits) const;

 private:
  using Mechanism = std::variant<RadialLaplace, Gaussian>;
  static Mechanism chosen(const Options& options);

  std::uint32_t dimension_;
  Mechanism mechanism_;
};

}  // namespace gauze
