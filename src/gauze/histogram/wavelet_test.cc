#include "gauze/histogram/wavelet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

WaveletHistogram wavelet(std::uint32_t cells, const Ratio& epsilon = 1) {
  return WaveletHistogram({.shape = Shape{{cells}}, .epsilon = epsilon, .rows_per_unit = 1u});
}

RangeHistogram released(const WaveletHistogram& mechanism, const Counts& counts,
                        std::uint64_t seed = 1) {
  SeededBits bits(seed);
  return release_once(mechanism, std::span<const std::int64_t>(counts), bits);
}

TEST(Wavelet, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(wavelet(10, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(WaveletHistogram({.shape = Shape{{2, 2}}, .epsilon = 1, .rows_per_unit = 1u}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(released(wavelet(3), {1, 2}), ErrorCode::kInvalidInput);
}

TEST(Wavelet, KeepsTheContract) {
  const Counts one(100, 3);
  Counts other(100, 0);
  other[99] = std::int64_t{1} << 62;
  testing::expect_contract(wavelet(100), one, other);
  testing::expect_contract(wavelet(1), Counts{4}, Counts{0});
}

TEST(Wavelet, CostsEpsilonForTheTotalAndEveryHalving) {
  for (const std::uint32_t cells : {1u, 2u, 3u, 8u, 9u, 1000u})
    EXPECT_EQ(pure_epsilon(wavelet(cells, Ratio(1, 7)).event()), Ratio(1, 7));
  const Event event = wavelet(1000).event();
  const auto* parts = std::get_if<events::Composed>(&event.kind);
  ASSERT_NE(parts, nullptr);
  EXPECT_EQ(parts->events.size(), 11u);
}

// Without noise the inverse of the transform is the histogram.
TEST(Wavelet, TransformsBack) {
  for (const std::size_t cells : {1u, 2u, 3u, 7u, 8u, 13u}) {
    Counts counts;
    for (std::size_t i = 0; i < cells; ++i) counts.push_back(static_cast<std::int64_t>(i * 7 % 11));
    const auto result =
        released(wavelet(static_cast<std::uint32_t>(cells), 100000), counts).cells();
    for (std::size_t i = 0; i < cells; ++i)
      EXPECT_NEAR(result[i], static_cast<double>(counts[i]), 1e-9);
  }
}

// 110.57 for 256 cells in variances of one count with the whole budget: (L + 1)^2 = 81 for each.
TEST(Wavelet, AverageRangeVarianceIsTheKnownOne) {
  const double epsilon = 1e-3;
  const RangeHistogram histogram =
      released(wavelet(256, ratio_of_decimal(epsilon)), Counts(256, 0));
  double sum = 0;
  for (std::uint32_t i = 0; i < 256; ++i)
    for (std::uint32_t j = i + 1; j <= 256; ++j) sum += histogram.range({{i}, {j}}).variance;
  EXPECT_NEAR(sum / (256 * 257 / 2) / (2 / epsilon / epsilon), 110.57, 0.01);
}

// By the definition: the noise of a cell is a sum of T / n and D / length over its intervals.
TEST(Wavelet, VarianceOfACellFollowsFromItsCoefficients) {
  const RangeHistogram histogram = released(wavelet(8), Counts(8, 0));
  const double v = CountNoise::laplace(Ratio(1, 4), 1).variance();
  const double cell = v / 64 + v / 64 + v / 16 + v / 4;
  for (std::uint32_t i = 0; i < 8; ++i)
    EXPECT_NEAR(histogram.range({{i}, {i + 1}}).variance, cell, 1e-9 * cell);
  EXPECT_NEAR(histogram.total().variance, v, 1e-9 * v);
  EXPECT_NEAR(histogram.range({{0}, {4}}).variance, v / 4 + v / 4, 1e-9 * v);
}

// 3,000 releases: the mean of squares has a standard error below sqrt(5/3000) of the variance; five of
// them are exceeded once in 10^6 runs for each range.
TEST(Wavelet, NoiseHasTheStatedVarianceForAnyNumberOfCells) {
  const Counts counts = {1, 0, 4, 4, 9, 2, 0, 0, 3, 5, 1};
  const auto mechanism = wavelet(11, Ratio(1, 2));
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges = {
      {0, 11}, {10, 11}, {0, 6}, {2, 9}, {5, 7}};
  std::vector<double> squares(ranges.size(), 0.0);
  std::vector<double> variances(ranges.size());
  int kept = 0;
  SeededBits bits(2);
  for (int run = 0; run < 3000; ++run) {
    const auto histogram = release_once(mechanism, std::span<const std::int64_t>(counts), bits);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      double truth = 0;
      for (std::uint32_t i = ranges[r].first; i < ranges[r].second; ++i)
        truth += static_cast<double>(counts[i]);
      const RangeEstimate answer = histogram.range({{ranges[r].first}, {ranges[r].second}});
      squares[r] += (answer.value - truth) * (answer.value - truth) / 3000;
      variances[r] = answer.variance;
      kept += std::abs(answer.value - truth) <= answer.half_width ? 1 : 0;
    }
  }
  for (std::size_t r = 0; r < ranges.size(); ++r)
    EXPECT_NEAR(squares[r] / variances[r], 1, 5 * std::sqrt(5.0 / 3000));
  EXPECT_GE(kept, 3000 * 5 * 0.93);
}

TEST(Wavelet, NoRangeHasALargerVarianceThanPromised) {
  for (const std::uint32_t cells : {1u, 2u, 8u, 11u, 64u, 100u}) {
    const auto mechanism = wavelet(cells);
    const RangeHistogram histogram = released(mechanism, Counts(cells, 0));
    double largest = 0;
    for (std::uint32_t i = 0; i < cells; ++i)
      for (std::uint32_t j = i + 1; j <= cells; ++j)
        largest = std::max(largest, histogram.range({{i}, {j}}).half_width);
    EXPECT_LE(largest, mechanism.accuracy().half_width * (1 + 1e-9));
    EXPECT_GE(largest, mechanism.accuracy().half_width / 2);
  }
}

// A row moves the total and one difference of each length: for four cells three numbers, which add up
// to T + (x_0 + x_1 - x_2 - x_3) + (x_0 - x_1) = 3 x_0 + x_1. The twin shares the budget between none.
TEST(Wavelet, SurvivesTheAuditThatCatchesCoefficientsThatAreNotShared) {
  const auto sampler = [](const WaveletHistogram& mechanism, const Counts& counts) {
    return [&, counts](BitSource& bits) {
      const auto cells =
          release_once(mechanism, std::span<const std::int64_t>(counts), bits).cells();
      return std::round(3 * cells[0] + cells[1]);
    };
  };
  const Counts none = {5, 2, 0, 1};
  const Counts more = {6, 2, 0, 1};
  const testing::AuditOptions options{.trials = 6000};
  const auto right = wavelet(4, 1);
  EXPECT_LE(testing::audited_epsilon(sampler(right, none), sampler(right, more), options), 1.0);
  const auto broken = wavelet(4, 3);
  EXPECT_GT(testing::audited_epsilon(sampler(broken, none), sampler(broken, more), options), 1.3);
}

}  // namespace
}  // namespace gauze
