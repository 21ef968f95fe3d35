#include "gauze/service/values.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <thread>

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

std::uint64_t bytes(const std::string& text, const char* option) {
  if (text.empty() || text == "0") return 0;
  std::string digits = text;
  if (digits.ends_with('B') || digits.ends_with('b')) digits.pop_back();
  const std::size_t unit = std::string("kmgt").find(static_cast<char>(
      digits.empty() ? ' ' : std::tolower(static_cast<unsigned char>(digits.back()))));
  if (unit != std::string::npos) digits.pop_back();
  const Ratio factor = unit == std::string::npos
                           ? Ratio(1)
                           : Ratio(Integer(1) << static_cast<unsigned>(10 * (unit + 1)));
  const auto parsed = [&]() -> std::optional<Ratio> {
    try {
      return Ratio(exact(digits, option) * factor);
    } catch (const Error&) {
      return std::nullopt;
    }
  }();
  require(parsed && *parsed >= 1 << 20 && *parsed <= Ratio(INT64_MAX),
          (std::string(option) + ": must be at least 1M, like 512M or 4G").c_str());
  const Ratio& value = *parsed;
  return round_down(value) >= 9.2e18 ? INT64_MAX
                                     : static_cast<std::uint64_t>(std::floor(round_down(value)));
}

unsigned thread_count(const std::string& text) {
  if (text.empty()) return 0;
  const std::uint64_t count = whole(text, "threads", 0);
  require(count <= 1024, "threads: must be from 1 to 1024; 0 takes all cores");
  // More would take memory in proportion: a limit that whoever asks could choose so that somebody's rows
  // exceed it.
  return static_cast<unsigned>(
      std::min<std::uint64_t>(count, std::max(1u, std::thread::hardware_concurrency())));
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
