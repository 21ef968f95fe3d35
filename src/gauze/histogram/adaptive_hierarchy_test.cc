#include "gauze/histogram/adaptive_hierarchy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/histogram/flat.h"
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

AdaptiveHierarchy adaptive(Shape shape, const Ratio& epsilon = 1, std::uint64_t rows_per_unit = 1,
                           std::uint64_t expected_rows = 0) {
  return AdaptiveHierarchy({.shape = std::move(shape),
                            .epsilon = epsilon,
                            .rows_per_unit = rows_per_unit,
                            .expected_rows = expected_rows});
}

TEST(AdaptiveHierarchy, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(adaptive(Shape{{0}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(adaptive(Shape{{(1u << 24) + 1}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(adaptive(Shape{{8}}, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(adaptive(Shape{{8}}, 1, 0), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(adaptive(Shape{{8}}), Span(Counts(7)), bits), ErrorCode::kInvalidInput);
}

TEST(AdaptiveHierarchy, KeepsTheContract) {
  const Counts one = {5, 0, 0, 1, 9, 900, 9, 0, 3, 2, 4, 4};
  const Counts other(12, INT64_MAX);
  for (const Shape& shape : {Shape{{12}}, Shape{{3, 4}}, Shape{{2, 2, 3}}})
    for (const std::uint64_t expected : {0u, 1000u})
      testing::expect_contract(adaptive(shape, 1, 3, expected), Span(one), Span(other));
  testing::expect_contract(adaptive(Shape{{1}}), Span(Counts{7}), Span(Counts{0}));
}

TEST(AdaptiveHierarchy, CostsEpsilon) {
  for (const std::uint32_t cells : {1u, 3u, 64u, 1000u})
    EXPECT_DOUBLE_EQ(epsilon_at({adaptive(Shape{{cells}}, Ratio(7, 10)).event()}, 0).epsilon, 0.7);
}

// A heap in one cell of 4,096, or of 64 x 64, is found, and little else is parted; even rows are not.
TEST(AdaptiveHierarchy, PartsWhatIsFull) {
  SeededBits bits(2);
  for (const Shape& shape : {Shape{{4096}}, Shape{{64, 64}}}) {
    Counts counts(4096, 0);
    counts[1234] = 100'000;
    const auto heap = release_once(adaptive(shape, Ratio(1, 10)), Span(counts), bits);
    EXPECT_LT(heap.leaves(), 300u);
    EXPECT_NEAR(heap.cells()[1234], 100'000, 1000);
    const Counts even(4096, 1);
    EXPECT_LT(release_once(adaptive(shape, Ratio(1, 10)), Span(even), bits).leaves(), 300u);
    const Counts full(4096, 1'000'000);
    EXPECT_EQ(release_once(adaptive(shape, Ratio(1, 10)), Span(full), bits).leaves(), 4096u);
    EXPECT_LT(release_once(adaptive(shape, Ratio(1, 10)), Span(Counts(4096, 0)), bits).leaves(),
              40u);
  }
}

TEST(AdaptiveHierarchy, GoesByWhatIsKnownOfTheRows) {
  SeededBits bits(3);
  const Counts none(64, 0);
  EXPECT_EQ(release_once(adaptive(Shape{{64}}, 1, 1, 1), Span(none), bits).leaves(), 1u);
  EXPECT_GT(release_once(adaptive(Shape{{64}}, 1, 1, 1000), Span(none), bits).leaves(), 1u);
}

// Eighths with 30 rows and with none in turn. How often they are halved goes by how many rows are expected, 116/128 of
// which are for a unit of what is left of the noise: fewer than 5 are counted as one, fewer than 20 in quarters, which are
// alike, and more in eighths, which are not. That of these four pairs most look alike by chance has a probability below 0.001.
TEST(AdaptiveHierarchy, PartsFewRowsLittle) {
  SeededBits bits(11);
  Counts counts(4096, 0);
  for (std::size_t i = 0; i < counts.size(); i += 1024)
    for (std::size_t j = 0; j < 30; ++j) counts[i + 17 * j] = 1;
  const auto leaves = [&](std::uint64_t expected) {
    return release_once(adaptive(Shape{{4096}}, 1, 1, expected), Span(counts), bits).leaves();
  };
  for (int release = 0; release < 10; ++release) {
    EXPECT_EQ(leaves(5), 1u);
    EXPECT_LE(leaves(21), 4u);
    EXPECT_GE(leaves(23), 5u);
  }
}

// An empty plane: its blocks are closed as one, unless two of 15 neighbours look different by chance, as in about half of all
// releases; from 5,000 rows for a unit of noise on, here as they are expected, in two halves.
TEST(AdaptiveHierarchy, ClosesBlocksOfFullPlanesInHalves) {
  SeededBits bits(12);
  const auto fewest = [&](std::uint64_t expected) {
    std::size_t least = SIZE_MAX;
    for (int release = 0; release < 20; ++release)
      least = std::min(least, release_once(adaptive(Shape{{128, 128}}, 1, 1, expected),
                                           Span(Counts(16384, 0)), bits)
                                  .leaves());
    return least;
  };
  EXPECT_EQ(fewest(4000), 1u);
  EXPECT_EQ(fewest(6000), 2u);
}

/// Of discrete Laplace noise: 2 a / (1 - a)^2, a = e^-epsilon.
double laplace_variance(double epsilon) {
  const double a = std::exp(-epsilon);
  return 2 * a / ((1 - a) * (1 - a));
}

// The total has 12/128 of the budget. Where nothing is parted it gets the rest; where all is, blocks of 8 cells
// get half of the rest and cells the other half; 8 cells are parted at once. In the plane, where rows are many,
// every step down takes an eighth of what is left, in whole parts. What is known of the total by each of these
// adds up as inverse variances: more would be a budget spent twice.
TEST(AdaptiveHierarchy, SpendsItsBudgetOnce) {
  SeededBits bits(7);
  const double epsilon = 0.4;
  const auto precision = [&](const Shape& shape, std::int64_t count) {
    const auto method = adaptive(shape, Ratio(4, 5), 2);  // two rows of a unit: half of it each
    return 1 / release_once(method, Span(Counts(shape.cells(), count)), bits).total().variance;
  };
  const auto known = [&](double parts, double blocks) {
    return 1 / (blocks * laplace_variance(epsilon * parts / 128));
  };
  EXPECT_NEAR(precision(Shape{{1}}, 0) / (known(12, 1) + known(116, 1)), 1, 1e-9);
  EXPECT_NEAR(precision(Shape{{8}}, 1'000'000) / (known(12, 1) + known(116, 8)), 1, 1e-9);
  EXPECT_NEAR(precision(Shape{{64}}, 1'000'000) / (known(12, 1) + known(58, 8) + known(58, 64)), 1,
              1e-9);
  EXPECT_NEAR(
      precision(Shape{{128, 64}}, 1'000'000) /
          (known(12, 1) + known(15, 16) + known(13, 128) + known(11, 1024) + known(77, 8192)),
      1, 1e-9);
}

// So many rows in every cell that all is parted down to the cells whatever the noise: then the stated
// variances are exact. 3,000 releases estimate a variance with a standard error of 2.6 %, 150 with one of
// 11.5 %: a right method is off by four of them once in 10^4 seeds, half or double noise always.
TEST(AdaptiveHierarchy, StatesTheVarianceOfItsAnswers) {
  for (const Shape& shape : {Shape{{100}}, Shape{{70, 80}}}) {
    const Counts counts(shape.cells(), 1'000'000);
    const AdaptiveHierarchy method = adaptive(shape, Ratio(1, 2), 2);
    const auto box = [&](double from, double to) {
      Box part;
      for (const std::uint32_t extent : shape.extents) {
        part.begin.push_back(static_cast<std::uint32_t>(from * extent));
        part.end.push_back(static_cast<std::uint32_t>(to * extent));
      }
      return part;
    };
    const std::vector<Box> boxes = {box(0, 1), box(0, 0.5), box(0.3, 0.8)};
    std::vector<double> squares(boxes.size(), 0.0), stated(boxes.size(), 0.0);
    SeededBits bits(4);
    const int releases = shape.axes() == 1 ? 3000 : 150;
    for (int i = 0; i < releases; ++i) {
      const auto histogram = release_once(method, Span(counts), bits);
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        const RangeEstimate answer = histogram.range(boxes[b]);
        squares[b] += std::pow(answer.value - 1e6 * boxes[b].volume(), 2) / releases;
        stated[b] = answer.variance;
      }
    }
    for (std::size_t b = 0; b < boxes.size(); ++b)
      EXPECT_NEAR(squares[b] / stated[b], 1, shape.axes() == 1 ? 0.11 : 0.45) << b;
  }
}

// The number of rows, 1,000 releases: 95 % promised, so at least 93 % but for 1 in 500 seeds.
TEST(AdaptiveHierarchy, KeepsItsAccuracyPromise) {
  const Counts counts = {5, 0, 0, 1, 9, 900, 9, 0, 3, 2, 4, 4};
  const AdaptiveHierarchy method = adaptive(Shape{{12}});
  SeededBits bits(5);
  int kept = 0;
  for (int i = 0; i < 1000; ++i) {
    const double total = release_once(method, Span(counts), bits).total().value;
    if (std::abs(total - 937) <= method.accuracy(0.95).half_width) ++kept;
  }
  EXPECT_GE(kept, 930);
}

/// By how much the answers of ranges are off, squared and summed up, with error bars that hold.
struct Off {
  double squares = 0;
  int held = 0;
  int asked = 0;
};
template <class Method>
Off off(const Method& method, const Counts& counts, BitSource& bits) {
  Off sum;
  for (int release = 0; release < 8; ++release) {
    const auto histogram = release_once(method, Span(counts), bits);
    for (std::uint32_t i = 0; i < 300; ++i) {
      const std::uint32_t begin = i * 37 % 512;
      const std::uint32_t end = begin + 1 + i * 101 % 512;
      double truth = 0;
      for (std::uint32_t cell = begin; cell < end; ++cell) truth += double(counts[cell]);
      const RangeEstimate answer = histogram.range({{begin}, {end}});
      sum.squares += std::pow(answer.value - truth, 2);
      sum.held += std::abs(answer.value - truth) <= answer.half_width ? 1 : 0;
      ++sum.asked;
    }
  }
  return sum;
}

// Heaps and a slope over 1,024 cells: squared errors of a flat histogram are 3 times as large and more, so that a
// factor of 1.5 is not missed by chance. Where every cell is full, nothing is spread and 19 of 20 error bars hold.
TEST(AdaptiveHierarchy, AnswersRangesBetterThanAFlatHistogramWithErrorBarsThatHold) {
  const Shape shape{{1024}};
  SeededBits bits(6);
  for (const std::int64_t scale : {1, 100, 10'000}) {
    Counts counts(1024, 0);
    for (std::size_t i = 0; i < 512; ++i) counts[i] = scale * static_cast<std::int64_t>(i / 16);
    counts[700] = 1000 * scale;
    const Off ours = off(adaptive(shape, Ratio(1, 10)), counts, bits);
    const FlatHistogram flat({.shape = shape, .epsilon = Ratio(1, 10), .rows_per_unit = 1u});
    EXPECT_LT(1.5 * ours.squares, off(flat, counts, bits).squares) << scale;
  }
  const Off full = off(adaptive(shape, Ratio(1, 10)), Counts(1024, 100'000), bits);
  EXPECT_GT(full.held, 0.9 * full.asked);
}

// 1,000 rows far apart are parted in 8 to look for heaps, which they have not: what is left is spent on all of
// them, or on few blocks. Four in a hundred neighbours look uneven by chance, 7 of them are compared.
TEST(AdaptiveHierarchy, ClosesNeighboursWithoutADifferenceAsOne) {
  Counts counts(4000, 0);
  for (std::size_t i = 0; i < counts.size(); i += 4) counts[i] = 1;
  SeededBits bits(8);
  double leaves = 0;
  double precision = 0;
  for (int i = 0; i < 100; ++i) {
    const auto histogram = release_once(adaptive(Shape{{4000}}, Ratio(1, 10)), Span(counts), bits);
    leaves += static_cast<double>(histogram.leaves()) / 100;
    precision = std::max(precision, 1 / histogram.total().variance);
  }
  EXPECT_LT(leaves, 4);
  // One block at last: the total, its 8 parts with a third of the rest, and all of them once more.
  EXPECT_GT(precision, 1 / laplace_variance(0.1 * 70 / 128));
}

// 128 cells, 10,000 rows, so 1,000 for a unit of noise: a smooth slope is cut into few blocks, as is an even
// domain, while heaps show in how 16 parts differ, and full parts are cut down to the cells.
TEST(AdaptiveHierarchy, TrustsEvenPartsOfASmallDomain) {
  SeededBits bits(9);
  const auto leaves = [&](const Counts& counts) {
    double sum = 0;
    for (int i = 0; i < 20; ++i)
      sum +=
          double(release_once(adaptive(Shape{{128}}, Ratio(1, 10)), Span(counts), bits).leaves());
    return sum / 20;
  };
  Counts slope, heaps;
  for (std::int64_t i = 0; i < 128; ++i) {
    slope.push_back(50 + i / 2);
    heaps.push_back(i % 16 == 0 ? 990 : i % 16 == 9 ? 260 : 0);
  }
  EXPECT_LT(leaves(slope), 24);
  EXPECT_GT(leaves(heaps), 50);
}

// Neighbours that tell all of the budget but for the first count: few rows, which are counted once more with all
// that is left, and 8 full cells, which are parted at once. Twice the budget shows; a heap that is parted
// several times shows four times the budget only, as its counts are fitted to each other.
TEST(AdaptiveHierarchy, SurvivesTheAuditThatCatchesTwiceTheBudget) {
  struct Pair {
    Counts without;
    std::size_t place;
    Box seen;
    std::int64_t caught;
    std::uint64_t trials;
  };
  Counts heap(64, 0);
  heap[3] = 60;
  heap[40] = 2;
  const std::vector<Pair> pairs = {{Counts(8, 0), 5, {{0}, {8}}, 2, 5000},
                                   {Counts(8, 1000), 5, {{5}, {6}}, 2, 5000},
                                   {heap, 3, {{3}, {4}}, 4, 4000}};
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.place);
    Counts with = pair.without;
    ++with[pair.place];
    const auto audited = [&](const Ratio& epsilon) {
      const auto mechanism = adaptive(Shape{{static_cast<std::uint32_t>(with.size())}}, epsilon);
      const auto sampler = [&](const Counts& counts) {
        return [&](BitSource& bits) {
          return std::round(4 * release_once(mechanism, Span(counts), bits).range(pair.seen).value);
        };
      };
      return testing::audited_epsilon(sampler(pair.without), sampler(with),
                                      {.trials = pair.trials});
    };
    EXPECT_LE(audited(1), 1.0);
    EXPECT_GT(audited(pair.caught), 1.1);
  }
}

}  // namespace
}  // namespace gauze
