#include "gauze/service/values.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze::service {

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

}  // namespace gauze::service
