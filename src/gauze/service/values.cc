#include "gauze/service/values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "gauze/base/error.h"

namespace gauze::service {
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

Ratio exact(const std::string& text, const char* option) {
  return parse_ratio(text, option);
}

double number(const std::string& text, const char* option, double (*round)(const Ratio&)) {
  return decimal(exact(text, option), round);
}

double decimal(const Ratio& value, double (*round)(const Ratio&)) {
  const auto near = value.convert_to<double>();
  for (const double each : {near, std::nextafter(near, INFINITY)}) {
    if (std::isfinite(each) && ratio_of_decimal(each) == value) return each;
  }
  return round(value);
}

std::uint64_t whole(const std::string& text, const char* option, std::uint64_t least) {
  const Ratio value = exact(text, option);
  if (denominator(value) != 1 || value < least || value > INT64_MAX) {
    throw Error(ErrorCode::kInvalidOption, std::string(option) + ": must be a whole number from " +
                                               std::to_string(least) + " to 2^63 - 1");
  }
  return numerator(value).convert_to<std::uint64_t>();
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

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
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

Json finite(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace gauze::service
