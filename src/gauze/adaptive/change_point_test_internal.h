#pragma once

#include <cstddef>
#include <vector>

namespace gauze {

/// Ratios of -1/2 before the change and 1/2 from it on, one in four the other way.
inline std::vector<double> stream(std::size_t before, std::size_t after) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before + after; ++i) {
    const double sign = (i < before ? -1 : 1) * (i % 4 == 1 ? -1 : 1);
    ratios.push_back(sign * 0.5);
  }
  return ratios;
}

}  // namespace gauze
