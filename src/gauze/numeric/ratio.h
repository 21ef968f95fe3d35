#pragma once

#include <boost/multiprecision/gmp.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace gauze {

/// Integers and fractions of any size, always exact and always reduced.
using Integer =
    boost::multiprecision::number<boost::multiprecision::gmp_int, boost::multiprecision::et_off>;
using Ratio = boost::multiprecision::number<boost::multiprecision::gmp_rational,
                                            boost::multiprecision::et_off>;

/// Reads "7/3", "0.1", "-12", "1e-6" exactly: 0.1 is one tenth, not the nearest double. Throws
/// `kInvalidInput`; `what` names the option in the message.
Ratio parse_ratio(std::string_view text, std::string_view what = "number");

/// The fraction a person means by a double: its shortest decimal form read exactly, so 0.1 becomes
/// 1/10 and ten tenths are one. Throws `kInvalidInput` on NaN and infinity.
Ratio ratio_of_decimal(double value, std::string_view what = "number");

/// The value of a double, bit for bit: 0.1 becomes 3602879701896397/36028797018963968.
Ratio ratio_of_bits(double value, std::string_view what = "number");

/// The nearest double that is not below (not above) the fraction; infinity (the largest double)
/// when it is larger than all doubles, and the mirror image for negative ones.
double round_up(const Ratio& value);
double round_down(const Ratio& value);

/// Largest integer <= value, smallest integer >= value.
Integer floor(const Ratio& value);
Integer ceil(const Ratio& value);

/// 2^exponent, also for negative exponents.
Ratio power_of_two(int exponent);

/// The integer, or the nearest end of the 64-bit range.
std::int64_t saturate(const Integer& value);

/// a + b, or the nearest end of the range.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

/// "7/3" or "5"; decimal when the denominator is a product of twos and fives and the result is
/// short.
std::string to_string(const Ratio& value);

}  // namespace gauze
