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

Workload asked_ranges(std::uint32_t cells, std::uint32_t questions) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  for (std::uint32_t i = 0; i < questions; ++i)
    ranges.emplace_back(i * 37 % (cells / 2), cells / 2 + 1 + i * 101 % (cells / 2));
  return Workload({{1, {AxisWorkload::ranges(cells, std::move(ranges))}}});
}

TEST(AutoHistogram, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(chosen(Shape{}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(chosen(Shape{{100}}, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(AutoHistogram({.shape = Shape{{100}},
                              .epsilon = 1,
                              .rows_per_unit = 1u,
                              .workload = asked_ranges(99, 3)}),
               ErrorCode::kInvalidOption);
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
  EXPECT_NE(  // the command line looks for these words
      release_once(chosen(Shape{{400}}, 5), Points{{1}}, bits).note().find("taken out"),
      std::string::npos);
  EXPECT_TRUE(note(Shape{{400}}, {{1}}, HistogramAim::kCells).starts_with("noise on every cell"));
  EXPECT_TRUE(note(Shape{{40}}, {{1}}).starts_with("noise on every cell"));
  EXPECT_NE(note(Shape{{2048}}, {{1}, {1000000}}, HistogramAim::kCells)
                .find("many rows by a paid look, about "),
            std::string::npos);
  EXPECT_TRUE(
      note(Shape{{2048}}, {{1}}, HistogramAim::kCells).ends_with("(2048 cells, epsilon 1, cells)"));
  for (const std::int64_t rows : {1, 2000, 1'000'000})
    EXPECT_TRUE(note(Shape{{400}}, {{1}, {rows}}).starts_with("adaptive hierarchy"));
  EXPECT_NE(note(Shape{{400}}, {{1}, {1'000'000}}).find("a paid count of about "),
            std::string::npos);
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

AutoHistogram declaring(std::uint32_t questions, const Ratio& epsilon = 1,
                        std::uint64_t expected_rows = 0, const Ratio& delta = 0) {
  return AutoHistogram({.shape = Shape{{1000}},
                        .epsilon = epsilon,
                        .rows_per_unit = 1u,
                        .delta = delta,
                        .workload = asked_ranges(1000, questions),
                        .expected_rows = expected_rows});
}

// One range needs no look at the rows; for forty of them a million rows are enough and ten are not.
TEST(AutoHistogram, TakesAStrategyForWhatWillBeAskedWhereThatIsBetter) {
  SeededBits bits(6);
  const auto note = [&](const AutoHistogram& method, std::int64_t rows) {
    return release_once(method, Points{{500}, {rows}}, bits).note();
  };
  for (const std::int64_t rows : {0, 10, 1'000'000})
    EXPECT_TRUE(note(declaring(1), rows).starts_with("strategy")) << rows;
  EXPECT_TRUE(note(declaring(40), 1'000'000).starts_with("strategy"));
  EXPECT_NE(note(declaring(40), 1'000'000).find("rows by a paid look"), std::string::npos);
  EXPECT_TRUE(note(declaring(40), 10).starts_with("adaptive hierarchy"));
  EXPECT_TRUE(note(declaring(40, 1, 1'000'000), 10).starts_with("strategy"));  // told, not seen
  EXPECT_TRUE(note(declaring(40, 1, 10), 1'000'000).starts_with("adaptive hierarchy"));
  EXPECT_TRUE(note(declaring(40, 1, 0, Ratio(1, 1000)), 10).starts_with("strategy"));
  // All tables of two of three columns; all cells are what a flat histogram has.
  const auto tables = [&](std::size_t way) {
    const Shape shape{{10, 10, 10}};
    return release_once(AutoHistogram({.shape = shape,
                                       .epsilon = 1,
                                       .rows_per_unit = 1u,
                                       .workload = Workload::marginals(shape, way)}),
                        Points{{1, 2, 3}, {1'000'000}}, bits)
        .note();
  };
  EXPECT_TRUE(tables(1).starts_with("strategy"));
  EXPECT_FALSE(tables(3).starts_with("strategy"));
}

TEST(AutoHistogram, CostsEpsilonWhateverIsDeclared) {
  for (const std::uint32_t questions : {1u, 40u, 400u}) {
    EXPECT_NEAR(epsilon_at({declaring(questions, Ratio(3, 10)).event()}, 0).epsilon, 0.3, 1e-12);
    const AutoHistogram gaussian = declaring(questions, Ratio(3, 10), 0, Ratio(1, 1000));
    EXPECT_LE(epsilon_at({gaussian.event()}, 1e-3).epsilon, 0.3 * (1 + 1e-9));
    const Points few = {{3, 999}};
    const Points many = {{500}, {INT64_MAX}};
    testing::expect_contract(declaring(questions), few, many);
  }
}

// The variance of the first of forty ranges as that of their strategy with 31 of 32 parts of epsilon, where there are
// many rows: the look is paid for.
TEST(AutoHistogram, LeavesToTheStrategyWhatTheLookLeaves) {
  SeededBits bits(8);
  const auto variance = [&](const AutoHistogram& method) {
    return release_once(method, Points{{500}, {1'000'000}}, bits).range({{0}, {501}}).variance;
  };
  const double looked = variance(declaring(40, Ratio(1, 100)));
  const double told = variance(declaring(40, Ratio(1, 100), 1'000'000'000));
  EXPECT_NEAR(looked / told, std::pow(32.0 / 31, 2), 1e-3);
}

// Few rows and forty questions: the look, and then the adaptive hierarchy with the rest. Four times the budget is
// caught in the total.
TEST(AutoHistogram, SurvivesTheAuditOfALookThatCatchesFourTimesTheBudget) {
  const auto sampler = [](const AutoHistogram& mechanism, std::int64_t rows) {
    return [&mechanism, rows](BitSource& bits) {
      const Points points{{500}, {rows}};
      return std::round(release_once(mechanism, points, bits).total().value);
    };
  };
  const testing::AuditOptions options{.trials = 3000};
  const AutoHistogram right = declaring(40);
  EXPECT_LE(testing::audited_epsilon(sampler(right, 0), sampler(right, 1), options), 1.0);
  const AutoHistogram broken = declaring(40, 4);
  EXPECT_GT(testing::audited_epsilon(sampler(broken, 0), sampler(broken, 1), options), 1.1);
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
