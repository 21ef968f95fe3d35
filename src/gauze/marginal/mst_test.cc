#include "gauze/marginal/mst.h"

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

Mst mst(const Shape& domain, const Ratio& epsilon, std::uint64_t r = 1, std::uint64_t rows = 0) {
  return Mst({.domain = domain,
              .epsilon = epsilon,
              .delta = parse_ratio("1e-9"),
              .rows_per_unit = r,
              .rows = rows});
}

TEST(Mst, RejectsOptionsOutsideTheirRange) {
  const auto refused = [](const Shape& domain, const Ratio& epsilon, const Ratio& delta,
                          std::uint64_t r) {
    EXPECT_ERROR(Mst({.domain = domain, .epsilon = epsilon, .delta = delta, .rows_per_unit = r}),
                 ErrorCode::kInvalidOption);
  };
  const Ratio delta(1, 1000);
  refused({}, 1, delta, 1);
  refused({{2, 0}}, 1, delta, 1);
  refused({{2, 1u << 20, 1u << 5}}, 1, delta, 1);
  refused({{2, 2}}, 0, delta, 1);
  refused({{2, 2}}, 1, 0, 1);
  refused({{2, 2}}, 1, 1, 1);
  refused({{2, 2}}, 1, delta, 0);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(mst({{2, 2}}, 1), alike({{2, 3}}, 4), bits), ErrorCode::kInvalidInput);
}

TEST(Mst, KeepsTheContract) {
  for (const Shape& domain : {Shape{{3}}, Shape{{2, 3}}, Shape{{2, 3, 2, 1}}})
    testing::expect_contract(mst(domain, 1), chain(domain, 200, 1), alike(domain, 0));
}

TEST(Mst, SpendsNoMoreThanItsBudgetAndNearlyAll) {
  for (const std::size_t columns : {1u, 2u, 3u, 7u, 16u}) {
    const Shape domain{std::vector<std::uint32_t>(columns, 3)};
    for (const std::uint64_t r : {1u, 5u}) {
      SeededBits bits(columns);
      const SyntheticRows made = release_once(mst(domain, 1, r), chain(domain, 500, 2), bits);
      Ratio by_sigma = 0;
      for (const MeasuredTable& each : made.measured)
        by_sigma += Ratio(Integer(r * r)) / (2 * each.sigma * each.sigma);
      EXPECT_EQ(by_sigma, made.measured_rho);
      EXPECT_EQ(made.budget, rho_for(1, parse_ratio("1e-9")));
      EXPECT_LE(Ratio(made.measured_rho + made.chosen_rho), made.budget);
      // The last choices have one candidate at times, which is paid as well.
      EXPECT_GT(Ratio(made.measured_rho + made.chosen_rho),
                made.budget * Ratio(999'999, 1'000'000));
      EXPECT_EQ(made.measured.size(), 2 * columns - 1);
    }
  }
}

TEST(Mst, FindsTheTreeOfAChain) {
  const Shape domain{{5, 5, 5, 5, 5}};
  SeededBits bits(3);
  const SyntheticRows made = release_once(mst(domain, 10), chain(domain, 20'000, 3), bits);
  std::vector<Clique> pairs;
  for (const MeasuredTable& each : made.measured)
    if (each.clique.size() == 2) pairs.push_back(each.clique);
  std::sort(pairs.begin(), pairs.end());
  EXPECT_EQ(pairs, (std::vector<Clique>{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
  EXPECT_EQ(made.cliques.size(), 4u);
  EXPECT_EQ(made.cells, 100u);
}

TEST(Mst, RowsAreCloserThanIndependentColumns) {
  const Shape domain{{5, 4, 6, 3, 5}};
  const CodedRows rows = chain(domain, 20'000, 4);
  SeededBits bits(4);
  const SyntheticRows made = release_once(mst(domain, 1), rows, bits);
  CodedRows independent = rows;
  for (auto& column : independent.columns) shuffle(bits, std::span(column));
  double ours = 0, theirs = 0;
  for (std::uint32_t a = 0; a < 5; ++a)
    for (std::uint32_t b = a + 1; b < 5; ++b) {
      ours += distance(rows, made.rows, {a, b});
      theirs += distance(rows, independent, {a, b});
    }
  EXPECT_LT(ours, theirs / 4);
  EXPECT_NO_THROW(check_rows(made.rows));
}

TEST(Mst, KeepsItsPromiseOfTheNumberOfRows) {
  const Shape domain{{3, 2, 4}};
  const Mst method = mst(domain, 1);
  const CodedRows rows = chain(domain, 300, 5);
  SeededBits bits(5);
  int within = 0;
  for (int run = 0; run < 400; ++run) {
    const SyntheticRows made = release_once(method, rows, bits);
    within += std::fabs(made.total.total - 300) <= method.accuracy().half_width;
    EXPECT_NEAR(static_cast<double>(made.rows.rows()), made.total.total, 0.51);
  }
  // 95 % of 400 is 380; six standard deviations below it, 354.
  EXPECT_GE(within, 354);
  EXPECT_EQ(release_once(mst(domain, 1, 1, 77), rows, bits).rows.rows(), 77u);
}

TEST(Mst, HeaderAndTypesAreThoseOfTheDomainWhateverTheRowsAre) {
  // M1 of known-bugs: the only row of a rare value must not show in the shape of what comes out.
  const Shape domain{{3, 1, 40, 2}};
  SeededBits bits(6);
  CodedRows rows = chain(domain, 50, 6);
  for (int without = 0; without < 2; ++without) {
    const SyntheticRows made = release_once(mst(domain, 1, 1, 100), rows, bits);
    EXPECT_EQ(made.rows.domain, domain);
    EXPECT_EQ(made.rows.columns.size(), 4u);
    for (auto& column : rows.columns) column.pop_back();
  }
  for (const std::size_t count : {0u, 1u})
    EXPECT_EQ(release_once(mst(domain, 1, 1, 9), alike(domain, count), bits).rows.rows(), 9u);
}

TEST(Mst, OrderOfRowsInTheInputDoesNotShow) {
  // M3: equal bits, shuffled rows, the same release.
  const Shape domain{{3, 4, 2}};
  CodedRows rows = chain(domain, 200, 7), turned = rows;
  for (auto& column : turned.columns) std::reverse(column.begin(), column.end());
  SeededBits one(7), other(7);
  EXPECT_EQ(release_once(mst(domain, 1), rows, one).rows.columns,
            release_once(mst(domain, 1), turned, other).rows.columns);
}

TEST(Mst, RareValuesAreDrawnBack) {
  const Shape domain{{30, 2}};
  CodedRows rows = alike(domain, 2000);
  for (std::uint32_t row = 0; row < 29 * 4; ++row) rows.columns[0][row] = 1 + row % 29;
  SeededBits bits(8);
  const SyntheticRows made = release_once(mst(domain, 1, 1, 2000), rows, bits);
  EXPECT_FALSE(made.note.empty());
  std::vector<bool> seen(30, false);
  for (const std::uint32_t code : made.rows.columns[0]) seen[code] = true;
  EXPECT_GT(std::count(seen.begin(), seen.end(), true), 8);
}

}  // namespace
}  // namespace gauze
