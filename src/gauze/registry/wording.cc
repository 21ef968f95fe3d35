#include "gauze/registry/wording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "gauze/numeric/decimal_text.h"

namespace gauze {
namespace {

std::string fixed(double value, int decimals) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  const std::string text = buffer;
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return zero && text.starts_with('-') ? text.substr(1) : text;
}

/// -1234567.5 as -1,234,567.5.
std::string apart(std::string digits) {
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  std::size_t at = std::min(digits.find('.'), digits.size());
  while (at > start + 3) digits.insert(at -= 3, 1, ',');
  return digits;
}

/// How many decimals show two digits of the error bar.
int decimals_of(double half_width) {
  if (!(half_width > 0) || !std::isfinite(half_width)) return 2;
  const int magnitude = static_cast<int>(std::floor(std::log10(half_width)));
  return std::clamp(1 - magnitude, 0, 9);
}

std::string number_text(double value, const std::optional<double>& half_width) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (std::abs(value) >= 1e15) return nearest(value, 6);
  return apart(fixed(value, half_width ? decimals_of(*half_width) : 2));
}

std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text;
}

/// Microseconds in the largest unit that they fill, rounded up.
std::string duration_text(double microseconds) {
  constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{86'400e6, "days"}, {3'600e6, "hours"}, {60e6, "minutes"}, {1e6, "seconds"}}};
  for (const auto& [size, unit] : kUnits)
    if (microseconds >= 2 * size || size == 1e6) return upward(microseconds / size, 3) + " " + unit;
  return "";
}

/// As a whole number, but for what rounding of doubles has added.
double whole_up(double half_width) {
  return std::max(std::ceil(half_width * (1 - 1e-10) - 1e-9), 0.0);
}

}  // namespace

std::string many(std::uint64_t count, const char* one) {
  return grouped(count) + " " + one + (count == 1 ? "" : "s");
}

std::optional<double> drawn(const Value& value) {
  std::optional<double> number;
  if (const auto* x = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*x);
  if (const auto* x = std::get_if<double>(&value)) number = *x;
  if (const auto* x = std::get_if<Ratio>(&value)) number = x->convert_to<double>();
  if (number && !std::isfinite(*number)) number.reset();
  return number;
}

std::string value_text(const Answer::Cell& cell, Type type) {
  if (std::holds_alternative<std::monostate>(cell.value)) return "∅";
  if (const auto* x = std::get_if<std::int64_t>(&cell.value))
    return cell.half_width ? apart(std::to_string(*x)) : std::to_string(*x);
  if (const auto* x = std::get_if<double>(&cell.value))
    return type == Type::kInteger ? apart(fixed(*x, 0)) : number_text(*x, cell.half_width);
  if (const auto* x = std::get_if<Ratio>(&cell.value))
    return number_text(x->convert_to<double>(), cell.half_width);
  return printable(to_text(cell.value));
}

std::string half_width_text(double half_width, Type type) {
  const std::string sign = "± ";
  if (!std::isfinite(half_width)) return sign + "∞";
  if (type == Type::kDate)
    return sign + many(static_cast<std::uint64_t>(whole_up(half_width)), "day");
  if (type == Type::kTimestamp) return sign + duration_text(half_width);
  const int decimals = type == Type::kInteger ? 0 : decimals_of(half_width);
  const double unit = std::pow(10.0, -decimals);
  // 0.3 stays 0.3, though 0.3 / 0.01 as doubles may be above 30. A bar that is short by 10^-10 of itself holds
  // its 95 % less often by less than that.
  const double up = type == Type::kInteger ? whole_up(half_width)
                                           : std::ceil(half_width / unit * (1 - 1e-10)) * unit;
  if (up >= 1e15) return sign + upward(half_width, 3);
  return sign + apart(fixed(up, decimals));
}

std::string half_width_text(const Answer::Cell& cell) {
  if (!cell.half_width) return "";
  const Type type = std::holds_alternative<Date>(cell.value)           ? Type::kDate
                    : std::holds_alternative<Timestamp>(cell.value)    ? Type::kTimestamp
                    : std::holds_alternative<std::int64_t>(cell.value) ? Type::kInteger
                                                                       : Type::kDouble;
  return half_width_text(*cell.half_width, type);
}

}  // namespace gauze
