#include "gauze/sql/parse.h"

#include <gtest/gtest.h>

#include "gauze/sql/ast.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

std::string first(const std::string& expression) {
  return to_sql(parse_select("SELECT " + expression).items.at(0).expression);
}

TEST(Parse, KeepsNegativeNumbers) {
  // The library under the parser prints every negative integer as 0.
  EXPECT_EQ(first("-3"), "-3");
  EXPECT_EQ(first("- 3"), "-3");
  EXPECT_EQ(first("-(3)"), "-3");
  EXPECT_EQ(first("- - 3"), "3");
  EXPECT_EQ(first("- - -3"), "-3");
  EXPECT_EQ(first("0"), "0");
  EXPECT_EQ(first("-2147483647"), "-2147483647");
  EXPECT_EQ(first("-2147483648"), "-2147483648");
  EXPECT_EQ(first("x BETWEEN -5 AND -2"), "(x >= -5) AND (x <= -2)");
  EXPECT_EQ(first("x - 3"), "x - 3");
  EXPECT_EQ(first("x -3"), "x - 3");
  EXPECT_ERROR(first("- /* hidden */ 3"), ErrorCode::kUnsupported);
}

TEST(Parse, ReadsNumbersExactly) {
  EXPECT_EQ(std::get<Ratio>(parse_select("SELECT 0.1").items[0].expression.literal), Ratio(1, 10));
  EXPECT_EQ(std::get<std::int64_t>(
                parse_select("SELECT 9223372036854775807").items[0].expression.literal),
            INT64_MAX);
  EXPECT_ERROR(first("1e99999"), ErrorCode::kUnsupported);
  EXPECT_ERROR(first("1e999999999"), ErrorCode::kUnsupported);
}

TEST(Parse, KnowsExplain) {
  EXPECT_TRUE(is_explain("EXPLAIN SELECT 1"));
  EXPECT_FALSE(is_explain("SELECT 1"));
  EXPECT_EQ(parse_select("EXPLAIN SELECT a FROM t").items.size(), 1u);
}

TEST(Parse, PointsToTheWordThatIsWrong) {
  try {
    parse_select("SELECT a FORM t WHERE");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kSyntax);
    EXPECT_NE(std::string(error.what()).find("'t'"), std::string::npos) << error.what();
  }
}

TEST(Parse, SurvivesHostileTexts) {
  const auto repeated = [](const std::string& text, std::size_t times) {
    std::string result;
    for (std::size_t i = 0; i < times; ++i) result += text;
    return result;
  };
  for (const std::size_t n : {150u, 300u, 4'000u, 9'000u, 200'000u}) {
    for (const char* deep : {"(", "- ", "NOT ", "1+", "x.", "CASE ", "f(", "(SELECT ", "a AND ",
                             "'", "\"", "/*", "$$"}) {
      const std::string sql = "SELECT " + repeated(deep, n) + "1";
      try {
        parse_select(sql);
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kSyntax || error.code() == ErrorCode::kUnsupported);
      }
    }
  }
  EXPECT_ERROR(parse_select(std::string("SELECT 1\0FROM", 13)), ErrorCode::kSyntax);
  EXPECT_ERROR(parse_select("SELECT '\xff\xfe'"), ErrorCode::kSyntax);
  EXPECT_ERROR(parse_select(""), ErrorCode::kSyntax);
  EXPECT_ERROR(parse_select(";;"), ErrorCode::kSyntax);
}

TEST(Parse, DoesNotLetNestedRepetitionsExplode) {
  std::string sql = "x";
  for (int i = 0; i < 40; ++i)
    sql = "CASE " + sql + " WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 4 END";
  EXPECT_ERROR(first(sql), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace gauze
