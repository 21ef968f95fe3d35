#include "gauze/histogram/range_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/tree_test_internal.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::RandomTree;
using testing::SeededBits;
using testing::uniform_in;

Box interval(std::uint32_t begin, std::uint32_t end) {
  return {{begin}, {end}};
}

/// Cells from leaves: a leaf of several cells is spread evenly.
Eigen::MatrixXd spread(const RandomTree& tree, std::uint32_t cells) {
  std::vector<Eigen::VectorXd> columns;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].children != 0) continue;
    const auto begin = static_cast<Eigen::Index>(tree.bounds[2 * i]);
    const auto width = static_cast<Eigen::Index>(tree.bounds[2 * i + 1]) - begin;
    columns.emplace_back(Eigen::VectorXd::Zero(cells));
    columns.back().segment(begin, width).setConstant(1.0 / static_cast<double>(width));
  }
  Eigen::MatrixXd matrix(cells, static_cast<Eigen::Index>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i)
    matrix.col(static_cast<Eigen::Index>(i)) = columns[i];
  return matrix;
}

TEST(RangeHistogram, VarianceOfEveryRangeIsThatOfLeastSquares) {
  SeededBits bits(1);
  for (int trial = 0; trial < 60; ++trial) {
    const auto cells = static_cast<std::uint32_t>(1 + trial % 20);
    RandomTree tree(cells, bits);
    const Eigen::MatrixXd to_cells = spread(tree, cells);
    const auto expected = testing::least_squares(tree.nodes);
    const Eigen::MatrixXd covariance = to_cells * expected.covariance * to_cells.transpose();
    const Eigen::VectorXd values = to_cells * expected.leaves;
    fit(tree.nodes);
    const RangeHistogram histogram(Shape{{cells}}, tree.nodes, tree.bounds, false);
    for (std::uint32_t begin = 0; begin <= cells; ++begin) {
      for (std::uint32_t end = begin; end <= cells; ++end) {
        Eigen::VectorXd x = Eigen::VectorXd::Zero(cells);
        x.segment(begin, end - begin).setOnes();
        const RangeEstimate answer = histogram.range(interval(begin, end));
        EXPECT_NEAR(answer.value, x.dot(values), 1e-7);
        EXPECT_NEAR(answer.variance, x.dot(covariance * x), 1e-8 * (1 + answer.variance));
      }
    }
    std::vector<double> weights(cells);
    for (double& weight : weights) weight = uniform_in(-3, 3, bits);
    const Eigen::VectorXd x = Eigen::Map<Eigen::VectorXd>(weights.data(), cells);
    const RangeEstimate answer = histogram.weighted(weights);
    EXPECT_NEAR(answer.value, x.dot(values), 1e-7);
    EXPECT_NEAR(answer.variance, x.dot(covariance * x), 1e-8 * (1 + answer.variance));
  }
}

TEST(RangeHistogram, ALeafThatIsCutGivesItsShare) {
  // Two leaves of 2 x 2 cells side by side.
  const std::vector<TreeNode> nodes = {{1, 2, 12, 8}, {0, 0, 8, 4}, {0, 0, 4, 4}};
  const RangeHistogram histogram(Shape{{2, 4}}, nodes, {0, 0, 2, 4, 0, 0, 2, 2, 0, 2, 2, 4}, false);
  const RangeEstimate corner = histogram.range({{0, 0}, {1, 1}});
  EXPECT_DOUBLE_EQ(corner.value, 2);
  EXPECT_DOUBLE_EQ(corner.variance, 4.0 / 16);
  const RangeEstimate middle = histogram.range({{0, 1}, {2, 3}});
  EXPECT_DOUBLE_EQ(middle.value, 6);
  EXPECT_DOUBLE_EQ(middle.variance, 4.0 / 4 + 4.0 / 4);
  EXPECT_EQ(histogram.cells(), (std::vector<double>{2, 2, 1, 1, 2, 2, 1, 1}));
  EXPECT_EQ(histogram.partition().size(), 2u);
  EXPECT_DOUBLE_EQ(histogram.partition()[1].variance, 4);
}

TEST(RangeHistogram, AFlatOneAddsVariances) {
  const std::vector<double> cells = {3, -1, 4, 1, -5, 9};
  const RangeHistogram histogram(Shape{{2, 3}}, cells, 2.5, false);
  EXPECT_EQ(histogram.cells(), cells);
  const RangeEstimate box = histogram.range({{0, 1}, {2, 3}});
  EXPECT_DOUBLE_EQ(box.value, -1 + 4 - 5 + 9);
  EXPECT_DOUBLE_EQ(box.variance, 10);
  const RangeEstimate none = histogram.range({{1, 1}, {1, 3}});
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.variance, 0);
}

TEST(RangeHistogram, AsksAMethodThatKnowsItsOwnVariance) {
  const auto variance = [](std::span<const double> weights) {
    return 7 * std::accumulate(weights.begin(), weights.end(), 0.0);
  };
  const RangeHistogram histogram(Shape{{2, 2}}, std::vector<double>{1, 2, 3, 4}, variance, true);
  EXPECT_DOUBLE_EQ(histogram.range({{0, 0}, {2, 1}}).variance, 14);
  EXPECT_DOUBLE_EQ(histogram.weighted(std::vector<double>{0, 0, 0, 3}).variance, 21);
  EXPECT_DOUBLE_EQ(histogram.weighted(std::vector<double>{0, 0, 0, 3}).value, 12);
}

TEST(RangeHistogram, RangesOutsideAreRefused) {
  const RangeHistogram histogram(Shape{{2, 3}}, std::vector<double>(6, 1.0), 1.0, false);
  EXPECT_ERROR(histogram.range({{0, 0}, {2, 4}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(histogram.range({{0, 2}, {2, 1}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(histogram.range({{0}, {2}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(histogram.weighted(std::vector<double>(5, 1.0)), ErrorCode::kInvalidOption);
  EXPECT_ERROR(histogram.weighted({std::vector<double>{1, 1, 1, 1, 1, INFINITY}}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(histogram.total(1.0), ErrorCode::kInvalidOption);
}

/// The distribution of sum weights[i] X_i with X_i discrete Laplace noise, from `-reach` on.
struct Distribution {
  std::vector<double> mass = {1.0};
  std::ptrdiff_t reach = 0;

  void add(double epsilon, std::ptrdiff_t weight) {
    const auto width = static_cast<std::ptrdiff_t>(std::ceil(32 / epsilon)) + 1;
    const double shrink = std::exp(-epsilon);
    // |x|-th power by two running sums would be faster; this is short.
    std::vector<double> sum(mass.size() + static_cast<std::size_t>(2 * width * weight), 0.0);
    for (std::ptrdiff_t x = -width; x <= width; ++x) {
      const double p = (1 - shrink) / (1 + shrink) * std::pow(shrink, std::abs(x));
      const auto offset = static_cast<std::size_t>((x + width) * weight);
      for (std::size_t i = 0; i < mass.size(); ++i) sum[i + offset] += p * mass[i];
    }
    mass = std::move(sum);
    reach += width * weight;
  }
  double outside(double half_width) const {
    double tail = 0;
    for (std::size_t i = 0; i < mass.size(); ++i)
      if (std::abs(static_cast<double>(static_cast<std::ptrdiff_t>(i) - reach)) > half_width)
        tail += mass[i];
    return tail;
  }
};

constexpr double kConfidences[] = {0.5, 0.8, 0.9, 0.95, 0.99, 0.999};

TEST(RangeHistogram, HalfWidthsHoldTheNoiseOfOneCountForEveryEpsilon) {
  for (double epsilon = 1e-3; epsilon < 12; epsilon *= 1.07) {
    const CountNoise noise = CountNoise::laplace(ratio_of_bits(epsilon), 1);
    const RangeHistogram one(Shape{{1}}, std::vector<double>{0}, noise.variance(), false);
    const double shrink = std::exp(-epsilon);
    for (const double confidence : kConfidences) {
      // P(|X| > h) = 2 a^(floor(h) + 1) / (1 + a)
      const double h = std::floor(one.total(confidence).half_width);
      const double outside = 2 * std::exp(-epsilon * (h + 1)) / (1 + shrink);
      EXPECT_LE(outside, (1 - confidence) * (1 + 1e-9)) << epsilon << " " << confidence;
    }
  }
}

TEST(RangeHistogram, HalfWidthsHoldTheNoiseOfSumsWithAnyWeights) {
  const std::vector<std::vector<std::ptrdiff_t>> sums = {
      {1, 1},         {1, 1, 1}, {1, 1, 1, 1}, {1, 2},       {1, 3},
      {1, 5},         {1, 1, 4}, {1, 2, 3},    {2, 2, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1},
      {1, 1, 1, 1, 5}};
  for (const double epsilon : {0.3, 0.7, 1.5, 4.0}) {
    for (const auto& weights : sums) {
      Distribution sum;
      std::vector<double> as_doubles;
      for (const std::ptrdiff_t weight : weights) {
        sum.add(epsilon, weight);
        as_doubles.push_back(static_cast<double>(weight));
      }
      const auto cells = static_cast<std::uint32_t>(weights.size());
      const RangeHistogram flat(Shape{{cells}}, std::vector<double>(cells, 0.0),
                                CountNoise::laplace(ratio_of_bits(epsilon), 1).variance(), false);
      for (const double confidence : kConfidences) {
        EXPECT_LE(sum.outside(flat.weighted(as_doubles, confidence).half_width), 1 - confidence)
            << epsilon << " " << confidence << " " << weights.size() << " " << weights.back();
      }
    }
  }
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

TEST(RangeHistogram, NonNegativeIsTheNearestWithTheSameTotal) {
  SeededBits bits(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> cells(2 + static_cast<std::size_t>(trial) % 9);
    for (double& cell : cells) cell = uniform_in(-10, 15, bits);
    const double total = std::accumulate(cells.begin(), cells.end(), 0.0);
    const RangeHistogram histogram(Shape{{static_cast<std::uint32_t>(cells.size())}}, cells, 1.0,
                                   false);
    const RangeHistogram result = histogram.non_negative();
    const auto nearest = result.cells();
    EXPECT_NEAR(result.total().value, std::max(total, 0.0), 1e-9);
    EXPECT_EQ(result.total().variance, histogram.total().variance);
    for (const double cell : nearest) EXPECT_GE(cell, 0);
    if (total <= 0) continue;
    for (int other = 0; other < 50; ++other) {
      std::vector<double> feasible(cells.size());
      for (double& cell : feasible) cell = std::max(0.0, uniform_in(-10, 10, bits));
      const double sum = std::accumulate(feasible.begin(), feasible.end(), 0.0);
      if (sum == 0) continue;
      // Also near the result, where a wrong one would be beaten.
      for (const double mix : {1.0, 0.1, 0.01}) {
        std::vector<double> mixed(cells.size());
        for (std::size_t i = 0; i < cells.size(); ++i)
          mixed[i] = mix * feasible[i] * total / sum + (1 - mix) * nearest[i];
        EXPECT_LE(squared_distance(cells, nearest), squared_distance(cells, mixed) + 1e-9);
      }
    }
  }
}

TEST(RangeHistogram, WholeNumbersSumToTheWholeTotalAndMoveRangesByLessThanOne) {
  SeededBits bits(4);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> cells(30);
    for (double& cell : cells) cell = uniform_in(-2, 5, bits);
    const RangeHistogram histogram(Shape{{5, 6}}, cells, 1.0, false);
    const auto before = histogram.non_negative().cells();
    const RangeHistogram whole = histogram.whole();
    const auto after = whole.cells();
    EXPECT_EQ(whole.total().value, std::round(histogram.total().value));
    EXPECT_NEAR(whole.total().variance, 30, 1e-9);
    double running = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_GE(after[i], 0);
      EXPECT_EQ(after[i], std::floor(after[i]));
      running += after[i] - before[i];
      EXPECT_LE(std::abs(running), 0.5 + 1e-9);
    }
  }
}

// Three leaves in a domain of 2^40 cells.
TEST(RangeHistogram, WholeLeavesTakeAnyShapeAndKeepTheirErrorBars) {
  constexpr std::uint32_t kSide = 1u << 20;
  const std::vector<TreeNode> nodes = {
      {1, 3, 4.9, 3.0}, {0, 0, 2.4, 1.0}, {0, 0, 3.6, 1.0}, {0, 0, -1.1, 1.0}};
  const std::vector<std::uint32_t> bounds = {0, 0, kSide, kSide, 0, 0, 5,     kSide,
                                             5, 0, 9,     kSide, 9, 0, kSide, kSide};
  const RangeHistogram histogram(Shape{{kSide, kSide}}, nodes, bounds, false);
  const RangeHistogram whole = histogram.whole_leaves();
  // Without the negative one: 2.4 and 3.6 less 0.55 each; their running sums are 1.85 and 4.9.
  EXPECT_EQ(whole.count({{0, 0}, {5, kSide}}), 2);
  EXPECT_EQ(whole.count({{5, 0}, {9, kSide}}), 3);
  EXPECT_EQ(whole.count({{9, 0}, {kSide, kSide}}), 0);
  EXPECT_EQ(whole.range({{0, 0}, {5, 7}}).variance, histogram.range({{0, 0}, {5, 7}}).variance);
  EXPECT_EQ(whole.total().variance, 3);
}

TEST(RangeHistogram, WholeCellsHaveTheErrorBarsOfWhatTheyWere) {
  const std::vector<TreeNode> nodes = {{1, 2, 9.5, 2.0}, {0, 0, 4.7, 3.0}, {0, 0, 4.8, 6.0}};
  const std::vector<std::uint32_t> bounds = {0, 5, 0, 2, 2, 5};
  const RangeHistogram histogram(Shape{{5}}, nodes, bounds, false);
  const RangeHistogram whole = histogram.whole();
  for (std::uint32_t begin = 0; begin < 5; ++begin) {
    for (std::uint32_t end = begin; end <= 5; ++end) {
      const Box box{{begin}, {end}};
      EXPECT_DOUBLE_EQ(whole.range(box).variance, histogram.range(box).variance);
      EXPECT_EQ(whole.count(box), whole.range(box).value);
      std::vector<double> weights(5, 0.0);
      for (std::uint32_t i = begin; i < end; ++i) weights[i] = 1;
      EXPECT_NEAR(whole.weighted(weights).variance, histogram.range(box).variance, 1e-12);
    }
  }
}

TEST(RangeHistogram, LeavesHaveTheVarianceOfTheirRange) {
  const std::vector<TreeNode> nodes = {{1, 2, 20, 2.0}, {3, 3, 12, 3.0}, {0, 0, 8, 6.0},
                                       {0, 0, 5, 7.0},  {6, 2, 4, 2.5},  {0, 0, 3, 0.0},
                                       {0, 0, 1, 4.0},  {0, 0, 3, 9.0}};
  const std::vector<std::uint32_t> bounds = {0, 9, 0, 6, 6, 9, 0, 1, 1, 4, 4, 6, 1, 2, 2, 4};
  const RangeHistogram histogram(Shape{{9}}, nodes, bounds, false);
  ASSERT_EQ(histogram.partition().size(), 5u);
  for (const auto& leaf : histogram.partition()) {
    EXPECT_DOUBLE_EQ(leaf.variance, histogram.range(leaf.box).variance);
    EXPECT_EQ(leaf.value, histogram.count(leaf.box));
  }
}

// 131,072 cells: with a look at all cells for each of them this would take minutes.
TEST(RangeHistogram, AnswersEveryCellOfManyWithoutALookAtAllOthers) {
  constexpr std::uint32_t kCells = 1u << 17;
  const RangeHistogram whole =
      RangeHistogram(Shape{{kCells}}, std::vector<double>(kCells, 2.5), 3.0, false).whole();
  const RangeHistogram other(
      Shape{{kCells}}, std::vector<double>(kCells, 2.5),
      [](std::span<const double>) -> double { throw std::logic_error("looked at all cells"); },
      false, [](const Box& box) { return box.volume(); });
  double variances = 0;
  for (std::uint32_t i = 0; i < kCells; ++i) {
    variances += whole.range({{i}, {i + 1}}).variance;
    variances += other.range({{i}, {i + 1}}).variance;
  }
  EXPECT_DOUBLE_EQ(variances, 4.0 * kCells);
}

TEST(RangeHistogram, NothingButNegativeNoiseBecomesZeros) {
  const RangeHistogram histogram(Shape{{3}}, std::vector<double>{-4, 1, -2}, 1.0, false);
  EXPECT_EQ(histogram.non_negative().cells(), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(histogram.whole().cells(), (std::vector<double>{0, 0, 0}));
}

TEST(RangeHistogram, StretchesOverALongerAxis) {
  const std::vector<double> cells = {6, 10};
  const RangeHistogram buckets(Shape{{2}}, cells, 4.0, false);
  const std::vector<std::uint32_t> begins = {0, 3, 5};
  const RangeHistogram stretched = buckets.stretched(begins);
  EXPECT_EQ(stretched.cells(), (std::vector<double>{2, 2, 2, 5, 5}));
  const RangeEstimate middle = stretched.range({{1}, {4}});
  EXPECT_DOUBLE_EQ(middle.value, 9);
  EXPECT_DOUBLE_EQ(middle.variance, 4 * (4.0 / 9 + 1.0 / 4));
  for (const std::vector<std::uint32_t>& wrong :
       {std::vector<std::uint32_t>{0, 3}, {1, 3, 5}, {0, 3, 3}})
    EXPECT_ERROR(buckets.stretched(wrong), ErrorCode::kInvalidInput);
}

// Two buckets with variances 4 and 1 and covariance -1: a range that holds a third of one and half of the
// other has 4/9 + 1/4 - 2/6.
TEST(RangeHistogram, StretchedKeepsAVarianceThatIsNotThatOfATree) {
  const std::vector<double> cells = {6, 10};
  const RangeHistogram buckets(
      Shape{{2}}, cells,
      [](std::span<const double> w) { return 4 * w[0] * w[0] + w[1] * w[1] - 2 * w[0] * w[1]; },
      false, [](const Box& box) { return box.volume(); });
  const std::vector<std::uint32_t> begins = {0, 3, 5};
  const RangeHistogram stretched = buckets.stretched(begins);
  EXPECT_EQ(stretched.cells(), (std::vector<double>{2, 2, 2, 5, 5}));
  EXPECT_DOUBLE_EQ(stretched.range({{2}, {4}}).variance, 4.0 / 9 + 1.0 / 4 - 1.0 / 3);
  EXPECT_DOUBLE_EQ(stretched.total().variance, 3);
}

}  // namespace
}  // namespace gauze
