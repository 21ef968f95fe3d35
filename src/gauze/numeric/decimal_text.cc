#include "gauze/numeric/decimal_text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace gauze {
namespace {

std::string printed(double value, int digits) {
  if (digits >= 17)
    return nlohmann::json(value == std::floor(value) && std::abs(value) < 1e15
                              ? nlohmann::json(static_cast<std::int64_t>(value))
                              : nlohmann::json(value))
        .dump();
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  return buffer;
}

}  // namespace

std::string nearest(double value, int digits) {
  return printed(value, digits);
}

std::string upward(double value, int digits) {
  if (!std::isfinite(value)) return printed(value, digits);
  for (; digits < 17; ++digits) {
    // The next decimal up is at most one unit of the last digit away.
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - digits + 1);
    for (const double candidate : {value, value + unit / 2, value + unit}) {
      std::string text = printed(candidate, digits);
      if (std::strtod(text.c_str(), nullptr) >= value) return text;
    }
  }
  return printed(value, 17);
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace gauze
