#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/query/range_parts_internal.h"
#include "gauze/sql/evaluate.h"

namespace gauze::range {
namespace {

const Ratio& largest_double() {
  static const Ratio kLargest =
      power_of_two(500);  // products of two stay far from the end of doubles
  return kLargest;
}

bool fits_integer(const Ratio& lower, const Ratio& upper) {
  return lower >= -largest_integer() && upper <= largest_integer();
}

}  // namespace

Ratio down(const Ratio& x) {
  return ratio_of_bits(round_down(x));
}
Ratio up(const Ratio& x) {
  return ratio_of_bits(round_up(x));
}

bool is_time(Type type) {
  return type == Type::kDate || type == Type::kTimestamp;
}
bool is_number(const Facts& facts) {
  return is_numeric(facts.type) || facts.untyped;
}

std::string kind(const Facts& facts) {
  return std::string(name(facts.type));
}

Facts number(bool integers, Ratio lower, Ratio upper, bool nullable) {
  Facts result;
  result.nullable = nullable;
  result.type = Type::kDouble;
  if (integers && fits_integer(lower, upper)) {
    result.type = Type::kInteger;
  } else {
    if (lower < -largest_double() || upper > largest_double())
      unsupported(
          "the values of this expression can become too large; limit them with clamp(x, lower, "
          "upper)");
    lower = down(lower);
    upper = up(upper);
  }
  result.lower = std::move(lower);
  result.upper = std::move(upper);
  return result;
}

Facts plain(Type type, bool nullable) {
  Facts result;
  result.type = type;
  result.nullable = nullable;
  if (type == Type::kBoolean) {
    result.lower = 0;
    result.upper = 1;
  }
  return result;
}

Facts any_time(Type type) {
  const Date first = parse_date("0001-01-01"), last = parse_date("9999-12-31");
  Facts result = plain(type, true);
  result.lower = type == Type::kDate ? first.days : start_of(first).microseconds;
  result.upper =
      type == Type::kDate ? last.days : parse_timestamp("9999-12-31 23:59:59.999999").microseconds;
  return result;
}

namespace {

using Ends = std::pair<Ratio, Ratio>;

Ends hull_of_products(const Facts& a, const Facts& b) {
  const Ratio corners[] = {*a.lower * *b.lower, *a.lower * *b.upper, *a.upper * *b.lower,
                           *a.upper * *b.upper};
  const auto [least, most] = std::minmax_element(corners, corners + 4);
  return {*least, *most};
}

/// Integers become doubles before they meet a double, and above 2^53 that rounds them.
Facts in_doubles(Facts facts) {
  facts.lower = down(*facts.lower);
  facts.upper = up(*facts.upper);
  return facts;
}

/// Products and quotients of doubles so small that they could underflow are computed as 0 (Dialect::multiply).
bool may_vanish(const Facts& facts) {
  static const Ratio kTiny = down(1 / power_of_two(490));
  return *facts.lower<kTiny&& * facts.upper> - kTiny;
}

Facts with_zero(Facts facts) {
  facts.lower = std::min(*facts.lower, Ratio(0));
  facts.upper = std::max(*facts.upper, Ratio(0));
  return facts;
}

Facts date_arithmetic(const std::string& function, const Facts& a, const Facts& b, Place place) {
  const bool nullable = a.nullable || b.nullable;
  if (function == "-" && a.type == Type::kDate && b.type == Type::kDate) {
    if (place == Place::kReleased) return plain(Type::kInteger, nullable);
    require_range(a, "the difference of dates");
    require_range(b, "the difference of dates");
    Facts days = number(true, *a.lower - *b.upper, *a.upper - *b.lower, nullable);
    days.missing = a.missing.empty() ? b.missing : a.missing;
    return days;
  }
  if (a.type != Type::kDate || b.type != Type::kInteger || (function != "-" && function != "+"))
    unsupported(
        "dates allow d + days, d - days and d1 - d2; for timestamps use date_trunc('day', t)::date "
        "first");
  Facts result = plain(Type::kDate, nullable);
  if (place == Place::kReleased) return result;
  require_range(a, "adding days to a date");
  require_range(b, "adding days to a date");
  result.missing = a.missing;
  result.lower = *a.lower + (function == "+" ? *b.lower : -*b.upper);
  result.upper = *a.upper + (function == "+" ? *b.upper : -*b.lower);
  if (*result.lower < parse_date("0001-01-01").days ||
      *result.upper > parse_date("9999-12-31").days)
    unsupported(
        "this date can leave the years 1 to 9999; limit the days with clamp(x, lower, upper)");
  return result;
}

/// 1 / b for a divisor that is never 0.
Facts reciprocal(const Facts& b) {
  const bool spans_zero = *b.lower <= 0 && *b.upper >= 0;
  if (!spans_zero) {
    Facts result = b;
    result.lower = 1 / *b.upper;
    result.upper = 1 / *b.lower;
    return result;
  }
  if (!b.nonzero)
    throw Error(
        ErrorCode::kNotPrivate,
        "the divisor can be 0, and one row could make the question fail; write x / NULLIF(y, 0)");
  if (*b.lower == *b.upper)
    unsupported("the divisor is always 0, so this is always NULL; remove it");
  if (b.type != Type::kInteger)
    throw Error(ErrorCode::kNotPrivate,
                "the divisor can be arbitrarily close to 0; write x / clamp(y, 0.01, 100) or a "
                "range that suits");
  Facts result = b;
  result.lower = *b.lower < 0 ? Ratio(-1) : 1 / *b.upper;
  result.upper = *b.upper > 0 ? Ratio(1) : 1 / *b.lower;
  return result;
}

Facts division(const std::string& function, const Facts& a, const Facts& b) {
  const bool nullable = a.nullable || b.nullable;
  const Facts numerator = in_doubles(a), divisor = in_doubles(b);
  const Ends ends = hull_of_products(numerator, reciprocal(divisor));
  Facts result = number(false, ends.first, ends.second, nullable);
  const Ratio huge = power_of_two(490);
  if (may_vanish(numerator) || *divisor.lower < -huge || *divisor.upper > huge)
    result = with_zero(std::move(result));
  if (function == "/") return result;
  if (a.type != Type::kInteger || b.type != Type::kInteger)
    unsupported("div takes integers; use floor(x / y)");
  const Ratio exact = power_of_two(53);
  if (*a.lower <= -exact || *a.upper >= exact)
    unsupported("div takes integers of at most 53 bits; clamp them first");
  // Truncation lies between floor and ceiling.
  return number(true, Ratio(floor(*result.lower)), Ratio(ceil(*result.upper)), nullable);
}

Facts modulo(const Expression& call, const Facts& a) {
  const auto* by = std::get_if<std::int64_t>(&call.arguments[1].literal);
  if (call.arguments[1].kind != Expression::Kind::kLiteral || by == nullptr || *by == 0 ||
      *by == -1)  // the smallest integer % -1 is an error
    unsupported("x % y takes a whole number other than 0 and -1 as y");
  if (a.type != Type::kInteger) unsupported("x % y takes an integer as x");
  Facts result = plain(Type::kInteger, a.nullable);
  const Ratio largest = abs(Ratio(*by)) - 1;
  result.lower = a.lower && *a.lower >= 0 ? Ratio(0) : Ratio(-largest);
  result.upper = a.upper && *a.upper <= 0 ? Ratio(0) : largest;
  return result;
}

bool is_constant(const Facts& facts) {
  return facts.lower && facts.upper && *facts.lower == *facts.upper;
}

/// Around aggregates anything may happen, and gives NULL; what can only be NULL is not worth its price.
Facts released_arithmetic(const std::string& function, const Facts& a, const Facts& b,
                          bool integers) {
  Facts result = plain(integers && function != "/" ? Type::kInteger : Type::kDouble, true);
  const bool divides = function == "/" || function == "//" || function == "%";
  if (divides && is_constant(b) && *b.lower == 0)
    unsupported("the divisor is always 0, so this is always NULL; remove it");
  if (divides || !is_constant(a) || !is_constant(b)) return result;
  result.lower = function == "+"   ? *a.lower + *b.lower
                 : function == "-" ? *a.lower - *b.lower
                                   : *a.lower * *b.lower;
  result.upper = result.lower;
  return result;
}

}  // namespace

Facts arithmetic(const Expression& call, const std::vector<Facts>& arguments, Place place) {
  const Facts &a = arguments[0], &b = arguments[1];
  const std::string& function = call.function;
  if (is_time(a.type) || is_time(b.type)) return date_arithmetic(function, a, b, place);
  if (!is_number(a) || !is_number(b))
    unsupported("'" + function + "' takes numbers; this is " + kind(is_number(a) ? b : a));
  const bool integers = a.type == Type::kInteger && b.type == Type::kInteger;
  if (place == Place::kReleased) return released_arithmetic(function, a, b, integers);
  if (a.untyped || b.untyped) unsupported("arithmetic with NULL is always NULL; remove it");
  if (function == "%") return modulo(call, a);
  require_range(a, "'" + function + "'");
  require_range(b, "'" + function + "'");
  if (function == "/" || function == "//") return division(function, a, b);
  const bool nullable = a.nullable || b.nullable;
  const auto ends = [&](const Facts& x, const Facts& y) -> Ends {
    if (function == "+") return {*x.lower + *y.lower, *x.upper + *y.upper};
    if (function == "-") return {*x.lower - *y.upper, *x.upper - *y.lower};
    return hull_of_products(x, y);
  };
  if (integers) {
    const Ends exact = ends(a, b);
    if (fits_integer(exact.first, exact.second))
      return number(true, exact.first, exact.second, nullable);
  }
  const Facts x = in_doubles(a), y = in_doubles(b);
  const Ends rounded = ends(x, y);
  Facts result = number(false, rounded.first, rounded.second, nullable);
  return function == "*" && (may_vanish(x) || may_vanish(y)) ? with_zero(std::move(result))
                                                             : result;
}

Facts rounding(const Expression& call, const std::vector<Facts>& arguments, Place place) {
  const Facts& x = arguments[0];
  if (!is_number(x)) unsupported(call.function + " takes a number; this is " + kind(x));
  if (call.arguments.size() == 2) {
    const auto* digits = std::get_if<std::int64_t>(&call.arguments[1].literal);
    if (call.arguments[1].kind != Expression::Kind::kLiteral || digits == nullptr ||
        std::abs(*digits) > 15)
      unsupported("round(x, digits) takes a whole number from -15 to 15");
    if (place == Place::kReleased) return plain(Type::kDouble, true);
    require_range(x, "round");
    Ratio step = 1;
    for (std::int64_t i = 0; i < std::abs(*digits); ++i) step *= 10;
    if (*digits > 0) step = 1 / step;
    return number(false, *x.lower - step, *x.upper + step, x.nullable);
  }
  if (place == Place::kReleased) return plain(Type::kInteger, true);
  if (x.type == Type::kInteger) return x;
  require_range(x, call.function);
  if (*x.lower < -power_of_two(61) || *x.upper > power_of_two(61))  // twice it must fit 64 bits
    unsupported(call.function + " takes values of at most 61 bits; clamp them first");
  return number(true, Ratio(floor(*x.lower)), Ratio(ceil(*x.upper)), x.nullable);
}

/// sqrt, exp, ln: increasing, computed in doubles, the ends widened by more than the error of any mathematical library.
Facts curve(const std::string& function, const Facts& x, Place place) {
  if (!is_number(x)) unsupported(function + " takes a number; this is " + kind(x));
  if (place == Place::kReleased) return plain(Type::kDouble, true);
  require_range(x, function);
  const bool valid = function == "sqrt" ? *x.lower >= 0
                     : function == "ln" ? *x.lower > 0
                                        : *x.lower >= -700 && *x.upper <= 300;
  if (!valid)
    throw Error(ErrorCode::kNotPrivate, function + " fails on some values of " + range_text(x) +
                                            "; write " + function + "(clamp(x, lower, upper))");
  const auto value = [&](double v) {
    return function == "sqrt" ? std::sqrt(v) : function == "ln" ? std::log(v) : std::exp(v);
  };
  const double slack = 1e-12;
  const double low = value(round_down(*x.lower)), high = value(round_up(*x.upper));
  const double least = low - std::abs(low) * slack - 1e-300;
  return number(false, ratio_of_bits(function == "ln" ? least : std::max(least, 0.0)),
                ratio_of_bits(high + std::abs(high) * slack + 1e-300), x.nullable);
}

Facts simple_number(const std::string& function, const Facts& x, Place place) {
  if (!is_number(x)) unsupported(function + " takes a number; this is " + kind(x));
  if (place == Place::kReleased) return plain(function == "sign" ? Type::kInteger : x.type, true);
  if (function == "sign") {
    Facts result = plain(Type::kInteger, x.nullable);
    result.lower = -1;
    result.upper = 1;
    return result;
  }
  require_range(x, function);
  const bool integers = x.type == Type::kInteger;
  if (function == "negate") return number(integers, -*x.upper, -*x.lower, x.nullable);
  const Ratio least = *x.lower > 0 ? *x.lower : *x.upper < 0 ? Ratio(-*x.upper) : Ratio(0);
  return number(integers, least, std::max<Ratio>(abs(*x.lower), abs(*x.upper)), x.nullable);
}

}  // namespace gauze::range
