#include "gauze/numeric/ratio.h"

#include <mpfr.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "gauze/base/error.h"

namespace gauze {
namespace {

[[noreturn]] void reject(std::string_view text, std::string_view what) {
  throw Error(ErrorCode::kInvalidInput,
              std::string(what) + ": '" + std::string(text.substr(0, 40)) +
                  "' is not a finite number; write it like 0.5, 1e-6 or 7/3");
}

bool all_digits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

Integer power_of_ten(unsigned exponent) {
  Integer result = 1;
  mpz_ui_pow_ui(result.backend().data(), 10, exponent);
  return result;
}

/// Decimal with optional sign, point and exponent; no spaces, no hexadecimal, no "inf".
Ratio parse_decimal(std::string_view text, std::string_view original, std::string_view what) {
  bool negative = false;
  std::string_view rest = text;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  int exponent = 0;
  if (const auto e = rest.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view digits = rest.substr(e + 1);
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    // The limit keeps a short text from asking for gigabytes.
    if (error != std::errc() || end != digits.data() + digits.size() ||
        std::abs(exponent) > 100'000) {
      reject(original, what);
    }
    rest = rest.substr(0, e);
  }
  std::string digits;
  if (const auto point = rest.find('.'); point != std::string_view::npos) {
    digits = std::string(rest.substr(0, point)) + std::string(rest.substr(point + 1));
    exponent -= static_cast<int>(rest.size() - point - 1);
  } else {
    digits = rest;
  }
  if (digits.empty() || digits.size() > 100'000 || !all_digits(digits)) reject(original, what);
  // A leading zero would make GMP read octal.
  const auto first = digits.find_first_not_of('0');
  const Integer mantissa(first == std::string::npos ? std::string("0") : digits.substr(first));
  const Integer scale = power_of_ten(static_cast<unsigned>(std::abs(exponent)));
  const Ratio value = exponent >= 0 ? Ratio(mantissa * scale) : Ratio(mantissa, scale);
  return negative ? Ratio(-value) : value;
}

double round_with(const Ratio& value, mpfr_rnd_t direction) {
  mpfr_t rounded;
  mpfr_init2(rounded, 53);
  // MPFR's exponent range is wider than a double's: round once to 53 bits, then let mpfr_get_d
  // handle subnormals and overflow in the same direction. Rounding twice in one direction stays on
  // that side.
  mpfr_set_q(rounded, value.backend().data(), direction);
  const double result = mpfr_get_d(rounded, direction);
  mpfr_clear(rounded);
  return result;
}

}  // namespace

Ratio parse_ratio(std::string_view text, std::string_view what) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return parse_decimal(text, text, what);
  const Ratio numerator = parse_decimal(text.substr(0, slash), text, what);
  const Ratio denominator = parse_decimal(text.substr(slash + 1), text, what);
  if (denominator == 0) reject(text, what);
  return numerator / denominator;
}

Ratio ratio_of_decimal(double value, std::string_view what) {
  if (!std::isfinite(value)) reject(std::isnan(value) ? "NaN" : "infinity", what);
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return parse_ratio(std::string_view(buffer, static_cast<std::size_t>(end - buffer)), what);
}

Ratio ratio_of_bits(double value, std::string_view what) {
  if (!std::isfinite(value)) reject(std::isnan(value) ? "NaN" : "infinity", what);
  Ratio result;
  mpq_set_d(result.backend().data(), value);
  return result;
}

double round_up(const Ratio& value) {
  return round_with(value, MPFR_RNDU);
}
double round_down(const Ratio& value) {
  return round_with(value, MPFR_RNDD);
}

Integer floor(const Ratio& value) {
  Integer result;
  mpz_fdiv_q(result.backend().data(), mpq_numref(value.backend().data()),
             mpq_denref(value.backend().data()));
  return result;
}

Integer ceil(const Ratio& value) {
  Integer result;
  mpz_cdiv_q(result.backend().data(), mpq_numref(value.backend().data()),
             mpq_denref(value.backend().data()));
  return result;
}

Ratio power_of_two(int exponent) {
  const Integer power = Integer(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent >= 0 ? Ratio(power) : Ratio(Integer(1), power);
}

std::int64_t saturate(const Integer& value) {
  static const Integer kMin = std::numeric_limits<std::int64_t>::min();
  static const Integer kMax = std::numeric_limits<std::int64_t>::max();
  if (value < kMin) return std::numeric_limits<std::int64_t>::min();
  if (value > kMax) return std::numeric_limits<std::int64_t>::max();
  return value.convert_to<std::int64_t>();
}

std::string to_string(const Ratio& value) {
  // Decimal if a double's shortest form denotes exactly this fraction, a quotient otherwise.
  const double nearest = value.convert_to<double>();
  if (std::isfinite(nearest) && ratio_of_decimal(nearest) == value) {
    char buffer[64];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, nearest);
    return std::string(buffer, end);
  }
  return value.str();
}

}  // namespace gauze
