// The size of the noise is what the options say: not divided by the number of coordinates (a synthesiser
// once did), not scaled by the number of records (another did), not added after a division (a third did).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/mechanism/count.h"
#include "gauze/mechanism/gaussian.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/mechanism/mean.h"
#include "gauze/mechanism/sum.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

constexpr int kReleases = 20'000;

/// Mean square of the error of `run()` over many runs. Laplace noise of scale b has 2 b^2 with a
/// standard error of 2 b^2 sqrt(5/runs): 1.6 %. Six of them, 10 %, are exceeded with probability 1e-8.
template <class Run>
double mean_square(Run run) {
  double sum = 0;
  for (int i = 0; i < kReleases; ++i) {
    const double error = run();
    sum += error * error / kReleases;
  }
  return sum;
}

template <class Mechanism>
double released(const Mechanism& mechanism, std::span<const double> values, std::size_t which,
                BitSource& bits) {
  Meter meter(mechanism.event());
  Context context{meter, bits};
  return mechanism.run(values, context).value[which];
}

TEST(NoiseSize, OfEveryCoordinateIsTheScaleInAnyDimension) {
  SeededBits bits(1);
  for (std::uint64_t d = 1; d <= 6; ++d) {
    const Laplace laplace({.l1_sensitivity = 1, .scale = 3, .dimension = d});
    const Gaussian gaussian({.l2_sensitivity = 1, .sigma = 3, .dimension = d});
    const std::vector<double> zeros(d, 0.0);
    for (const std::size_t which : {std::size_t{0}, static_cast<std::size_t>(d - 1)}) {
      EXPECT_NEAR(mean_square([&] { return released(laplace, zeros, which, bits); }), 18, 1.8);
      EXPECT_NEAR(mean_square([&] { return released(gaussian, zeros, which, bits); }), 9, 0.6);
    }
  }
}

TEST(NoiseSize, OfASumDoesNotDependOnTheNumberOfRecords) {
  SeededBits bits(2);
  const Sum sum({.lower = 0, .upper = 10, .epsilon = 1, .relation = Relation::kAddRemove});
  for (const std::size_t n : {std::size_t{10}, std::size_t{10'000}}) {
    const std::vector<double> ones(n, 1.0);
    const int runs =
        n > 100 ? 400 : kReleases;  // the same scale to 40 % suffices to see a factor of n
    double square = 0;
    for (int i = 0; i < runs; ++i) {
      Meter meter(sum.event());
      Context context{meter, bits};
      const double error = sum.run(ones, context).value - static_cast<double>(n);
      square += error * error / runs;
    }
    EXPECT_NEAR(square, 200, runs == kReleases ? 20 : 150);
  }
}

// The count moves a mean as much as the sum does: a mean that divides by the exact, private number of
// records before or after the noise would have an error that vanishes like 1/n in the noise alone, and a
// release for 2 records that tells them from 3. Here the error of n equal records at the upper end is that of sum and
// count together: (e - c * width/2) / n, mean square (2 b^2 + 2 c^2 width^2/4) / n^2.
TEST(NoiseSize, OfAMeanComesFromSumAndCountTogether) {
  SeededBits bits(3);
  const Mean mean({.lower = 0, .upper = 2, .epsilon = 1, .relation = Relation::kAddRemove});
  const std::vector<double> middle(1000, 1.5);
  // Centred at 1: the sum has scale (2/2)/(1/2) = 2, the count 1/(1/2) = 2, sum/count = 0.5.
  const double expected = (2 * 4 + 2 * 4 * 0.25) / (1000.0 * 1000.0);
  const double square = mean_square([&] {
    Meter meter(mean.event());
    Context context{meter, bits};
    return mean.run(middle, context).value - 1.5;
  });
  EXPECT_NEAR(square, expected, 0.12 * expected);
}

}  // namespace
}  // namespace gauze
