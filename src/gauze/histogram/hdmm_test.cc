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
                             .workload = Workload({{1, {AxisWorkload::total(16)}}})});
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
