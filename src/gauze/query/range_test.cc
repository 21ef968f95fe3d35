#include <gtest/gtest.h>

#include <cmath>

#include "gauze/query/range_internal.h"
#include "gauze/query/sql_writer_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/sql/evaluate.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

Facts integers(int lower, int upper, bool nullable = false) {
  Facts facts;
  facts.type = Type::kInteger;
  facts.lower = lower;
  facts.upper = upper;
  facts.nullable = nullable;
  return facts;
}

Facts doubles(double lower, double upper) {
  Facts facts = integers(0, 0);
  facts.type = Type::kDouble;
  facts.lower = ratio_of_bits(lower);
  facts.upper = ratio_of_bits(upper);
  return facts;
}

/// Random expressions over an integer in [-3, 7] and a double in [0.5, 4].
class RandomExpressions {
 public:
  explicit RandomExpressions(std::uint64_t seed) : bits_(seed) {}

  Expression next(unsigned depth) {
    const std::uint64_t choice = uniform_below(bits_, depth == 0 ? 3 : 13);
    if (choice == 0) return Expression::input(0);
    if (choice == 1) return Expression::input(1);
    if (choice == 2) return Expression::of(static_cast<std::int64_t>(uniform_below(bits_, 9)) - 4);
    static constexpr const char* kBinary[] = {"+", "-", "*", "/", "least", "greatest"};
    if (choice < 9)
      return Expression::call(kBinary[choice - 3], {next(depth - 1), next(depth - 1)});
    if (choice == 9) return Expression::call("abs", {next(depth - 1)});
    if (choice == 10) return Expression::call("floor", {next(depth - 1)});
    if (choice == 11) return Expression::call("round", {next(depth - 1)});
    return Expression::call("case", {Expression::call(">", {next(depth - 1), next(depth - 1)}),
                                     next(depth - 1), next(depth - 1)});
  }

 private:
  testing::SeededBits bits_;
};

// Totality rests on this: whatever the rows hold, the value lies in the range that was promised. Ranges come from interval
// analysis, values from evaluating every point of a grid that includes the ends.
TEST(Range, EnclosesEveryValueOfRandomExpressions) {
  RandomExpressions random(1);
  const std::vector<Facts> inputs = {integers(-3, 7), doubles(0.5, 4)};
  std::size_t accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    const Expression expression = random.next(4);
    Facts facts;
    try {
      facts = facts_of(expression, inputs, Place::kRows);
    } catch (const Error&) {
      continue;  // a divisor that can be 0
    }
    ++accepted;
    for (std::int64_t x = -3; x <= 7; ++x)
      for (double y = 0.5; y <= 4; y += 0.875) {
        const Value value = evaluate(expression, {{x, double(x), double(x)}, {y, y, y}}).value;
        ASSERT_FALSE(is_null(value));
        EXPECT_GE(*number_of(value), round_down(*facts.lower));
        EXPECT_LE(*number_of(value), round_up(*facts.upper));
        if (facts.type == Type::kInteger) {
          EXPECT_EQ(*number_of(value), std::floor(*number_of(value)));
        }
      }
  }
  EXPECT_GT(accepted, 2000u);
}

TEST(Range, OfSumsStaysIntegerUpTo62BitsAndIsDoubleBeyond) {
  Facts large = integers(0, 0);
  large.upper = largest_integer();
  const Expression sum = Expression::call("+", {Expression::input(0), Expression::input(1)});
  EXPECT_EQ(call_facts(sum, {integers(-1, 5), integers(0, 2)}, Place::kRows).type, Type::kInteger);
  EXPECT_EQ(call_facts(sum, {large, integers(0, 1)}, Place::kRows).type, Type::kDouble);
}

TEST(Range, OfAQuotientNeedsADivisorAwayFromZero) {
  const Expression quotient = Expression::call("/", {Expression::input(0), Expression::input(1)});
  EXPECT_ERROR(call_facts(quotient, {integers(1, 9), integers(0, 3)}, Place::kRows),
               ErrorCode::kNotPrivate);
  Facts nonzero = integers(-3, 3);
  nonzero.nonzero = true;
  const Facts facts = call_facts(quotient, {integers(1, 9), nonzero}, Place::kRows);
  EXPECT_EQ(*facts.lower, -9);
  EXPECT_EQ(*facts.upper, 9);
  Facts real = doubles(-1, 1);
  real.nonzero = true;
  EXPECT_ERROR(call_facts(quotient, {integers(1, 9), real}, Place::kRows), ErrorCode::kNotPrivate);
}

TEST(Range, IsMissedWhereArithmeticNeedsIt) {
  Facts unknown;
  unknown.type = Type::kDouble;
  const Expression sum = Expression::call("+", {Expression::input(0), Expression::input(1)});
  EXPECT_ERROR(call_facts(sum, {unknown, integers(0, 1)}, Place::kRows),
               ErrorCode::kMissingKnowledge);
  EXPECT_EQ(call_facts(sum, {unknown, integers(0, 1)}, Place::kReleased).type, Type::kDouble);
}

TEST(Range, IgnoresNullsInLeastOnlyWhereTheyAreImpossible) {
  Facts unknown;
  unknown.type = Type::kInteger;
  const Expression least = Expression::call("least", {Expression::input(0), Expression::input(1)});
  EXPECT_EQ(*call_facts(least, {unknown, integers(5, 5)}, Place::kRows).upper, 5);
  // LEAST(x, NULL) is x, so a constant that may be null limits nothing.
  EXPECT_FALSE(call_facts(least, {unknown, integers(5, 5, true)}, Place::kRows).upper.has_value());
}

std::size_t occurrences(const std::string& what, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

// A bound on weights is one on the SQL: no call mentions an argument more often than its weight says. PostgreSQL mentions what
// stands before BETWEEN once more.
TEST(Range, WeighsHowOftenTheSqlOfACallMentionsItsArguments) {
  const auto number = [](const Ratio& value) { return Expression::of(value); };
  const Expression x = Expression::input(0), real = Expression::input(1),
                   day = Expression::input(2);
  const Expression two = Expression::of(std::int64_t{2}), four = Expression::of(std::int64_t{4});
  std::vector<Facts> facts = {integers(1, 7, true), doubles(0.5, 4), integers(0, 900)};
  facts[2].type = Type::kDate;
  std::vector<std::pair<const char*, std::vector<Expression>>> calls = {
      {"*", {x, two}},
      {"*", {two, real}},
      {"/", {x, two}},
      {"//", {two, x}},
      {"clamp", {x, two, four}},
      {"clamp", {real, two, four}},
      {"width_bucket", {real, two, four, two}},
      {"nullif", {x, two}},
      {"least", {x, two}},
      {"coalesce", {real, two}},
      {"+", {real, two}},
      {"%", {x, two}},
      {"round", {real, two}},
      {"is_distinct", {x, two}},
      {"in", {x, two, four}},
      {"negate", {x}},
      {"date_part", {Expression::of(std::string("isodow")), day}},
      {"date_trunc", {Expression::of(std::string("month")), day}},
      {"case", {Expression::call("<", {two, four}), x, number(Ratio(1, 2))}}};
  for (const char* name :
       {"abs", "sign", "floor", "ceil", "round", "sqrt", "exp", "ln", "to_integer"})
    calls.push_back({name, {real}});
  for (const char* name : {"to_double", "to_text", "to_boolean"}) calls.push_back({name, {x}});
  for (const char* name : {"to_timestamp", "to_text"}) calls.push_back({name, {day}});
  std::vector<Written> inputs;
  for (Facts& each : facts) {
    each.weight = 1000;
    inputs.push_back({"@", each});
  }
  for (const Dialect* dialect : {&duckdb_dialect(), &postgres_dialect()})
    for (const auto& [function, arguments] : calls) {
      const Written call =
          write_expression(*dialect, Expression::call(function, arguments), inputs);
      const std::size_t mentions = occurrences("@", call.sql) + occurrences("@ BETWEEN", call.sql);
      EXPECT_GE(mentions, 1u) << call.sql;
      EXPECT_LE(static_cast<double>(mentions) * 1000, call.facts.weight) << call.sql;
    }
}

TEST(Range, RefusesExpressionsThatWouldBeEndlessInSql) {
  Expression product = Expression::input(0);
  for (int i = 0; i < 8; ++i) product = Expression::call("*", {product, Expression::input(0)});
  EXPECT_NO_THROW(facts_of(product, {integers(0, 2)}, Place::kRows));
  for (int i = 0; i < 12; ++i) product = Expression::call("*", {product, product});
  EXPECT_ERROR(facts_of(product, {integers(0, 1)}, Place::kRows), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace gauze
