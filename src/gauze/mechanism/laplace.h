#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class LatticeNoise;
struct Terms;
}  // namespace internal

/// Adds Laplace noise to real numbers.
///
/// Privacy    pure DP, epsilon = l1_sensitivity / scale, exactly: what rounding adds to the
///            sensitivity is added to the noise too (at most one part in 65,536).
/// Accuracy   each value within scale * ln(1/beta) with probability 1 - beta, all of them within
///            scale * ln(dimension/beta).
/// Numerics   values are rounded to a public lattice 2^k of at most scale/2^16 and get
///            exact integer noise there; the result is the nearest double to a lattice point.
/// Time       O(dimension).
/// Argument   laplace.md
class Laplace {
 public:
  struct Options {
    Required<Ratio> l1_sensitivity;            ///< how far one privacy unit moves the vector, > 0
    Required<Ratio> scale;                     ///< noise scale (not standard deviation), > 0
    std::uint64_t dimension = 1;               ///< how many values one run gets, >= 1
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
  };

  explicit Laplace(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;
  /// For all `dimension` values at once.
  Accuracy joint_accuracy(double confidence = 0.95) const;

  /// Every release is a multiple of this, whatever the data.
  Ratio lattice_step() const;

  /// Charges the meter, then releases value plus noise. Values must be finite, or the function that
  /// made them has no sensitivity: throws `kInvalidInput`.
  Release<double> run(double value, Context& context) const;
  Release<std::vector<double>> run(std::span<const double> values, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::LatticeNoise> noise_;
  std::shared_ptr<const internal::Terms> terms_;
};

}  // namespace gauze
