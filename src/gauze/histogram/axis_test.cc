#include "gauze/histogram/axis.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

ColumnSchema column(Type type, std::optional<Value> lower = {}, std::optional<Value> upper = {}) {
  ColumnSchema schema;
  schema.name = "x";
  schema.domain.type = type;
  schema.domain.lower = std::move(lower);
  schema.domain.upper = std::move(upper);
  return schema;
}

Value integer(std::int64_t value) {
  return value;
}

TEST(Axis, CutsWholeNumbersIntoCellsOfNearlyEqualSizeNoneEmpty) {
  for (const std::int64_t values : {1, 2, 7, 100, 110}) {
    for (std::uint32_t cells = 1; cells <= values; ++cells) {
      const Axis axis(column(Type::kInteger, integer(-3), integer(values - 4)), cells);
      std::vector<std::int64_t> sizes(cells, 0);
      for (std::int64_t i = 0; i < values; ++i) {
        const std::uint32_t cell = axis.index(integer(i - 3));
        ++sizes[cell];
        EXPECT_LE(std::get<std::int64_t>(axis.edge(cell)), i - 3);
        EXPECT_GT(std::get<std::int64_t>(axis.edge(cell + 1)), i - 3);
      }
      for (const std::int64_t size : sizes) {
        EXPECT_GE(size, values / cells);
        EXPECT_LE(size, values / cells + 1);
      }
    }
  }
}

TEST(Axis, TakesAllWholeNumbersOf64Bits) {
  const Axis axis(column(Type::kInteger, integer(INT64_MIN), integer(INT64_MAX)), 1024);
  EXPECT_EQ(axis.index(integer(INT64_MIN)), 0u);
  EXPECT_EQ(axis.index(integer(-1)), 511u);
  EXPECT_EQ(axis.index(integer(0)), 512u);
  EXPECT_EQ(axis.index(integer(INT64_MAX)), 1023u);
}

TEST(Axis, CutsRealsEvenlyAndPutsWhatLiesOutsideIntoTheNearestCell) {
  const Axis axis(column(Type::kDouble, -1.0, 3.0), 4);
  EXPECT_EQ(axis.index(-1.0), 0u);
  EXPECT_EQ(axis.index(-0.0), 1u);
  EXPECT_EQ(axis.index(2.999), 3u);
  EXPECT_EQ(axis.index(3.0), 3u);
  EXPECT_EQ(axis.index(1e300), 3u);
  EXPECT_EQ(axis.index(-1e300), 0u);
  EXPECT_EQ(axis.edge(1), Value(0.0));
  EXPECT_EQ(axis.label(1, 3), "0 to below 2");
  const Axis wide(column(Type::kDouble, -1.7e308, 1.7e308), 2);
  EXPECT_EQ(wide.index(-1e308), 0u);
  EXPECT_EQ(wide.index(1e308), 1u);
}

// Hundredths on the edges of a hundred cells: each is in the cell that begins with it.
TEST(Axis, PutsAValueOnAnEdgeIntoTheCellThatBeginsThere) {
  struct Range {
    int low, high;
  };
  for (const Type type : {Type::kDecimal, Type::kDouble}) {
    for (const Range& range : {Range{0, 1}, Range{-100, 100}, Range{1'000'000, 1'000'001}}) {
      const auto end = [&](int x) {
        return type == Type::kDouble ? Value(double(x)) : Value(Ratio(x));
      };
      const std::uint32_t cells = 100u * static_cast<std::uint32_t>(range.high - range.low);
      const Axis axis(
          ColumnSchema{"x", {.type = type, .lower = end(range.low), .upper = end(range.high)}},
          cells);
      for (std::uint32_t i = 0; i < cells; ++i) {
        const double x =
            (100 * range.low + static_cast<int>(i)) / 100.0;  // nearest to the hundredth
        EXPECT_EQ(axis.index(x), i) << x;
        EXPECT_EQ(axis.edge(i), Value(x));
        if (i > 0) {
          EXPECT_EQ(axis.index(std::nextafter(x, -1e9)), i - 1) << x;
        }
      }
      EXPECT_EQ(axis.index(double(range.high)), cells - 1);
    }
  }
}

TEST(Axis, GivesEveryCategoryACellAndNullNone) {
  ColumnSchema schema = column(Type::kText);
  schema.domain.categories = std::vector<Value>{std::string("b"), std::string("a")};
  const Axis axis(schema);
  EXPECT_EQ(axis.cells(), 2u);
  EXPECT_EQ(axis.index(std::string("a")), 1u);
  EXPECT_EQ(axis.index(Value()), Axis::kNoCell);
  EXPECT_EQ(axis.label(0, 1), "b");
  const Column texts = Column::of_texts({"a", "b", "b"}, {1, 1, 0});
  EXPECT_EQ(axis.indices(texts), (std::vector<std::uint32_t>{1, 0, Axis::kNoCell}));
  EXPECT_ERROR(Axis(schema, 3), ErrorCode::kInvalidOption);
}

TEST(Axis, CutsAtDeclaredBinsUnlessCellsAreAskedFor) {
  ColumnSchema schema = column(Type::kDecimal, Ratio(0), Ratio(120));
  schema.domain.bins = {Ratio(0), Ratio(18), Ratio(65)};
  const Axis axis(schema);
  EXPECT_EQ(axis.cells(), 2u);
  EXPECT_EQ(axis.indices(Column::of_reals(Type::kDecimal, {17.99, 18, 65, 120, -5})),
            (std::vector<std::uint32_t>{0, 1, 1, 1, 0}));
  EXPECT_EQ(Axis(schema, 5).cells(), 5u);
}

TEST(Axis, CutsTimeIntoDays) {
  const Axis axis(column(Type::kDate, parse_date("2024-01-01"), parse_date("2024-12-31")));
  EXPECT_EQ(axis.cells(), 366u);
  EXPECT_EQ(axis.index(parse_date("2024-02-29")), 59u);
  EXPECT_EQ(axis.label(59, 60), "2024-02-29");
  EXPECT_EQ(axis.label(0, 31), "2024-01-01 to 2024-01-31");
}

TEST(Axis, TellsOnWhichSideOfItsRangeAValueLies) {
  const Axis ages(column(Type::kInteger, integer(0), integer(110)), 11);
  EXPECT_EQ(ages.side(integer(-1)), -1);
  EXPECT_EQ(ages.side(integer(0)), 0);
  EXPECT_EQ(ages.side(integer(110)), 0);
  EXPECT_EQ(ages.side(integer(111)), 1);
  const Axis days(column(Type::kDate, parse_date("2024-01-01"), parse_date("2024-12-31")));
  EXPECT_EQ(days.side(parse_date("2025-01-01")), 1);
  ColumnSchema schema = column(Type::kDecimal, Ratio(0), Ratio(120));
  schema.domain.bins = {Ratio(0), Ratio(18), Ratio(65)};
  EXPECT_EQ(Axis(schema).side(65.0), 0);
  EXPECT_EQ(Axis(schema).side(65.5), 1);
}

TEST(Axis, OfWhatIsNotDeclaredIsRefused) {
  EXPECT_ERROR(Axis(column(Type::kText)), ErrorCode::kMissingKnowledge);
  EXPECT_ERROR(Axis(column(Type::kInteger)), ErrorCode::kMissingKnowledge);
  EXPECT_ERROR(Axis(column(Type::kInteger, integer(0), integer(4)), 6), ErrorCode::kInvalidOption);
  EXPECT_EQ(Axis(column(Type::kBoolean)).cells(), 2u);
}

}  // namespace
}  // namespace gauze
