#include "gauze/histogram/histogram_view.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

ColumnSchema ordered(std::string name, Type type, Value lower, Value upper) {
  ColumnSchema schema;
  schema.name = std::move(name);
  schema.domain.type = type;
  schema.domain.lower = std::move(lower);
  schema.domain.upper = std::move(upper);
  return schema;
}

Axis age(std::uint32_t cells = 100) {
  return Axis(ordered("age", Type::kInteger, std::int64_t{0}, std::int64_t{99}), cells);
}

Axis time_of_day() {
  return Axis(ordered("at", Type::kTimestamp, parse_timestamp("2024-01-01 00:00:00"),
                      parse_timestamp("2024-01-01 23:59:59.999999")),
              24);
}

Axis ward() {
  ColumnSchema schema;
  schema.name = "ward";
  schema.domain.type = Type::kText;
  schema.domain.categories = std::vector<Value>{std::string("north"), std::string("south")};
  return Axis(schema);
}

/// Cells with the values 0, 1, 2, ... and independent noise of variance 4.
HistogramView view(std::vector<Axis> axes) {
  Shape shape;
  for (const Axis& axis : axes) shape.extents.push_back(axis.cells());
  std::vector<double> cells(shape.cells());
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<double>(i);
  RangeHistogram histogram(shape, cells, 4.0, /*gaussian=*/true);
  return {std::move(axes), histogram, histogram};
}

TEST(HistogramView, ARangeIsReadByTheColumn) {
  EXPECT_EQ(parse_range({age()}, "18:65"), (Box{{18}, {66}}));
  EXPECT_EQ(parse_range({age()}, ":"), (Box{{0}, {100}}));
  EXPECT_EQ(parse_range({age()}, "7"), (Box{{7}, {8}}));
  EXPECT_EQ(parse_range({age(), ward()}, "90:,south"), (Box{{90, 1}, {100, 2}}));
  EXPECT_EQ(parse_range({age(), ward()}, "1:2,:"), (Box{{1, 0}, {3, 2}}));
  EXPECT_EQ(parse_range({time_of_day()}, "2024-01-01 08:00:00..2024-01-01 09:30:00"),
            (Box{{8}, {10}}));
}

TEST(HistogramView, ARangeThatIsNoneIsRefused) {
  EXPECT_ERROR(parse_range({age()}, "65:18"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(parse_range({age()}, "100:200"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(parse_range({age()}, "1.5:2"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(parse_range({age(), ward()}, "18:65"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(parse_range({ward()}, "west"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(parse_range({time_of_day()}, "08:00:09:00"), ErrorCode::kInvalidOption);
}

TEST(HistogramView, ARangeThatCutsThroughCellsIsWidened) {
  EXPECT_FALSE(is_widened({age(10)}, "10:19"));
  EXPECT_TRUE(is_widened({age(10)}, "18:65"));
  EXPECT_FALSE(is_widened({age()}, "18:65"));
  EXPECT_FALSE(is_widened({ward()}, "north"));
  EXPECT_EQ(label_of({age(10), ward()}, {{1, 1}, {7, 2}}), "10 to 69 · south");
}

TEST(HistogramView, ColumnsOfRowsHaveNamesOfTheirOwn) {
  Axis n = Axis(ordered("n", Type::kInteger, std::int64_t{0}, std::int64_t{9}), 5);
  const RowNames names = row_names({n, ward()});
  EXPECT_EQ(names.axes, (std::vector<std::string>{"n", "ward"}));
  EXPECT_EQ(names.count, "n");
  ColumnSchema category;
  category.name = "n";
  category.domain.type = Type::kText;
  category.domain.categories = std::vector<Value>{std::string("few")};
  EXPECT_EQ(row_names({Axis(category)}).count, "n_");
}

TEST(HistogramView, RowsHaveTheEdgesOfEveryCell) {
  const HistogramView shown = view({age(10), ward()});
  const Answer rows = rows_of(shown);
  ASSERT_EQ(rows.rows.size(), 20u);
  ASSERT_EQ(rows.columns.size(), 5u);
  EXPECT_EQ(rows.columns[0].name, "age_from");
  EXPECT_EQ(rows.columns[2].name, "ward");
  EXPECT_EQ(rows.columns[4].name, "n_variance");
  EXPECT_EQ(rows.rows[3][0].value, Value(std::int64_t{10}));
  EXPECT_EQ(rows.rows[3][2].value, Value(std::string("south")));
  EXPECT_EQ(rows.rows[3][3].value, Value(3.0));
  EXPECT_EQ(rows.rows[3][4].value, Value(4.0));
  EXPECT_EQ(rows.rows[3][3].half_width, shown.released.range({{1, 1}, {2, 2}}).half_width);
}

TEST(HistogramView, ASummaryTakesOrderedCellsTogether) {
  const Answer summary = summary_of(view({age()}), 10);
  ASSERT_EQ(summary.rows.size(), 10u);
  EXPECT_EQ(summary.rows[1][0].value, Value(std::string("10 to 19")));
  EXPECT_EQ(summary.rows[1][1].value, Value(145.0));
  EXPECT_EQ(summary_of(view({ward()}), 1).rows.size(), 1u);
}

TEST(HistogramView, AMapHasOneSpotForEachCellWhereThereIsRoom) {
  const HistogramView shown = view({age(10), age(5)});
  const Figure::Heat heat = heat_of(shown);
  EXPECT_EQ(heat.x, "age: 0 to 99");
  EXPECT_EQ(heat.x_labels.size(), 10u);
  EXPECT_EQ(heat.x_labels[1], "10");
  EXPECT_EQ(heat.y_labels[1], "20");
  // The first axis goes from left to right: x = 2, y = 1.
  EXPECT_EQ(heat.values[1 * 10 + 2], 11);
  EXPECT_EQ(heat.half_width, shown.released.range({{0, 0}, {1, 1}}).half_width);
}

// 100 cells in 64 spots at most: fifty of two cells each.
TEST(HistogramView, AMapOfManyCellsIsCoarse) {
  const Figure::Heat heat = heat_of(view({age(), age(2)}));
  EXPECT_EQ(heat.x_labels.size(), 50u);
  EXPECT_EQ(heat.values[0], 0 + 2);
  EXPECT_EQ(heat.values[50 + 1], 5 + 7);
}

}  // namespace
}  // namespace gauze
