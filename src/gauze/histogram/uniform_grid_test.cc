#include "gauze/histogram/uniform_grid.h"

#include <gtest/gtest.h>

#include "gauze/accounting/loss.h"
#include "gauze/histogram/spatial_test_internal.h"
#include "gauze/testing/audit.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

UniformGrid::Options grid_options(const Shape& shape, const Ratio& epsilon = 1) {
  return {.shape = shape, .epsilon = epsilon, .rows_per_unit = 1u};
}

TEST(UniformGrid, RejectsOptionsOutsideTheirRange) {
  const auto refused = [](auto change) {
    UniformGrid::Options wrong = grid_options({{8, 8}});
    change(wrong);
    EXPECT_ERROR(UniformGrid(wrong), ErrorCode::kInvalidOption);
  };
  refused([](auto& o) { o.epsilon = Ratio(0); });
  refused([](auto& o) { o.delta = 1; });
  refused([](auto& o) { o.rows_per_unit = std::uint64_t{0}; });
  refused([](auto& o) { o.shape = Shape{}; });
  refused([](auto& o) { o.count_share = 0; });
  refused([](auto& o) { o.count_share = 1; });
  refused([](auto& o) { o.coarseness = 0; });
  refused([](auto& o) { o.max_boxes = 0; });
  refused([](auto& o) { o.parts = 4000; });
}

TEST(UniformGrid, KeepsTheContract) {
  const Shape shape{{20, 20}};
  UniformGrid::Options gaussian = grid_options(shape, 4);
  gaussian.delta = Ratio(1, 1000000);
  gaussian.rows_per_unit = std::uint64_t{3};
  for (const auto& chosen : {grid_options(shape), gaussian})
    testing::expect_contract(UniformGrid(chosen), testing::clustered(shape, 500, 1), Points{});
}

TEST(UniformGrid, CostsEpsilonWithAndWithoutTheEstimateOfRows) {
  UniformGrid::Options chosen = grid_options({{20, 20}}, Ratio(1, 3));
  chosen.rows_per_unit = std::uint64_t{5};
  EXPECT_EQ(pure_epsilon(UniformGrid(chosen).event()), Ratio(1, 3));
  chosen.expected_rows = 100;
  EXPECT_EQ(pure_epsilon(UniformGrid(chosen).event()), Ratio(1, 3));
}

TEST(UniformGrid, PaysForRowsWithTheirShare) {
  UniformGrid::Options paying = grid_options({{20, 20}});
  paying.count_share = Ratio(3, 4);
  UniformGrid::Options told = grid_options({{20, 20}}, Ratio(1, 4));
  told.expected_rows = 100;
  EXPECT_EQ(UniformGrid(paying).accuracy().half_width, UniformGrid(told).accuracy().half_width);
}

// The guideline asks for 141 and 100 parts of 3.6 and 5.1 cells, so that there are 3 and 5 in each.
TEST(UniformGrid, PartsTheDomainAsTheGuidelineSays) {
  UniformGrid::Options chosen = grid_options({{512, 512}});
  chosen.expected_rows = 200'000;
  SeededBits bits(1);
  EXPECT_EQ(release_once(UniformGrid(chosen), Points{}, bits).leaves(), 171u * 171u);
  chosen.rows_per_unit = std::uint64_t{2};  // half the rate
  EXPECT_EQ(release_once(UniformGrid(chosen), Points{}, bits).leaves(), 103u * 103u);
  chosen.parts = 3;
  EXPECT_EQ(release_once(UniformGrid(chosen), Points{}, bits).leaves(), 9u);
}

TEST(UniformGrid, RefusesPointsOutsideOfTheShape) {
  SeededBits bits(1);
  EXPECT_ERROR(release_once(UniformGrid(grid_options({{4, 4}})), Points{{1, 4}}, bits),
               ErrorCode::kInvalidInput);
}

TEST(UniformGrid, StatesTheVarianceThatItHas) {
  const Shape shape{{12, 12}};
  const Points points = testing::clustered(shape, 300, 2);
  UniformGrid::Options chosen = grid_options(shape);
  chosen.parts = 4;
  for (const Box& box : {Box{{0, 0}, {3, 3}}, Box{{0, 3}, {9, 12}}, Box::whole(shape)}) {
    EXPECT_NEAR(testing::variance_ratio(UniformGrid(chosen), points, box, 800, 3), 1, 0.4);
  }
  chosen.parts = 0;
  chosen.count_share = Ratio(1, 2);  // the estimate of rows is part of the fit
  EXPECT_NEAR(testing::variance_ratio(UniformGrid(chosen), points, Box::whole(shape), 2000, 4), 1,
              0.25);
}

// 20,000 boxes: the promise of 95 % is kept in at least 94.23 % except with probability 3e-7.
TEST(UniformGrid, KeepsItsAccuracyPromise) {
  const Shape shape{{50, 40}};
  const Points points = testing::clustered(shape, 2000, 5);
  UniformGrid::Options chosen = grid_options(shape, Ratio(1, 10));
  chosen.parts = 50;
  const UniformGrid method(chosen);
  SeededBits bits(6);
  int kept = 0;
  int all = 0;
  for (int run = 0; run < 10; ++run) {
    const auto histogram = release_once(method, points, bits);
    for (const auto& leaf : histogram.partition()) {
      ++all;
      kept += std::abs(leaf.value - testing::rows_in(shape, points, leaf.box)) <=
                      method.accuracy().half_width
                  ? 1
                  : 0;
    }
  }
  EXPECT_GE(kept, 0.9423 * all);
}

// A grid that is as fine as the true number of rows asks for tells that number: with half of epsilon left for the
// boxes 19 and 20 rows, with all of it 9 and 10 are on both sides of a line.
TEST(UniformGrid, SurvivesTheAuditThatCatchesUnpaidRows) {
  const Shape shape{{64}};
  const auto boxes = [&](bool paid, std::size_t rows) {
    return [&, paid, rows](BitSource& bits) {
      UniformGrid::Options chosen = grid_options(shape);
      chosen.coarseness = 1;
      chosen.count_share = Ratio(1, 2);
      if (!paid) chosen.expected_rows = rows;
      const Points points{std::vector<std::uint32_t>(rows, 0)};
      return double(release_once(UniformGrid(chosen), points, bits).leaves());
    };
  };
  const testing::AuditOptions trials{.trials = 2000};
  EXPECT_LE(testing::audited_epsilon(boxes(true, 19), boxes(true, 20), trials), 1);
  EXPECT_GT(testing::audited_epsilon(boxes(false, 9), boxes(false, 10), trials), 1);
}

// A unit of three rows in one box, with noise for one row.
TEST(UniformGrid, SurvivesTheAuditThatCatchesUnitsOfSeveralRows) {
  const Shape shape{{4, 4}};
  const Points none;
  const Points three{{0, 0, 0, 0, 1, 1}};
  const auto first_box = [&](std::uint64_t rows_per_unit, const Points& points) {
    UniformGrid::Options chosen = grid_options(shape);
    chosen.parts = 2;
    chosen.rows_per_unit = rows_per_unit;
    return [&, method = UniformGrid(chosen)](BitSource& bits) {
      return release_once(method, points, bits).range(Box{{0, 0}, {2, 2}}).value;
    };
  };
  const testing::AuditOptions trials{.trials = 3000};
  EXPECT_LE(testing::audited_epsilon(first_box(3, none), first_box(3, three), trials), 1);
  EXPECT_GT(testing::audited_epsilon(first_box(1, none), first_box(1, three), trials), 1);
}

TEST(UniformGrid, HandlesExtremeDomainsAndData) {
  testing::expect_edge_cases([](const Shape& shape) { return UniformGrid(grid_options(shape)); });
}

}  // namespace
}  // namespace gauze
