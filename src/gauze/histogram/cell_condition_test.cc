#include "gauze/histogram/cell_condition.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

ColumnSchema ordered_column(std::string name, Type type, Value lower, Value upper) {
  ColumnSchema schema;
  schema.name = std::move(name);
  schema.domain.type = type;
  schema.domain.lower = std::move(lower);
  schema.domain.upper = std::move(upper);
  return schema;
}

Axis age(std::uint32_t cells = 10) {
  return Axis(ordered_column("age", Type::kInteger, std::int64_t{0}, std::int64_t{9}), cells);
}
Axis cost() {
  return Axis(ordered_column("cost", Type::kDouble, 0.0, 0.5), 5);
}
Axis day() {
  return Axis(
      ordered_column("day", Type::kDate, parse_date("2024-02-28"), parse_date("2024-03-02")));
}
Axis ward() {
  ColumnSchema schema;
  schema.name = "ward";
  schema.domain.type = Type::kText;
  schema.domain.categories = {Value("north"), Value("south"), Value("west")};
  return Axis(schema);
}
Axis smokes() {
  ColumnSchema schema;
  schema.name = "smokes";
  schema.domain.type = Type::kBoolean;
  return Axis(schema);
}

/// As digits: "0110".
std::string where(const std::vector<Axis>& axes, std::string_view condition) {
  std::string digits;
  for (const double weight : cells_where(axes, condition)) digits += weight == 1 ? '1' : '0';
  return digits;
}

TEST(CellCondition, ComparesWholeNumbers) {
  for (const auto& [condition, cells] : std::vector<std::pair<std::string, std::string>>{
           {"age < 3", "1110000000"},
           {"age <= 3", "1111000000"},
           {"age > 3", "0000111111"},
           {"age >= 3", "0001111111"},
           {"age = 3", "0001000000"},
           {"age <> 3", "1110111111"},
           {"3 < age", "0000111111"},
           {"3 >= age", "1111000000"},
           {"age < 2.5", "1110000000"},
           {"age BETWEEN 2 AND 4", "0011100000"},
           {"age NOT BETWEEN 2 AND 4", "1100011111"},
           {"age IN (1, 8)", "0100000010"},
           {"age > -1", "1111111111"},
           {"age > 100", "0000000000"},
           {"age < 2 OR age = 9", "1100000001"},
           {"NOT (age < 2 OR age = 9) AND age < 5", "0011100000"}})
    EXPECT_EQ(where({age()}, condition), cells) << condition;
}

TEST(CellCondition, ComparesDatesCategoriesAndTruths) {
  EXPECT_EQ(where({day()}, "day < '2024-03-01'"), "1100");
  EXPECT_EQ(where({day()}, "day = DATE '2024-02-29'"), "0100");
  EXPECT_EQ(where({ward()}, "ward = 'south'"), "010");
  EXPECT_EQ(where({ward()}, "ward <> 'south'"), "101");
  EXPECT_EQ(where({ward()}, "ward NOT IN ('south', 'west')"), "100");
  EXPECT_EQ(where({smokes()}, "smokes"), "01");
  EXPECT_EQ(where({smokes()}, "NOT smokes"), "10");
  EXPECT_EQ(where({smokes()}, "smokes = false"), "10");
}

TEST(CellCondition, ComparesRealsWhereTheirCellsBegin) {
  EXPECT_EQ(where({cost()}, "cost < 0.3"), "11100");
  EXPECT_EQ(where({cost()}, "cost >= 0.1 AND cost < 0.2"), "01000");
  EXPECT_EQ(where({cost()}, "cost <= 0.5"), "11111");
  EXPECT_ERROR(where({cost()}, "cost < 0.35"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(where({cost()}, "cost <= 0.3"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(where({cost()}, "cost < 0.5"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(where({cost()}, "cost = 0.3"), ErrorCode::kInvalidOption);
}

TEST(CellCondition, TakesTheLastAxisFastest) {
  EXPECT_EQ(where({age(2), ward()}, "age >= 5 AND (ward = 'north' OR ward = 'west')"), "000101");
  EXPECT_EQ(where({ward(), age(2)}, "age >= 5 AND ward <> 'south'"), "010001");
}

// 0 to 4 and 5 to 9.
TEST(CellCondition, RefusesWhatCutsThroughACell) {
  EXPECT_EQ(where({age(2)}, "age <= 4"), "10");
  for (const char* condition : {"age < 4", "age <= 5", "age = 5", "age <> 4", "age IN (7)"})
    EXPECT_ERROR(where({age(2)}, condition), ErrorCode::kInvalidOption);
}

// The last bin holds its end and all beyond.
TEST(CellCondition, KnowsThatTheLastBinIncludesItsEnd) {
  ColumnSchema schema = ordered_column("age", Type::kInteger, std::int64_t{0}, std::int64_t{120});
  schema.domain.bins = {Value(std::int64_t{0}), Value(std::int64_t{18}), Value(std::int64_t{120})};
  const Axis bins(schema);
  EXPECT_EQ(where({bins}, "age < 18"), "10");
  EXPECT_EQ(where({bins}, "age <= 120"), "11");
  EXPECT_ERROR(where({bins}, "age < 120"), ErrorCode::kInvalidOption);
}

TEST(CellCondition, RefusesWhatIsNoCondition) {
  EXPECT_ERROR(where({ward()}, "ward = 'nort'"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(where({ward()}, "ward < 'south'"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(where({ward()}, "ward = 3"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(where({age()}, "age = '3'"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(where({day()}, "day < 2024-03-01"), ErrorCode::kUnsupported);
  EXPECT_ERROR(where({age()}, "age IS NULL"), ErrorCode::kUnsupported);
  EXPECT_ERROR(where({age()}, "age"), ErrorCode::kUnsupported);
  EXPECT_ERROR(where({age()}, "age + 1 < 3"), ErrorCode::kUnsupported);
  EXPECT_ERROR(where({age()}, "cost < 3"), ErrorCode::kUnknownName);
  EXPECT_ERROR(where({age()}, "age < "), ErrorCode::kSyntax);
  EXPECT_ERROR(where({age()}, "age < 3 ORDER BY 1"), ErrorCode::kSyntax);
  EXPECT_ERROR(where({age()}, "age < 3; SELECT 1"), ErrorCode::kUnsupported);
  const Axis wide(ordered_column("x", Type::kDouble, 0.0, 1.0), 1u << 13);
  EXPECT_ERROR(where({wide, wide}, "x < 0.5"), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
