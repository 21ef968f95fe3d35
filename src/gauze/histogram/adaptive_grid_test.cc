#include "gauze/histogram/adaptive_grid.h"

#include <gtest/gtest.h>

#include "gauze/accounting/loss.h"
#include "gauze/histogram/spatial_test_internal.h"
#include "gauze/testing/audit.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

AdaptiveGrid::Options options(const Shape& shape, const Ratio& epsilon = 1) {
  return {.shape = shape, .epsilon = epsilon, .rows_per_unit = 1u};
}

TEST(AdaptiveGrid, RejectsOptionsOutsideTheirRange) {
  const auto refused = [](auto change) {
    AdaptiveGrid::Options wrong = options({{8, 8}});
    change(wrong);
    EXPECT_ERROR(AdaptiveGrid(wrong), ErrorCode::kInvalidOption);
  };
  refused([](auto& o) { o.epsilon = Ratio(0); });
  refused([](auto& o) { o.delta = 1; });
  refused([](auto& o) { o.rows_per_unit = std::uint64_t{0}; });
  refused([](auto& o) { o.shape = Shape{}; });
  refused([](auto& o) { o.count_share = 0; });
  refused([](auto& o) { o.coarse_share = 0; });
  refused([](auto& o) { o.coarse_share = 1; });
  refused([](auto& o) { o.coarseness = 0; });
  refused([](auto& o) { o.fine_coarseness = 0; });
  refused([](auto& o) { o.max_boxes = 0; });
}

TEST(AdaptiveGrid, KeepsTheContract) {
  const Shape shape{{20, 20}};
  AdaptiveGrid::Options gaussian = options(shape, 4);
  gaussian.delta = Ratio(1, 1000000);
  gaussian.rows_per_unit = std::uint64_t{3};
  for (const auto& chosen : {options(shape), gaussian})
    testing::expect_contract(AdaptiveGrid(chosen), testing::clustered(shape, 500, 1), Points{});
}

TEST(AdaptiveGrid, CostsEpsilonWithAndWithoutTheEstimateOfRows) {
  AdaptiveGrid::Options chosen = options({{20, 20}}, Ratio(1, 3));
  chosen.rows_per_unit = std::uint64_t{5};
  EXPECT_EQ(pure_epsilon(AdaptiveGrid(chosen).event()), Ratio(1, 3));
  chosen.expected_rows = 100;
  EXPECT_EQ(pure_epsilon(AdaptiveGrid(chosen).event()), Ratio(1, 3));
}

// A quarter of sqrt(200,000 / 10) = 141 is 35; fine grids of one box each when they are coarse.
TEST(AdaptiveGrid, PartsTheDomainAsTheGuidelineSays) {
  AdaptiveGrid::Options chosen = options({{512, 512}});
  chosen.expected_rows = 200'000;
  chosen.fine_coarseness = 1'000'000;
  SeededBits bits(1);
  EXPECT_EQ(release_once(AdaptiveGrid(chosen), Points{}, bits).leaves(), 35u * 35u);
  chosen.expected_rows = 1;
  EXPECT_EQ(release_once(AdaptiveGrid(chosen), Points{}, bits).leaves(), 100u);
  // sqrt(48,000 (1/2) / 15) = 40 parts in the one box that has rows, which has 51 cells a side.
  chosen.fine_coarseness = 15;
  const Points heap{{0, 0}, {48'000}};
  EXPECT_EQ(release_once(AdaptiveGrid(chosen), heap, bits).leaves(), 99u + 1600u);
}

// Twelve rows in a coarse box of one fine box: two counts of one thing, with variances V1 and V2, make
// one with variance V1 V2 / (V1 + V2).
TEST(AdaptiveGrid, MergesTwoCountsOfOneBox) {
  AdaptiveGrid::Options chosen = options({{30, 30}});
  chosen.expected_rows = 12;
  chosen.coarse_share = Ratio(1, 4);
  chosen.fine_coarseness = 1'000'000;
  SeededBits bits(2);
  const auto histogram = release_once(AdaptiveGrid(chosen), Points{}, bits);
  const auto variance = [](double epsilon) { return 0.5 / std::pow(std::sinh(epsilon / 2), 2); };
  const double expected = 1 / (1 / variance(0.25) + 1 / variance(0.75));
  EXPECT_NEAR(histogram.range(Box{{0, 0}, {3, 3}}).variance, expected, 1e-9 * expected);
}

// With m = 9 fine boxes: v' = (a^2 m v + b^2 sum) / (a^2 m + b^2), variance of a leaf
// V2 - (V2 / m) + Var(v') / m^2, for inverse noise scales a and b (continuous noise).
TEST(AdaptiveGrid, FitsFineToCoarseCountsWithTheDivisor) {
  AdaptiveGrid::Options chosen = options({{30, 30}}, Ratio(1, 100));
  chosen.expected_rows = 12;
  chosen.fine_coarseness = Ratio(1, 1'000'000);
  const Points points{{0, 0}, {100'000}};
  SeededBits bits(3);
  const auto histogram = release_once(AdaptiveGrid(chosen), points, bits);
  const double v = 2 * 200.0 * 200.0;  // of both, coarse_share is a half
  const double coarse = 1 / (1 / v + 1 / (9 * v));
  const double leaf = v - v / 9 + coarse / 81;
  EXPECT_NEAR(histogram.range(Box{{0, 0}, {3, 3}}).variance, coarse, 1e-3 * coarse);
  EXPECT_NEAR(histogram.range(Box{{1, 1}, {2, 2}}).variance, leaf, 1e-3 * leaf);
}

TEST(AdaptiveGrid, StatesTheVarianceThatItHas) {
  const Shape shape{{30, 30}};
  const Points points = testing::clustered(shape, 300, 2);
  for (const Ratio& fine : {Ratio(1'000'000), Ratio(1, 1'000'000'000)}) {
    AdaptiveGrid::Options chosen = options(shape);
    chosen.expected_rows = 300;
    chosen.fine_coarseness = fine;
    const Box box{{0, 3}, {9, 12}};
    EXPECT_NEAR(testing::variance_ratio(AdaptiveGrid(chosen), points, box, 800, 3), 1, 0.4);
  }
  // Where every coarse box has fine ones, and they are cut.
  Points even;
  for (std::uint32_t cell = 0; cell < 900; ++cell) {
    even.coordinates.insert(even.coordinates.end(), {cell / 30, cell % 30});
    even.weights.push_back(20);
  }
  AdaptiveGrid::Options fine = options(shape);
  fine.expected_rows = 300;
  fine.fine_coarseness = Ratio(1, 1'000'000'000);
  const Box cut{{1, 4}, {8, 10}};
  EXPECT_NEAR(testing::variance_ratio(AdaptiveGrid(fine), even, cut, 800, 4), 1, 0.4);
}

// Some thousand boxes. The fit makes most of them better than promised, far from the 5 % allowed.
TEST(AdaptiveGrid, KeepsItsAccuracyPromise) {
  const Shape shape{{100, 100}};
  const Points points = testing::clustered(shape, 20000, 5);
  const AdaptiveGrid method(options(shape, Ratio(1, 2)));
  SeededBits bits(6);
  int kept = 0;
  int all = 0;
  for (int run = 0; run < 2; ++run) {
    for (const auto& leaf : release_once(method, points, bits).partition()) {
      const double error = leaf.value - testing::rows_in(shape, points, leaf.box);
      ++all;
      kept += std::abs(error) <= method.accuracy().half_width ? 1 : 0;
    }
  }
  EXPECT_GE(kept, 0.95 * all);
}

// Both grids with the whole epsilon of 1 instead of sharing it: a loss of 2.
TEST(AdaptiveGrid, SurvivesTheAuditThatCatchesGridsThatDoNotShare) {
  const Shape shape{{2}};
  const Points none;
  const Points one{{0}};
  const auto count = [&](const Ratio& epsilon, const Points& points) {
    AdaptiveGrid::Options chosen = options(shape, epsilon);
    chosen.expected_rows = 1;
    return [&, method = AdaptiveGrid(chosen)](BitSource& bits) {
      return release_once(method, points, bits).range(Box{{0}, {1}}).value;
    };
  };
  const testing::AuditOptions trials{.trials = 10000};
  EXPECT_LE(testing::audited_epsilon(count(1, none), count(1, one), trials), 1);
  EXPECT_GT(testing::audited_epsilon(count(2, none), count(2, one), trials), 1);
}

// The number of boxes follows noisy counts; without noise it would tell nine rows from ten.
TEST(AdaptiveGrid, SurvivesTheAuditOfItsStructure) {
  const Shape shape{{640}};
  const Points nine{std::vector<std::uint32_t>(9, 0)};
  const Points ten{std::vector<std::uint32_t>(10, 0)};
  const auto boxes = [&](const Ratio& epsilon, const Points& points) {
    AdaptiveGrid::Options chosen = options(shape, epsilon);
    chosen.expected_rows = 1;
    chosen.fine_coarseness = epsilon * 3 / 4;  // 3.3 parts for nine rows, 3.5 for ten
    return [&, method = AdaptiveGrid(chosen)](BitSource& bits) {
      return double(release_once(method, points, bits).leaves());
    };
  };
  const testing::AuditOptions trials{.trials = 800};
  EXPECT_LE(testing::audited_epsilon(boxes(1, nine), boxes(1, ten), trials), 1);
  EXPECT_GT(testing::audited_epsilon(boxes(100, nine), boxes(100, ten), trials), 1);
}

TEST(AdaptiveGrid, HandlesExtremeDomainsAndData) {
  testing::expect_edge_cases([](const Shape& shape) { return AdaptiveGrid(options(shape)); });
}

}  // namespace
}  // namespace gauze
