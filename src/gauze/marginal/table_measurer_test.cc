#include "gauze/marginal/table_measurer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/filter.h"
#include "gauze/marginal/rows_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::SeededBits;

const Shape kMeasured{{2, 3, 2}};

TEST(TableMeasurer, ItsLogIsWhatTheMeterWasCharged) {
  const CodedRows rows = testing::chain(kMeasured, 100, 1);
  for (const std::uint64_t r : {1u, 4u}) {
    SeededBits bits(1);
    Meter meter(Event{events::Zcdp{1}, Relation::kAddRemove});
    Context context{meter, bits};
    TableMeasurer measurer(r, context);
    measurer.measure(rows, {0}, Ratio(1, 10), 0);
    measurer.choose(std::vector<double>{1, 2, 3}, 1, Ratio(1, 7));
    measurer.measure(rows, {0, 1}, Ratio(1, 3), 1);
    Ratio charged = 0, by_sigma = 0;
    for (const Event& each : meter.charged())
      charged += Budget::price(each, Budget::Currency::kZcdp).amount;
    for (const MeasuredTable& each : measurer.log()) {
      by_sigma += Ratio(Integer(r * r)) / (2 * each.sigma * each.sigma);
      EXPECT_EQ(each.values.size(), cells_of(kMeasured, each.clique));
    }
    EXPECT_EQ(measurer.measured(), by_sigma);
    EXPECT_EQ(Ratio(measurer.measured() + measurer.chosen()), charged);
    EXPECT_LE(charged, Ratio(1, 10) + Ratio(1, 7) + Ratio(1, 3));
  }
}

TEST(TableMeasurer, NothingIsMeasuredUncharged) {
  const CodedRows rows = testing::chain(kMeasured, 100, 2);
  SeededBits bits(2);
  Meter meter(Event{events::Zcdp{Ratio(1, 2)}, Relation::kAddRemove});
  Context context{meter, bits};
  TableMeasurer measurer(1, context);
  measurer.measure(rows, {0}, Ratio(1, 2), 0);
  const std::uint64_t drawn = bits.refills();
  EXPECT_ERROR(measurer.measure(rows, {1}, Ratio(1, 1000), 1), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(measurer.choose(std::vector<double>{1, 2}, 1, Ratio(1, 1000)),
               ErrorCode::kBudgetExceeded);
  EXPECT_EQ(bits.refills(), drawn);
  EXPECT_EQ(measurer.log().size(), 1u);
}

TEST(TableMeasurer, ChoosesByScoresInUnitsOfWhatAUnitMoves) {
  // Scores 0 and d, of which a row moves each by 5 steps and a unit has 3 rows: the better one is chosen
  // with probability 1 / (1 + e^(-epsilon d / 30)), where rho = epsilon^2 / 8 = 1 / 2, epsilon = 2.
  constexpr double kDifference = 20;
  const double better = 1 / (1 + std::exp(-2 * kDifference / 30));
  constexpr int kRuns = 40'000;
  SeededBits bits(7);
  int chosen = 0;
  for (int run = 0; run < kRuns; ++run) {
    Meter meter(Event{events::Zcdp{Ratio(1, 2)}, Relation::kAddRemove});
    Context context{meter, bits};
    TableMeasurer measurer(3, context);
    chosen +=
        static_cast<int>(measurer.choose(std::vector<double>{0, kDifference}, 5, Ratio(1, 2)));
  }
  // Six standard deviations: fails once in 10^9 runs. Without the rows of a unit it would be 0.98.
  EXPECT_NEAR(static_cast<double>(chosen) / kRuns, better,
              6 * std::sqrt(better * (1 - better) / kRuns));
}

TEST(TableMeasurer, NoiseIsOfTheSizeThatItSaysWhateverTheNumberOfColumns) {
  // S7 of known-bugs: a peer's noise shrank with the number of dimensions.
  for (std::uint32_t columns = 1; columns <= 6; ++columns) {
    const Shape domain{std::vector<std::uint32_t>(columns, 2)};
    Clique all(columns);
    for (std::uint32_t i = 0; i < columns; ++i) all[i] = i;
    SeededBits bits(columns);
    double squares = 0;
    constexpr int kCells = 6400;
    for (int done = 0; done < kCells;) {
      Meter meter(Event{events::Zcdp{Ratio(1, 50)}, Relation::kAddRemove});
      Context context{meter, bits};
      TableMeasurer measurer(2, context);
      for (const auto value :
           measurer.measure(testing::alike(domain, 0), all, Ratio(1, 50), 0).values)
        squares += static_cast<double>(value * value), ++done;
    }
    // sigma^2 = 4 / (2 / 50) = 100; the mean of so many squares is within 6 * sqrt(2 / 6400) of it.
    EXPECT_NEAR(squares / kCells, 100, 10.7);
  }
}

TEST(TableMeasurer, MisfitsMoveByNoMoreThanARow) {
  const Shape domain{{3}};
  const Factor odd(domain, {0}, {0.1, 1e300, 1.0 / 3});
  EXPECT_EQ(misfit(std::vector<std::int64_t>{5, 0, 0}, Factor(domain, {0}, {5.5, 0, 1})),
            512 + 1024);
  for (const double scale : {1e-3, 1.0, 1e6, 1e12, 1e18}) {
    const Factor table(domain, {0}, {0.1 * scale, 0.7 * scale, scale / 3});
    for (const std::int64_t n :
         std::vector<std::int64_t>{0, 1, 1'000'000, std::int64_t{1} << 42, INT64_MAX - 1}) {
      const std::vector<std::int64_t> counts = {n, 3, 0}, more = {n + 1, 3, 0};
      EXPECT_LE(std::abs(misfit(counts, table) - misfit(more, table)), kMisfitSteps);
      EXPECT_LE(misfit(counts, odd), std::int64_t{1} << 52);
    }
  }
}

TEST(TableMeasurer, NumberOfRowsToMakeIsNeverTheMachinesEnd) {
  EXPECT_EQ(rows_to_make(7, {1e6, 1}, 2), 7u);
  EXPECT_EQ(rows_to_make(0, {12.4, 1}, 2), 12u);
  EXPECT_EQ(rows_to_make(0, {1e15, 1e30}, 2), 1u << 25);
  EXPECT_EQ(rows_to_make(0, {}, 2), 0u);
}

}  // namespace
}  // namespace gauze
