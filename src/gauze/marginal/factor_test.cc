#include "gauze/marginal/factor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

const Shape kFactors{{2, 3, 1, 4, 2}};

/// The values that the columns have in a cell of the whole domain.
std::vector<std::uint32_t> row_of(std::size_t cell) {
  std::vector<std::uint32_t> row(kFactors.axes());
  for (std::size_t axis = kFactors.axes(); axis-- > 0;) {
    row[axis] = static_cast<std::uint32_t>(cell % kFactors.extents[axis]);
    cell /= kFactors.extents[axis];
  }
  return row;
}

/// The cell of a table over some columns that a row is in.
std::size_t cell_of(const Clique& clique, const std::vector<std::uint32_t>& row) {
  std::size_t cell = 0;
  for (const std::uint32_t column : clique) cell = cell * kFactors.extents[column] + row[column];
  return cell;
}

/// Some numbers, no two alike.
Factor table(const Clique& clique, double seed) {
  Factor factor(kFactors, clique);
  for (std::size_t i = 0; i < factor.cells(); ++i)
    factor.values()[i] = std::sin(seed + 1.7 * static_cast<double>(i));
  return factor;
}

/// Every set of columns.
std::vector<Clique> all_cliques() {
  std::vector<Clique> all;
  for (std::uint32_t set = 0; set < 1u << kFactors.axes(); ++set) {
    all.emplace_back();
    for (std::uint32_t column = 0; column < kFactors.axes(); ++column)
      if ((set >> column & 1) != 0) all.back().push_back(column);
  }
  return all;
}

TEST(Factor, ProductsAndSumsAreThoseOfEveryRow) {
  for (const Clique& a : all_cliques()) {
    for (const Clique& b : all_cliques()) {
      const Factor x = table(a, 1), y = table(b, 2);
      const Factor product = x * y, sum = x + y;
      ASSERT_EQ(product.clique(), united(a, b));
      for (std::size_t cell = 0; cell < kFactors.cells(); ++cell) {
        const auto row = row_of(cell);
        const double of_x = x[cell_of(a, row)], of_y = y[cell_of(b, row)];
        ASSERT_DOUBLE_EQ(product[cell_of(product.clique(), row)], of_x * of_y);
        ASSERT_DOUBLE_EQ(sum[cell_of(sum.clique(), row)], of_x + of_y);
      }
    }
  }
}

TEST(Factor, MarginalsAreSumsOverAllRows) {
  for (const Clique& whole : all_cliques()) {
    const Factor x = table(whole, 3);
    for (const Clique& part : all_cliques()) {
      if (!contains(whole, part)) continue;
      std::vector<double> sums(cells_of(kFactors, part), 0), powers = sums;
      std::vector<double> largest(sums.size(), -2);
      std::vector<bool> seen(x.cells(), false);
      for (std::size_t cell = 0; cell < kFactors.cells(); ++cell) {
        const auto row = row_of(cell);
        const std::size_t from = cell_of(whole, row), to = cell_of(part, row);
        if (seen[from]) continue;
        seen[from] = true;
        sums[to] += x[from];
        powers[to] += std::exp(x[from]);
        largest[to] = std::max(largest[to], x[from]);
      }
      const Factor sum = x.marginal(part), log = x.log_marginal(part), max = x.max_marginal(part);
      ASSERT_EQ(sum.cells(), sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        ASSERT_NEAR(sum[i], sums[i], 1e-12);
        ASSERT_NEAR(log[i], std::log(powers[i]), 1e-12);
        ASSERT_EQ(max[i], largest[i]);
      }
    }
  }
}

TEST(Factor, UndoesWhatItDid) {
  const Factor x = table({0, 1, 3}, 4), y = table({1}, 5);
  Factor there = x;
  there *= y;
  there /= y;
  there += y;
  there -= y;
  for (std::size_t i = 0; i < x.cells(); ++i) EXPECT_NEAR(there[i], x[i], 1e-12);
  EXPECT_NEAR(x.sum(), x.marginal({3}).sum(), 1e-12);
  EXPECT_NEAR(
      x.dot(x),
      [&] {
        double sum = 0;
        for (const double value : x.values()) sum += value * value;
        return sum;
      }(),
      1e-12);
}

TEST(Factor, LogarithmsNeitherOverflowNorMakeNumbersOfNothing) {
  const double nothing = -std::numeric_limits<double>::infinity();
  const Shape domain{{2, 2}};
  const Factor high(domain, {0, 1}, {1e6, 1e6, nothing, nothing});
  EXPECT_NEAR(high.log_sum(), 1e6 + std::log(2), 1e-9);
  const Factor rows = high.log_marginal({0});
  EXPECT_NEAR(rows[0], 1e6 + std::log(2), 1e-9);
  EXPECT_EQ(rows[1], nothing);
  EXPECT_EQ(high.exp(1e6)[0], 1);
  EXPECT_EQ(high.exp(1e6)[2], 0);
  Factor zero(domain, {0}, 0.0);
  zero /= Factor(domain, {0}, 0.0);
  EXPECT_EQ(zero[0], 0);
}

TEST(Factor, FindsItsCellsByTheOffsetsOfParts) {
  const Clique whole = {0, 1, 3, 4}, part = {1, 4};
  const Factor x = table(whole, 6);
  const auto of_part = offsets(kFactors, whole, part);
  const auto of_rest = offsets(kFactors, whole, without(whole, part));
  const Factor sums = x.marginal(part);
  ASSERT_EQ(of_part.size(), sums.cells());
  for (std::size_t i = 0; i < of_part.size(); ++i) {
    double sum = 0;
    for (const std::size_t offset : of_rest) sum += x[of_part[i] + offset];
    EXPECT_NEAR(sum, sums[i], 1e-12);
  }
}

TEST(Factor, CountsCellsWithoutOverflow) {
  EXPECT_EQ(cells_of(kFactors, {0, 1, 3}), 24u);
  EXPECT_EQ(cells_of(Shape{{1u << 31, 1u << 31, 1u << 31}}, {0, 1, 2}), UINT64_MAX);
}

TEST(Factor, RefusesTablesOfAnotherSize) {
  EXPECT_ERROR(Factor(kFactors, {0, 1}, std::vector<double>(5)), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Factor(kFactors, {0}, 1.0).marginal({1}), ErrorCode::kInternal);
}

}  // namespace
}  // namespace gauze
