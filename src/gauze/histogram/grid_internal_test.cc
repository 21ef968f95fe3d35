#include "gauze/histogram/grid_internal.h"

#include <gtest/gtest.h>

#include "gauze/histogram/spatial_test_internal.h"

namespace gauze::internal {
namespace {

TEST(Grid, LinesAndPartsAreInverse) {
  for (std::uint32_t extent = 1; extent <= 70; ++extent) {
    for (std::uint32_t parts = 1; parts <= extent; ++parts) {
      for (std::uint32_t cell = 0; cell < extent; ++cell) {
        const std::uint32_t part = part_of(extent, parts, cell);
        EXPECT_LE(line(extent, parts, part), cell);
        EXPECT_GT(line(extent, parts, part + 1), cell);
      }
      for (std::uint32_t part = 0; part < parts; ++part) {
        const std::uint32_t length = line(extent, parts, part + 1) - line(extent, parts, part);
        EXPECT_LE(length, (extent + parts - 1) / parts);
        EXPECT_GE(length, extent / parts);
      }
    }
  }
  EXPECT_EQ(part_of(1u << 31, 1u << 31, (1u << 31) - 1), (1u << 31) - 1);
}

std::vector<std::uint32_t> parts_of(const Shape& shape, double rows, double most = 1e9) {
  return grid_parts(Box::whole(shape), rows, 1, 10, most);
}

// sqrt(200,000 / 10) = 141.4 in the plane; (10,000 / 10)^(1/3) = 10 in four dimensions.
TEST(Grid, FollowsTheGuideline) {
  EXPECT_EQ(parts_of({{1000, 1000}}, 200'000), (std::vector<std::uint32_t>{141, 141}));
  EXPECT_EQ(parts_of({{99, 99, 99, 99}}, 10'000), std::vector<std::uint32_t>(4, 10));
  EXPECT_EQ(parts_of({{1000}}, 10'000), std::vector<std::uint32_t>{100});  // 1000^(2/3)
}

TEST(Grid, GivesAxesWithFewCellsAllOfThemAndTheOthersMore) {
  // Four cells along one axis: (200,000 / 10 / sqrt 4)^(2/3) = 464.2 along the other.
  EXPECT_EQ(parts_of({{4, 1000}}, 200'000), (std::vector<std::uint32_t>{4, 464}));
  EXPECT_EQ(parts_of({{4, 200}}, 200'000), (std::vector<std::uint32_t>{4, 200}));
  EXPECT_EQ(parts_of({{1, 1}}, 200'000), (std::vector<std::uint32_t>{1, 1}));
}

TEST(Grid, HasOneBoxForNoRowsAndNeverMoreThanTheMost) {
  EXPECT_EQ(parts_of({{1000, 1000}}, 0), (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(parts_of({{1000, 1000}}, -1e18), (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(parts_of({{1000, 1000}}, 1e18, 100), (std::vector<std::uint32_t>{10, 10}));
  EXPECT_EQ(parts_of({{5, 1000}}, 1e18, 100), (std::vector<std::uint32_t>{5, 20}));
}

TEST(Grid, CountsOnSeveralThreadsAsOnOne) {
  const Shape shape{{100, 37}};
  Points points = testing::clustered(shape, 300'000, 1);
  const Grid grid = Grid::over(shape, {{7, 5}});
  const auto count = [&] {
    return count_rows(points, shape, 35, [&](const auto* point) { return grid.cell_of(point); });
  };
  std::vector<std::int64_t> expected(35, 0);
  for (std::size_t row = 0; row < 300'000; ++row)
    ++expected[grid.cell_of(points.coordinates.data() + 2 * row)];
  EXPECT_EQ(count(), expected);
  points.weights.assign(300'000, std::int64_t{1} << 62);
  for (std::int64_t& cell : expected) cell = cell == 0 ? 0 : cell == 1 ? 1ll << 62 : INT64_MAX;
  EXPECT_EQ(count(), expected);
}

TEST(Grid, TreesHoldEveryBoxOnceUnderParentsOfTheirUnion) {
  for (const Shape& parts : {Shape{{1}}, Shape{{17}}, Shape{{5, 9}}, Shape{{3, 1, 4}}}) {
    for (std::uint32_t branching : {2u, 3u, 4u}) {
      Shape shape = parts;
      for (std::uint32_t& extent : shape.extents) extent = extent * 2 + 1;
      const auto [tree, cells] = grid_tree(Grid::over(shape, parts), branching);
      std::vector<std::size_t> sorted = cells;
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(sorted.size(), parts.cells());
      for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], i);
      EXPECT_EQ(tree.levels.back(), tree.nodes.size());
      for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
        double volume = 0;
        const TreeNode& own = tree.nodes[node];
        for (std::uint32_t child = 0; child < own.children; ++child)
          volume += tree.box(own.first_child + child).volume();
        if (own.children > 0) {
          EXPECT_EQ(volume, tree.box(node).volume());
          EXPECT_GT(own.first_child, node);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gauze::internal
