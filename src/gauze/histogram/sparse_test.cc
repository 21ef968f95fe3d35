#include "gauze/histogram/sparse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/numeric/infinity.h"
#include "gauze/random/uniform.h"
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

/// The named cells with their counts, by their place.
std::vector<std::pair<std::vector<std::uint32_t>, double>> named(const RangeHistogram& histogram) {
  std::vector<std::pair<std::vector<std::uint32_t>, double>> cells;
  for (const auto& leaf : histogram.partition())
    if (leaf.variance > 0) cells.emplace_back(leaf.box.begin, leaf.value);
  std::sort(cells.begin(), cells.end());
  return cells;
}

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
  const RangeHistogram histogram = release_once(mechanism, points, bits);
  const auto cells = named(histogram);
  // Each single row is named with probability 0.9e-5: more than two of them once in 10^3 seeds.
  ASSERT_GE(cells.size(), 2u);
  ASSERT_LE(cells.size(), 4u);
  EXPECT_EQ(cells[0].first, (std::vector<std::uint32_t>{1, 9}));
  EXPECT_EQ(cells[1].first, (std::vector<std::uint32_t>{3, 4}));
  const RangeEstimate both = histogram.range({{1, 3}, {4, 1000}});
  EXPECT_LE(std::abs(both.value - 150), 40);
  EXPECT_DOUBLE_EQ(both.variance, 2 * mechanism.variance());
  EXPECT_EQ(histogram.range({{1, 3}, {4, 4}}).value, 0);
  // Nothing is named there: that is no measurement, and no error bar of 0.
  EXPECT_EQ(histogram.range({{1, 3}, {4, 4}}).half_width, kInfinity);
  EXPECT_LT(both.half_width, 40);
  EXPECT_EQ(histogram.range({{2, 0}, {4, 1000}}).value, cells[1].second);
  EXPECT_ERROR(histogram.range({{5, 0}, {4, 10}}), ErrorCode::kInvalidOption);
}

TEST(Sparse, EmptyDataNamesNothing) {
  SeededBits bits(1);
  const RangeHistogram histogram = release_once(sparse(1, kDelta), Points{}, bits);
  EXPECT_TRUE(named(histogram).empty());
  EXPECT_EQ(histogram.total().value, 0);
}

// Against a plain list of cells, most of them crowded into a corner of four axes.
TEST(Sparse, AnyBoxSumsTheNamedCellsInside) {
  const Shape shape{{7, 1u << 20, 3, 50}};
  const auto mechanism = sparse(1, kDelta, 1, 0, ThresholdNoise::kLaplace, shape);
  SeededBits bits(11);
  Points points;
  for (int i = 0; i < 3000; ++i) {
    for (const std::uint32_t extent : shape.extents)
      points.coordinates.push_back(static_cast<std::uint32_t>(
          uniform_below(bits, i % 10 == 0 ? extent : std::min(extent, 5u))));
    points.weights.push_back(1 + static_cast<std::int64_t>(uniform_below(bits, 40)));
  }
  const RangeHistogram histogram = release_once(mechanism, points, bits);
  const auto cells = named(histogram);
  ASSERT_GT(cells.size(), 300u);
  EXPECT_LE(histogram.leaves(), cells.size() * 3 * shape.axes());
  double volume = 0;
  for (const auto& leaf : histogram.partition()) volume += leaf.box.volume();
  EXPECT_EQ(volume, static_cast<double>(shape.cells()));
  for (int i = 0; i < 200; ++i) {
    Box box;
    for (const std::uint32_t extent : shape.extents) {
      const std::uint32_t from =
          static_cast<std::uint32_t>(uniform_below(bits, std::min(extent, 6u)));
      box.begin.push_back(from);
      box.end.push_back(from + static_cast<std::uint32_t>(uniform_below(bits, extent - from + 1)));
    }
    double sum = 0, inside = 0;
    for (const auto& [at, count] : cells) {
      bool in = true;
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        in = in && at[axis] >= box.begin[axis] && at[axis] < box.end[axis];
      sum += in ? count : 0;
      inside += in ? 1 : 0;
    }
    const RangeEstimate answer = histogram.range(box);
    EXPECT_EQ(answer.value, sum);
    EXPECT_NEAR(answer.variance, inside * mechanism.variance(), 1e-6 * mechanism.variance());
  }
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
    const auto count = named(release_once(mechanism, points, bits)).size();
    const double a = static_cast<double>(mechanism.threshold()) - rows;
    const double p = a >= 1 ? laplace_tail(a, 1) : 1 - laplace_tail(1 - a, 1);
    EXPECT_NEAR(static_cast<double>(count), 20000 * p, 5 * std::sqrt(20000 * p * (1 - p)));
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
    const auto cells = named(release_once(mechanism, points, bits));
    int kept = static_cast<double>(rows) <= promised ? static_cast<int>(1000 - cells.size()) : 0;
    double squares = 0;
    for (const auto& [at, count] : cells) {
      const double error = count - static_cast<double>(rows);
      kept += std::abs(error) <= promised ? 1 : 0;
      squares += error * error;
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
  const auto count = [](const ThresholdHistogram& mechanism, std::uint32_t rows) {
    return [&mechanism, rows](BitSource& bits) {
      Points points;
      points.coordinates.assign(rows, 3);
      return release_once(mechanism, points, bits).total().value;
    };
  };
  const Ratio delta = parse_ratio("0.01");
  const testing::AuditOptions options{.trials = 5000, .delta = 0.01};
  const Shape shape{{10}};
  const auto right = sparse(1, delta, 1, 0, ThresholdNoise::kLaplace, shape);
  EXPECT_LE(testing::audited_epsilon(count(right, 0), count(right, 1), options), 1.0);
  EXPECT_LE(testing::audited_epsilon(count(right, 6), count(right, 7), options), 1.0);
  const auto low = sparse(1, parse_ratio("0.2"), 1, 0, ThresholdNoise::kLaplace, shape);
  EXPECT_GT(testing::audited_epsilon(count(low, 0), count(low, 1), options), 1.5);
}

/// The sum of what is released of so many cells with so many rows each.
auto sum_of_cells(const ThresholdHistogram& mechanism, std::uint32_t cells, std::uint32_t rows) {
  return [&mechanism, cells, rows](BitSource& bits) {
    Points points;
    for (std::uint32_t i = 0; i < cells * rows; ++i) points.coordinates.push_back(i % cells);
    return release_once(mechanism, points, bits).total().value;
  };
}

// A unit with one row in each of 16 cells: the sum of all moves by 16, its Gaussian noise by a factor of 4 more
// than that of one cell. The twin has noise for one cell only.
TEST(Sparse, SurvivesTheAuditThatCatchesNoiseForOneCellOfSeveral) {
  const Ratio delta = parse_ratio("0.01");
  const Shape shape{{20}};
  const auto audited = [](const ThresholdHistogram& mechanism, std::uint32_t cells,
                          std::uint32_t rows) {
    return testing::audited_epsilon(sum_of_cells(mechanism, cells, rows),
                                    sum_of_cells(mechanism, cells, rows + 1),
                                    {.trials = 4000, .delta = 0.01});
  };
  for (const ThresholdNoise noise : {ThresholdNoise::kGaussian, ThresholdNoise::kLaplace}) {
    const auto right = sparse(2, delta, 16, 1, noise, shape);
    EXPECT_EQ(right.is_gaussian(), noise == ThresholdNoise::kGaussian);
    EXPECT_LE(audited(right, 16, 50), 2);
    EXPECT_GT(audited(sparse(2, delta, 1, 1, noise, shape), 16, 50), 3);
  }
  // One cell is the worst that a right one has: the audit can fail from below.
  const double one = audited(sparse(2, delta, 1, 1, ThresholdNoise::kGaussian, shape), 1, 30);
  EXPECT_LE(one, 2);
  EXPECT_GT(one, 0.4);
}

// One row in each of 16 empty cells names any of them with probability delta = 0.05 at most: of 4,000 releases
// 200, and 260 once in 10^5 seeds. The twin has the threshold of units with one cell.
TEST(Sparse, NamesNewCellsOfAUnitWithProbabilityDeltaInAllWhichAThresholdForOneDoesNot) {
  const Ratio delta = parse_ratio("0.05");
  const Shape shape{{20}};
  for (const ThresholdNoise noise : {ThresholdNoise::kGaussian, ThresholdNoise::kLaplace}) {
    const auto named_of = [&](const ThresholdHistogram& mechanism) {
      SeededBits bits(12);
      const auto sum = sum_of_cells(mechanism, 16, 1);
      int times = 0;
      for (int i = 0; i < 4000; ++i) times += sum(bits) > 0 ? 1 : 0;
      return times;
    };
    EXPECT_LE(named_of(sparse(2, delta, 16, 1, noise, shape)), 260);
    EXPECT_GT(named_of(sparse(2, delta, 1, 1, noise, shape)), 260);
  }
}

}  // namespace
}  // namespace gauze
