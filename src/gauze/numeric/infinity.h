#pragma once

#include <limits>

namespace gauze {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace gauze
