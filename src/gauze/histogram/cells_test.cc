#include "gauze/histogram/cells.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(Cells, OfAShapeSaturateAndNeverWrap) {
  EXPECT_EQ((Shape{{3, 4, 5}}.cells()), 60u);
  EXPECT_EQ((Shape{std::vector<std::uint32_t>(8, 1u << 31)}.cells()), UINT64_MAX);
}

TEST(Cells, ShapesOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(check_shape(Shape{}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(check_shape(Shape{{3, 0}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(check_shape(Shape{std::vector<std::uint32_t>(9, 2)}), ErrorCode::kInvalidOption);
  EXPECT_NO_THROW(check_dense(Shape{{1u << 28}}));
  EXPECT_ERROR(check_dense(Shape{{1u << 14, (1u << 14) + 1}}), ErrorCode::kInvalidOption);
}

TEST(Cells, BecomePointsWithWeights) {
  const std::vector<std::int64_t> counts = {0, 2, 0, 0, 0, 7};
  const Points points = points_of(Shape{{2, 3}}, counts);
  EXPECT_EQ(points.coordinates, (std::vector<std::uint32_t>{0, 1, 1, 2}));
  EXPECT_EQ(points.weights, (std::vector<std::int64_t>{2, 7}));
  EXPECT_EQ(counts_of(Shape{{2, 3}}, points), counts);
  EXPECT_EQ(counts_of(Shape{{2}}, {{1, 1, 1}}), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(counts_of(Shape{{1}}, {{0, 0}, {INT64_MAX, 1}}),
            (std::vector<std::int64_t>{INT64_MAX}));
  EXPECT_ERROR(points_of(Shape{{7}}, counts), ErrorCode::kInvalidInput);
}

TEST(Cells, PointsThatDoNotFitAreRefused) {
  const Shape shape{{2, 3}};
  EXPECT_NO_THROW(check_points(shape, {{0, 2, 1, 0}}));
  EXPECT_ERROR(check_points(shape, {{0, 3}}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(check_points(shape, {{0, 2, 1}}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(check_points(shape, {{0, 2}, {1, 1}}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(check_points(shape, {{0, 2}, {-1}}), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
