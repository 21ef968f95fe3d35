#include "gauze/histogram/cells_by_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/histogram/adaptive_hierarchy.h"
#include "gauze/histogram/pruned_hierarchy.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using RowCounts = std::vector<std::int64_t>;
using RowSpan = std::span<const std::int64_t>;

CellsByRows by_rows(Shape shape, const Ratio& epsilon = 1, std::uint64_t rows_per_unit = 1,
                    std::uint64_t expected_rows = 0) {
  return CellsByRows({.shape = std::move(shape),
                      .epsilon = epsilon,
                      .rows_per_unit = rows_per_unit,
                      .expected_rows = expected_rows});
}

TEST(CellsByRows, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(by_rows(Shape{{0}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(by_rows(Shape{{(1u << 24) + 1}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(by_rows(Shape{{8}}, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(by_rows(Shape{{8}}, 1, 0), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(by_rows(Shape{{8}}), RowSpan(RowCounts(7)), bits),
               ErrorCode::kInvalidInput);
}

TEST(CellsByRows, KeepsTheContract) {
  const RowCounts none = {5, 0, 0, 1, 0, 0, 9, 0, 3, 2, 4, 4};
  const RowCounts few = {0, 0, 0, 1, 9, 900, 9, 0, 3, 2, 4, 4};
  const RowCounts many(12, INT64_MAX);
  for (const Shape& shape : {Shape{{12}}, Shape{{3, 4}}, Shape{{2, 2, 3}}})
    for (const std::uint64_t expected : {0u, 10u, 600u, 9000u})
      for (const RowCounts& counts : {none, few})
        testing::expect_contract(by_rows(shape, 1, 3, expected), RowSpan(counts), RowSpan(many));
}

TEST(CellsByRows, CostsEpsilon) {
  for (const std::uint32_t cells : {1u, 3u, 4096u})
    EXPECT_DOUBLE_EQ(epsilon_at({by_rows(Shape{{cells}}, Ratio(7, 10)).event()}, 0).epsilon, 0.7);
}

// What cells state is what the looks have left: all but 1/64 where there are many rows, all where their
// number is known.
TEST(CellsByRows, SpendsOnCellsWhatTheLooksLeave) {
  RowCounts counts(64);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = 1000 * std::int64_t(1 + i * 37 % 64);
  SeededBits bits(2);
  for (const std::uint64_t expected : {0u, 2'000'000u}) {
    const auto histogram =
        release_once(by_rows(Shape{{64}}, 1, 1, expected), RowSpan(counts), bits);
    const Ratio left = expected == 0 ? Ratio(63, 64) : Ratio(1);
    EXPECT_EQ(histogram.leaves(), 64u);
    EXPECT_NEAR(histogram.range({{5}, {6}}).variance, CountNoise::laplace(left, 1).variance(),
                1e-6);
  }
}

double variance_of_first(const RangeHistogram& histogram) {
  return histogram.range({{0}, {1}}).variance;
}

// Of one cell, what is stated is that of the method that was taken, with just the parts that the looks have left: 51 of 64 where both closer looks show nothing, which
// no rows do with probability 0.97, and 59 where the first of them does, as 200 rows for a unit of noise do with probability 0.97, too.
TEST(CellsByRows, SpendsNoMoreThanCloserLooksLeave) {
  SeededBits bits(6);
  const Shape one{{1}};
  const RowCounts none = {0}, few = {200};
  EXPECT_NEAR(variance_of_first(release_once(by_rows(one), RowSpan(none), bits)),
              variance_of_first(release_once(
                  AdaptiveHierarchy({.shape = one, .epsilon = Ratio(51, 64), .rows_per_unit = 1u}),
                  RowSpan(none), bits)),
              1e-6);
  PrunedHierarchy::Options cells{.shape = one,
                                 .epsilon = Ratio(59, 64),
                                 .rows_per_unit = 1u,
                                 .aim = HistogramAim::kCells,
                                 .level_weights = {2, 4, 0, 26},
                                 .split_price = 0.3};
  EXPECT_NEAR(variance_of_first(release_once(by_rows(one), RowSpan(few), bits)),
              variance_of_first(release_once(PrunedHierarchy(cells), RowSpan(few), bits)), 1e-6);
}

// Along an axis large blocks have a share up to 4,000 rows for a unit of noise, which are known here; in the plane they have none.
TEST(CellsByRows, LooksAtBlocksTooWhereRowsAreSome) {
  SeededBits bits(7);
  const auto stated = [&](const Shape& shape, std::uint64_t rows) {
    return release_once(by_rows(shape, 1, 1, rows), RowSpan(RowCounts{1000}), bits)
        .total()
        .variance;
  };
  const auto of = [&](const std::vector<Ratio>& weights) {
    return release_once(PrunedHierarchy({.shape = Shape{{1}},
                                         .epsilon = 1,
                                         .rows_per_unit = 1u,
                                         .level_weights = weights}),
                        RowSpan(RowCounts{1000}), bits)
        .total()
        .variance;
  };
  const double some = of({1, 2, 0, 29}), cells = of({0, 1});
  ASSERT_GT(some, 1.05 * cells);
  EXPECT_NEAR(stated(Shape{{1}}, 400), some, 1e-6);
  EXPECT_NEAR(stated(Shape{{1}}, 3999), some, 1e-6);
  EXPECT_NEAR(stated(Shape{{1}}, 4000), cells, 1e-6);
  EXPECT_NEAR(stated(Shape{{1, 1}}, 400), cells, 1e-6);
}

// 100 single rows in 4,096 cells, 10 for a unit of noise: nothing shows, and an even spread is wrong by
// 100/4096 · (1 − 100/4096) = 0.0238 in the mean square. The noise of all cells, spread, would add
// 2 / (0.1² · 4096) = 0.049; a third of that is allowed. That a release takes these rows for enough has
// probability e^(−50/16)/2 + e^(−50/8)/2 = 0.023, and hurts in few of those.
TEST(CellsByRows, SpreadsNoNoiseOfAllCellsWhereNoneShows) {
  RowCounts counts(4096, 0);
  for (std::size_t i = 0; i < 100; ++i) counts[i * 41] = 1;
  SeededBits bits(3);
  double squares = 0;
  for (int release = 0; release < 30; ++release) {
    const auto cells =
        release_once(by_rows(Shape{{4096}}, Ratio(1, 10)), RowSpan(counts), bits).cells();
    for (std::size_t i = 0; i < cells.size(); ++i)
      squares += std::pow(cells[i] - static_cast<double>(counts[i]), 2) / (30 * 4096);
  }
  EXPECT_LT(squares, 0.0238 + 0.049 / 3);
}

// 100 rows for a unit of noise in one cell: both closer looks miss them with probability
// e^(−40/16)/2 · e^(−40/8)/2 = 0.00014; otherwise the cell is right up to Laplace noise of scale 18 at most.
TEST(CellsByRows, FindsAHeapOfFewRows) {
  RowCounts counts(4096, 0);
  counts[1234] = 1000;
  SeededBits bits(4);
  for (int release = 0; release < 20; ++release) {
    const auto cells =
        release_once(by_rows(Shape{{4096}}, Ratio(1, 10)), RowSpan(counts), bits).cells();
    EXPECT_NEAR(cells[1234], 1000, 300);
  }
}

// No answer shows the looks, so that twice the budget is not caught: four times is.
TEST(CellsByRows, SurvivesTheAuditThatCatchesFourTimesTheBudget) {
  const RowCounts none = {3, 0, 0, 2, 0, 0, 0, 1};
  const RowCounts more = {4, 0, 0, 2, 0, 0, 0, 1};
  const auto sampler = [](const CellsByRows& mechanism, const RowCounts& counts) {
    return [&](BitSource& bits) {
      const auto histogram = release_once(mechanism, RowSpan(counts), bits);
      return std::round(histogram.total().value);
    };
  };
  const testing::AuditOptions options{.trials = 4000};
  const auto right = by_rows(Shape{{8}});
  EXPECT_LE(testing::audited_epsilon(sampler(right, none), sampler(right, more), options), 1.0);
  const auto broken = by_rows(Shape{{8}}, 4);
  EXPECT_GT(testing::audited_epsilon(sampler(broken, none), sampler(broken, more), options), 1.0);
}

}  // namespace
}  // namespace gauze
