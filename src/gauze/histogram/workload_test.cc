#include "gauze/histogram/workload.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gauze/histogram/tree_test_internal.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using Eigen::MatrixXd;

/// The questions themselves, one in each row.
MatrixXd questions(const std::vector<std::pair<int, int>>& ranges, int cells) {
  MatrixXd w = MatrixXd::Zero(static_cast<int>(ranges.size()), cells);
  for (int row = 0; row < w.rows(); ++row)
    for (int i = ranges[std::size_t(row)].first; i < ranges[std::size_t(row)].second; ++i)
      w(row, i) = 1;
  return w;
}

void expect_gram(const AxisWorkload& workload, const MatrixXd& w) {
  const MatrixXd gram = w.transpose() * w;
  EXPECT_EQ(workload.queries(), static_cast<double>(w.rows()));
  testing::SeededBits bits(1);
  std::vector<double> v(workload.cells());
  for (double& x : v) x = testing::uniform_in(-1, 1, bits);
  const Eigen::VectorXd expected =
      gram * Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  const auto times = workload.gram_times(v);
  const auto diagonal = workload.gram_diagonal();
  for (int i = 0; i < w.cols(); ++i) {
    EXPECT_NEAR(times[std::size_t(i)], expected[i], 1e-9);
    EXPECT_NEAR(diagonal[std::size_t(i)], gram(i, i), 1e-9);
  }
}

TEST(Workload, GramMatricesAreThoseOfTheQuestions) {
  for (const int n : {1, 2, 7, 12}) {
    const auto cells = static_cast<std::uint32_t>(n);
    std::vector<std::pair<int, int>> all;
    std::vector<std::pair<int, int>> prefixes;
    for (int i = 0; i < n; ++i) {
      prefixes.emplace_back(0, i + 1);
      for (int j = i + 1; j <= n; ++j) all.emplace_back(i, j);
    }
    expect_gram(AxisWorkload::identity(cells), MatrixXd::Identity(n, n));
    expect_gram(AxisWorkload::total(cells), MatrixXd::Ones(1, n));
    expect_gram(AxisWorkload::prefix(cells), questions(prefixes, n));
    expect_gram(AxisWorkload::all_ranges(cells), questions(all, n));
  }
  expect_gram(AxisWorkload::ranges(9, {{0, 9}, {2, 5}, {2, 5}, {8, 9}}),
              questions({{0, 9}, {2, 5}, {2, 5}, {8, 9}}, 9));
  MatrixXd any(2, 3);
  any << 1, -2, 0.5, 0, 3, 1;
  expect_gram(AxisWorkload::matrix({2, 3, {1, -2, 0.5, 0, 3, 1}}), any);
}

TEST(Workload, NamesItsQuestionsWhereTheyAreFew) {
  EXPECT_EQ(AxisWorkload::total(3).questions(5).values, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(AxisWorkload::ranges(3, {{1, 3}, {0, 1}}).questions(2).values,
            (std::vector<double>{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(AxisWorkload::ranges(3, {{1, 3}, {0, 1}}).questions(1).rows, 0u);
  EXPECT_EQ(AxisWorkload::identity(3).questions(5).rows, 0u);
}

TEST(Workload, FindsQuestionsForAGramMatrix) {
  const DenseMatrix gram{3, 3, {2, 1, 0, 1, 5, 2, 0, 2, 4}};
  const AxisWorkload workload = AxisWorkload::with_gram(gram);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> unit(3, 0.0);
    unit[i] = 1;
    const auto column = workload.gram_times(unit);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(column[j], gram.at(i, j), 1e-12);
  }
}

TEST(Workload, CountsItsQuestions) {
  EXPECT_EQ(Workload::all_ranges(Shape{{4, 3}}).queries(), 10.0 * 6);
  EXPECT_EQ(Workload::marginals(Shape{{2, 3, 5}}, 2).queries(), 6.0 + 10 + 15);
  EXPECT_EQ(Workload::marginals(Shape{{2, 3, 5}}, 0).queries(), 1.0);
  EXPECT_EQ(Workload::prefix(Shape{{2, 3}}).shape(), (Shape{{2, 3}}));
}

TEST(Workload, WhatDoesNotFitIsRefused) {
  EXPECT_ERROR(AxisWorkload::ranges(5, {{2, 6}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(AxisWorkload::ranges(5, {{2, 2}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(AxisWorkload::ranges(5, {}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(AxisWorkload::identity(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(AxisWorkload::matrix({2, 2, {1, 2, 3}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(AxisWorkload::matrix({1, 2, {1, NAN}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Workload({}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Workload({{-1, {AxisWorkload::identity(3)}}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Workload({{1, {AxisWorkload::identity(3)}}, {1, {AxisWorkload::identity(4)}}}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(Workload::marginals(Shape{{2, 2}}, 3), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
