#include "gauze/histogram/noise_first.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/histogram/flat.h"
#include "gauze/histogram/segments.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

NoiseFirstHistogram noise_first(std::uint32_t cells, Ratio epsilon = 1, Ratio delta = 0,
                                double price = 16) {
  return NoiseFirstHistogram({.shape = Shape{{cells}},
                              .epsilon = epsilon,
                              .rows_per_unit = 1u,
                              .delta = delta,
                              .segment_price = price});
}

/// The least cost over all ways to cut, by trying them, and the cost of one way.
double segment_cost(std::span<const double> values, double price) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double sum = price;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}
double least_cost(std::span<const double> values, double price) {
  std::vector<double> best(values.size() + 1, INFINITY);
  best[0] = 0;
  for (std::size_t end = 1; end <= values.size(); ++end)
    for (std::size_t begin = 0; begin < end; ++begin)
      best[end] = std::min(best[end],
                           best[begin] + segment_cost(values.subspan(begin, end - begin), price));
  return best.back();
}

TEST(Segments, CostAsLittleAsTheBestOfAll) {
  SeededBits bits(1);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> values(1 + uniform_below(bits, 30));
    const double far = trial % 3 == 0 ? 1e9 : 0;
    for (double& value : values) value = far + static_cast<double>(uniform_below(bits, 25));
    const double price = static_cast<double>(uniform_below(bits, 60));
    const auto begins = cut_into_segments(values, price);
    double cost = 0;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
      cost += segment_cost(std::span(values).subspan(begins[i], begins[i + 1] - begins[i]), price);
    EXPECT_NEAR(cost, least_cost(values, price), 1e-4 * (1 + price));
  }
}

TEST(NoiseFirst, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(noise_first(4, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(noise_first(4, 1, 0, -1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(noise_first(4, 1, 0, NAN), ErrorCode::kInvalidOption);
  EXPECT_ERROR(NoiseFirstHistogram({.shape = Shape{{2, 2}}, .epsilon = 1, .rows_per_unit = 1u}),
               ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(noise_first(4), Counts(3), bits), ErrorCode::kInvalidInput);
}

TEST(NoiseFirst, KeepsTheContract) {
  testing::expect_contract(noise_first(4), Counts{0, 0, 9, 1}, Counts(4, 0));
  testing::expect_contract(noise_first(4, 1, Ratio(1, 100000)), Counts{0, 0, 9, 1}, Counts(4, 0));
}

// Merging is post-processing: the same bits give the flat histogram's values, averaged.
TEST(NoiseFirst, MergesWhatTheFlatHistogramReleases) {
  const Counts counts = {0, 0, 0, 500, 500, 500, 0, 0};
  const FlatHistogram flat({.shape = Shape{{8}}, .epsilon = 1, .rows_per_unit = 1u});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SeededBits a(seed);
    SeededBits b(seed);
    const RangeHistogram noisy = release_once(flat, counts, a);
    const RangeHistogram merged = release_once(noise_first(8), counts, b);
    for (const auto& leaf : merged.partition()) {
      EXPECT_NEAR(leaf.value, noisy.range(leaf.box).value, 1e-9);
      EXPECT_NEAR(leaf.variance, noisy.range(leaf.box).variance, 1e-9);
    }
    EXPECT_EQ(merged.leaves(), 3u);
  }
}

// Empty cells: the mean of 1,000 draws of variance V in every cell, against V each. A ratio above 1/20 has
// probability below 1e-6.
TEST(NoiseFirst, HasFarSmallerErrorsInEvenRegions) {
  const Counts counts(1000, 0);
  SeededBits bits(3);
  double squares = 0;
  for (int i = 0; i < 20; ++i)
    for (const double cell : release_once(noise_first(1000), counts, bits).cells())
      squares += cell * cell / 20000;
  const FlatHistogram flat({.shape = Shape{{1000}}, .epsilon = 1, .rows_per_unit = 1u});
  const double variance = release_once(flat, counts, bits).range({{0}, {1}}).variance;
  EXPECT_LT(squares, variance / 20);
}

// With everything in one segment the partition is given, and the stated variance is that of the total.
// 2,000 releases; within 15 % except with probability below 1e-9.
TEST(NoiseFirst, StatesTheVarianceOfItsNoise) {
  const Counts counts(6, 10);
  SeededBits bits(4);
  double squares = 0;
  double stated = 0;
  for (int i = 0; i < 2000; ++i) {
    const RangeEstimate total = release_once(noise_first(6, 1, 0, 1000), counts, bits).total();
    squares += (total.value - 60) * (total.value - 60) / 2000;
    stated = total.variance;
  }
  EXPECT_NEAR(squares / stated, 1, 0.15);
}

// Merging 7 and 0 costs 24.5, 8 and 0 32; a segment more 16 variances of 1.84, so 29.5.
TEST(NoiseFirst, SurvivesTheAuditThatCatchesSegmentsOfTrueCounts) {
  const auto first = [](std::int64_t count) {
    return [count](BitSource& bits) {
      return std::round(release_once(noise_first(2), Counts{count, 0}, bits).cells()[0]);
    };
  };
  const testing::AuditOptions options{.trials = 3000};
  EXPECT_LE(testing::audited_epsilon(first(7), first(8), options), 1);
  // The twin cuts the true counts: whether there is a cut says which they are.
  const auto twin = [](double count) {
    return [count](BitSource&) {
      const std::vector<double> values = {count, 0};
      return static_cast<double>(cut_into_segments(values, 29.5).size());
    };
  };
  EXPECT_GT(testing::audited_epsilon(twin(7), twin(8), options), 1);
}

TEST(NoiseFirst, TakesOneCellNoRowsAndTheLargestCounts) {
  SeededBits bits(6);
  EXPECT_EQ(release_once(noise_first(1), Counts{7}, bits).leaves(), 1u);
  EXPECT_EQ(release_once(noise_first(1 << 16), Counts(1 << 16, 0), bits).cells().size(), 1u << 16);
  Counts huge(100, 0);
  huge[50] = std::int64_t{1} << 62;
  EXPECT_NEAR(release_once(noise_first(100), huge, bits).cells()[50], 0x1p62, 0x1p20);
}

}  // namespace
}  // namespace gauze
