#pragma once

#include <vector>

#include "gauze/noise/additive.h"

namespace gauze::noise_internal {

/// What AdditiveNoise builds its table from. Tests make tables with a short reach, so that the
/// tail, which production tables meet once in 2^60 draws, is walked often.
struct Shape {
  Ratio linear;     ///< coefficient of |x|
  Ratio quadratic;  ///< coefficient of x^2
  bool two_sided;
  Ratio extent;  ///< the table covers |x| up to about this
  Timing timing = Timing::kFast;
};

/// What a table holds, for tests that check the argument of additive.md number by number.
struct Inspection {
  unsigned width;
  unsigned index_bits;
  std::uint64_t left;
  std::uint64_t buckets;
  double kappa;
  std::vector<std::uint64_t> weights;
  std::vector<std::uint64_t> columns;
  std::vector<std::uint32_t> sure;
};
Inspection inspect(const AdditiveNoise& noise);

}  // namespace gauze::noise_internal
