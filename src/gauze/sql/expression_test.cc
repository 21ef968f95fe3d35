#include "gauze/sql/expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/numeric/infinity.h"
#include "gauze/random/uniform.h"
#include "gauze/sql/evaluate.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

Expression literal(Value value) {
  return Expression::of(std::move(value));
}
Expression call(const char* function, std::vector<Expression> arguments) {
  return Expression::call(function, std::move(arguments));
}
Expression whole(std::int64_t value) {
  return literal(value);
}
Expression text(const char* value) {
  return literal(std::string(value));
}
const Value kNull;

Value value_of(const Expression& expression, const std::vector<Estimate>& inputs = {}) {
  return evaluate(expression, inputs).value;
}

TEST(Evaluate, KeepsIntegersWholeUntilTheyOverflow) {
  EXPECT_EQ(value_of(call("+", {whole(2), whole(3)})), Value(std::int64_t{5}));
  EXPECT_EQ(value_of(call("*", {whole(INT64_MAX), whole(2)})), Value(0x1p64));
  EXPECT_EQ(value_of(call("/", {whole(1), whole(4)})), Value(0.25));
  EXPECT_EQ(value_of(call("//", {whole(-7), whole(2)})), Value(std::int64_t{-3}));
  EXPECT_EQ(value_of(call("%", {whole(-7), whole(3)})), Value(std::int64_t{-1}));
}

TEST(Evaluate, GivesNullWhereSqlWouldFail) {
  EXPECT_EQ(value_of(call("/", {whole(1), whole(0)})), kNull);
  EXPECT_EQ(value_of(call("%", {whole(1), whole(0)})), kNull);
  EXPECT_EQ(value_of(call("ln", {whole(0)})), kNull);
  EXPECT_EQ(value_of(call("sqrt", {whole(-1)})), kNull);
  EXPECT_EQ(value_of(call("exp", {whole(1000)})), kNull);
  EXPECT_EQ(value_of(call("to_date", {text("2023-02-30")})), kNull);
  EXPECT_EQ(value_of(call("+", {literal(kNull), whole(1)})), kNull);
}

TEST(Evaluate, HasThreeTruthValues) {
  const Expression unknown = call("=", {literal(kNull), whole(1)});
  const Expression yes = literal(true), no = literal(false);
  EXPECT_EQ(value_of(call("and", {unknown, no})), Value(false));
  EXPECT_EQ(value_of(call("and", {unknown, yes})), kNull);
  EXPECT_EQ(value_of(call("or", {unknown, yes})), Value(true));
  EXPECT_EQ(value_of(call("or", {unknown, no})), kNull);
  EXPECT_EQ(value_of(call("not", {unknown})), kNull);
  EXPECT_EQ(value_of(call("is_null", {unknown})), Value(true));
  EXPECT_EQ(value_of(call("is_distinct", {literal(kNull), literal(kNull)})), Value(false));
  EXPECT_EQ(value_of(call("in", {whole(3), whole(1), literal(kNull)})), kNull);
  EXPECT_EQ(value_of(call("in", {whole(1), whole(1), literal(kNull)})), Value(true));
}

TEST(Evaluate, MatchesPatternsAsSqlDoes) {
  const auto like = [](const char* x, const char* pattern) {
    return std::get<bool>(value_of(call("like", {text(x), text(pattern)})));
  };
  EXPECT_TRUE(like("abc", "a%"));
  EXPECT_TRUE(like("abc", "%b%c"));
  EXPECT_TRUE(like("abc", "a_c"));
  EXPECT_TRUE(like("a_c", "a\\_c"));
  EXPECT_FALSE(like("abc", "a\\_c"));
  EXPECT_TRUE(like("ü", "_"));
  EXPECT_TRUE(like("", "%"));
  EXPECT_FALSE(like("ab", "a"));
  EXPECT_TRUE(like("aab", "%ab"));
  EXPECT_FALSE(like(std::string(2000, 'a').c_str(), "%a%a%a%a%a%a%a%a%a%a%a%b"));
}

TEST(Evaluate, KnowsTheCalendar) {
  const auto part = [](const char* name, const char* day) {
    return std::get<std::int64_t>(
        value_of(call("date_part", {text(name), literal(parse_date(day))})));
  };
  // ISO weeks and weekdays of days that calendars agree on.
  EXPECT_EQ(part("week", "2021-01-03"), 53);
  EXPECT_EQ(part("week", "2020-12-31"), 53);
  EXPECT_EQ(part("week", "2024-12-30"), 1);
  EXPECT_EQ(part("dow", "2024-05-05"), 0);
  EXPECT_EQ(part("isodow", "2024-05-05"), 7);
  EXPECT_EQ(part("dow", "1969-12-31"), 3);
  EXPECT_EQ(part("doy", "2024-12-31"), 366);
  EXPECT_EQ(part("quarter", "2024-04-01"), 2);
  EXPECT_EQ(value_of(call("date_trunc", {text("quarter"), literal(parse_date("2024-06-30"))})),
            Value(parse_date("2024-04-01")));
  EXPECT_EQ(value_of(call("date_trunc", {text("week"), literal(parse_date("1970-01-01"))})),
            Value(parse_date("1969-12-29")));
  EXPECT_EQ(
      value_of(call("date_trunc", {text("hour"), literal(parse_timestamp("1969-12-31 23:59:59"))})),
      Value(parse_timestamp("1969-12-31 23:00:00")));
}

TEST(Evaluate, EnclosesTheTruthOfSumsProductsAndQuotients) {
  const std::vector<Estimate> inputs = {{10.0, 8, 12}, {std::int64_t{-2}, -3, -1}};
  const Expression a = Expression::input(0), b = Expression::input(1);
  for (const char* function : {"+", "-", "*", "/"}) {
    const Estimate result = evaluate(call(function, {a, b}), inputs);
    for (double x = 8; x <= 12; x += 0.25)
      for (double y = -3; y <= -1; y += 0.25) {
        const double truth = *function == '+'   ? x + y
                             : *function == '-' ? x - y
                             : *function == '*' ? x * y
                                                : x / y;
        EXPECT_LE(result.lower, truth) << function;
        EXPECT_GE(result.upper, truth) << function;
      }
    EXPECT_LT(result.upper - result.lower, 40);
  }
}

TEST(Evaluate, HasNoBoundsForADivisorThatMayBeZero) {
  const std::vector<Estimate> inputs = {{1.0, 1, 1}, {0.5, -1, 2}};
  const Estimate result = evaluate(call("/", {Expression::input(0), Expression::input(1)}), inputs);
  EXPECT_EQ(result.value, Value(2.0));
  EXPECT_EQ(result.lower, -kInfinity);
  EXPECT_EQ(result.upper, kInfinity);
}

TEST(Evaluate, CoversEveryBranchThatTheTruthMayTake) {
  const std::vector<Estimate> inputs = {{std::int64_t{11}, 5, 17}, {std::int64_t{100}, 100, 100}};
  const Expression size =
      call("case", {call(">", {Expression::input(0), whole(10)}), whole(1), whole(0)});
  const Estimate uncertain = evaluate(size, inputs);
  EXPECT_EQ(uncertain.value, Value(std::int64_t{1}));
  EXPECT_EQ(uncertain.lower, 0);
  EXPECT_EQ(uncertain.upper, 1);
  const Expression sure =
      call("case", {call(">", {Expression::input(1), whole(10)}), whole(1), whole(0)});
  EXPECT_EQ(evaluate(sure, inputs).lower, 1);
}

// What is null now may not be in truth, and the other way round: whatever looks at that must not be sure of itself.
TEST(Evaluate, IsNotSureOfWhatHangsOnANullThatNobodyIsSureOf) {
  const std::vector<Estimate> inputs = {{std::int64_t{103}, 90, 116}, {std::int64_t{0}, -9, 9}};
  const Expression n = Expression::input(0), zero = Expression::input(1);
  const Expression maybe = call("case", {call(">", {n, whole(103)}), n, literal(kNull)});
  const auto is_open = [&](const Expression& expression) {
    const Estimate result = evaluate(expression, inputs);
    return result.lower < result.upper || result.unsettled;
  };
  EXPECT_EQ(value_of(maybe, inputs), kNull);
  EXPECT_TRUE(is_open(call("coalesce", {maybe, whole(0)})));
  EXPECT_TRUE(is_open(call("greatest", {maybe, whole(0)})));
  EXPECT_TRUE(is_open(call("is_null", {maybe})));
  EXPECT_TRUE(is_open(call("is_distinct", {maybe, whole(3)})));
  EXPECT_TRUE(
      is_open(call("coalesce", {call("/", {n, call("nullif", {zero, whole(0)})}), whole(0)})));
  EXPECT_TRUE(is_open(call("coalesce", {call("/", {n, zero}), whole(0)})));
  EXPECT_TRUE(is_open(call("coalesce", {call("sqrt", {call("-", {zero, whole(1)})}), whole(-1)})));
  EXPECT_TRUE(
      is_open(call("case", {call("=", {call("to_text", {n}), text("103")}), whole(1), whole(0)})));
  EXPECT_TRUE(is_open(call("length", {call("to_text", {n})})));
  EXPECT_TRUE(is_open(call("to_integer", {call("to_boolean", {zero})})));
  EXPECT_TRUE(is_open(call("case", {call("is_null", {maybe}), whole(1), whole(0)})));
  // Of what is sure nothing is lost.
  EXPECT_FALSE(is_open(call("coalesce", {literal(kNull), whole(5)})));
  EXPECT_FALSE(is_open(call("length", {text("abc")})));
  EXPECT_EQ(evaluate(call("coalesce", {n, whole(0)}), inputs).upper, 116);
  EXPECT_EQ(evaluate(call("nullif", {n, whole(0)}), inputs).unsettled, false);
}

/// Expressions of all functions that have numbers, booleans and nulls, over three released numbers and a null.
class Expressions {
 public:
  explicit Expressions(BitSource& bits) : bits_(bits) {}

  std::uint64_t pick(std::uint64_t count) { return uniform_below(bits_, count); }

  Expression number(int depth) {
    if (depth == 0 || pick(6) == 0) return leaf();
    const auto sub = [&] { return number(depth - 1); };
    switch (pick(8)) {
      case 0:
        return call(one_of({"+", "-", "*", "/", "//", "%"}), {sub(), sub()});
      case 1:
        return call(one_of({"negate", "abs", "sign", "floor", "ceil", "round", "sqrt", "exp", "ln",
                            "to_integer", "to_double"}),
                    {sub()});
      case 2:
        return call("power", {sub(), sub()});
      case 3:
        return call(one_of({"least", "greatest", "coalesce", "nullif"}), {sub(), sub()});
      case 4:
        return call("clamp", {sub(), whole(-2), whole(7)});
      case 5:
        return call("width_bucket", {sub(), whole(-8), whole(8), whole(4)});
      case 6:
        return call("to_integer", {condition(depth - 1)});
      default:
        return call("case", {condition(depth - 1), sub(), condition(depth - 1), sub(), sub()});
    }
  }

  Expression condition(int depth) {
    if (depth == 0) return call(comparison(), {leaf(), leaf()});
    const auto sub = [&] { return condition(depth - 1); };
    switch (pick(5)) {
      case 0:
        return call(one_of({"and", "or"}), {sub(), sub()});
      case 1:
        return call("not", {sub()});
      case 2:
        return call("is_null", {pick(2) == 0 ? sub() : number(depth - 1)});
      case 3:
        return call("in", {number(depth - 1), leaf(), leaf()});
      default:
        return call(pick(4) == 0 ? "is_distinct" : comparison(),
                    {number(depth - 1), number(depth - 1)});
    }
  }

 private:
  const char* one_of(const std::vector<const char*>& names) { return names[pick(names.size())]; }
  const char* comparison() { return one_of({"=", "<>", "<", "<=", ">", ">="}); }
  Expression leaf() {
    const std::uint64_t which = pick(6);
    if (which < 4) return Expression::input(which);
    return whole(static_cast<std::int64_t>(pick(7)) - 3);
  }

  BitSource& bits_;
};

std::string written(const Expression& expression) {
  if (expression.kind == Expression::Kind::kLiteral) return to_text(expression.literal);
  if (expression.kind == Expression::Kind::kColumn) return "x" + std::to_string(expression.column);
  std::string result = expression.function + "(";
  for (const Expression& each : expression.arguments) result += written(each) + " ";
  return result + ")";
}

/// Whether the estimate allows for the truth.
bool covers(const Estimate& estimate, const Value& truth) {
  if (estimate.unsettled) return true;
  const auto number = number_of(truth);
  if (!number || !number_of(estimate.value)) return truth == estimate.value;
  return estimate.lower <= *number && *number <= estimate.upper;
}

// Whatever the true numbers within their bars are, the true answer is within its own, or is said to be open.
TEST(Evaluate, CoversWhateverTheTruthMayBe) {
  testing::SeededBits bits(77);
  Expressions expressions(bits);
  const auto small = [&] { return static_cast<std::int64_t>(expressions.pick(9)) - 4; };
  std::uint64_t settled = 0;
  constexpr int kExpressions = 20'000, kTruths = 12;
  for (int i = 0; i < kExpressions; ++i) {
    const std::int64_t n = small(), m = small();
    const std::int64_t spread = static_cast<std::int64_t>(expressions.pick(4));
    const double real = static_cast<double>(small()) / 2;
    const std::vector<Estimate> inputs = {
        {n, static_cast<double>(n - spread), static_cast<double>(n + spread)},
        {m, static_cast<double>(m - 1), static_cast<double>(m + 1)},
        {real, real - 1.5, real + 1.5},
        {}};
    const Expression expression = i % 2 == 0 ? expressions.number(3) : expressions.condition(3);
    const Estimate estimate = evaluate(expression, inputs);
    if (!estimate.unsettled) ++settled;
    for (int j = 0; j < kTruths; ++j) {
      const auto within = [&](std::int64_t middle, std::int64_t reach) {
        return middle - reach +
               static_cast<std::int64_t>(
                   expressions.pick(static_cast<std::uint64_t>(2 * reach + 1)));
      };
      const std::vector<Estimate> truth = {certain(within(n, spread)),
                                           certain(within(m, 1)),
                                           certain(real + static_cast<double>(within(0, 3)) / 2),
                                           {}};
      ASSERT_TRUE(covers(estimate, evaluate(expression, truth).value))
          << i << ": " << written(expression) << " is " << to_text(estimate.value) << " in ["
          << estimate.lower << ", " << estimate.upper << "] and may be "
          << to_text(evaluate(expression, truth).value);
    }
  }
  EXPECT_GT(settled, kExpressions / 4u);  // not everything is open
}

// 11 is 15 of 30 thirtieths of 22 above 0; 30/22 is no double.
TEST(Evaluate, BucketsOfWholeNumbersAreExactAtTheirEnds) {
  const auto at = [](std::int64_t x, std::int64_t lower, std::int64_t upper, std::int64_t count) {
    return evaluate(call("width_bucket", {whole(x), whole(lower), whole(upper), whole(count)}), {})
        .value;
  };
  EXPECT_EQ(at(11, 0, 22, 30), Value(std::int64_t{16}));
  for (std::int64_t upper = 1; upper <= 40; ++upper)
    for (std::int64_t count = 1; count <= 40; ++count)
      for (std::int64_t x = 0; x < upper; ++x)
        ASSERT_EQ(at(x - 7, -7, upper - 7, count), Value(x * count / upper + 1))
            << x << " of " << upper << " in " << count;
}

TEST(Evaluate, KnowsHowFarDatesMayBeOff) {
  const Date day = parse_date("2024-03-10");
  const auto days = static_cast<double>(day.days);
  const std::vector<Estimate> inputs = {{day, days - 20, days + 20}};
  const Expression x = Expression::input(0);
  const Estimate month = evaluate(call("date_trunc", {text("month"), x}), inputs);
  EXPECT_EQ(month.value, Value(parse_date("2024-03-01")));
  EXPECT_EQ(month.lower, parse_date("2024-02-01").days);
  EXPECT_EQ(month.upper, parse_date("2024-03-01").days);
  const Estimate part = evaluate(call("date_part", {text("month"), x}), inputs);
  EXPECT_EQ(part.value, Value(std::int64_t{3}));
  EXPECT_EQ(part.upper, kInfinity);
  // A date is a time where it is compared with one.
  const Estimate before = evaluate(call("<", {x, literal(parse_timestamp("2024-05-01"))}), inputs);
  EXPECT_EQ(before.value, Value(true));
  EXPECT_EQ(before.lower, 1);
  EXPECT_EQ(evaluate(call("<", {x, literal(parse_timestamp("2024-03-20"))}), inputs).lower, 0);
}

TEST(Evaluate, RoundsBoundsLikeValues) {
  const std::vector<Estimate> inputs = {{2.5, 1.4, 3.6}};
  const Expression x = Expression::input(0);
  EXPECT_EQ(value_of(call("round", {x}), inputs), Value(std::int64_t{3}));
  EXPECT_EQ(evaluate(call("round", {x}), inputs).lower, 1);
  EXPECT_EQ(evaluate(call("floor", {x}), inputs).upper, 3);
  EXPECT_EQ(evaluate(call("abs", {call("negate", {x})}), inputs).value, Value(2.5));
  EXPECT_LE(evaluate(call("abs", {call("-", {x, whole(2)})}), inputs).lower, 0);
}

}  // namespace
}  // namespace gauze
