#pragma once

#include <cstdint>
#include <string>

// Numbers as people write them.
namespace gauze {

/// `digits` significant digits, to nearest and, for losses, rounded up.
std::string nearest(double value, int digits = 4);
std::string upward(double value, int digits = 4);

/// A whole number with its thousands apart: 301,447.
std::string grouped(std::uint64_t number);

}  // namespace gauze
