#include "gauze/noise/additive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "gauze/noise/additive_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/plain_noise.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::chi_square_p;
using testing::kSignificance;
using testing::SeededBits;

// Every chi-square test below asserts p > 1e-9: a right sampler fails it for one seed in 10^9, and
// the seeds are fixed.

double laplace_mass(std::int64_t x, double scale) {
  return std::tanh(1 / (2 * scale)) * std::exp(-std::fabs(static_cast<double>(x)) / scale);
}

double gaussian_normaliser(double sigma) {
  double sum = 1;
  for (double x = 1; x < 40 * sigma + 40; ++x) sum += 2 * std::exp(-x * x / (2 * sigma * sigma));
  return sum;
}

TEST(AdditiveNoise, RejectsScalesThatAreNotPositive) {
  for (const Ratio& bad : {Ratio(0), Ratio(-1, 3)}) {
    EXPECT_ERROR(AdditiveNoise::discrete_laplace(bad), ErrorCode::kInvalidOption);
    EXPECT_ERROR(AdditiveNoise::discrete_gaussian(bad), ErrorCode::kInvalidOption);
    EXPECT_ERROR(AdditiveNoise::geometric(bad), ErrorCode::kInvalidOption);
  }
}

std::vector<AdditiveNoise> assorted() {
  std::vector<AdditiveNoise> all;
  for (const Ratio& scale : {Ratio(1, 1000), Ratio(1, 3), Ratio(1), Ratio(7, 3), Ratio(1000, 7),
                             power_of_two(30), power_of_two(200) + Ratio(1, 3)}) {
    all.push_back(AdditiveNoise::discrete_laplace(scale));
    all.push_back(AdditiveNoise::discrete_gaussian(scale * scale));
    all.push_back(AdditiveNoise::geometric(scale));
  }
  return all;
}

// The argument's first half, checked with integers: the proposal is the distribution the weights
// say.
TEST(AdditiveNoise, ColumnsRedistributeExactlyTheWeights) {
  for (const AdditiveNoise& noise : assorted()) {
    const auto t = noise_internal::inspect(noise);
    std::vector<Integer> mass(std::size_t{1} << t.index_bits, 0);
    const Integer capacity = Integer(1) << (64 - t.index_bits);
    for (std::size_t c = 0; c < t.columns.size(); ++c) {
      const Integer threshold = t.columns[c] >> t.index_bits;
      mass[c] += threshold;
      mass[t.columns[c] & (t.columns.size() - 1)] += capacity - threshold;
    }
    Integer total = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) {
      EXPECT_EQ(mass[i], Integer(t.weights[i]));
      total += mass[i];
    }
    EXPECT_EQ(total, Integer(1) << 64);
  }
}

// The second half: what corrects the proposal is a probability everywhere, and the 32-bit short cut
// accepts nothing that the exact comparison could refuse.
TEST(AdditiveNoise, AcceptanceIsAProbabilityAndTheShortCutIsBelowIt) {
  const Ratio scale(1000, 7);
  for (const bool gaussian : {false, true}) {
    const auto noise = gaussian ? AdditiveNoise::discrete_gaussian(scale * scale)
                                : AdditiveNoise::discrete_laplace(scale);
    const auto t = noise_internal::inspect(noise);
    for (std::uint64_t b = 0; b < t.buckets; ++b) {
      for (const Integer& place : {Integer(0), (Integer(1) << t.width) - 1}) {
        const Ratio x(abs(((Integer(b) - t.left) << t.width) + place));
        const Ratio phi = gaussian ? Ratio(x * x / (2 * scale * scale)) : Ratio(x / scale);
        const Interval accept = Interval(t.kappa, 256) * Interval(power_of_two(64), 256) *
                                exp(-Interval(phi, 256)) / Interval(Integer(t.weights[b]), 256);
        EXPECT_LE(accept.upper(), 1);
        EXPECT_LE(t.sure[b] * 0x1p-32, accept.lower());
      }
    }
  }
}

TEST(AdditiveNoise, DiscreteLaplaceHasItsProbabilities) {
  for (const auto& [scale, seed] : {std::pair{Ratio(1, 2), 1},
                                    {Ratio(1), 2},
                                    {Ratio(7, 3), 3},
                                    {Ratio(22, 7), 4},
                                    {Ratio(100), 5}}) {
    const double s = scale.convert_to<double>();
    const auto noise = AdditiveNoise::discrete_laplace(scale);
    SeededBits bits(static_cast<std::uint64_t>(seed));
    const auto reach = static_cast<std::int64_t>(13 * s) + 1;
    const double below = laplace_mass(-reach - 1, s) / -std::expm1(-1 / s);
    EXPECT_GT(chi_square_p([&] { return noise.draw(bits); }, 400'000, -reach, reach,
                           [&](std::int64_t x) { return laplace_mass(x, s); }, below),
              kSignificance)
        << scale;
  }
}

TEST(AdditiveNoise, DiscreteGaussianHasItsProbabilities) {
  for (const auto& [square, seed] : {std::pair{Ratio(1, 4), 1},
                                     {Ratio(1), 2},
                                     {Ratio(49, 9), 3},
                                     {Ratio(30), 4},
                                     {Ratio(10'000), 5}}) {
    const double s = std::sqrt(square.convert_to<double>());
    const double normaliser = gaussian_normaliser(s);
    const auto mass = [&](std::int64_t x) {
      return std::exp(-static_cast<double>(x * x) / (2 * s * s)) / normaliser;
    };
    const auto noise = AdditiveNoise::discrete_gaussian(square);
    SeededBits bits(static_cast<std::uint64_t>(seed));
    const auto reach = static_cast<std::int64_t>(5 * s) + 1;
    double below = 0;
    for (std::int64_t x = reach + 1; x < 40 * reach; ++x) below += mass(x);
    EXPECT_GT(chi_square_p([&] { return noise.draw(bits); }, 400'000, -reach, reach, mass, below),
              kSignificance)
        << square;
  }
}

TEST(AdditiveNoise, GeometricHasItsProbabilities) {
  const Ratio scale(17, 5);
  const double s = scale.convert_to<double>();
  const auto noise = AdditiveNoise::geometric(scale);
  SeededBits bits(5);
  EXPECT_GT(chi_square_p([&] { return noise.draw(bits); }, 400'000, 0, 45,
                         [&](std::int64_t x) {
                           return -std::expm1(-1 / s) * std::exp(-static_cast<double>(x) / s);
                         },
                         0),
            kSignificance);
}

// A test that cannot fail is no test: a scale that is 2 % off is caught.
TEST(AdditiveNoise, TheTestsCatchAScaleThatIsTwoPercentOff) {
  const auto noise = AdditiveNoise::discrete_laplace(Ratio(714, 300));  // 1.02 * 7/3
  const double s = 7.0 / 3;
  SeededBits bits(3);
  const double below = laplace_mass(-32, s) / -std::expm1(-1 / s);
  EXPECT_LT(chi_square_p([&] { return noise.draw(bits); }, 400'000, -31, 31,
                         [&](std::int64_t x) { return laplace_mass(x, s); }, below),
            kSignificance);
}

// Tables that stop after one scale meet the tail in a third of the draws; the distribution must not
// care.
TEST(AdditiveNoise, TailsBeyondTheTableAreExactToo) {
  const Ratio scale(40);
  const auto laplace = noise_internal::make_additive(
      {.linear = Ratio(1) / scale, .quadratic = 0, .two_sided = true, .extent = scale});
  SeededBits bits(11);
  EXPECT_GT(chi_square_p([&] { return laplace.draw(bits); }, 30'000, -400, 400,
                         [&](std::int64_t x) { return laplace_mass(x, 40); },
                         laplace_mass(-401, 40) / -std::expm1(-1.0 / 40)),
            kSignificance);
  const auto gaussian = noise_internal::make_additive({.linear = 0,
                                                       .quadratic = Ratio(1) / (2 * scale * scale),
                                                       .two_sided = true,
                                                       .extent = scale});
  const double normaliser = gaussian_normaliser(40);
  const auto mass = [&](std::int64_t x) {
    return std::exp(-static_cast<double>(x * x) / 3200) / normaliser;
  };
  double below = 0;
  for (std::int64_t x = 161; x < 2000; ++x) below += mass(x);
  EXPECT_GT(chi_square_p([&] { return gaussian.draw(bits); }, 30'000, -160, 160, mass, below),
            kSignificance);
}

// Scales far beyond a double's mantissa: the fractional position x / scale must be Laplace all the
// same.
TEST(AdditiveNoise, HugeScalesKeepTheirShape) {
  const Ratio scale = power_of_two(300) / 3;
  const auto noise = AdditiveNoise::discrete_laplace(scale);
  SeededBits bits(12);
  // Cells of half a scale: P(cell k) = (1 - e^-1/2) e^(-k/2) / 2 on each side.
  const auto cell = [&] {
    const Integer x = noise.draw_integer(bits);
    const auto k = floor(Ratio(abs(x)) * 2 / scale).convert_to<std::int64_t>();
    return x < 0 ? -k - 1 : k;
  };
  const auto mass = [](std::int64_t c) {
    const double k = c < 0 ? static_cast<double>(-c - 1) : static_cast<double>(c);
    return -std::expm1(-0.5) * std::exp(-k / 2) / 2;
  };
  EXPECT_GT(chi_square_p(cell, 100'000, -20, 19, mass, std::exp(-10) / 2), kSignificance);
  // In 64 bits such a draw saturates instead of wrapping.
  const std::int64_t clipped = noise.draw(bits);
  EXPECT_TRUE(clipped == INT64_MAX || clipped == INT64_MIN);
}

TEST(AdditiveNoise, TinyScalesAreAlmostAlwaysZero) {
  SeededBits bits(13);
  for (const auto& noise : {AdditiveNoise::discrete_laplace(Ratio(1, 1'000'000)),
                            AdditiveNoise::discrete_gaussian(parse_ratio("1e-400"))}) {
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(noise.draw(bits), 0);
  }
}

TEST(AdditiveNoise, BatchesEqualSingleDraws) {
  const auto noise = AdditiveNoise::discrete_gaussian(Ratio(1234, 5));
  SeededBits one(14);
  SeededBits many(14);
  std::vector<std::int64_t> batch(1000);
  noise.fill(batch, many);
  for (const std::int64_t value : batch) EXPECT_EQ(value, noise.draw(one));
}

// F11: two vectors drawn in one release share nothing. Over 10^5 pairs an independent correlation
// exceeds 0.02 with probability below 1e-9.
TEST(AdditiveNoise, TwoVectorsFromOneSourceAreUncorrelated) {
  const auto noise = AdditiveNoise::discrete_laplace(Ratio(50));
  SeededBits bits(15);
  const auto vector = [&] {
    std::vector<std::int64_t> values(100'000);
    noise.fill(values, bits);
    return std::vector<double>(values.begin(), values.end());
  };
  EXPECT_LT(std::fabs(testing::correlation(vector(), vector())), 0.02);
}

// The plain twin and the production sampler agree: two-sample chi-square through the exact masses
// is done above; here the twin itself is held to the same masses, so both stand on the formula.
TEST(AdditiveNoise, ThePlainTwinHasTheSameProbabilities) {
  SeededBits bits(16);
  const double s = 7.0 / 3;
  EXPECT_GT(
      chi_square_p([&] { return saturate(testing::plain_discrete_laplace(bits, Ratio(7, 3))); },
                   40'000, -20, 20, [&](std::int64_t x) { return laplace_mass(x, s); },
                   laplace_mass(-21, s) / -std::expm1(-1 / s)),
      kSignificance);
  const double normaliser = gaussian_normaliser(s);
  const auto mass = [&](std::int64_t x) {
    return std::exp(-static_cast<double>(x * x) / (2 * s * s)) / normaliser;
  };
  EXPECT_GT(
      chi_square_p([&] { return saturate(testing::plain_discrete_gaussian(bits, Ratio(49, 9))); },
                   40'000, -12, 12, mass, 0),
      kSignificance);
}

// The tail's weight needs 1 - e^-slope where the slope is far below the smallest double.
TEST(AdditiveNoise, CoversItsTailAtScalesBeyondTheDoubles) {
  for (const char* scale : {"1e300", "1e310", "1e322", "1e330", "1e4000"}) {
    const auto table = noise_internal::inspect(AdditiveNoise::geometric(parse_ratio(scale)));
    // Beyond 44 scales lie e^-44 of the mass; the proposal gives that much, to rounding up.
    const double tail = static_cast<double>(table.weights[table.buckets]) * 0x1p-64;
    EXPECT_GT(tail, std::exp(-46.0)) << scale;
    EXPECT_LT(tail, std::exp(-43.0)) << scale;
  }
}

}  // namespace
}  // namespace gauze
