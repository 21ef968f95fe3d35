#include "gauze/marginal/priv_bayes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gauze/marginal/rows_test_internal.h"
#include "gauze/marginal/zcdp_budget.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using testing::alike;
using testing::chain;
using testing::distance;
using testing::release_once;
using testing::SeededBits;

PrivBayes bayes(const Shape& domain, const Ratio& epsilon, std::uint64_t r = 1,
                std::uint64_t rows = 0, std::uint64_t parents = 3) {
  return PrivBayes({.domain = domain,
                    .epsilon = epsilon,
                    .delta = parse_ratio("1e-9"),
                    .rows_per_unit = r,
                    .rows = rows,
                    .parents = parents});
}

TEST(PrivBayes, RejectsOptionsOutsideTheirRange) {
  const auto refused = [](const Shape& domain, const Ratio& epsilon, std::uint64_t r,
                          std::uint64_t parents) {
    EXPECT_ERROR(bayes(domain, epsilon, r, 0, parents), ErrorCode::kInvalidOption);
  };
  refused({}, 1, 1, 3);
  refused({{2, 0}}, 1, 1, 3);
  refused({{2, 1u << 23}}, 1, 1, 3);
  refused({{2}}, 0, 1, 3);
  refused({{2}}, 1, 0, 3);
  refused({{2}}, 1, 1, 4);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(bayes({{2, 2}}, 1), alike({{2, 3}}, 4), bits),
               ErrorCode::kInvalidInput);
}

TEST(PrivBayes, KeepsTheContract) {
  for (const Shape& domain : {Shape{{3}}, Shape{{2, 3}}, Shape{{2, 3, 2, 1}}})
    testing::expect_contract(bayes(domain, 1), chain(domain, 200, 1), alike(domain, 0));
  testing::expect_contract(bayes({{2, 3}}, 1, 1, 0, 0), chain({{2, 3}}, 200, 1),
                           alike({{2, 3}}, 0));
}

/// The dependence by its definition.
double dependence_by_definition(const std::vector<std::int64_t>& counts, std::size_t cells) {
  double rows = 0, sum = 0;
  for (const std::int64_t count : counts) rows += static_cast<double>(count);
  if (rows == 0) return 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    double one = 0, other = 0;
    for (std::size_t j = 0; j < counts.size(); ++j) {
      if (j % cells == i % cells) one += static_cast<double>(counts[j]);
      if (j / cells == i / cells) other += static_cast<double>(counts[j]);
    }
    sum += std::fabs(static_cast<double>(counts[i]) - one * other / rows) / 2;
  }
  return sum;
}

TEST(PrivBayes, DependenceMovesByLessThanTwoForARowAndByNoLess) {
  // All tables of two by three with up to two rows in a cell, and one row more in each cell.
  double most = 0;
  for (int code = 0; code < 729; ++code) {
    std::vector<std::int64_t> counts;
    for (int i = 0, rest = code; i < 6; ++i, rest /= 3) counts.push_back(rest % 3);
    const std::int64_t before = dependence(counts, 3);
    EXPECT_EQ(before, std::floor(1024 * dependence_by_definition(counts, 3) + 1e-9));
    for (std::int64_t& cell : counts) {
      ++cell;
      const double moved = std::fabs(static_cast<double>(dependence(counts, 3) - before));
      EXPECT_LE(moved, kDependenceSteps);
      most = std::max(most, moved);
      --cell;
    }
  }
  // A bound of one row, as for a count, does not hold.
  EXPECT_GT(most, kDependenceSteps / 2);
  // The bound is reached as rows grow.
  EXPECT_EQ(dependence(std::vector<std::int64_t>{1000, 0, 0, 0}, 2), 0);
  EXPECT_EQ(dependence(std::vector<std::int64_t>{1000, 0, 0, 1}, 2), 2048 * 1000 / 1001);
}

TEST(PrivBayes, SpendsNoMoreThanItsBudgetAndNearlyAll) {
  for (const std::size_t columns : {1u, 2u, 3u, 6u}) {
    const Shape domain{std::vector<std::uint32_t>(columns, 3)};
    for (const std::uint64_t r : {1u, 5u}) {
      SeededBits bits(columns);
      const SyntheticRows made = release_once(bayes(domain, 1, r), chain(domain, 500, 2), bits);
      Ratio by_sigma = 0;
      for (const MeasuredTable& each : made.measured)
        by_sigma += Ratio(Integer(r * r)) / (2 * each.sigma * each.sigma);
      EXPECT_EQ(by_sigma, made.measured_rho);
      const Ratio spent = made.measured_rho + made.chosen_rho;
      EXPECT_LE(spent, made.budget);
      EXPECT_GT(spent, made.budget * Ratio(999'999, 1'000'000));
      EXPECT_EQ(made.measured.size(), columns + 1);
    }
  }
}

TEST(PrivBayes, NoiseDoesNotDependOnTheNumberOfRows) {
  // S8 of known-bugs.
  const Shape domain{{3, 3, 3}};
  SeededBits bits(3);
  const SyntheticRows few = release_once(bayes(domain, 1), chain(domain, 10, 3), bits);
  const SyntheticRows many = release_once(bayes(domain, 1), chain(domain, 100'000, 3), bits);
  ASSERT_EQ(few.measured.size(), many.measured.size());
  for (std::size_t i = 0; i < few.measured.size(); ++i)
    EXPECT_EQ(few.measured[i].sigma, many.measured[i].sigma);
}

TEST(PrivBayes, FindsParentsAndIsCloserThanIndependentColumns) {
  const Shape domain{{5, 4, 6, 3, 5}};
  const CodedRows rows = chain(domain, 20'000, 4);
  SeededBits bits(4);
  const SyntheticRows made = release_once(bayes(domain, 2), rows, bits);
  CodedRows independent = rows;
  for (auto& column : independent.columns) shuffle(bits, std::span(column));
  double ours = 0, theirs = 0;
  for (std::uint32_t a = 0; a < 5; ++a)
    for (std::uint32_t b = a + 1; b < 5; ++b) {
      ours += distance(rows, made.rows, {a, b});
      theirs += distance(rows, independent, {a, b});
    }
  EXPECT_LT(ours, theirs / 3);
  EXPECT_NO_THROW(check_rows(made.rows));
}

TEST(PrivBayes, KeepsItsPromiseOfTheNumberOfRows) {
  const Shape domain{{3, 2}};
  const PrivBayes method = bayes(domain, 1);
  const CodedRows rows = chain(domain, 3000, 5);
  SeededBits bits(5);
  int within = 0;
  for (int run = 0; run < 400; ++run)
    within += std::fabs(release_once(method, rows, bits).total.total - 3000) <=
              method.accuracy().half_width;
  // 95 % of 400 is 380; six standard deviations below it, 354.
  EXPECT_GE(within, 354);
}

TEST(PrivBayes, HeaderAndOrderAreThoseOfTheDomainWhateverTheRowsAre) {
  const Shape domain{{3, 1, 40, 2}};
  SeededBits bits(6);
  for (const std::size_t count : {0u, 1u, 2u}) {
    const SyntheticRows made = release_once(bayes(domain, 1, 1, 9), alike(domain, count), bits);
    EXPECT_EQ(made.rows.domain, domain);
    EXPECT_EQ(made.rows.rows(), 9u);
    EXPECT_NO_THROW(check_rows(made.rows));
  }
  CodedRows rows = chain(domain, 200, 7), turned = rows;
  for (auto& column : turned.columns) std::reverse(column.begin(), column.end());
  SeededBits one(8), other(8);
  EXPECT_EQ(release_once(bayes(domain, 1), rows, one),
            release_once(bayes(domain, 1), turned, other));
}

}  // namespace
}  // namespace gauze
