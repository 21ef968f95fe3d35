#include "gauze/histogram/matrix_mechanism.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/histogram/tree_test_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

DenseMatrix dense(const MatrixXd& m) {
  DenseMatrix result{static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols()), {}};
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    for (Eigen::Index j = 0; j < m.cols(); ++j) result.values.push_back(m(i, j));
  return result;
}

MatrixXd kronecker(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd result(a.rows() * b.rows(), a.cols() * b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      result.block(i * b.rows(), j * b.cols(), b.rows(), b.cols()) = a(i, j) * b;
  return result;
}

/// Four cells: each of them, both halves, and the whole.
MatrixXd tree_matrix() {
  MatrixXd a(7, 4);
  a << 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1;
  return a;
}

MatrixMechanism mechanism(const Strategy& strategy, const Ratio& epsilon = 1,
                          const Ratio& delta = 0, std::uint64_t rows = 1) {
  return MatrixMechanism({.shape = strategy.shape(),
                          .epsilon = epsilon,
                          .rows_per_unit = rows,
                          .strategy = strategy,
                          .delta = delta});
}

/// Measurements, estimates and variances of a strategy against the matrix that it stands for.
void expect_matrix(const Strategy& strategy, const MatrixXd& a) {
  const Eigen::Index n = a.cols();
  ASSERT_EQ(strategy.measurements(), static_cast<std::size_t>(a.rows()));
  EXPECT_EQ(strategy.l1_norm(), Integer(std::llround(a.cwiseAbs().colwise().sum().maxCoeff())));
  EXPECT_EQ(strategy.l2_norm(),
            Integer(std::llround(std::ceil(a.colwise().norm().maxCoeff() - 1e-9))));
  SeededBits bits(1);
  Counts counts;
  VectorXd x(n);
  std::vector<double> w(static_cast<std::size_t>(n));
  for (Eigen::Index i = 0; i < n; ++i) {
    counts.push_back(static_cast<std::int64_t>(uniform_below(bits, 100)));
    x[i] = static_cast<double>(counts.back());
    w[static_cast<std::size_t>(i)] = testing::uniform_in(-1, 2, bits);
  }
  const auto sums = strategy.measure(counts);
  VectorXd y = a * x;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    EXPECT_EQ(static_cast<double>(sums[static_cast<std::size_t>(i)]), y[i]);
    y[i] += testing::uniform_in(-10, 10, bits);
  }
  const MatrixXd inverse = (a.transpose() * a).inverse();
  const VectorXd expected = inverse * a.transpose() * y;
  const auto estimate = strategy.estimate({y.data(), y.data() + y.size()});
  for (Eigen::Index i = 0; i < n; ++i)
    EXPECT_NEAR(estimate[static_cast<std::size_t>(i)], expected[i], 1e-7);
  const VectorXd weights = Eigen::Map<VectorXd>(w.data(), n);
  EXPECT_NEAR(strategy.variance(w), weights.dot(inverse * weights), 1e-9);
  EXPECT_NEAR(strategy.largest_cell_variance(), inverse.diagonal().maxCoeff(), 1e-9);
}

TEST(Strategy, IsTheMatrixThatWasGiven) {
  expect_matrix(Strategy::matrix(dense(tree_matrix())), tree_matrix());
  // The same with its first rows as a diagonal, solved in another way.
  const MatrixXd sums = tree_matrix().bottomRows(3);
  expect_matrix(Strategy::product({{std::vector<double>(4, 1.0), dense(sums)}}), tree_matrix());
  MatrixXd signs(3, 3);
  signs << 1, 1, 1, 1, -1, 0, 0, 2, -3;
  expect_matrix(Strategy::matrix(dense(signs)), signs);
}

TEST(Strategy, ProductsAreKroneckerProducts) {
  MatrixXd other(3, 2);
  other << 1, 0, 0, 2, 3, 1;
  const Strategy::Axis tree{std::vector<double>(4, 1.0), dense(tree_matrix().bottomRows(3))};
  expect_matrix(Strategy::product({tree, {{}, dense(other)}}), kronecker(tree_matrix(), other));
  expect_matrix(Strategy::product({{{}, dense(other)}, tree, {{}, dense(other)}}),
                kronecker(kronecker(other, tree_matrix()), other));
}

TEST(Strategy, MarginalsAreTablesWithWeights) {
  const MatrixXd i2 = MatrixXd::Identity(2, 2);
  const MatrixXd i3 = MatrixXd::Identity(3, 3);
  const MatrixXd one2 = MatrixXd::Ones(1, 2);
  const MatrixXd one3 = MatrixXd::Ones(1, 3);
  // Sets: none, the first axis, the second, both.
  MatrixXd a(1 + 2 + 6, 6);
  a << 4 * kronecker(one2, one3), 3 * kronecker(i2, one3), 2 * kronecker(i2, i3);
  expect_matrix(Strategy::marginals(Shape{{2, 3}}, {4, 3, 0, 2}), a);
}

TEST(Strategy, WhatTablesDoNotTellIsSpreadEvenly) {
  const Strategy strategy = Strategy::marginals(Shape{{2, 2}}, {0, 1, 0, 0});
  const auto cells = strategy.estimate(std::vector<double>{10, 4});
  EXPECT_NEAR(cells[0], 5, 1e-12);
  EXPECT_NEAR(cells[1], 5, 1e-12);
  EXPECT_NEAR(cells[2], 2, 1e-12);
  EXPECT_NEAR(strategy.variance(std::vector<double>{1, 1, 0, 0}), 1, 1e-12);
  EXPECT_NEAR(
      strategy.total_variance(Workload({{1, {AxisWorkload::identity(2), AxisWorkload::total(2)}}})),
      2, 1e-9);
  EXPECT_TRUE(std::isinf(strategy.total_variance(Workload::identity(Shape{{2, 2}}))));
}

TEST(Strategy, RealWeightsAreRoundedToWholeOnes) {
  const Strategy strategy = Strategy::matrix({2, 2, {0.5, 0.25, 0, 1}});
  const auto sums = strategy.measure(Counts{4, 4});
  EXPECT_EQ(sums, (Counts{3 << 16, 4 << 16}));
  EXPECT_EQ(strategy.l1_norm(), Integer(5 << 14));
}

TEST(Strategy, TotalVarianceIsTheSumOverQuestions) {
  const Strategy::Axis tree{std::vector<double>(4, 1.0), dense(tree_matrix().bottomRows(3))};
  for (const Strategy& strategy :
       {Strategy::product({tree}), Strategy::matrix(dense(tree_matrix()))}) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = i + 1; j <= 4; ++j) {
        std::vector<double> w(4, 0.0);
        std::fill(w.begin() + std::ptrdiff_t(i), w.begin() + std::ptrdiff_t(j), 3.0);
        sum += strategy.variance(w);
      }
    EXPECT_NEAR(strategy.total_variance(Workload({{3, {AxisWorkload::all_ranges(4)}}})), sum, 1e-9);
  }
  const Strategy tables = Strategy::marginals(Shape{{2, 2}}, {1, 2, 3, 1});
  double sum = 0;
  for (const auto& w :
       std::vector<std::vector<double>>{{1, 0, 0, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 1, 1, 1}})
    sum += tables.variance(w);
  EXPECT_NEAR(tables.total_variance(Workload::prefix(Shape{{2, 2}})), sum, 1e-9);
}

TEST(Strategy, WhatCannotBeSolvedIsRefused) {
  EXPECT_ERROR(Strategy::matrix({1, 2, {1, 1}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::matrix({2, 2, {1, 1, 2, 2}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::matrix({2, 2, {0, 0, 0, 0}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::matrix({1, 1, {INFINITY}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::matrix({0, 0, {}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::product({}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::product({{{1, -1}, {}}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::marginals(Shape{{2, 2}}, {1, 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Strategy::marginals(Shape{{2}}, {1, -1}), ErrorCode::kInvalidOption);
}

TEST(MatrixMechanism, OptionsOutsideTheirRangeAreRefused) {
  const Strategy strategy = Strategy::matrix(dense(tree_matrix()));
  EXPECT_ERROR(mechanism(strategy, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(MatrixMechanism(
                   {.shape = Shape{{5}}, .epsilon = 1, .rows_per_unit = 1u, .strategy = strategy}),
               ErrorCode::kInvalidOption);
  // One axis of all cells is accepted for any shape.
  EXPECT_NO_THROW(MatrixMechanism(
      {.shape = Shape{{2, 2}}, .epsilon = 1, .rows_per_unit = 1u, .strategy = strategy}));
}

TEST(MatrixMechanism, KeepsTheContract) {
  const Counts one = {1, 2, 3, 4};
  const Counts other = {0, std::int64_t{1} << 62, 0, 9};
  testing::expect_contract(mechanism(Strategy::matrix(dense(tree_matrix()))), one, other);
  testing::expect_contract(mechanism(Strategy::marginals(Shape{{2, 2}}, {0.1, 0.5, 0.5, 0.3})), one,
                           other);
  testing::expect_contract(
      mechanism(Strategy::matrix(dense(tree_matrix())), Ratio(1, 10), parse_ratio("0.01")), one,
      other);
}

TEST(MatrixMechanism, CostsEpsilon) {
  const Strategy strategy = Strategy::matrix(dense(tree_matrix()));
  EXPECT_EQ(pure_epsilon(mechanism(strategy, Ratio(1, 3), 0, 7).event()), Ratio(1, 3));
  const auto gaussian = mechanism(strategy, Ratio(1, 10), parse_ratio("0.01"));
  ASSERT_TRUE(gaussian.is_gaussian());
  EXPECT_LE(epsilon_at({gaussian.event()}, 0.01).epsilon, 0.1);
  EXPECT_LT(gaussian.noise_variance(), mechanism(strategy, Ratio(1, 10)).noise_variance());
}

// 6,000 releases: the mean of squares has a standard error below sqrt(5/6000) of the variance, so five are
// exceeded once in 10^6 runs; 95 % are kept in at least 93.6 %.
TEST(MatrixMechanism, NoiseHasTheStatedVarianceAndTheHalfWidthsHold) {
  const Counts counts = {10, 0, 3, 250};
  for (const Ratio& delta : {Ratio(0), parse_ratio("0.01")}) {
    const auto release = mechanism(Strategy::matrix(dense(tree_matrix())), Ratio(1, 5), delta);
    SeededBits bits(2);
    double squares = 0;
    int kept = 0;
    double variance = 0;
    for (int run = 0; run < 6000; ++run) {
      const auto histogram = release_once(release, std::span<const std::int64_t>(counts), bits);
      const RangeEstimate answer = histogram.range({{1}, {4}});
      squares += std::pow(answer.value - 253, 2) / 6000;
      kept += std::abs(histogram.range({{3}, {4}}).value - 250) <= release.accuracy().half_width;
      variance = answer.variance;
    }
    EXPECT_NEAR(squares / variance, 1, 5 * std::sqrt(5.0 / 6000));
    EXPECT_GE(kept, 6000 * 0.936);
  }
}

// A row in cell 0 moves three sums; for the twin the column norm is that of a single one.
TEST(MatrixMechanism, SurvivesTheAuditThatCatchesAWrongNorm) {
  const auto right = mechanism(Strategy::matrix(dense(tree_matrix())), 1);
  const auto broken = mechanism(Strategy::matrix(dense(tree_matrix())), 3);
  const auto sampler = [](const MatrixMechanism& release, const Counts& counts) {
    return [&release, counts](BitSource& bits) {
      const auto cells = release_once(release, std::span<const std::int64_t>(counts), bits).cells();
      return std::round(3 * cells[0] + 2 * cells[1] + cells[2] + cells[3]);
    };
  };
  const Counts none = {5, 1, 1, 0};
  const Counts more = {6, 1, 1, 0};
  const testing::AuditOptions options{.trials = 6000};
  EXPECT_LE(testing::audited_epsilon(sampler(right, none), sampler(right, more), options), 1.0);
  EXPECT_GT(testing::audited_epsilon(sampler(broken, none), sampler(broken, more), options), 1.3);
}

// The norm is the largest change of the sums when one count changes by one, over all cells.
TEST(MatrixMechanism, NoRowMovesTheSumsFurtherThanTheNorm) {
  const Strategy strategy = Strategy::product(
      {{{0.3, 0.7, 0.1}, {2, 3, {0.2, 0.5, 0.9, 1, 0, 0.4}}}, {{1, 0.6}, {1, 2, {0.3, 0.3}}}});
  const Counts counts = {5, 0, 2, 9, 1, 1};
  const auto before = strategy.measure(counts);
  Integer largest = 0;
  double largest_square = 0;
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    Counts more = counts;
    ++more[cell];
    const auto after = strategy.measure(more);
    Integer sum = 0;
    double square = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      sum += std::abs(after[i] - before[i]);
      square += std::pow(static_cast<double>(after[i] - before[i]), 2);
    }
    largest = std::max(largest, sum);
    largest_square = std::max(largest_square, square);
  }
  EXPECT_EQ(strategy.l1_norm(), largest);
  EXPECT_EQ(strategy.l2_norm(), Integer(std::llround(std::ceil(std::sqrt(largest_square)))));
}

// Of a product, of one axis over all cells of two, and of tables.
TEST(MatrixMechanism, HasTheSameVarianceForARangeAsForItsWeights) {
  MatrixXd axis(3, 3);
  axis << 1, 0, 0, 1, 2, 0, 1, 1, 3;
  const Shape shape{{3, 4}};
  SeededBits bits(21);
  for (const Strategy& strategy :
       {Strategy::product({{{}, dense(axis)}, {{}, dense(tree_matrix())}}),
        Strategy::matrix(dense(kronecker(tree_matrix(), axis))),
        Strategy::marginals(shape, {0, 1, 2, 1})}) {
    const MatrixMechanism mechanism(
        {.shape = shape, .epsilon = 1, .rows_per_unit = 1u, .strategy = strategy});
    const RangeHistogram histogram = release_once(mechanism, Counts(12, 5), bits);
    for (std::uint32_t x = 0; x < 3; ++x) {
      for (std::uint32_t y = 0; y < 4; ++y) {
        for (const std::uint32_t wide : {0u, 1u, 2u}) {
          const Box box{{x, y}, {x + 1, std::min(4u, y + wide)}};
          std::vector<double> weights(12, 0.0);
          for (std::uint32_t i = y; i < box.end[1]; ++i) weights[4 * x + i] = 1;
          EXPECT_NEAR(histogram.range(box).variance, histogram.weighted(weights).variance, 1e-9);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gauze
