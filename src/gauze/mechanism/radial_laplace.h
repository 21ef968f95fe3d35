#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Adds noise with density proportional to e^(-|z|/scale), |z| the Euclidean norm, to real vectors:
/// pure DP from an l2 sensitivity.
///
/// Privacy    pure DP, epsilon = l2_sensitivity / scale, exactly: what rounding adds to the
///            sensitivity is added to the noise too (at most one part in 65,536).
/// Accuracy   the norm of the error is Gamma(dimension, scale): about dimension * scale.
/// Numerics   as `Laplace`: a public lattice, exact noise on it.
/// Time       O(dimension) expected per draw, see the noise's page.
/// Argument   radial_laplace.md
class RadialLaplace {
 public:
  struct Options {
    Required<Ratio> l2_sensitivity;  ///< how far one privacy unit moves the vector, > 0
    /// Noise scale, > 0 and at most about 2^22 l2_sensitivity / sqrt(dimension).
    Required<Ratio> scale;
    Required<std::uint32_t> dimension;         ///< how many values one run gets, 1 to 65536
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
  };

  explicit RadialLaplace(Options options);

  Event event() const;
  /// Of the Euclidean norm of the error.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases the vector plus noise. Throws `kInvalidInput` on another
  /// length and on values that are not finite.
  Release<std::vector<double>> run(std::span<const double> values, Context& context) const;

 private:
  struct Parts;

  Options options_;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace gauze
