#include "gauze/data/value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(Value, TypesAreSpelledAsInSchemas) {
  for (const char* text : {"boolean", "integer", "decimal", "double", "text", "date", "timestamp"})
    EXPECT_EQ(name(parse_type(text)), text);
  EXPECT_ERROR(parse_type("int"), ErrorCode::kUnknownName);
  EXPECT_TRUE(is_numeric(Type::kDecimal));
  EXPECT_FALSE(is_numeric(Type::kDate));
}

TEST(Value, DatesAreDaysSince1970) {
  // Days computed by hand: 2000-01-01 is 30 years with 7 leap days later.
  EXPECT_EQ(parse_date("1970-01-01").days, 0);
  EXPECT_EQ(parse_date("2000-01-01").days, 30 * 365 + 7);
  EXPECT_EQ(parse_date("1969-12-31").days, -1);
  EXPECT_EQ(parse_date("0001-01-01").days, -719162);
  for (const char* text : {"0001-01-01", "1900-02-28", "2024-02-29", "9999-12-31"})
    EXPECT_EQ(to_text(parse_date(text)), text);
}

TEST(Value, WhatIsNoDateIsRefused) {
  for (const char* text : {"", "2024", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10",
                           "0000-01-01", "2024-1-1", "2024-01-01 ", "10000-01-01", "2024/01/01"})
    EXPECT_ERROR(parse_date(text), ErrorCode::kInvalidInput);
}

TEST(Value, TimestampsAreMicrosecondsSince1970) {
  EXPECT_EQ(parse_timestamp("1970-01-02 00:00:01").microseconds, 86'401'000'000);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:01").microseconds, 60'000'000);
  EXPECT_EQ(parse_timestamp("1969-12-31 23:59:59.5").microseconds, -500'000);
  EXPECT_EQ(parse_timestamp("1970-01-02").microseconds, 86'400'000'000);
  for (const char* text :
       {"1969-12-31 23:59:59.5", "2024-05-01 13:45:00", "0001-01-01 00:00:00.000001"})
    EXPECT_EQ(to_text(parse_timestamp(text)), text);
  for (const char* text :
       {"2024-05-01 24:00:00", "2024-05-01 ", "2024-05-01 12", "12:00:00", "2024-05-01 12:00:60",
        "2024-05-01 12:00:00.", "2024-05-01 12:00:00.1234567"})
    EXPECT_ERROR(parse_timestamp(text), ErrorCode::kInvalidInput);
}

TEST(Value, ReadsAsAPersonWould) {
  EXPECT_EQ(to_text(Value()), "");
  EXPECT_EQ(to_text(Value(true)), "true");
  EXPECT_EQ(to_text(Value(std::int64_t{-7})), "-7");
  EXPECT_EQ(to_text(Value(Ratio(1, 10))), "0.1");
  EXPECT_EQ(to_text(Value(0.1)), "0.1");
  EXPECT_EQ(to_text(Value(Date{0})), "1970-01-01");
}

TEST(Value, NullsSortLast) {
  std::vector<Value> values = {Value(), Value(std::int64_t{2}), Value(), Value(std::int64_t{-1})};
  std::sort(values.begin(), values.end(), sorts_before);
  EXPECT_EQ(values, (std::vector<Value>{Value(std::int64_t{-1}), Value(std::int64_t{2}), Value(),
                                        Value()}));
  EXPECT_FALSE(sorts_before(Value(), Value()));
}

}  // namespace
}  // namespace gauze
