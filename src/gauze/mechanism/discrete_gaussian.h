#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

class AdditiveNoise;
namespace internal {
struct Terms;
}

/// Adds discrete Gaussian noise to integers.
///
/// Privacy    zero-concentrated DP, rho = l2_sensitivity^2 / (2 sigma^2); no pure guarantee.
/// Accuracy   each value within about sigma * sqrt(2 ln(2/beta)), a whole number, with
///            probability 1 - beta.
/// Numerics   integers throughout; sums beyond 64 bits saturate.
/// Time       O(values).
/// Argument   discrete_gaussian.md
class DiscreteGaussian {
 public:
  struct Options {
    Required<Ratio> l2_sensitivity;  ///< how far one privacy unit moves the vector, > 0
    Required<Ratio> sigma;           ///< standard deviation, > 0
    /// Length of the vectors; 0 is any. One dimension has a slightly tighter loss.
    std::uint64_t dimension = 0;
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
    /// How many coordinates one privacy unit can move, whatever the length of the vector; 0 is any.
    std::uint64_t moved = 0;
  };

  explicit DiscreteGaussian(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases value plus noise.
  Release<std::int64_t> run(std::int64_t value, Context& context) const;
  Release<std::vector<std::int64_t>> run(std::span<const std::int64_t> values,
                                         Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const AdditiveNoise> noise_;
  std::shared_ptr<const internal::Terms> terms_;
};

}  // namespace gauze
