#pragma once

#include <cstdint>
#include <memory>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

class AdditiveNoise;
namespace internal {
struct Terms;
}

/// How many records satisfy a condition; one record per privacy unit.
///
/// Privacy    pure DP, epsilon, under add_remove and under replace: either moves the count by 1.
/// Accuracy   within about ln(1/beta) / epsilon, a whole number, with probability 1 - beta.
/// Numerics   integers throughout; saturates at the ends of 64 bits. Unbiased, so it may be
///            negative: clip only to show it.
/// Argument   count.md
class Count {
 public:
  struct Options {
    Required<Ratio> epsilon;      ///< > 0
    Required<Relation> relation;  ///< add_remove or replace
  };

  explicit Count(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases the count plus noise.
  Release<std::int64_t> run(std::int64_t count, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const AdditiveNoise> noise_;
  std::shared_ptr<const internal::Terms> terms_;
};

}  // namespace gauze
