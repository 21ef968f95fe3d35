#include "gauze/histogram/pruned_hierarchy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/halving_tree.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;
using Span = std::span<const std::int64_t>;

PrunedHierarchy pruned(Shape shape, const Ratio& epsilon = 1,
                       HistogramAim aim = HistogramAim::kRanges, double price = 0.2) {
  return PrunedHierarchy({.shape = std::move(shape),
                          .epsilon = epsilon,
                          .rows_per_unit = 1u,
                          .aim = aim,
                          .split_price = price});
}

double squared_error(const std::vector<double>& cells, const Counts& counts) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i)
    sum += std::pow(cells[i] - static_cast<double>(counts[i]), 2);
  return sum;
}

TEST(PrunedHierarchy, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(pruned(Shape{{0}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(pruned(Shape{{(1u << 24) + 1}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(pruned(Shape{{8}}, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(pruned(Shape{{8}}, 1, HistogramAim::kCells, -2), ErrorCode::kInvalidOption);
  for (const std::vector<Ratio>& weights :
       {std::vector<Ratio>{1}, {1, 0}, {Ratio(-1), 1}, std::vector<Ratio>(70, 1)}) {
    EXPECT_ERROR(
        PrunedHierarchy(
            {.shape = Shape{{8}}, .epsilon = 1, .rows_per_unit = 1u, .level_weights = weights}),
        ErrorCode::kInvalidOption);
  }
  SeededBits bits(1);
  EXPECT_ERROR(release_once(pruned(Shape{{8}}), Span(Counts(7)), bits), ErrorCode::kInvalidInput);
}

// Five cells in three halvings: one of two levels in the middle reaches some of them, and 0 leaves it out. At epsilon
// 1,000 noise is 0 but once in e^100 times, and without a price nothing is pruned.
TEST(PrunedHierarchy, CountsCellsOfALevelThatIsLeftOutOnTheNext) {
  SeededBits bits(12);
  for (std::uint32_t cells = 1; cells <= 11; ++cells) {
    Counts counts(cells);
    for (std::uint32_t i = 0; i < cells; ++i) counts[i] = 7 * i + 1;
    for (const std::vector<Ratio>& weights :
         {std::vector<Ratio>{1, 0, 1}, {0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 0, 1}, {0, 0, 1, 0, 1}}) {
      const PrunedHierarchy mechanism({.shape = Shape{{cells}},
                                       .epsilon = 1000,
                                       .rows_per_unit = 1u,
                                       .level_weights = weights,
                                       .split_price = 0});
      const RangeHistogram histogram = release_once(mechanism, Span(counts), bits);
      for (std::uint32_t i = 0; i < cells; ++i) {
        EXPECT_NEAR(histogram.range({{i}, {i + 1}}).value, static_cast<double>(counts[i]), 1e-6);
        EXPECT_TRUE(std::isfinite(histogram.range({{i}, {i + 1}}).variance));
      }
    }
  }
}

TEST(PrunedHierarchy, KeepsTheContract) {
  const Counts one = {5, 0, 0, 1, 9, 9, 9, 0, 3, 2};
  const Counts other(10, INT64_MAX);
  for (const HistogramAim aim : {HistogramAim::kRanges, HistogramAim::kCells})
    testing::expect_contract(pruned(Shape{{10}}, 1, aim), Span(one), Span(other));
  testing::expect_contract(pruned(Shape{{2, 5}}), Span(one), Span(other));
  testing::expect_contract(
      PrunedHierarchy(
          {.shape = Shape{{10}}, .epsilon = 1, .rows_per_unit = 3u, .delta = Ratio(1, 1000000)}),
      Span(one), Span(other));
}

TEST(PrunedHierarchy, CostsEpsilonWhateverTheShares) {
  for (const std::uint32_t cells : {1u, 3u, 64u, 1000u})
    EXPECT_DOUBLE_EQ(epsilon_at({pruned(Shape{{cells}}, Ratio(7, 10)).event()}, 0).epsilon, 0.7);
  const PrunedHierarchy shared({.shape = Shape{{64}},
                                .epsilon = Ratio(7, 10),
                                .rows_per_unit = 5u,
                                .level_weights = std::vector<Ratio>{0, 3, Ratio(1, 3)}});
  EXPECT_DOUBLE_EQ(epsilon_at({shared.event()}, 0).epsilon, 0.7);
}

// One row in any one cell is counted at most once by every level, and by some level, whatever the
// extents: a level that counted it twice would cost twice what it says.
TEST(PrunedHierarchy, EveryLevelCountsEveryRowAtMostOnce) {
  for (const Shape& shape :
       {Shape{{1}}, Shape{{7}}, Shape{{64}}, Shape{{5, 9}}, Shape{{3, 4, 2}}}) {
    for (std::size_t cell = 0; cell < shape.cells(); ++cell) {
      Counts counts(shape.cells(), 0);
      counts[cell] = 1;
      const HalvingTree tree(shape, counts);
      for (std::size_t levels = 1; levels <= 7; ++levels) {
        EXPECT_EQ(tree.rows({0, levels, 0}), 1);
        std::int64_t below = 0;
        for (std::size_t level = 1; level <= levels; ++level) {
          for (std::size_t above = 0; above < level; ++above)
            EXPECT_LE(tree.rows({level, levels, above}), 1)
                << cell << " " << level << " below " << above << " of " << levels;
          below += tree.rows({level, levels, level - 1});
        }
        EXPECT_EQ(tree.rows({levels, levels, 0}), 1);
        EXPECT_GE(below, 1);
      }
    }
  }
}

TEST(PrunedHierarchy, WithNextToNoNoiseGivesTheCountsBack) {
  SeededBits bits(3);
  for (const Shape& shape : {Shape{{1}}, Shape{{7}}, Shape{{5, 9}}, Shape{{3, 4, 2}}}) {
    Counts counts(shape.cells());
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = static_cast<std::int64_t>(i * i % 11);
    for (const HistogramAim aim : {HistogramAim::kCells, HistogramAim::kRanges}) {
      const auto all = pruned(shape, 100000, aim, 0);
      EXPECT_LT(squared_error(release_once(all, Span(counts), bits).cells(), counts), 1e-9);
    }
  }
}

// Halves that are equal show nothing, also where the variance of noise is 0 in doubles (from epsilon 900 on).
TEST(PrunedHierarchy, KeepsWhatDiffersBelowHalvesThatAreEqual) {
  SeededBits bits(13);
  const Counts counts = {3, 9, 6, 6, 1, 11, 12, 0};
  for (const int epsilon : {50, 800, 1000, 5000}) {
    const auto histogram = release_once(pruned(Shape{{8}}, epsilon), Span(counts), bits);
    for (std::uint32_t i = 0; i < 8; ++i)
      EXPECT_NEAR(histogram.range({{i}, {i + 1}}).value, static_cast<double>(counts[i]), 1e-6)
          << epsilon;
  }
}

// 4,000 releases; with a kurtosis of at most 6 the sample variance has a relative standard deviation of
// at most 3.6 %, so that 17 % is missed with a probability of about 2e-6 each.
TEST(PrunedHierarchy, WithoutPruningNoiseHasTheStatedVariance) {
  const Counts counts(37, 10);
  const auto mechanism = pruned(Shape{{37}}, 1, HistogramAim::kRanges, 0);
  SeededBits bits(5);
  const std::vector<Box> ranges = {{{0}, {1}}, {{36}, {37}}, {{3}, {30}}, {{0}, {37}}};
  std::vector<double> sums(ranges.size(), 0);
  std::vector<double> stated(ranges.size(), 0);
  constexpr int kReleases = 4000;
  for (int i = 0; i < kReleases; ++i) {
    const auto histogram = release_once(mechanism, Span(counts), bits);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      const RangeEstimate answer = histogram.range(ranges[r]);
      sums[r] += std::pow(answer.value - 10 * ranges[r].volume(), 2);
      stated[r] = answer.variance;
    }
  }
  for (std::size_t r = 0; r < ranges.size(); ++r)
    EXPECT_NEAR(sums[r] / kReleases / stated[r], 1, 0.17) << r;
}

// Sparse: 20 of 4,096 cells hold 500 rows each. Without pruning every cell has the noise of a flat
// histogram, variance 200; pruned, only cells near the 20 have any. 8 releases; the ratio is about 30.
TEST(PrunedHierarchy, RemovesTheNoiseOfWhatIsEmpty) {
  Counts counts(4096, 0);
  for (std::size_t i = 0; i < 20; ++i) counts[i * 200 + 17] = 500;
  SeededBits bits(6);
  double flat = 0;
  double sparse = 0;
  for (int i = 0; i < 8; ++i) {
    flat += squared_error(release_once(pruned(Shape{{4096}}, Ratio(1, 10), HistogramAim::kCells, 0),
                                       Span(counts), bits)
                              .cells(),
                          counts);
    sparse += squared_error(
        release_once(pruned(Shape{{4096}}, Ratio(1, 10), HistogramAim::kCells), Span(counts), bits)
            .cells(),
        counts);
  }
  EXPECT_LT(sparse * 8, flat);
}

// Dense and rough: all cells differ by about as much as the noise. Pruning alone would lose the
// differences; shrinking keeps what is signal. Never worse than flat by more than 5 %, which is 1.1025
// when squared.
TEST(PrunedHierarchy, KeepsSmallDifferencesThatAreEverywhere) {
  SeededBits bits(7);
  for (const std::int64_t spread : {1, 7, 20, 60, 1000}) {
    Counts counts(2048);
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = 5000 + (static_cast<std::int64_t>(i * 2654435761u % 2001) - 1000) * spread / 1000;
    double flat = 0;
    double shrunk = 0;
    for (int i = 0; i < 12; ++i) {
      flat +=
          squared_error(release_once(pruned(Shape{{2048}}, Ratio(1, 10), HistogramAim::kCells, 0),
                                     Span(counts), bits)
                            .cells(),
                        counts);
      shrunk +=
          squared_error(release_once(pruned(Shape{{2048}}, Ratio(1, 10), HistogramAim::kCells),
                                     Span(counts), bits)
                            .cells(),
                        counts);
    }
    EXPECT_LT(shrunk, 1.1025 * flat) << spread;
  }
}

/// What it would be if every level had the whole budget.
RangeHistogram unshared_levels(const Counts& counts, BitSource& bits) {
  const CountNoise noise = CountNoise::laplace(1, 1);
  HalvingTree tree(Shape{{8}}, counts);
  for (std::size_t level = 1; level <= 3; ++level) {
    Meter meter(noise.event());
    Context context{meter, bits};
    tree.measure({level, 3, level - 1}, noise, context);
  }
  return tree.fitted(0.5, false);
}

TEST(PrunedHierarchy, SurvivesTheAuditThatCatchesLevelsThatAreNotShared) {
  const Counts none = {150, 20, 60, 1, 10, 0, 0, 30};
  const Counts more = {151, 20, 60, 1, 10, 0, 0, 30};
  const PrunedHierarchy mechanism({.shape = Shape{{8}},
                                   .epsilon = 1,
                                   .rows_per_unit = 1u,
                                   .level_weights = std::vector<Ratio>{0, 1, 1, 1},
                                   .split_price = 0.5});
  const auto seen = [](const std::vector<double>& cells) {
    return std::round(3 * cells[0] + 2 * cells[1] + cells[2] + cells[3]);
  };
  const auto right = [&](const Counts& counts) {
    return
        [&](BitSource& bits) { return seen(release_once(mechanism, Span(counts), bits).cells()); };
  };
  const auto twin = [&](const Counts& counts) {
    return [&](BitSource& bits) { return seen(unshared_levels(counts, bits).cells()); };
  };
  const testing::AuditOptions options{.trials = 6000};
  const double found = testing::audited_epsilon(right(none), right(more), options);
  EXPECT_LE(found, 1.0);
  EXPECT_GT(found, 0.2);
  EXPECT_GT(testing::audited_epsilon(twin(none), twin(more), options), 1.2);
}

TEST(PrunedHierarchy, TakesOneCellNoRowsAndTheLargestCounts) {
  SeededBits bits(8);
  EXPECT_EQ(release_once(pruned(Shape{{1}}, 100), Span(Counts{4}), bits).cells().size(), 1u);
  const auto huge = release_once(pruned(Shape{{5, 3}}), Span(Counts(15, INT64_MAX)), bits);
  for (const double cell : huge.cells()) EXPECT_TRUE(std::isfinite(cell));
  const Counts empty(1 << 20, 0);
  const auto none = release_once(pruned(Shape{{1 << 20}}), Span(empty), bits);
  EXPECT_LT(none.leaves(), 2000u);
  EXPECT_LE(std::abs(none.total(0.999999).value), none.total(0.999999).half_width);
}

}  // namespace
}  // namespace gauze
