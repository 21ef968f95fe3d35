#include "gauze/histogram/rare_noise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "gauze/histogram/count_noise.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using Rows = std::vector<std::int64_t>;

struct Squares {
  double before = 0, after = 0;
};

/// Squared errors of cells, or of sums from the first cell on, with noise of this epsilon over some releases.
Squares squares(const Shape& shape, const Rows& rows, HistogramAim aim, int releases,
                int epsilon = 5) {
  const CountNoise noise = CountNoise::laplace(epsilon, 1);
  testing::SeededBits bits(1);
  Squares sum;
  for (int release = 0; release < releases; ++release) {
    Meter meter(noise.event());
    Context context{meter, bits};
    const Rows noisy = noise.run(rows, context);
    const std::vector<double> cleared =
        without_rare_noise(shape, {noisy.begin(), noisy.end()}, std::exp(-epsilon), aim);
    double off_before = 0;
    double off_after = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double before = static_cast<double>(noisy[i] - rows[i]);
      const double after = cleared[i] - static_cast<double>(rows[i]);
      const bool sums = aim == HistogramAim::kRanges;
      off_before = before + (sums ? off_before : 0);
      off_after = after + (sums ? off_after : 0);
      sum.before += off_before * off_before;
      sum.after += off_after * off_after;
    }
  }
  return sum;
}

// Of 4,096 cells 100 in a row are full, the others are empty: 27 of them get noise of either sign. All of it but
// for that in the full cells and a few beside can be told.
TEST(RareNoise, EmptySpaceLosesIt) {
  for (const Shape& shape : {Shape{{4096}}, Shape{{64, 64}}}) {
    Rows rows(4096, 0);
    for (std::size_t i = 1000; i < 1100; ++i) rows[i] = 1'000'000;
    const Squares cells = squares(shape, rows, HistogramAim::kCells, 20);
    EXPECT_LT(5 * cells.after, cells.before);
    const Squares sums = squares(shape, rows, HistogramAim::kRanges, 20);
    EXPECT_LT(3 * sums.after, sums.before);
  }
}

// 600 single rows in one half of the cells, 7 cells apart, beside an empty half: counts of 1 alone in their block,
// far more than noise explains. Taken for noise, they would be missed by up to 600, which sums with noise are not.
TEST(RareNoise, RowsThatStandAloneStayIfThereAreMany) {
  Rows rows(8400, 0);
  for (std::size_t i = 0; i < 4200; i += 7) rows[i] = 1;
  const Squares sums = squares(Shape{{8400}}, rows, HistogramAim::kRanges, 20);
  EXPECT_LT(sums.after, 1.3 * sums.before);
}

/// The mean number of rows among counts, as rare_noise.md has it, term by term.
double rows_among(int seen, double noise, double shape) {
  double all = 0;
  double sum = 0;
  for (int n = 0; n <= seen; ++n) {
    const double weight = std::tgamma(n + shape) / std::tgamma(n + 1) * std::pow(noise, seen - n) /
                          std::tgamma(seen - n + 1);
    all += weight;
    sum += n * weight;
  }
  return sum / all;
}

double believed(int seen, double noise, double shape) {
  return rows_among(seen, noise, shape) / rows_among(seen, noise, 1);
}

// By hand, 16 cells. The block of the 1 is the first half: 7 zeros. With alpha 1/32 that is 7/32 of a count of noise to
// be expected, 1 seen, and nothing else speaks for rows. With 1/2 it is 7/2, and 1 is no more than chance. The 40
// is too rare to be noise. Then 24 times 1 and 8 times -1, each in a block of 4 with three zeros: 16 more.
TEST(RareNoise, WhatIsLeftOfACountIsWhatNoiseDoesNotExplain) {
  std::vector<double> counts(16, 0.0);
  counts[2] = 1;
  counts[9] = 40;
  counts[13] = 40;
  for (const HistogramAim aim : {HistogramAim::kCells, HistogramAim::kRanges}) {
    const auto left = without_rare_noise(Shape{{16}}, counts, 1.0 / 32, aim);
    EXPECT_NEAR(left[2], (1 - 7.0 / 32) * believed(1, 7.0 / 32, 0.01 * 7 / 16), 1e-12);
    EXPECT_EQ(left[9], 40);
    EXPECT_EQ(without_rare_noise(Shape{{16}}, counts, 1.0 / 2, aim)[2], 0);
    std::vector<double> below = counts;
    below[2] = -1;
    EXPECT_EQ(without_rare_noise(Shape{{16}}, below, 1.0 / 64, aim)[2], 0);
  }
  std::vector<double> many(128, 0.0);
  for (std::size_t i = 0; i < 32; ++i) many[4 * i] = i % 4 == 0 ? -1 : 1;
  const double noise = 32 * 3 * 0.1;
  const auto ranges = without_rare_noise(Shape{{128}}, many, 0.1, HistogramAim::kRanges);
  EXPECT_NEAR(ranges[4], (1 - noise / (16 * 16)) * believed(24, noise, 0.01 * 32 * 3 / 128), 1e-12);
  EXPECT_NEAR(ranges[0], -ranges[4], 1e-12);
}

// The same 1, and in the other half two blocks of 4 with a larger count each. A 2 and a 40: one size less, of which
// one is like a 1: 1/2 more. Two of 3 are enough for 1. A 4 is not like a 1.
TEST(RareNoise, LargerCountsSpeakForRows) {
  const double noise = 7.0 / 64;
  for (const auto& [one, other, alike] :
       {std::array{2.0, 40.0, 0.5}, std::array{3.0, 3.0, 1.0}, std::array{4.0, 40.0, 0.0}}) {
    std::vector<double> counts(16, 0.0);
    counts[2] = 1;
    counts[9] = one;
    counts[13] = other;
    EXPECT_NEAR(without_rare_noise(Shape{{16}}, counts, 1.0 / 64, HistogramAim::kCells)[2],
                (1 - noise) * believed(1, noise, std::min(1.0, 0.01 * 7 / 16 + alike)), 1e-12);
  }
}

// 100 full cells along one side of 65,536: some 6 others get noise at epsilon 10. A single +1 in a block where few
// zeros are would be taken for a row if it was not asked what else there is: a tenth of the error of sums was left.
TEST(RareNoise, NothingIsLeftWhereAllThatIsFullIsLarge) {
  Rows rows(65536, 0);
  for (std::size_t i = 0; i < 100; ++i) rows[i] = 1000;
  for (const HistogramAim aim : {HistogramAim::kCells, HistogramAim::kRanges}) {
    const Squares sum = squares(Shape{{256, 256}}, rows, aim, 20, 10);
    EXPECT_LT(40 * sum.after, sum.before);
  }
}

// Where all cells are full, no count stands in empty space.
TEST(RareNoise, OtherCountsAreLeftAsTheyAre) {
  const std::vector<double> full(64, 1.0);
  for (const HistogramAim aim : {HistogramAim::kCells, HistogramAim::kRanges})
    EXPECT_EQ(without_rare_noise(Shape{{8, 8}}, full, 1e-3, aim), full);
  EXPECT_EQ(without_rare_noise(Shape{{1}}, {0.0}, 1e-3, HistogramAim::kCells)[0], 0.0);
}

}  // namespace
}  // namespace gauze
