#include <gtest/gtest.h>
#include <time.h>

#include <cmath>

#include "gauze/noise/additive.h"
#include "gauze/testing/plain_noise.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::chi_square_p;
using testing::SeededBits;

/// P(|X| in cell) of a discrete Laplace or Gaussian law, cells of `width` integers, by summing.
template <class Phi>
double chi_square_of_cells(const AdditiveNoise& noise, Phi phi, std::int64_t width, int cells,
                           std::uint64_t seed) {
  std::vector<double> mass(static_cast<std::size_t>(2 * cells + 2), 0);
  double total = 0;
  const std::int64_t reach = width * cells;
  const auto cell_of = [&](std::int64_t x) {
    if (x < -reach) return std::size_t{0};
    if (x >= reach) return mass.size() - 1;
    return static_cast<std::size_t>((x + reach) / width) + 1;
  };
  for (std::int64_t x = -4 * reach; x <= 4 * reach; ++x) {
    const double p = std::exp(-phi(std::fabs(static_cast<double>(x))));
    mass[cell_of(x)] += p;
    total += p;
  }
  for (double& p : mass) p /= total;
  SeededBits bits(seed);
  std::vector<std::uint64_t> observed(mass.size(), 0);
  std::vector<std::int64_t> batch(10'000);
  for (int round = 0; round < 1000; ++round) {  // 10^7 draws
    noise.fill(batch, bits);
    for (const std::int64_t x : batch) ++observed[cell_of(x)];
  }
  return chi_square_p(observed, mass);
}

// 10^7 draws, centre and tails, several denominators; p < 1e-9 for one seed in 10^9.
TEST(AdditiveNoiseSlow, TenMillionDiscreteLaplaceDrawsFitCentreAndTails) {
  std::uint64_t seed = 100;
  for (const Ratio& scale :
       {Ratio(1), Ratio(7, 3), Ratio(355, 113), Ratio(1000, 999), Ratio(64), Ratio(100'003, 17)}) {
    const double s = scale.convert_to<double>();
    const auto width = std::max<std::int64_t>(1, static_cast<std::int64_t>(s / 16));
    EXPECT_GT(chi_square_of_cells(
                  AdditiveNoise::discrete_laplace(scale), [&](double x) { return x / s; }, width,
                  320, ++seed),
              1e-9)
        << scale;
  }
}

TEST(AdditiveNoiseSlow, TenMillionDiscreteGaussianDrawsFitCentreAndTails) {
  std::uint64_t seed = 200;
  for (const Ratio& sigma :
       {Ratio(1), Ratio(7, 3), Ratio(355, 113), Ratio(1000, 999), Ratio(64), Ratio(100'003, 17)}) {
    const double s = sigma.convert_to<double>();
    const auto width = std::max<std::int64_t>(1, static_cast<std::int64_t>(s / 16));
    EXPECT_GT(chi_square_of_cells(
                  AdditiveNoise::discrete_gaussian(sigma * sigma),
                  [&](double x) { return x * x / (2 * s * s); }, width, 100, ++seed),
              1e-9)
        << sigma;
  }
}

TEST(AdditiveNoiseSlow, TheUniformTimeModeHasTheSameDistribution) {
  EXPECT_GT(chi_square_of_cells(
                AdditiveNoise::discrete_gaussian(Ratio(49, 9), Timing::kUniform),
                [](double x) { return x * x * 9 / 98; }, 1, 20, 301),
            1e-9);
}

/// Correlation of the time of a draw with the size of what it drew.
template <class Draw>
double time_leak(std::size_t draws, double longest, Draw draw) {
  std::vector<double> times(draws);
  std::vector<double> sizes(draws);
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  for (std::size_t i = 0; i < draws; ++i) {
    const double start = now();
    const std::int64_t value = draw();
    const double stop = now();
    // A draw that was interrupted says nothing about the sampler.
    times[i] = std::min(stop - start, longest);
    sizes[i] = std::fabs(static_cast<double>(value));
  }
  return testing::correlation(times, sizes);
}

// F12. Without a leak the correlation of 10^6 draws has standard deviation 0.001, so |r| > 0.01 has
// probability below 1e-20.
TEST(AdditiveNoiseSlow, InUniformTimeModeTheTimeOfADrawSaysNothingAboutItsSize) {
  SeededBits bits(1);
  for (const auto& noise : {AdditiveNoise::discrete_laplace(Ratio(1000), Timing::kUniform),
                            AdditiveNoise::discrete_gaussian(Ratio(1'000'000), Timing::kUniform)}) {
    EXPECT_LT(std::fabs(time_leak(1'000'000, 1000, [&] { return noise.draw(bits); })), 0.01);
  }
}

// The broken twin: the textbook sampler, whose loops run longer for larger values.
TEST(AdditiveNoiseSlow, TheTimingTestCatchesTheTextbookSampler) {
  SeededBits bits(2);
  EXPECT_GT(std::fabs(time_leak(
                50'000, 50'000,
                [&] { return saturate(testing::plain_discrete_laplace(bits, Ratio(1000))); })),
            0.05);
}

}  // namespace
}  // namespace gauze
