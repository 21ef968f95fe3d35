#include "gauze/histogram/kd_tree.h"

#include <gtest/gtest.h>

#include "gauze/accounting/loss.h"
#include "gauze/histogram/spatial_test_internal.h"
#include "gauze/testing/audit.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

constexpr KdSplit kSplits[] = {KdSplit::kMedian, KdSplit::kBalanced, KdSplit::kGuided};

KdTree::Options options(const Shape& shape, KdSplit split, const Ratio& epsilon = 1) {
  return {.shape = shape, .epsilon = epsilon, .rows_per_unit = 1u, .split = split};
}

TEST(KdTree, RejectsOptionsOutsideTheirRange) {
  const auto refused = [](auto change) {
    KdTree::Options wrong = options({{8, 8}}, KdSplit::kMedian);
    change(wrong);
    EXPECT_ERROR(KdTree(wrong), ErrorCode::kInvalidOption);
  };
  refused([](auto& o) { o.epsilon = Ratio(0); });
  refused([](auto& o) { o.rows_per_unit = std::uint64_t{0}; });
  refused([](auto& o) { o.shape = Shape{}; });
  refused([](auto& o) { o.count_share = 1; });
  refused([](auto& o) { o.structure_share = 1; });
  refused([](auto& o) { o.structure_share = -1; });
  refused([](auto& o) { o.coarseness = 0; });
  refused([](auto& o) { o.height = 12; });  // 2^24 boxes
  refused([](auto& o) { o.max_boxes = 0; });
}

TEST(KdTree, KeepsTheContract) {
  const Shape shape{{20, 20}};
  for (const KdSplit split : kSplits) {
    KdTree::Options low = options(shape, split, Ratio(1, 3));
    low.height = 2;
    low.rows_per_unit = std::uint64_t{3};
    for (const auto& chosen : {options(shape, split), low}) {
      testing::expect_contract(KdTree(chosen), testing::clustered(shape, 500, 1), Points{});
      EXPECT_EQ(pure_epsilon(KdTree(chosen).event()), chosen.epsilon);
    }
  }
}

/// The leaves for so large an epsilon that noise hardly ever matters.
std::vector<RangeHistogram::Leaf> leaves(KdTree::Options chosen, const Points& points) {
  chosen.epsilon = Ratio(10'000);
  SeededBits bits(1);
  return release_once(KdTree(chosen), points, bits).partition();
}

TEST(KdTree, CutsAtTheMedian) {
  KdTree::Options chosen = options({{16}}, KdSplit::kMedian);
  chosen.height = 1;
  const auto even = leaves(chosen, {{1, 5}, {30, 30}});
  ASSERT_EQ(even.size(), 2u);
  EXPECT_GT(even[0].box.end[0], 1u);
  EXPECT_LE(even[0].box.end[0], 5u);
  EXPECT_EQ(std::round(even[0].value), 30);
  EXPECT_EQ(std::round(even[1].value), 30);
  const auto uneven = leaves(chosen, {{1, 5, 9, 10}, {30, 20, 30, 21}});  // 50 before 9, 51 after 5
  EXPECT_GT(uneven[0].box.end[0], 5u);
  EXPECT_LE(uneven[0].box.end[0], 9u);
}

// Everything in one column: only the other axis can be balanced.
TEST(KdTree, BalancesAlongTheAxisThatCan) {
  KdTree::Options chosen = options({{16, 16}}, KdSplit::kBalanced);
  chosen.height = 1;
  const Points column{{3, 2, 3, 6, 3, 9, 3, 12}, {10, 10, 10, 10}};
  const auto found = leaves(chosen, column);
  ASSERT_EQ(found.size(), 4u);
  for (const auto& leaf : found) EXPECT_EQ(std::round(leaf.value), 10);
}

// The median cut is at 1. First: then nothing of [0, 1) can be halved and [1, 64) is at 32. Last: [0, 32)
// is cut at 1, the empty [32, 64) anywhere.
TEST(KdTree, HybridsHalveTheOtherLevels) {
  for (const bool first : {true, false}) {
    KdTree::Options chosen = options({{64}}, KdSplit::kMedian);
    chosen.height = 2;
    chosen.private_levels = 1;
    chosen.private_first = first;
    std::vector<std::uint32_t> ends;
    for (const auto& leaf : leaves(chosen, {{0, 1}, {500, 500}})) ends.push_back(leaf.box.end[0]);
    ASSERT_EQ(ends.size(), first ? 3u : 4u);
    EXPECT_EQ(ends[0], 1u);
    EXPECT_EQ(ends[1], 32u);
    EXPECT_EQ(ends.back(), 64u);
  }
}

// Two even blocks make two boxes, evenly spread rows one.
TEST(KdTree, GuidedCutsFollowTheDensity) {
  const Shape shape{{32, 32}};
  std::vector<std::int64_t> counts(1024, 100);
  KdTree::Options chosen = options(shape, KdSplit::kGuided);
  SeededBits bits(3);
  const auto even = release_once(KdTree(chosen), points_of(shape, counts), bits);
  EXPECT_LE(even.leaves(), 2u);
  for (std::size_t cell = 0; cell < 12 * 32; ++cell) counts[cell] = 0;
  const auto blocks = release_once(KdTree(chosen), points_of(shape, counts), bits).partition();
  EXPECT_EQ(blocks[0].box, (Box{{0, 0}, {12, 32}}));
}

TEST(KdTree, StatesTheVarianceThatItHas) {
  const Shape shape{{16, 16}};
  const Points points = testing::clustered(shape, 300, 2);
  for (const KdSplit split : kSplits) {
    KdTree::Options chosen = options(shape, split);
    chosen.height = 2;
    const KdTree method(chosen);
    SeededBits bits(4);
    double sum = 0;
    for (int run = 0; run < 500; ++run) {
      const auto leaf = release_once(method, points, bits).partition().front();
      const double error = leaf.value - testing::rows_in(shape, points, leaf.box);
      sum += error * error / leaf.variance;
    }
    EXPECT_NEAR(sum / 500, 1, 0.5);  // 5 sqrt(5 / 500): fails with probability below 1e-6
  }
}

TEST(KdTree, KeepsItsAccuracyPromise) {
  const Shape shape{{64, 64}};
  const Points points = testing::clustered(shape, 20000, 5);
  for (const KdSplit split : kSplits) {
    const KdTree method(options(shape, split));
    SeededBits bits(6);
    int kept = 0;
    int all = 0;
    for (int run = 0; run < 1; ++run) {
      for (const auto& leaf : release_once(method, points, bits).partition()) {
        const double error = leaf.value - testing::rows_in(shape, points, leaf.box);
        ++all;
        kept += std::abs(error) <= method.accuracy().half_width ? 1 : 0;
      }
    }
    // A hundred boxes or more: less than 85 % instead of 95 has probability below 1e-4.
    EXPECT_GE(kept, 0.85 * all);
    EXPECT_GE(all, 100);
  }
}

// Six rows more in cell 1 make a cut between cells 0 and 1 the best. A method that thinks a unit holds one
// row tells whether they are there.
TEST(KdTree, SurvivesTheAuditThatCatchesUnitsOfSeveralRows) {
  const Points without{{0}, {6}};
  const Points with{{0, 1}, {6, 6}};
  const auto line = [&](std::uint64_t rows_per_unit, const Points& points) {
    KdTree::Options chosen = options({{4}}, KdSplit::kMedian);
    chosen.height = 1;
    chosen.structure_share = Ratio(9, 10);
    chosen.rows_per_unit = rows_per_unit;
    return [&, method = KdTree(chosen)](BitSource& bits) {
      return double(release_once(method, points, bits).partition().front().box.end[0]);
    };
  };
  const testing::AuditOptions trials{.trials = 1000};
  EXPECT_LE(testing::audited_epsilon(line(6, without), line(6, with), trials), 1);
  EXPECT_GT(testing::audited_epsilon(line(1, without), line(1, with), trials), 1);
}

TEST(KdTree, HandlesExtremeDomainsAndData) {
  for (const KdSplit split : kSplits)
    testing::expect_edge_cases([&](const Shape& shape) { return KdTree(options(shape, split)); });
}

}  // namespace
}  // namespace gauze
