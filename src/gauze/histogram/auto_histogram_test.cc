#include "gauze/histogram/auto_histogram.h"

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

AutoHistogram chosen(Shape shape, const Ratio& epsilon = 1,
                     HistogramAim aim = HistogramAim::kRanges, std::uint64_t expected_rows = 0) {
  return AutoHistogram({.shape = std::move(shape),
                        .epsilon = epsilon,
                        .rows_per_unit = 1u,
                        .aim = aim,
                        .expected_rows = expected_rows});
}

TEST(AutoHistogram, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(chosen(Shape{}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(chosen(Shape{{100}}, 0), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(chosen(Shape{{100}}), Points{{100}}, bits), ErrorCode::kInvalidInput);
}

TEST(AutoHistogram, KeepsTheContractWhateverItChooses) {
  const Points few = {{0, 0, 3, 1}, {2, 900}};
  const Points many = {{1, 1}, {INT64_MAX}};
  for (const Shape& shape : {Shape{{5, 4}}, Shape{{100, 100}}, Shape{{1u << 20, 1u << 20}}})
    for (const HistogramAim aim : {HistogramAim::kRanges, HistogramAim::kCells})
      testing::expect_contract(chosen(shape, 1, aim), few, many);
  const Points one = {{0, 3, 3, 99}};
  const Points other = {{7}, {1'000'000}};
  for (const std::uint64_t rows : {0u, 1000u})
    testing::expect_contract(chosen(Shape{{100}}, 1, HistogramAim::kRanges, rows), one, other);
  for (const HistogramAim aim : {HistogramAim::kRanges, HistogramAim::kCells})
    testing::expect_contract(chosen(Shape{{100}}, 6, aim), one, other);
  testing::expect_contract(
      AutoHistogram(
          {.shape = Shape{{100}}, .epsilon = 1, .rows_per_unit = 2u, .delta = Ratio(1, 1000000)}),
      one, other);
}

TEST(AutoHistogram, CostsEpsilonWhateverItChooses) {
  for (const Shape& shape :
       {Shape{{3}}, Shape{{40}}, Shape{{4096}}, Shape{{256, 256}}, Shape{{1u << 16, 1u << 16}}})
    for (const HistogramAim aim : {HistogramAim::kRanges, HistogramAim::kCells})
      EXPECT_NEAR(epsilon_at({chosen(shape, Ratio(3, 10), aim).event()}, 0).epsilon, 0.3, 1e-12);
}

TEST(AutoHistogram, SaysWhatItTookAndWhy) {
  SeededBits bits(2);
  const auto note = [&](const Shape& shape, const Points& points,
                        HistogramAim aim = HistogramAim::kRanges) {
    return release_once(chosen(shape, 1, aim), points, bits).note();
  };
  EXPECT_TRUE(note(Shape{{4}}, {{1}}).starts_with("flat: so few"));
  EXPECT_TRUE(
      release_once(chosen(Shape{{400}}, 5), Points{{1}}, bits).note().starts_with("flat: hardly"));
  EXPECT_TRUE(  // the command line looks for these words
      release_once(chosen(Shape{{400}}, 5), Points{{1}}, bits).note().ends_with("taken out"));
  EXPECT_TRUE(note(Shape{{400}}, {{1}}, HistogramAim::kCells).starts_with("noise on every cell"));
  EXPECT_TRUE(note(Shape{{40}}, {{1}}).starts_with("noise on every cell"));
  EXPECT_TRUE(note(Shape{{2048}}, {{1}}, HistogramAim::kCells).ends_with("that blocks are"));
  for (const std::int64_t rows : {1, 2000, 1'000'000})
    EXPECT_TRUE(note(Shape{{400}}, {{1}, {rows}}).starts_with("adaptive hierarchy"));
  EXPECT_TRUE(note(Shape{{20, 20}}, {{1, 1}}).starts_with("adaptive hierarchy"));
  EXPECT_TRUE(note(Shape{{256, 256}}, {{1, 1}}).starts_with("adaptive hierarchy"));
  EXPECT_TRUE(note(Shape{{1u << 16, 1u << 16}}, {{1, 1}}).starts_with("adaptive grid"));
  const AutoHistogram gaussian(
      {.shape = Shape{{400}}, .epsilon = 1, .rows_per_unit = 1u, .delta = Ratio(1, 1000)});
  EXPECT_TRUE(release_once(gaussian, Points{{1}}, bits).note().starts_with("pruned hierarchy"));
}

// Rows in a smooth heap and in a few single cells, 1,024 cells in all. Mean squared errors over 400 ranges and
// 6 releases: flat loses by a factor of 4 and more, so that a factor of 1 is never missed by chance.
TEST(AutoHistogram, AnswersRangesBetterThanAFlatHistogram) {
  const Shape shape{{1024}};
  for (const std::int64_t scale : {1, 30, 3000}) {
    std::vector<std::int64_t> counts(1024, 0);
    for (std::size_t i = 0; i < 1024; ++i)
      counts[i] = static_cast<std::int64_t>(static_cast<double>(scale) * 20 *
                                            std::exp(-std::pow((double(i) - 400) / 60, 2)));
    counts[900] = counts[77] = 400 * scale;
    SeededBits bits(3);
    double ours = 0;
    double flat = 0;
    for (int release = 0; release < 6; ++release) {
      const auto one = release_once(chosen(shape, Ratio(1, 10)), points_of(shape, counts), bits);
      const auto other = release_once(
          FlatHistogram({.shape = shape, .epsilon = Ratio(1, 10), .rows_per_unit = 1u}),
          std::span<const std::int64_t>(counts), bits);
      for (std::uint32_t i = 0; i < 400; ++i) {
        const std::uint32_t begin = i * 37 % 512;
        const std::uint32_t end = begin + 1 + i * 101 % 512;
        double truth = 0;
        for (std::uint32_t c = begin; c < end; ++c) truth += static_cast<double>(counts[c]);
        ours += std::pow(one.range({{begin}, {end}}).value - truth, 2);
        flat += std::pow(other.range({{begin}, {end}}).value - truth, 2);
      }
    }
    EXPECT_LT(ours, flat) << scale;
  }
}

// One full cell of 40,000 at epsilon 6: some 200 others get noise. 10 releases; single rows would be cleared, too.
TEST(AutoHistogram, TakesOutNoiseThatIsRare) {
  const Shape shape{{200, 200}};
  std::vector<std::int64_t> counts(40000, 0);
  counts[12345] = 1000;
  SeededBits bits(5);
  for (const HistogramAim aim : {HistogramAim::kRanges, HistogramAim::kCells}) {
    double squares = 0;
    for (int release = 0; release < 10; ++release) {
      const auto cells =
          release_once(chosen(shape, 6, aim), points_of(shape, counts), bits).cells();
      for (std::size_t i = 0; i < cells.size(); ++i)
        squares += std::pow(cells[i] - static_cast<double>(counts[i]), 2) / 10;
    }
    EXPECT_LT(squares, 50);
  }
}

TEST(AutoHistogram, DrawsNothingWhenItCannotPayForAll) {
  const AutoHistogram mechanism = chosen(Shape{{100}});
  SeededBits bits(4);
  Meter meter({events::Pure{Ratio(127, 128)}, Relation::kAddRemove});
  Context context{meter, bits};
  EXPECT_ERROR(mechanism.run(Points{{1}}, context), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(bits.refills(), 0u);
}

TEST(AutoHistogram, SurvivesTheAuditThatCatchesABudgetSpentTwice) {
  const Points none = {{3, 3, 3, 9, 20, 51, 51}};
  const Points more = {{3, 3, 3, 9, 20, 51, 51, 3}};
  const auto sampler = [](const AutoHistogram& mechanism, const Points& points) {
    return [&](BitSource& bits) {
      const auto histogram = release_once(mechanism, points, bits);
      return std::round(histogram.total().value + 2 * histogram.range({{0}, {4}}).value +
                        4 * histogram.range({{3}, {4}}).value);
    };
  };
  const testing::AuditOptions options{.trials = 6000};
  const auto right = chosen(Shape{{60}});
  EXPECT_LE(testing::audited_epsilon(sampler(right, none), sampler(right, more), options), 1.0);
  const auto broken = chosen(Shape{{60}}, 4);
  EXPECT_GT(testing::audited_epsilon(sampler(broken, none), sampler(broken, more), options), 1.1);
}

}  // namespace
}  // namespace gauze
