#pragma once

#include "gauze/noise/additive.h"

namespace gauze::noise_internal {

/// What AdditiveNoise builds its table from. Tests make tables with a short reach, so that the tail,
/// which production tables meet once in 2^60 draws, is walked often.
struct Shape {
  Ratio linear;     ///< coefficient of |x|
  Ratio quadratic;  ///< coefficient of x^2
  bool two_sided;
  Ratio extent;  ///< the table covers |x| up to about this
  Timing timing = Timing::kFast;
};

}  // namespace gauze::noise_internal
