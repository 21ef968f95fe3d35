#include "gauze/histogram/hdmm.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/histogram/hierarchical.h"
#include "gauze/histogram/lbfgs_internal.h"
#include "gauze/histogram/strategy_optimiser.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using Eigen::MatrixXd;
using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

/// In variances of one count with the whole budget, per question.
double average(const Workload& workload, NoiseNorm noise) {
  const double unit = noise == NoiseNorm::kLaplace ? 2 : 1;
  return expected_variance(optimised_strategy(workload, noise), workload, noise) / unit /
         workload.queries();
}

/// No strategy with columns of length 1 has a smaller total variance than the squared sum of W's singular
/// values over the number of cells (Li and Miklau 2013).
double singular_value_bound(const Workload& workload) {
  MatrixXd gram = MatrixXd::Ones(1, 1);
  for (const AxisWorkload& axis : workload.products().front().axes) {
    const auto n = static_cast<Eigen::Index>(axis.cells());
    MatrixXd one(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      std::vector<double> unit(axis.cells(), 0.0);
      unit[static_cast<std::size_t>(i)] = 1;
      const auto column = axis.gram_times(unit);
      one.col(i) = Eigen::Map<const Eigen::VectorXd>(column.data(), n);
    }
    MatrixXd product(gram.rows() * n, gram.cols() * n);
    for (Eigen::Index i = 0; i < gram.rows(); ++i)
      for (Eigen::Index j = 0; j < gram.cols(); ++j)
        product.block(i * n, j * n, n, n) = gram(i, j) * one;
    gram = product;
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(gram, Eigen::EigenvaluesOnly);
  const double sum = eigen.eigenvalues().cwiseMax(0).cwiseSqrt().sum();
  return sum * sum / static_cast<double>(gram.rows()) / workload.queries();
}

TEST(Lbfgs, FindsTheMinimumOfACurvedValley) {
  const auto rosenbrock = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    const double a = 1 - x[0];
    const double b = x[1] - x[0] * x[0];
    gradient << -2 * a - 400 * x[0] * b, 200 * b;
    return a * a + 100 * b * b;
  };
  const auto minimum = internal::minimise(rosenbrock, Eigen::Vector2d(-1.2, 1), 500, 0);
  EXPECT_NEAR(minimum.x[0], 1, 1e-4);
  EXPECT_NEAR(minimum.x[1], 1, 1e-4);
}

TEST(StrategyOptimiser, GaussianStrategiesComeNearTheLowerBound) {
  for (const Workload& workload :
       {Workload::all_ranges(Shape{{64}}), Workload::prefix(Shape{{64}}),
        Workload::all_ranges(Shape{{2}}), Workload::all_ranges(Shape{{8, 8}}),
        Workload::identity(Shape{{16}})}) {
    const double bound = singular_value_bound(workload);
    const double reached = average(workload, NoiseNorm::kGaussian);
    EXPECT_GE(reached, bound * (1 - 1e-4));  // the l2 norm is rounded up by 2^-16 at most
    EXPECT_LE(reached, bound * 1.07);
  }
}

TEST(StrategyOptimiser, LaplaceStrategiesBeatCellsAndHierarchies) {
  for (const std::uint32_t cells : {64u, 100u, 256u}) {
    const Workload ranges = Workload::all_ranges(Shape{{cells}});
    const double reached = average(ranges, NoiseNorm::kLaplace);
    EXPECT_LT(reached, (cells + 2.0) / 3 * 0.75);
    const HierarchicalHistogram hierarchy(
        {.shape = Shape{{cells}}, .epsilon = parse_ratio("0.001"), .rows_per_unit = 1u});
    EXPECT_LT(reached, hierarchy.average_variance() / 2e6 * 0.88);
    EXPECT_GE(reached, singular_value_bound(ranges));
  }
  // Where cells are best they are taken.
  EXPECT_NEAR(average(Workload::all_ranges(Shape{{8}}), NoiseNorm::kLaplace), 10.0 / 3, 1e-9);
  EXPECT_NEAR(average(Workload::identity(Shape{{50}}), NoiseNorm::kLaplace), 1, 1e-9);
  EXPECT_EQ(average(Workload::all_ranges(Shape{{1}}), NoiseNorm::kLaplace), 1);
}

TEST(StrategyOptimiser, UsesWhatIsAskedAndHowMuchItMatters) {
  // The total alone: measured alone, its variance is that of one count.
  EXPECT_NEAR(average(Workload({{1, {AxisWorkload::total(64)}}}), NoiseNorm::kLaplace), 1, 0.02);
  // Two intervals that do not meet cost as little as one.
  EXPECT_NEAR(average(Workload({{1, {AxisWorkload::ranges(40, {{0, 20}, {20, 40}})}}}),
                      NoiseNorm::kLaplace),
              1, 0.05);
  const Workload both({{10, {AxisWorkload::total(32)}}, {0.1, {AxisWorkload::identity(32)}}});
  const Strategy strategy = optimised_strategy(both, NoiseNorm::kLaplace);
  const double norm = strategy.l1_norm().convert_to<double>();
  EXPECT_LT(strategy.variance(std::vector<double>(32, 1.0)) * norm * norm, 1.5);
}

// Tables of each of four axes, asked apart, cost 16 counts with Laplace noise and 4 with Gaussian noise; the
// total that they share saves a little. All cells are 1,000.
TEST(StrategyOptimiser, MeasuresMarginalsWhereTheyAreAsked) {
  const Shape shape{{10, 10, 10, 10}};
  EXPECT_LT(average(Workload::marginals(shape, 1), NoiseNorm::kLaplace), 15);
  EXPECT_LT(average(Workload::marginals(shape, 1), NoiseNorm::kGaussian), 3.75);
  EXPECT_LT(average(Workload::marginals(shape, 2), NoiseNorm::kGaussian), 6);
  EXPECT_NEAR(average(Workload::marginals(shape, 4), NoiseNorm::kLaplace), 1, 1e-9);
}

TEST(Hdmm, OptionsOutsideTheirRangeAreRefused) {
  const auto hdmm = [](Shape shape, const Ratio& epsilon, std::optional<Workload> workload = {}) {
    return HdmmHistogram({.shape = std::move(shape),
                          .epsilon = epsilon,
                          .rows_per_unit = 1u,
                          .workload = std::move(workload)});
  };
  EXPECT_ERROR(hdmm(Shape{{4}}, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(hdmm(Shape{{1u << 15}}, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(hdmm(Shape{{4}}, 1, Workload::prefix(Shape{{5}})), ErrorCode::kInvalidOption);
}

TEST(Hdmm, KeepsTheContract) {
  const HdmmHistogram mechanism({.shape = Shape{{32}},
                                 .epsilon = 1,
                                 .rows_per_unit = 2u,
                                 .workload = Workload::prefix(Shape{{32}})});
  Counts other(32, 0);
  other[3] = std::int64_t{1} << 62;
  testing::expect_contract(mechanism, Counts(32, 4), other);
  EXPECT_EQ(pure_epsilon(mechanism.event()), Ratio(1));
  const HdmmHistogram parts({.shape = Shape{{32}},
                             .epsilon = 1,
                             .rows_per_unit = 2u,
                             .workload = Workload({{1, {AxisWorkload::ranges(32, {{2, 9}})}}})});
  testing::expect_contract(parts, Counts(32, 4), other);
}

/// Cells are in one part if and only if no box tells them apart.
void expect_parts(const Shape& shape, const std::vector<Box>& boxes, const WorkloadParts& parts) {
  const auto inside = [&](std::size_t cell, const Box& box) {
    bool all = true;
    for (std::size_t axis = shape.axes(); axis-- > 0;) {
      const std::size_t at = cell % shape.extents[axis];
      cell /= shape.extents[axis];
      all = all && box.begin[axis] <= at && at < box.end[axis];
    }
    return all;
  };
  std::vector<double> sizes(parts.sizes.size(), 0.0);
  for (std::size_t a = 0; a < shape.cells(); ++a) {
    ++sizes[parts.part_of_cell[a]];
    for (std::size_t b = 0; b < a; ++b) {
      bool alike = true;
      for (const Box& box : boxes) alike = alike && inside(a, box) == inside(b, box);
      const bool together = parts.part_of_cell[a] == parts.part_of_cell[b];
      if (shape.axes() > 1)
        EXPECT_EQ(together, alike) << a << " " << b;
      else  // on one axis only neighbours are taken together
        EXPECT_TRUE(!together || alike) << a << " " << b;
    }
  }
  EXPECT_EQ(sizes, parts.sizes);
}

/// One product for each box.
Workload workload_of_boxes(const Shape& shape, const std::vector<Box>& boxes) {
  std::vector<Workload::Product> products;
  for (const Box& box : boxes) {
    products.push_back({1.0, {}});
    for (std::size_t axis = 0; axis < shape.axes(); ++axis)
      products.back().axes.push_back(
          AxisWorkload::ranges(shape.extents[axis], {{box.begin[axis], box.end[axis]}}));
  }
  return Workload(std::move(products));
}

TEST(WorkloadParts, AreWhatNoQuestionTellsApart) {
  const Shape plane{{6, 7}};
  const std::vector<Box> boxes = {{{0, 0}, {3, 7}}, {{2, 1}, {5, 4}}, {{2, 2}, {4, 3}}};
  const auto parts = parts_told_apart(workload_of_boxes(plane, boxes));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->sizes.size(), 6u);
  expect_parts(plane, boxes, *parts);
  const std::vector<Box> ranges = {{{3}, {20}}, {{10}, {20}}, {{15}, {40}}};
  const auto line = parts_told_apart(workload_of_boxes(Shape{{50}}, ranges));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->sizes, (std::vector<double>{3, 7, 5, 5, 20, 10}));
  expect_parts(Shape{{50}}, ranges, *line);
}

TEST(WorkloadParts, ThereAreNoneWhereAllCellsAreToldApartOrQuestionsAreOthers) {
  EXPECT_FALSE(parts_told_apart(Workload::prefix(Shape{{9}})));
  EXPECT_FALSE(parts_told_apart(Workload::marginals(Shape{{3, 3}}, 1)));
  EXPECT_FALSE(parts_told_apart(workload_of_boxes(Shape{{2}}, {{{0}, {1}}})));
  std::vector<Box> many;  // a chequered plane: more parts than are searched
  for (std::uint32_t i = 0; i < 40; ++i) {
    many.push_back({{i, 0}, {i + 1, 40}});
    many.push_back({{0, i}, {40, i + 1}});
  }
  EXPECT_FALSE(parts_told_apart(workload_of_boxes(Shape{{50, 50}}, many)));
}

// Each is one part, and is best counted by itself: no range errs more than a single count. A search that let weights of
// sums grow without end took strategies for better whose error it could no longer tell.
TEST(Hdmm, RangesSideBySideCostNoMoreThanOneCount) {
  const double one = CountNoise::laplace(Ratio(3, 10), 1).variance();
  using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  for (const Ranges& ranges :
       {Ranges{{0, 91}, {91, 182}}, Ranges{{31, 91}, {91, 182}}, Ranges{{0, 91}},
        Ranges{{0, 91}, {91, 182}, {182, 366}}, Ranges{{0, 2}, {2, 4}, {4, 6}, {6, 7}},
        Ranges{{5, 9}, {20, 30}, {31, 40}}}) {
    const HdmmHistogram histogram(
        {.shape = Shape{{366}},
         .epsilon = Ratio(3, 10),
         .rows_per_unit = 1u,
         .workload = Workload({{1, {AxisWorkload::ranges(366, ranges)}}})});
    EXPECT_LE(histogram.average_variance(), 1.001 * one);
    Meter meter(histogram.event());
    testing::SeededBits bits(1);
    Context context{meter, bits};
    const auto released = histogram.run(Counts(366, 4), context);
    double sum = 0;
    for (const auto& [begin, end] : ranges) sum += released.value.range({{begin}, {end}}).variance;
    EXPECT_NEAR(sum / static_cast<double>(ranges.size()), histogram.average_variance(),
                0.001 * one);
  }
}

// Boxes that share no cell cost as little as one, wherever they are; a question about half of a part has a
// quarter of its variance. 3,000 releases; the mean of squares has a standard error below sqrt(5/3000).
TEST(Hdmm, CountsWhatNoQuestionTellsApartAsOne) {
  const Shape shape{{8, 9}};
  const std::vector<Box> boxes = {{{0, 0}, {4, 2}}, {{4, 4}, {8, 9}}};
  const HdmmHistogram mechanism({.shape = shape,
                                 .epsilon = Ratio(1, 4),
                                 .rows_per_unit = 1u,
                                 .workload = workload_of_boxes(shape, boxes)});
  const double one = CountNoise::laplace(Ratio(1, 4), 1).variance();
  EXPECT_NEAR(mechanism.average_variance(), one, 0.001 * one);
  EXPECT_EQ(pure_epsilon(mechanism.event()), Ratio(1, 4));
  Counts counts(72, 0);
  for (const std::size_t cell : {0u, 1u, 9u, 10u, 18u, 19u, 27u, 28u}) counts[cell] = 5;
  SeededBits bits(7);
  double squares = 0;
  double half = 0;
  for (int run = 0; run < 3000; ++run) {
    const auto histogram = release_once(mechanism, std::span<const std::int64_t>(counts), bits);
    const RangeEstimate all = histogram.range(boxes[0]);
    squares += (all.value - 40) * (all.value - 40) / all.variance / 3000;
    const RangeEstimate upper = histogram.range({{0, 0}, {2, 2}});
    half += (upper.value - 20) * (upper.value - 20) / upper.variance / 3000;
    if (run > 0) continue;
    EXPECT_NEAR(upper.variance, all.variance / 4, 1e-9 * one);
    EXPECT_NEAR(histogram.range({{0, 0}, {1, 1}}).variance, all.variance / 64, 1e-9 * one);
    std::vector<double> weights(72, 0.0);
    for (const std::size_t cell : {0u, 1u, 9u, 10u}) weights[cell] = 1;
    EXPECT_NEAR(histogram.weighted(weights).variance, upper.variance, 1e-9 * one);
  }
  EXPECT_NEAR(squares, 1, 5 * std::sqrt(5.0 / 3000));
  EXPECT_NEAR(half, 1, 5 * std::sqrt(5.0 / 3000));
}

// Of 20 ranges on 1,000 cells what is searched among 41 parts at most is no worse than among all cells.
TEST(Hdmm, LosesNothingByTakingCellsTogether) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  for (std::uint32_t i = 0; i < 20; ++i) ranges.emplace_back(i * 37 % 400, 500 + i * 53 % 500);
  const Workload workload({{1, {AxisWorkload::ranges(1000, ranges)}}});
  const HdmmHistogram parts({.shape = Shape{{1000}},
                             .epsilon = Ratio(1, 100),
                             .rows_per_unit = 1u,
                             .workload = workload});
  EXPECT_LE(parts.strategy().shape().cells(), 41u);
  const double whole = average(workload, NoiseNorm::kLaplace) * 2 * 100 * 100;
  EXPECT_LT(parts.average_variance(), 1.03 * whole);
}

TEST(Hdmm, KeepsItsStrategyWithAnotherBudget) {
  const HdmmHistogram one({.shape = Shape{{32}}, .epsilon = 1, .rows_per_unit = 2u});
  const HdmmHistogram half = one.with(Ratio(1, 2));
  EXPECT_EQ(pure_epsilon(half.event()), Ratio(1, 2));
  EXPECT_NEAR(half.average_variance() / one.average_variance(), 4, 1e-3);
}

TEST(Hdmm, TakesTheNoiseThatIsSmallerForTheWorkload) {
  const auto with_delta = [](const Ratio& delta) {
    return HdmmHistogram(
        {.shape = Shape{{128}}, .epsilon = Ratio(1, 10), .rows_per_unit = 1u, .delta = delta});
  };
  const auto gaussian = with_delta(parse_ratio("0.01"));
  EXPECT_LT(gaussian.average_variance(), with_delta(0).average_variance());
  EXPECT_LE(epsilon_at({gaussian.event()}, 0.01).epsilon, 0.1);
}

// 1,500 releases, all prefixes: the mean of squares over 64 prefixes is that of the formula; its relative
// standard error is below sqrt(5/1500), were all prefixes one.
TEST(Hdmm, NoiseHasTheStatedVariance) {
  const HdmmHistogram mechanism({.shape = Shape{{64}},
                                 .epsilon = Ratio(1, 10),
                                 .rows_per_unit = 1u,
                                 .workload = Workload::prefix(Shape{{64}})});
  Counts counts(64);
  for (std::size_t i = 0; i < 64; ++i) counts[i] = static_cast<std::int64_t>(i * 37 % 50);
  SeededBits bits(3);
  double squares = 0;
  for (int run = 0; run < 1500; ++run) {
    const auto cells = release_once(mechanism, std::span<const std::int64_t>(counts), bits).cells();
    double error = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      error += cells[i] - static_cast<double>(counts[i]);
      squares += error * error / 64 / 1500;
    }
  }
  EXPECT_NEAR(squares / mechanism.average_variance(), 1, 5 * std::sqrt(5.0 / 1500));
}

// The twin forgets that every cell is in the blocks too: it noises as if only cells were measured.
TEST(Hdmm, SurvivesTheAuditThatCatchesForgottenBlocks) {
  const Shape shape{{16}};
  const HdmmHistogram right({.shape = shape,
                             .epsilon = 1,
                             .rows_per_unit = 1u,
                             .workload = Workload({{10, {AxisWorkload::total(16)}},
                                                   {0.1, {AxisWorkload::identity(16)}}})});
  // Nearly all of the weight is in the total: with the norm of the diagonal alone noise is far too small.
  const auto cells_only = [](const Counts& counts) {
    return [counts](BitSource& bits) {
      const CountNoise noise = CountNoise::laplace(4, 1);
      Meter meter(noise.event());
      Context context{meter, bits};
      double total = 0;
      for (const std::int64_t count : counts) total += static_cast<double>(count);
      return total + static_cast<double>(noise.run(Counts{0}, context).front());
    };
  };
  const auto sampler = [&](const Counts& counts) {
    return [&right, counts](BitSource& bits) {
      return std::round(
          release_once(right, std::span<const std::int64_t>(counts), bits).total().value);
    };
  };
  const Counts none(16, 1);
  Counts more = none;
  ++more[5];
  const testing::AuditOptions options{.trials = 6000};
  EXPECT_LE(testing::audited_epsilon(sampler(none), sampler(more), options), 1.0);
  EXPECT_GT(testing::audited_epsilon(cells_only(none), cells_only(more), options), 1.3);
}

}  // namespace
}  // namespace gauze
