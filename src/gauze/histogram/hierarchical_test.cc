#include "gauze/histogram/hierarchical.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

HierarchicalHistogram hierarchy(Shape shape, std::uint32_t branching = 0, const Ratio& epsilon = 1,
                                LevelBudget budget = LevelBudget::kEqual) {
  return HierarchicalHistogram({.shape = std::move(shape),
                                .epsilon = epsilon,
                                .rows_per_unit = 1u,
                                .branching = branching,
                                .budget = budget});
}

/// Average range variance in units of one Laplace count at the whole budget, equal levels.
double average(std::uint32_t cells, std::uint32_t branching, int levels) {
  return average_range_variance(
      Shape{{cells}}, branching,
      std::vector<double>(static_cast<std::size_t>(levels), levels * levels));
}

RangeHistogram released(const HierarchicalHistogram& mechanism, const Shape& shape) {
  SeededBits bits(1);
  return release_once(mechanism, std::span<const std::int64_t>(Counts(shape.cells(), 0)), bits);
}

template <class Visit>
void for_all_boxes(const Shape& shape, Visit visit) {
  if (shape.axes() == 1) {
    for (std::uint32_t i = 0; i < shape.extents[0]; ++i)
      for (std::uint32_t j = i + 1; j <= shape.extents[0]; ++j) visit(Box{{i}, {j}});
    return;
  }
  for (std::uint32_t i = 0; i < shape.extents[0]; ++i)
    for (std::uint32_t j = i + 1; j <= shape.extents[0]; ++j)
      for (std::uint32_t k = 0; k < shape.extents[1]; ++k)
        for (std::uint32_t l = k + 1; l <= shape.extents[1]; ++l) visit(Box{{i, k}, {j, l}});
}

struct Variances {
  double average = 0;
  double largest = 0;
};

/// Of all boxes, asked one by one.
Variances brute_force(const RangeHistogram& histogram) {
  Variances result;
  double boxes = 0;
  for_all_boxes(histogram.shape(), [&](const Box& box) {
    const double variance = histogram.range(box).variance;
    result.average += variance;
    result.largest = std::max(result.largest, variance);
    boxes += 1;
  });
  result.average /= boxes;
  return result;
}

TEST(Hierarchical, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(hierarchy(Shape{{10}}, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(hierarchy(Shape{{10}}, 2, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(hierarchy(Shape{{1u << 30}}, 2), ErrorCode::kInvalidOption);
  const auto weighted = [](std::uint32_t branching, std::vector<Ratio> weights) {
    return HierarchicalHistogram({.shape = Shape{{100}},
                                  .epsilon = 1,
                                  .rows_per_unit = 1u,
                                  .branching = branching,
                                  .level_weights = std::move(weights)});
  };
  EXPECT_ERROR(weighted(4, {1, 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(weighted(4, {1, 1, 1, 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(weighted(2, std::vector<Ratio>(33, 1)), ErrorCode::kInvalidOption);
  EXPECT_EQ(weighted(0, {1, 2}).branching(), 10u);
}

TEST(Hierarchical, KeepsTheContract) {
  const Counts one(100, 3);
  Counts other(100, 0);
  other[7] = std::int64_t{1} << 62;
  testing::expect_contract(hierarchy(Shape{{100}}, 10), one, other);
  testing::expect_contract(hierarchy(Shape{{10, 10}}, 3), one, other);
  testing::expect_contract(hierarchy(Shape{{100}}, 0, 1, LevelBudget::kGeometric), one, other);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(hierarchy(Shape{{99}}), std::span<const std::int64_t>(one), bits),
               ErrorCode::kInvalidInput);
}

TEST(Hierarchical, CostsEpsilonWhateverTheShares) {
  for (const LevelBudget budget : {LevelBudget::kEqual, LevelBudget::kGeometric})
    EXPECT_EQ(pure_epsilon(hierarchy(Shape{{1000}}, 3, Ratio(1, 7), budget).event()), Ratio(1, 7));
  const HierarchicalHistogram gaussian({.shape = Shape{{1u << 20}},
                                        .epsilon = 1,
                                        .rows_per_unit = 2u,
                                        .delta = parse_ratio("1e-5"),
                                        .branching = 4});
  EXPECT_LE(epsilon_at({gaussian.event()}, 1e-5).epsilon, 1.0);
}

// Brute-force averages of the literature's H_b with constrained inference, in variances of one count.
TEST(Hierarchical, AverageVarianceHasTheKnownValues) {
  EXPECT_NEAR(average(64, 2, 6), 49.96, 0.01);
  EXPECT_NEAR(average(256, 2, 8), 110.03, 0.01);
  EXPECT_NEAR(average(256, 16, 2), 39.61, 0.01);
  EXPECT_NEAR(average(256, 4, 4), 55.32, 0.01);
  EXPECT_NEAR(average(256, 256, 1), 86.0, 1e-9);
  EXPECT_NEAR(average(49, 7, 2), 15.94, 0.01);
  EXPECT_NEAR(average(36, 6, 2), 13.36, 0.01);
  // Orderings: at 256 cells 16 beats 2 by 2.5 and flat by 2; flat wins at 36 cells, 7 wins at 49.
  EXPECT_LT(2.5 * average(256, 16, 2), average(256, 2, 8));
  EXPECT_LT(2 * average(256, 16, 2), average(256, 256, 1));
  EXPECT_LT(average(36, 36, 1), average(36, 6, 2));
  EXPECT_LT(average(49, 7, 2), average(49, 49, 1));
}

/// How many blocks of b-ary levels below the root, the largest that fit, make up a range; the whole is b of
/// the first level.
double blocks_of(std::uint32_t begin, std::uint32_t end, std::uint32_t low, std::uint32_t size,
                 std::uint32_t b, bool root = true) {
  if (end <= low || low + size <= begin) return 0;
  if (!root && begin <= low && low + size <= end) return 1;
  double sum = 0;
  for (std::uint32_t child = 0; child < b; ++child)
    sum += blocks_of(begin, end, low + child * (size / b), size / b, b, false);
  return sum;
}

// The literature's averages without inference, each range the sum of its blocks, and what inference gains on them.
TEST(Hierarchical, InferenceGainsOnSumsOfBlocksWhatIsKnown) {
  const auto without = [](std::uint32_t b, std::uint32_t levels) {
    double sum = 0;
    for (std::uint32_t begin = 0; begin < 256; ++begin)
      for (std::uint32_t end = begin + 1; end <= 256; ++end)
        sum += blocks_of(begin, end, 0, 256, b) * levels * levels;
    return sum / (256 * 257 / 2);
  };
  EXPECT_NEAR(without(2, 8), 386.99, 0.01);
  EXPECT_NEAR(without(16, 2), 75.49, 0.01);
  EXPECT_NEAR(without(4, 4), 139.83, 0.01);
  EXPECT_NEAR(without(2, 8) / average(256, 2, 8), 386.99 / 110.03, 0.001);
  EXPECT_NEAR(without(16, 2) / average(256, 16, 2), 75.49 / 39.61, 0.001);
  EXPECT_NEAR(without(4, 4) / average(256, 4, 4), 139.83 / 55.32, 0.001);
}

TEST(Hierarchical, AverageVarianceEqualsThatOfAllRangesAskedOneByOne) {
  for (const LevelBudget budget : {LevelBudget::kEqual, LevelBudget::kGeometric}) {
    for (const std::uint32_t cells : {1u, 2u, 5u, 27u, 28u, 50u, 64u, 97u}) {
      for (const std::uint32_t b : {2u, 3u, 5u, 16u, 100u}) {
        const auto mechanism = hierarchy(Shape{{cells}}, b, 1, budget);
        const Variances expected = brute_force(released(mechanism, Shape{{cells}}));
        EXPECT_NEAR(mechanism.average_variance(), expected.average, 1e-9 * expected.average)
            << cells << " " << b;
      }
    }
  }
}

TEST(Hierarchical, AverageVarianceOfBoxesIsExactForPowersAndCloseElsewhere) {
  for (const Shape& shape : {Shape{{9, 9}}, Shape{{8, 8}}, Shape{{3, 9}}, Shape{{16, 4}}}) {
    const auto mechanism = hierarchy(shape, shape.extents.front() % 3 == 0 ? 3 : 2);
    const double expected = brute_force(released(mechanism, shape)).average;
    EXPECT_NEAR(mechanism.average_variance(), expected, 1e-9 * expected);
  }
  for (const Shape& shape : {Shape{{10, 7}}, Shape{{9, 13}}, Shape{{16, 5}}, Shape{{1, 12}}}) {
    for (const std::uint32_t b : {2u, 3u, 4u}) {
      const auto mechanism = hierarchy(shape, b);
      const double expected = brute_force(released(mechanism, shape)).average;
      EXPECT_NEAR(mechanism.average_variance(), expected, 0.03 * expected);
    }
  }
}

TEST(Hierarchical, NoRangeHasALargerVarianceThanPromised) {
  for (const Shape& shape :
       {Shape{{1}}, Shape{{64}}, Shape{{100}}, Shape{{9, 9}}, Shape{{10, 7}}}) {
    for (const std::uint32_t b : {2u, 3u, 4u, 10u}) {
      const auto mechanism = hierarchy(shape, b);
      const double promised = mechanism.accuracy().half_width;
      const RangeHistogram histogram = released(mechanism, shape);
      double largest = 0;
      for_all_boxes(shape, [&](const Box& box) {
        largest = std::max(largest, histogram.range(box).half_width);
      });
      EXPECT_LE(largest, promised * (1 + 1e-9));
      EXPECT_GE(largest, promised / 2);
    }
  }
}

/// The variance of H_b without inference, in variances of one count: Qardaji, Yang and Li (2013).
double published_variance(double b, double levels) {
  return (b - 1) * std::pow(levels, 3) - 2 * (b + 1) * levels * levels / 3;
}

// (b - 1) (ln m / ln b)^3 is least where -3 b + b ln b + 3 = 0.
TEST(Hierarchical, TheBestBranchingOfLargeDomainsIsTheKnownRoot) {
  double low = 3;
  double high = 100;
  while (high - low > 1e-9) {
    const double b = (low + high) / 2;
    (-3 * b + b * std::log(b) + 3 < 0 ? low : high) = b;
  }
  EXPECT_NEAR(low, 16.8, 0.05);
  // Of powers that fill a domain of 2^48 cells or more without rest the nearest to it has the least variance by formula.
  for (const std::uint32_t other : {2u, 4u, 8u, 64u, 256u}) {
    const auto levels = [](std::uint32_t b) {
      return static_cast<int>(std::lround(48 / std::log2(b)));
    };
    EXPECT_LT(published_variance(16, levels(16)), published_variance(other, levels(other)));
  }
}

// Without inference the published formula chooses 16, 32, 16, 16, 16; with it the best may differ, and
// what is chosen is at least as good.
TEST(Hierarchical, ChoosesNoWorseThanAnyBranching) {
  const auto levels_of = [](std::uint32_t cells, std::uint32_t b) {
    int levels = 1;
    for (double side = b; side < cells; side *= b) ++levels;
    return levels;
  };
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> published = {
      {256, 16}, {1024, 32}, {4096, 16}, {65536, 16}, {1000000, 16}};
  for (const auto& [cells, expected] : published) {
    std::uint32_t best = 2;
    for (std::uint32_t b = 2; b < std::min(cells, 2000u); ++b)
      if (published_variance(b, levels_of(cells, b)) <
          published_variance(best, levels_of(cells, best)))
        best = b;
    EXPECT_EQ(best, expected);
    const auto chosen = hierarchy(Shape{{cells}}, 0, parse_ratio("0.001"));
    const double unit = CountNoise::laplace(parse_ratio("0.001"), 1).variance();
    EXPECT_LE(chosen.average_variance() / unit,
              average(cells, expected, levels_of(cells, expected)) * 1.0001);
    for (std::uint32_t b = 2; b < std::min(cells, 2000u); ++b)
      EXPECT_LE(chosen.average_variance() / unit, average(cells, b, levels_of(cells, b)) * 1.02)
          << cells << " " << b;
  }
}

TEST(Hierarchical, IsFlatWhereNoHierarchyIsBetter) {
  for (const std::uint32_t cells : {1u, 2u, 20u, 36u, 44u}) {
    EXPECT_EQ(hierarchy(Shape{{cells}}).levels(), 1u);
    EXPECT_NEAR(hierarchy(Shape{{cells}}).average_variance(),
                (cells + 2.0) / 3 * CountNoise::laplace(1, 1).variance(), 1e-9);
  }
  EXPECT_EQ(hierarchy(Shape{{49}}).branching(), 7u);
  EXPECT_EQ(hierarchy(Shape{{50, 50}}).levels(), 1u);
  EXPECT_EQ(hierarchy(Shape{{64, 64}}).levels(), 2u);
  EXPECT_EQ(hierarchy(Shape{{100, 100, 100}}).levels(), 1u);
}

TEST(Hierarchical, GaussianNoiseWantsMoreLevels) {
  const auto with_delta = [](const Ratio& delta) {
    return HierarchicalHistogram(
        {.shape = Shape{{1u << 16}}, .epsilon = Ratio(1, 10), .rows_per_unit = 1u, .delta = delta});
  };
  const auto gaussian = with_delta(parse_ratio("1e-3"));
  EXPECT_GT(gaussian.levels(), with_delta(0).levels());
  EXPECT_LT(gaussian.average_variance(), with_delta(0).average_variance());
}

// 2,000 releases: the mean of squares of one range has a standard error below sqrt(5/2000) of its
// variance, so that five of them are exceeded once in 10^6 runs for each range.
TEST(Hierarchical, NoiseHasTheStatedVariance) {
  const Shape shape{{30}};
  const auto mechanism = hierarchy(shape, 4, Ratio(1, 2), LevelBudget::kGeometric);
  Counts counts(30);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<std::int64_t>(i * i % 17);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges = {{0, 30}, {3, 4},   {0, 16},
                                                                       {5, 27}, {28, 30}, {15, 17}};
  std::vector<double> squares(ranges.size(), 0.0);
  std::vector<double> variances(ranges.size());
  SeededBits bits(5);
  for (int run = 0; run < 2000; ++run) {
    const RangeHistogram histogram =
        release_once(mechanism, std::span<const std::int64_t>(counts), bits);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      double truth = 0;
      for (std::uint32_t i = ranges[r].first; i < ranges[r].second; ++i)
        truth += static_cast<double>(counts[i]);
      const RangeEstimate answer = histogram.range({{ranges[r].first}, {ranges[r].second}});
      squares[r] += (answer.value - truth) * (answer.value - truth) / 2000;
      variances[r] = answer.variance;
    }
  }
  for (std::size_t r = 0; r < ranges.size(); ++r)
    EXPECT_NEAR(squares[r] / variances[r], 1, 5 * std::sqrt(5.0 / 2000));
}

// 2,000 releases of each range: 95 % are kept in at least 92.6 % except with probability 1e-6.
TEST(Hierarchical, KeepsItsAccuracyPromise) {
  const Shape shape{{8, 8}};
  const auto mechanism = hierarchy(shape, 2);
  Counts counts(64, 5);
  SeededBits bits(6);
  for (const Box& box : {Box{{0, 0}, {8, 8}}, Box{{1, 1}, {7, 7}}, Box{{3, 0}, {4, 1}}}) {
    int kept = 0;
    int inside = 0;
    for (int run = 0; run < 2000; ++run) {
      const auto histogram = release_once(mechanism, std::span<const std::int64_t>(counts), bits);
      const RangeEstimate answer = histogram.range(box);
      const double error = std::abs(answer.value - 5 * box.volume());
      kept += error <= mechanism.accuracy().half_width ? 1 : 0;
      inside += error <= answer.half_width ? 1 : 0;
    }
    EXPECT_GE(kept, 2000 * 0.926);
    EXPECT_GE(inside, 2000 * 0.926);
  }
}

// The likelihood depends on the sum of the nodes above the cell in which a row comes or goes: in fitted
// cells 3 x_0 + 2 x_1 + x_2 + x_3. The twin spends the whole epsilon on each of the three levels.
TEST(Hierarchical, SurvivesTheAuditThatCatchesLevelsThatAreNotShared) {
  const Counts none = {5, 2, 0, 1, 1, 0, 0, 3};
  const Counts more = {6, 2, 0, 1, 1, 0, 0, 3};
  const auto sampler = [](const HierarchicalHistogram& mechanism, const Counts& counts) {
    return [&](BitSource& bits) {
      const auto cells =
          release_once(mechanism, std::span<const std::int64_t>(counts), bits).cells();
      return std::round(3 * cells[0] + 2 * cells[1] + cells[2] + cells[3]);
    };
  };
  const testing::AuditOptions options{.trials = 6000};
  const auto right = hierarchy(Shape{{8}}, 2, 1);
  EXPECT_LE(testing::audited_epsilon(sampler(right, none), sampler(right, more), options), 1.0);
  const auto broken = hierarchy(Shape{{8}}, 2, 3);
  EXPECT_GT(testing::audited_epsilon(sampler(broken, none), sampler(broken, more), options), 1.3);
}

TEST(Hierarchical, ExtremeCountsAndEmptyDataAreReleasedLikeOthers) {
  SeededBits bits(1);
  const auto large = hierarchy(Shape{{10}}, 3);
  const Counts huge(10, std::int64_t{1} << 62);
  const auto histogram = release_once(large, std::span<const std::int64_t>(huge), bits);
  for (const double cell : histogram.cells()) EXPECT_TRUE(std::isfinite(cell));
  const auto certain = hierarchy(Shape{{10}}, 3, 100000);
  const auto exact = release_once(
      certain, std::span<const std::int64_t>(Counts{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), bits);
  EXPECT_DOUBLE_EQ(exact.total().value, 55);
  EXPECT_DOUBLE_EQ(exact.range({{3}, {5}}).value, 9);
  const auto many = hierarchy(Shape{{1'000'000}});
  const Counts empty(1'000'000, 0);
  const RangeEstimate total =
      release_once(many, std::span<const std::int64_t>(empty), bits).total(0.999999);
  EXPECT_LE(std::abs(total.value), total.half_width);
}

}  // namespace
}  // namespace gauze
