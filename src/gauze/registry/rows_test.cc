#include "gauze/registry/rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using Cells = std::vector<std::string>;

TEST(Rows, ReadsOneNumberPerLine) {
  const Rows rows = Rows::parse("1\n2.5\r\n\n-3e2", {});
  EXPECT_EQ(rows.numbers(), (std::vector<double>{1, 2.5, -300}));
}

TEST(Rows, TakesAColumnByNumberOrName) {
  const char* text = "name,age\n\"Ann, B.\",31\nC \"\"D,44\n";
  EXPECT_EQ(Rows::parse(text, {.column = "age"}).numbers(), (std::vector<double>{31, 44}));
  EXPECT_EQ(Rows::parse(text, {.column = "2", .header = true}).cells(), (Cells{"31", "44"}));
  EXPECT_EQ(Rows::parse(text, {.column = "1", .header = true}).cells()[0], "Ann, B.");
  EXPECT_EQ(Rows::parse("\"a\"\"b\"\n", {}).cells(), (Cells{"a\"b"}));
}

TEST(Rows, AQuoteInsideACellDoesNotSwallowTheNextRow) {
  EXPECT_EQ(Rows::parse("6'2\"\n7\n8\n", {}).cells(), (Cells{"6'2\"", "7", "8"}));
}

TEST(Rows, OnlyTheFirstLineCanBeAnError) {
  EXPECT_ERROR(Rows::parse("1,2\n3,4\n", {}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Rows::parse("1,2\n", {.column = "3"}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Rows::parse("1,2\n", {.column = "0"}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Rows::parse("a,b\n1,2\n", {.column = "c"}), ErrorCode::kUnknownName);
  EXPECT_EQ(Rows::parse("1,2\n3\n", {.column = "2"}).cells(), (Cells{"2", ""}));
}

TEST(Rows, WhatIsNoNumberBecomesNaNAndStaysARow) {
  const std::vector<double> numbers = Rows::parse("x\nnan\ninf\n-inf\n1e999\n7\n", {}).numbers();
  ASSERT_EQ(numbers.size(), 6u);
  EXPECT_TRUE(std::isnan(numbers[0]));
  EXPECT_TRUE(std::isnan(numbers[1]));
  EXPECT_EQ(numbers[2], INFINITY);
  EXPECT_EQ(numbers[3], -INFINITY);
  EXPECT_EQ(numbers[4], INFINITY);
  EXPECT_EQ(numbers[5], 7);
}

TEST(Rows, IntegersSaturateAndNeverWrap) {
  const Rows rows =
      Rows::parse("9223372036854775807\n9223372036854775808\n-1e30\n2.6\n4294967295\n?\n", {});
  EXPECT_EQ(rows.integers(5),
            (std::vector<std::int64_t>{INT64_MAX, INT64_MAX, INT64_MIN, 3, 4294967295, 5}));
}

TEST(Rows, AnEmptyTextIsAnEmptyDataSetButNoVector) {
  EXPECT_TRUE(Rows::parse("", {}).cells().empty());
  EXPECT_TRUE(Rows::parse("age\n", {.column = "age"}).cells().empty());
  EXPECT_ERROR(Rows::parse("", {}).vector(), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Rows::parse("", {}).integer_vector(), ErrorCode::kInvalidInput);
}

TEST(Rows, AVectorHoldsFiniteNumbersOnlyAndItsErrorsCarryNoData) {
  EXPECT_EQ(Rows::parse("1\n-2\n", {}).integer_vector(), (std::vector<std::int64_t>{1, -2}));
  EXPECT_ERROR(Rows::parse("1\n2.5\n", {}).integer_vector(), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Rows::parse("9223372036854775808\n", {}).integer_vector(), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Rows::parse("inf\n", {}).vector(), ErrorCode::kInvalidInput);
  try {
    Rows::parse("secret\n", {}).vector();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
  }
}

// A column of a database is the same as its text.
TEST(Rows, NumbersAreWhatTheirTextIs) {
  const std::vector<double> numbers = {0.1, -2.5, 3, 1e300, -1e300, 0x1p62, 0.5, 1.5};
  const std::vector<std::int64_t> integers = {0, -7, INT64_MAX, INT64_MIN, (1ll << 53) + 1};
  const auto same = [](const Rows& typed) {
    const Rows text(typed.cells());
    EXPECT_EQ(typed.size(), text.size());
    EXPECT_EQ(typed.numbers(), text.numbers());
    EXPECT_EQ(typed.integers(-1), text.integers(-1));
  };
  same(Rows::of_numbers(numbers));
  same(Rows::of_integers(integers));
  const Rows none = Rows::of_numbers({NAN, INFINITY});
  EXPECT_EQ(none.integers(-1), (std::vector<std::int64_t>{-1, INT64_MAX}));
  EXPECT_EQ(none.integers(-1), Rows(none.cells()).integers(-1));
  EXPECT_EQ(Rows::of_numbers({0.1}).cells(), (std::vector<std::string>{"0.1"}));
}

}  // namespace
}  // namespace gauze
