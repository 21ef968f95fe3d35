#include "gauze/histogram/sparse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

ThresholdHistogram sparse(const Ratio& epsilon, const Ratio& delta, std::uint64_t rows = 1,
                          std::uint64_t rows_per_cell = 0,
                          ThresholdNoise noise = ThresholdNoise::kBest,
                          Shape shape = Shape{{1u << 31, 1u << 31}}) {
  return ThresholdHistogram({.shape = std::move(shape),
                             .epsilon = epsilon,
                             .delta = delta,
                             .rows_per_unit = rows,
                             .rows_per_cell = rows_per_cell,
                             .noise = noise});
}

const Ratio kDelta = parse_ratio("1e-5");

TEST(Sparse, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(sparse(0, kDelta), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse(1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse(1, kDelta, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse(1, kDelta, 2, 3), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse(1, kDelta, 1, 0, ThresholdNoise::kBest,
                      Shape{std::vector<std::uint32_t>(3, 1u << 31)}),
               ErrorCode::kInvalidOption);
}

TEST(Sparse, KeepsTheContract) {
  const Points one{{5, 7, 5, 7, 9, 9}, {}};
  const Points other{{0, 0}, {std::int64_t{1} << 62}};
  for (const ThresholdNoise noise : {ThresholdNoise::kLaplace, ThresholdNoise::kGaussian})
    testing::expect_contract(sparse(1, kDelta, 3, 1, noise), one, other);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(sparse(1, kDelta, 1, 0, ThresholdNoise::kBest, Shape{{4}}),
                            Points{{4}, {}}, bits),
               ErrorCode::kInvalidInput);
}

TEST(Sparse, KeepsItsBudget) {
  for (const ThresholdNoise noise : {ThresholdNoise::kLaplace, ThresholdNoise::kGaussian})
    for (const std::uint64_t rows : {1u, 5u})
      EXPECT_LE(epsilon_at({sparse(1, kDelta, rows, 1, noise).event()}, 1e-5).epsilon, 1.0);
}

/// P(X >= a) of discrete Laplace noise, a >= 1.
double laplace_tail(double a, double scale) {
  return std::exp(-a / scale) / (1 + std::exp(-1 / scale));
}

/// The largest probability that one of a unit's cells is named when nobody else is in them, over all ways
/// to put rows into cells.
double worst_names(double threshold, std::uint64_t rows, std::uint64_t per_cell, double scale) {
  if (rows == 0) return 0;
  double worst = 0;
  for (std::uint64_t c = 1; c <= std::min(rows, per_cell); ++c)
    worst = std::max(worst, laplace_tail(threshold - static_cast<double>(c), scale) +
                                worst_names(threshold, rows - c, c, scale));
  return worst;
}

TEST(Sparse, ThresholdIsTheSmallestThatDeltaAllows) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    for (const std::uint64_t rows : {1u, 2u, 7u}) {
      for (const std::uint64_t per_cell : {std::uint64_t{1}, rows}) {
        const auto mechanism =
            sparse(ratio_of_decimal(epsilon), kDelta, rows, per_cell, ThresholdNoise::kLaplace);
        const auto threshold = static_cast<double>(mechanism.threshold());
        const double scale = static_cast<double>(rows) / epsilon;
        EXPECT_LE(worst_names(threshold, rows, per_cell, scale), 1e-5);
        EXPECT_GT(worst_names(threshold - 2, rows, per_cell, scale), 1e-5);
      }
    }
  }
  // One row per unit: e^-(T - 1) / (1 + 1/e) <= 1e-5 from T = 12.2 on.
  EXPECT_EQ(sparse(1, kDelta, 1, 1, ThresholdNoise::kLaplace).threshold(), 13);
}

TEST(Sparse, GaussianNoiseIsTakenForManyCellsPerUnit) {
  EXPECT_FALSE(sparse(1, kDelta, 1).is_gaussian());
  EXPECT_FALSE(sparse(1, kDelta, 100).is_gaussian());
  const auto many = sparse(1, kDelta, 100, 1);
  EXPECT_TRUE(many.is_gaussian());
  EXPECT_LT(many.threshold(), sparse(1, kDelta, 100, 1, ThresholdNoise::kLaplace).threshold() / 5);
  // sigma = 3.73 sqrt(100) for (1, 1e-5), somewhat more for what the threshold takes.
  EXPECT_NEAR(std::sqrt(many.variance()), 40, 4);
}

TEST(Sparse, NamesFullCellsOnlyAndInOrder) {
  const auto mechanism = sparse(1, kDelta);
  // Cell (3, 4) with 100 rows in two parts, (1, 9) with 50, and ten thousand cells with one row.
  Points points{{3, 4, 1, 9, 3, 4}, {60, 50, 40}};
  for (std::uint32_t i = 0; i < 10000; ++i) {
    points.coordinates.insert(points.coordinates.end(), {100 + i, i});
    points.weights.push_back(1);
  }
  points.coordinates.insert(points.coordinates.end(), {2, 2});
  points.weights.push_back(0);
  SeededBits bits(4);
  const SparseHistogram histogram = release_once(mechanism, points, bits);
  // Each single row is named with probability 0.9e-5: more than two of them once in 10^3 seeds.
  ASSERT_GE(histogram.cells().size(), 2u);
  ASSERT_LE(histogram.cells().size(), 4u);
  EXPECT_EQ(histogram.coordinates(histogram.cells()[0]), (std::vector<std::uint32_t>{1, 9}));
  EXPECT_EQ(histogram.coordinates(histogram.cells()[1]), (std::vector<std::uint32_t>{3, 4}));
  const RangeEstimate both = histogram.range({{1, 3}, {4, 1000}});
  EXPECT_LE(std::abs(both.value - 150), 40);
  EXPECT_DOUBLE_EQ(both.variance, 2 * mechanism.variance());
  EXPECT_EQ(histogram.range({{1, 3}, {4, 4}}).value, 0);
  EXPECT_EQ(histogram.range({{2, 0}, {4, 1000}}).value,
            static_cast<double>(histogram.cells()[1].count));
  EXPECT_ERROR(histogram.range({{5, 0}, {4, 10}}), ErrorCode::kInvalidOption);
}

TEST(Sparse, EmptyDataNamesNothing) {
  SeededBits bits(1);
  EXPECT_TRUE(release_once(sparse(1, kDelta), Points{}, bits).cells().empty());
}

// A cell with n rows is named with P(X >= T - n): 20,000 cells, five standard errors, once in 10^6 runs.
TEST(Sparse, ACellIsNamedWithTheProbabilityOfItsNoise) {
  const auto mechanism = sparse(1, kDelta, 1, 0, ThresholdNoise::kLaplace, Shape{{1u << 20}});
  for (const int rows : {8, 12, 14}) {
    Points points;
    for (std::uint32_t i = 0; i < 20000; ++i) {
      points.coordinates.push_back(i);
      points.weights.push_back(rows);
    }
    SeededBits bits(7);
    const auto named = release_once(mechanism, points, bits).cells().size();
    const double a = static_cast<double>(mechanism.threshold()) - rows;
    const double p = a >= 1 ? laplace_tail(a, 1) : 1 - laplace_tail(1 - a, 1);
    EXPECT_NEAR(static_cast<double>(named), 20000 * p, 5 * std::sqrt(20000 * p * (1 - p)));
  }
}

// Cells of 0 to 30 rows, 1,000 of each: 95 % within the promise, kept in at least 92 % of 1,000 except with
// probability 1e-5; squares of the noise of full cells as stated.
TEST(Sparse, KeepsItsAccuracyPromise) {
  const auto mechanism = sparse(1, kDelta, 1, 0, ThresholdNoise::kLaplace, Shape{{1u << 20}});
  const double promised = mechanism.accuracy().half_width;
  for (const std::int64_t rows : {1, 12, 20, 1000}) {
    Points points;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      points.coordinates.push_back(i);
      points.weights.push_back(rows);
    }
    SeededBits bits(8);
    const auto cells = release_once(mechanism, points, bits).cells();
    int kept = static_cast<double>(rows) <= promised ? static_cast<int>(1000 - cells.size()) : 0;
    double squares = 0;
    for (const auto& cell : cells) {
      kept += std::abs(static_cast<double>(cell.count - rows)) <= promised ? 1 : 0;
      squares += std::pow(static_cast<double>(cell.count - rows), 2);
    }
    EXPECT_GE(kept, 920);
    if (rows == 1000) {
      EXPECT_NEAR(squares / 1000 / mechanism.variance(), 1, 5 * std::sqrt(5.0 / 1000));
    }
  }
}

// One unit alone in a cell. With delta = 0.01 it is named with probability below 0.01; the twin takes the
// threshold for a much larger delta, and the audit at delta = 0.01 sees a positive epsilon, far above.
TEST(Sparse, SurvivesTheAuditThatCatchesALowThreshold) {
  const auto named = [](const ThresholdHistogram& mechanism, std::uint32_t rows) {
    return [&mechanism, rows](BitSource& bits) {
      Points points;
      points.coordinates.assign(rows, 3);
      const auto cells = release_once(mechanism, points, bits).cells();
      return cells.empty() ? 0.0 : static_cast<double>(cells.front().count);
    };
  };
  const Ratio delta = parse_ratio("0.01");
  const testing::AuditOptions options{.trials = 5000, .delta = 0.01};
  const Shape shape{{10}};
  const auto right = sparse(1, delta, 1, 0, ThresholdNoise::kLaplace, shape);
  EXPECT_LE(testing::audited_epsilon(named(right, 0), named(right, 1), options), 1.0);
  EXPECT_LE(testing::audited_epsilon(named(right, 6), named(right, 7), options), 1.0);
  const auto low = sparse(1, parse_ratio("0.2"), 1, 0, ThresholdNoise::kLaplace, shape);
  EXPECT_GT(testing::audited_epsilon(named(low, 0), named(low, 1), options), 1.5);
}

}  // namespace
}  // namespace gauze
