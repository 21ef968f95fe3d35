#include "gauze/sql/expression.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/numeric/infinity.h"
#include "gauze/sql/evaluate.h"

namespace gauze {

Expression Expression::of(Value value) {
  Expression result;
  result.literal = std::move(value);
  return result;
}

Expression Expression::input(std::size_t column) {
  Expression result;
  result.kind = Kind::kColumn;
  result.column = column;
  return result;
}

Expression Expression::call(std::string function, std::vector<Expression> arguments) {
  Expression result;
  result.kind = Kind::kCall;
  result.function = std::move(function);
  result.arguments = std::move(arguments);
  return result;
}

namespace {

double down(double x) {
  return std::nextafter(x, -kInfinity);
}
double up(double x) {
  return std::nextafter(x, kInfinity);
}

Estimate null(bool unsettled = false) {
  return {{}, 0, 0, unsettled};
}

Estimate ranged(Value value, double lower, double upper, bool unsettled = false) {
  if (std::isnan(lower)) lower = -kInfinity;
  if (std::isnan(upper)) upper = kInfinity;
  const double number = number_of(value).value_or(0);
  return {std::move(value), std::min(lower, number), std::max(upper, number), unsettled};
}

/// Of which nothing is known but that it is this now.
Estimate anything(Value value) {
  return ranged(std::move(value), -kInfinity, kInfinity, true);
}

bool is_sure(const Estimate& x) {
  return x.lower == x.upper && !x.unsettled;
}

bool any_unsettled(const std::vector<Estimate>& all) {
  return std::any_of(all.begin(), all.end(), [](const Estimate& x) { return x.unsettled; });
}

/// Dates beside times are the times at which they begin.
Estimate beside(const Estimate& x, const Estimate& other) {
  const auto* date = std::get_if<Date>(&x.value);
  if (date == nullptr || !std::holds_alternative<Timestamp>(other.value)) return x;
  constexpr double kDay = 86'400e6;
  return {start_of(*date), x.lower * kDay, x.upper * kDay, x.unsettled};
}

bool is_true(const Estimate& estimate) {
  const auto* value = std::get_if<bool>(&estimate.value);
  return value != nullptr && *value;
}

Estimate logic(const std::string& function, const std::vector<Estimate>& arguments) {
  const bool stop = function == "or";  // the value that decides
  bool unknown = false, decided = false;
  double lower = stop ? 0 : 1, upper = lower;
  for (const Estimate& argument : arguments) {
    if (is_null(argument.value)) {
      unknown = true;
      continue;
    }
    decided = decided || is_true(argument) == stop;
    lower = stop ? std::max(lower, argument.lower) : std::min(lower, argument.lower);
    upper = stop ? std::max(upper, argument.upper) : std::min(upper, argument.upper);
  }
  // Beside a null, what the others are decides whether the result is one.
  const bool unsettled = any_unsettled(arguments) || (unknown && lower < upper);
  if (unsettled) lower = 0, upper = 1;
  if (decided) return ranged(stop, lower, upper, unsettled);
  return unknown ? null(unsettled) : ranged(!stop, lower, upper, unsettled);
}

bool holds(const std::string& comparison, int order) {
  if (comparison == "=") return order == 0;
  if (comparison == "<>") return order != 0;
  if (comparison == "<") return order < 0;
  if (comparison == "<=") return order <= 0;
  if (comparison == ">") return order > 0;
  return order >= 0;
}

Estimate comparison(const std::string& function, const Estimate& one, const Estimate& other) {
  const Estimate a = beside(one, other), b = beside(other, one);
  const bool unsettled = a.unsettled || b.unsettled;
  const auto order = compare(a.value, b.value);
  if (!order) return null(unsettled);
  const bool value = holds(function, *order);
  if (unsettled) return ranged(value, 0, 1, true);
  if (!number_of(a.value)) return certain(value);
  // What each possible order of the true values would give.
  bool some = false, all = true;
  const auto see = [&](bool possible, int sign) {
    if (!possible) return;
    some = some || holds(function, sign);
    all = all && holds(function, sign);
  };
  const bool sure = a.lower == a.upper && b.lower == b.upper;
  see(sure ? *order < 0 : a.lower < b.upper, -1);
  see(sure ? *order == 0 : a.lower <= b.upper && b.lower <= a.upper, 0);
  see(sure ? *order > 0 : a.upper > b.lower, 1);
  return ranged(value, all ? 1 : 0, some ? 1 : 0);
}

Value add_up(const Value& a, const Value& b, bool subtract) {
  std::int64_t whole = 0;
  const auto* x = std::get_if<std::int64_t>(&a);
  const auto* y = std::get_if<std::int64_t>(&b);
  if (x != nullptr && y != nullptr &&
      !(subtract ? __builtin_sub_overflow(*x, *y, &whole) : __builtin_add_overflow(*x, *y, &whole)))
    return whole;
  if (const auto* date = std::get_if<Date>(&a)) {
    if (const auto* other = std::get_if<Date>(&b)) return date->days - other->days;
    if (y != nullptr) return Date{subtract ? date->days - *y : date->days + *y};
  }
  const double p = *number_of(a), q = *number_of(b);
  return subtract ? p - q : p + q;
}

Value product(const Value& a, const Value& b) {
  std::int64_t whole = 0;
  const auto* x = std::get_if<std::int64_t>(&a);
  const auto* y = std::get_if<std::int64_t>(&b);
  if (x != nullptr && y != nullptr && !__builtin_mul_overflow(*x, *y, &whole)) return whole;
  return *number_of(a) * *number_of(b);
}

/// The hull of f at the corners of a box; 0 * infinity is 0, for the infinity only says "not known".
template <class F>
Estimate at_corners(Value value, const Estimate& a, const Estimate& b, F f) {
  double lower = kInfinity, upper = -kInfinity;
  for (const double x : {a.lower, a.upper})
    for (const double y : {b.lower, b.upper}) {
      const double corner = f(x, y);
      lower = std::min(lower, std::isnan(corner) ? 0 : down(corner));
      upper = std::max(upper, std::isnan(corner) ? 0 : up(corner));
    }
  return ranged(std::move(value), lower, upper);
}

Estimate quotient(const Estimate& a, const Estimate& b, bool whole) {
  const double x = *number_of(a.value), y = *number_of(b.value);
  const bool sure = is_sure(a) && is_sure(b);
  if (y == 0) return null(!sure);
  const double ratio = whole ? std::trunc(x / y) : x / y;
  if (!std::isfinite(ratio)) return null(!sure);
  const auto value = [&]() -> Value {
    if (whole && std::abs(ratio) < 0x1p62) return static_cast<std::int64_t>(ratio);
    return ratio;
  };
  if (b.lower <= 0 && b.upper >= 0) return anything(value());
  Estimate result = at_corners(value(), a, b, [](double p, double q) { return p / q; });
  if (!whole) return result;
  return ranged(value(), std::trunc(result.lower), std::trunc(result.upper));
}

Estimate modulo(const Estimate& a, const Estimate& b) {
  const auto* x = std::get_if<std::int64_t>(&a.value);
  const auto* y = std::get_if<std::int64_t>(&b.value);
  const bool known = a.lower == a.upper && b.lower == b.upper;
  if (x != nullptr && y != nullptr) {
    if (*y == 0) return null(!known);
    const Value value = *y == -1 ? std::int64_t{0} : *x % *y;
    return known ? certain(value) : anything(value);
  }
  const double p = *number_of(a.value), q = *number_of(b.value);
  if (q == 0) return null(!known);
  return known ? certain(std::fmod(p, q)) : anything(std::fmod(p, q));
}

Estimate arithmetic(const std::string& function, const Estimate& a, const Estimate& b) {
  if (is_null(a.value) || is_null(b.value) || !number_of(a.value) || !number_of(b.value))
    return null();
  const bool sure = a.lower == a.upper && b.lower == b.upper;
  const auto finish = [&](Estimate estimate) {
    const auto* real = std::get_if<double>(&estimate.value);
    return real != nullptr && !std::isfinite(*real) ? null(!sure) : estimate;
  };
  if (function == "+" || function == "-") {
    const Value value = add_up(a.value, b.value, function == "-");
    if (sure && !std::holds_alternative<double>(value)) return certain(value);
    return finish(function == "+" ? ranged(value, down(a.lower + b.lower), up(a.upper + b.upper))
                                  : ranged(value, down(a.lower - b.upper), up(a.upper - b.lower)));
  }
  if (function == "*") {
    const Value value = product(a.value, b.value);
    if (sure && !std::holds_alternative<double>(value)) return certain(value);
    return finish(at_corners(value, a, b, [](double x, double y) { return x * y; }));
  }
  if (function == "%") return modulo(a, b);
  return quotient(a, b, function == "//");
}

/// A function that never decreases, on value and bounds alike.
template <class F>
Estimate monotone(const Estimate& x, F f, bool widen) {
  const double lower = f(x.lower), upper = f(x.upper);
  return ranged(f(*number_of(x.value)), widen ? down(down(lower)) : lower,
                widen ? up(up(upper)) : upper);
}

Estimate as_integer(Estimate estimate) {
  const double number = *number_of(estimate.value);
  if (std::abs(number) < 0x1p62) estimate.value = static_cast<std::int64_t>(number);
  return estimate;
}

double rounded(double x) {
  return std::isfinite(x) ? std::floor(x + 0.5) : x;
}

std::optional<Estimate> real_function(const std::string& function,
                                      const std::vector<Estimate>& arguments) {
  const Estimate& x = arguments[0];
  const double number = *number_of(x.value);
  if (function == "negate") {
    const Value zero = std::int64_t{0};
    return arithmetic("-", certain(zero), x);
  }
  if (function == "abs") {
    const Estimate positive = number < 0 ? arithmetic("-", certain(std::int64_t{0}), x) : x;
    const double least =
        x.lower <= 0 && x.upper >= 0 ? 0 : std::min(std::abs(x.lower), std::abs(x.upper));
    return ranged(positive.value, least, std::max(std::abs(x.lower), std::abs(x.upper)));
  }
  if (function == "sign")
    return as_integer(monotone(
        x, [](double v) { return v > 0   ? 1.0
                                 : v < 0 ? -1.0
                                         : 0.0; }, false));
  if (function == "floor")
    return as_integer(monotone(
        x, [](double v) { return std::floor(v); }, false));
  if (function == "ceil")
    return as_integer(monotone(
        x, [](double v) { return std::ceil(v); }, false));
  if (function == "round" && arguments.size() == 1) return as_integer(monotone(x, rounded, false));
  if (function == "round") {
    const double scale =
        std::pow(10.0, std::clamp(number_of(arguments[1].value).value_or(0), -15.0, 15.0));
    return monotone(
        x, [scale](double v) { return rounded(v * scale) / scale; }, true);
  }
  if (function == "sqrt") {
    if (number < 0) return null(x.upper >= 0);
    Estimate result = monotone(
        x, [](double v) { return std::sqrt(std::max(v, 0.0)); }, true);
    result.unsettled = x.lower < 0;
    return result;
  }
  if (function == "exp") {
    Estimate result = monotone(
        x, [](double v) { return std::exp(v); }, true);
    if (!std::isfinite(*number_of(result.value))) return null(x.lower < x.upper);
    result.unsettled = !std::isfinite(result.upper);
    return result;
  }
  if (function == "ln") {
    if (number <= 0) return null(x.upper > 0);
    Estimate result = monotone(
        x, [](double v) { return v <= 0 ? -kInfinity : std::log(v); }, true);
    result.unsettled = x.lower <= 0;
    return result;
  }
  if (function == "power") {
    const double value = std::pow(number, *number_of(arguments[1].value));
    if (!std::isfinite(value)) return null(!is_sure(x) || !is_sure(arguments[1]));
    if (x.lower <= 0) return anything(value);
    return at_corners(value, x, arguments[1], [](double p, double q) { return std::pow(p, q); });
  }
  return std::nullopt;
}

Estimate least_or_greatest(bool greatest, const std::vector<Estimate>& arguments) {
  std::optional<Estimate> best;
  for (const Estimate& argument : arguments) {
    if (is_null(argument.value)) continue;
    if (!best) {
      best = argument;
      continue;
    }
    const Estimate here = beside(argument, *best);
    *best = beside(*best, argument);
    const int order = compare(here.value, best->value).value_or(0);
    const auto pick = [greatest](double a, double b) {
      return greatest ? std::max(a, b) : std::min(a, b);
    };
    best = Estimate{(greatest ? order > 0 : order < 0) ? here.value : best->value,
                    pick(best->lower, here.lower), pick(best->upper, here.upper)};
  }
  if (any_unsettled(arguments)) return best ? anything(best->value) : null(true);
  return best.value_or(null());
}

Estimate membership(const std::vector<Estimate>& arguments) {
  std::vector<Estimate> equal;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    equal.push_back(comparison("=", arguments[0], arguments[i]));
  return logic("or", equal);
}

/// width_bucket(x, lower, upper, count): 0 below, count + 1 from the upper end on.
Estimate bucket(const std::vector<Estimate>& arguments) {
  const double lower = *number_of(arguments[1].value), upper = *number_of(arguments[2].value);
  const double count = *number_of(arguments[3].value);
  return as_integer(monotone(
      arguments[0],
      [=](double v) {
        return v < lower ? 0
               : v >= upper
                   ? count + 1
                   : std::min(std::floor((v - lower) * count / (upper - lower)), count - 1) + 1;
      },
      false));
}

/// The branch that is taken; the spread covers every branch that the truth might have taken.
Estimate chosen(const Expression& expression, const std::vector<Estimate>& inputs) {
  std::optional<Estimate> taken, first;
  double lower = kInfinity, upper = -kInfinity;
  bool unsettled = false;
  const auto cover = [&](const Estimate& branch) {
    if (!first) first = branch;
    unsettled = unsettled || branch.unsettled || is_null(branch.value) != is_null(first->value) ||
                (!number_of(branch.value) && branch.value != first->value);
    if (is_null(branch.value)) return;
    lower = std::min(lower, branch.lower);
    upper = std::max(upper, branch.upper);
  };
  bool open = true;  // the truth may get here
  const std::size_t count = expression.arguments.size();
  for (std::size_t i = 0; i + 1 < count && open; i += 2) {
    const Estimate condition = evaluate(expression.arguments[i], inputs);
    const bool possible = is_true(condition) || condition.unsettled ||
                          (!is_null(condition.value) && condition.upper > 0);
    if (!possible) continue;
    const Estimate branch = evaluate(expression.arguments[i + 1], inputs);
    cover(branch);
    if (is_true(condition) && !taken) taken = branch;
    open = condition.lower < 1 || condition.unsettled || is_null(condition.value);
  }
  if (open) {
    const Estimate otherwise = evaluate(expression.arguments.back(), inputs);
    cover(otherwise);
    if (!taken) taken = otherwise;
  }
  if (!number_of(taken->value)) return {taken->value, 0, 0, unsettled};
  return ranged(taken->value, lower, upper, unsettled);
}

std::optional<Estimate> logical_function(const std::string& function,
                                         const std::vector<Estimate>& arguments) {
  if (function == "and" || function == "or") return logic(function, arguments);
  if (function == "not") {
    const Estimate& x = arguments[0];
    return is_null(x.value) ? null(x.unsettled)
                            : ranged(!is_true(x), 1 - x.upper, 1 - x.lower, x.unsettled);
  }
  if (function == "is_null") {
    const bool value = is_null(arguments[0].value);
    return arguments[0].unsettled ? ranged(value, 0, 1) : certain(value);
  }
  if (function == "is_distinct") {
    const bool unsettled = any_unsettled(arguments);
    if (!is_null(arguments[0].value) && !is_null(arguments[1].value)) {
      Estimate result = comparison("<>", arguments[0], arguments[1]);
      result.unsettled = false;
      return result;
    }
    const bool value = is_null(arguments[0].value) != is_null(arguments[1].value);
    return unsettled ? ranged(value, 0, 1) : certain(value);
  }
  for (const char* name : {"=", "<>", "<", "<=", ">", ">="})
    if (function == name) return comparison(function, arguments[0], arguments[1]);
  if (function == "in") return membership(arguments);
  if (function == "coalesce") {
    bool unsettled = false;
    for (const Estimate& argument : arguments) {
      unsettled = unsettled || argument.unsettled;
      if (!is_null(argument.value)) return unsettled ? anything(argument.value) : argument;
    }
    return null(unsettled);
  }
  if (function == "nullif") {
    const Estimate equal = comparison("=", arguments[0], arguments[1]);
    if (is_true(equal)) return null(!is_sure(equal));
    Estimate result = arguments[0];
    result.unsettled = result.unsettled || equal.unsettled || equal.upper > 0;
    return result;
  }
  if (function == "least" || function == "greatest")
    return least_or_greatest(function == "greatest", arguments);
  return std::nullopt;
}

Estimate clamped(const std::vector<Estimate>& arguments) {
  if (is_null(arguments[0].value)) return null(arguments[0].unsettled);
  return least_or_greatest(false,
                           {least_or_greatest(true, {arguments[0], arguments[1]}), arguments[2]});
}

/// Functions of texts, dates and conversions.
Estimate converted(const std::string& function, const std::vector<Estimate>& arguments) {
  std::vector<Value> values;
  for (const Estimate& each : arguments) values.push_back(each.value);
  const auto value = call_on_values(function, values);
  if (!value) return null(!std::all_of(arguments.begin(), arguments.end(), is_sure));
  const Estimate& x = arguments.back();
  if (std::all_of(arguments.begin(), arguments.end(), is_sure)) return certain(*value);
  if (x.unsettled || !number_of(x.value)) return anything(*value);
  if (function == "to_integer" || function == "to_double") {
    const bool whole = function == "to_integer";
    return ranged(*value, whole ? rounded(x.lower) : x.lower, whole ? rounded(x.upper) : x.upper);
  }
  // What never decreases has its ends at the ends.
  const auto at = [&](double end) -> std::optional<double> {
    if (!(std::abs(end) < 0x1p62)) return std::nullopt;
    values.back() = std::holds_alternative<Date>(x.value)
                        ? Value(Date{static_cast<std::int64_t>(std::floor(end))})
                        : Value(Timestamp{static_cast<std::int64_t>(std::floor(end))});
    const auto there = call_on_values(function, values);
    return there ? number_of(*there) : std::nullopt;
  };
  const bool time =
      std::holds_alternative<Date>(x.value) || std::holds_alternative<Timestamp>(x.value);
  if (time && (function == "date_trunc" || function == "to_date" || function == "to_timestamp")) {
    const auto lower = at(x.lower), upper = at(x.upper);
    if (lower && upper) return ranged(*value, *lower, *upper);
  }
  return anything(*value);
}

}  // namespace

Estimate certain(Value value) {
  Estimate result{std::move(value), 0, 0};
  if (const auto number = number_of(result.value)) {
    const bool rounded = std::abs(*number) >= 0x1p53 || std::holds_alternative<Ratio>(result.value);
    result.lower = rounded ? down(*number) : *number;
    result.upper = rounded ? up(*number) : *number;
  }
  return result;
}

Estimate evaluate(const Expression& expression, const std::vector<Estimate>& inputs) {
  if (expression.kind == Expression::Kind::kLiteral) return certain(expression.literal);
  if (expression.kind == Expression::Kind::kColumn) {
    if (expression.column >= inputs.size())
      throw Error(ErrorCode::kInternal, "an expression names a column that is not there");
    return inputs[expression.column];
  }
  const std::string& function = expression.function;
  if (function == "case") return chosen(expression, inputs);
  std::vector<Estimate> arguments;
  for (const Expression& argument : expression.arguments)
    arguments.push_back(evaluate(argument, inputs));
  if (auto result = logical_function(function, arguments)) return *result;
  if (function == "clamp") return clamped(arguments);

  bool numbers = true;
  for (const Estimate& argument : arguments) {
    if (is_null(argument.value)) return null(any_unsettled(arguments));
    numbers = numbers && number_of(argument.value).has_value();
  }
  const auto strict = [&]() -> Estimate {
    for (const char* name : {"+", "-", "*", "/", "//", "%"})
      if (function == name) return arithmetic(function, arguments[0], arguments[1]);
    if (numbers && function == "width_bucket") return bucket(arguments);
    if (numbers)
      if (auto result = real_function(function, arguments)) return *result;
    return converted(function, arguments);
  };
  Estimate result = strict();
  result.unsettled = result.unsettled || any_unsettled(arguments);
  return result;
}

}  // namespace gauze
