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

/// Adds two-sided geometric noise to integers.
///
/// Privacy    pure DP, epsilon = l1_sensitivity / scale.
/// Accuracy   each value within about scale * ln(1/beta), a whole number, with
///            probability 1 - beta.
/// Numerics   integers throughout; sums beyond 64 bits saturate.
/// Time       O(values).
/// Argument   discrete_laplace.md
class DiscreteLaplace {
 public:
  struct Options {
    Required<std::uint64_t> l1_sensitivity;    ///< how far one privacy unit moves the vector, >= 1
    Required<Ratio> scale;                     ///< noise scale, > 0
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
  };

  explicit DiscreteLaplace(Options options);

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
