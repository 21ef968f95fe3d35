#include "gauze/testing/local_sensitivity.h"

#include <algorithm>
#include <cmath>

namespace gauze::testing {

double local_sensitivity_median(std::span<const double> sorted, double epsilon, BitSource& bits) {
  const std::size_t middle = sorted.size() / 2;
  const double local =
      std::max(sorted[middle] - sorted[middle - 1], sorted[middle + 1] - sorted[middle]);
  const double u = (static_cast<double>(bits.next() >> 11) + 0.5) * 0x1p-53 - 0.5;
  return sorted[middle] - local / epsilon * std::copysign(std::log1p(-2 * std::abs(u)), u);
}

}  // namespace gauze::testing
