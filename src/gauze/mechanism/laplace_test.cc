#include "gauze/mechanism/laplace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/numeric/exact_sum.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::audited_epsilon;
using testing::release_once;
using testing::SeededBits;

Laplace laplace(const Ratio& sensitivity, const Ratio& scale, std::uint64_t dimension = 1) {
  return Laplace({.l1_sensitivity = sensitivity, .scale = scale, .dimension = dimension});
}

/// `count` draws of the mechanism at 0 from one vector release.
std::vector<double> noise(const Ratio& scale, std::uint64_t count, std::uint64_t seed) {
  SeededBits bits(seed);
  return release_once(laplace(1, scale, count), std::span<const double>(std::vector<double>(count)),
                      bits);
}

TEST(Laplace, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(laplace(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(laplace(-1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(laplace(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(laplace(1, -2), ErrorCode::kInvalidOption);
  EXPECT_ERROR(laplace(1, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(laplace(1, 1).accuracy(1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(laplace(1, 1).accuracy(NAN), ErrorCode::kInvalidOption);
}

TEST(Laplace, CostsExactlySensitivityOverScaleWhateverTheRounding) {
  for (const Ratio& sensitivity : {Ratio(1), Ratio(1, 10), Ratio(7, 3), parse_ratio("1e-300")}) {
    for (const std::uint64_t dimension : {1u, 2u, 1000u}) {
      for (const Ratio& scale : {Ratio(1), Ratio(10, 3), parse_ratio("1e12")}) {
        const Laplace mechanism = laplace(sensitivity, scale, dimension);
        EXPECT_EQ(pure_epsilon(mechanism.event()), Ratio(sensitivity / scale));
      }
    }
  }
}

TEST(Laplace, PaysForRoundingWithNoMoreThanOnePartIn65536OfNoise) {
  for (const std::uint64_t dimension : {1u, 7u, 100000u}) {
    const Laplace mechanism = laplace(Ratio(1, 10), Ratio(1), dimension);
    const auto event = std::get<events::DiscreteLaplace>(mechanism.event().kind);
    const Ratio scale = event.scale * mechanism.lattice_step();
    EXPECT_GE(scale, 1);
    EXPECT_LE(scale, 1 + power_of_two(-15));
    // The sensitivity in steps covers the worst case of rounding every coordinate.
    EXPECT_GE(event.l1_sensitivity * mechanism.lattice_step(),
              Ratio(1, 10) + Ratio(Integer(dimension - 1)) * mechanism.lattice_step());
  }
}

// Coverage of 95 %: 20,000 draws stay above 0.9423 except with probability 3e-7.
TEST(Laplace, KeepsItsAccuracyPromise) {
  const double promised = laplace(1, 3).accuracy(0.95).half_width;
  EXPECT_NEAR(promised, 3 * std::log(20.0), 1e-3);
  const auto draws = noise(3, 20000, 11);
  const auto kept =
      std::count_if(draws.begin(), draws.end(), [&](double z) { return std::abs(z) <= promised; });
  EXPECT_GE(kept, 20000 * 0.9423);
  EXPECT_LE(kept, 20000 * 0.9577);
}

// Ten coordinates: all of them within ln(200) with probability 0.951110, while the l1 norm is that
// small only with probability 0.043980. Five standard deviations over 20,000 vectors.
TEST(Laplace, PromisesTheLargestErrorOfAVectorNotItsSum) {
  const double radius = laplace(1, 1, 10).joint_accuracy(0.95).half_width;
  EXPECT_NEAR(radius, 5.29832, 1e-3);
  const auto draws = noise(1, 200000, 12);
  int largest = 0;
  int sum = 0;
  for (std::size_t i = 0; i < draws.size(); i += 10) {
    double most = 0;
    double total = 0;
    for (std::size_t j = i; j < i + 10; ++j) {
      most = std::max(most, std::abs(draws[j]));
      total += std::abs(draws[j]);
    }
    largest += most <= radius ? 1 : 0;
    sum += total <= radius ? 1 : 0;
  }
  EXPECT_NEAR(largest / 20000.0, 0.951110, 0.0077);
  EXPECT_NEAR(sum / 20000.0, 0.043980, 0.0073);
}

// 10^6 draws, five standard deviations or more: variance 2 +- 0.0224 and tail 0.05 +- 0.0011 at
// scale 1; mean size 2 +- 0.01 and variance 8 +- 0.1 at scale 2.
TEST(Laplace, HasTheMomentsOfItsScaleNotOfItsStandardDeviation) {
  const auto unit = noise(1, 1000000, 13);
  double squares = 0;
  double tail = 0;
  for (const double z : unit) {
    squares += z * z;
    tail += std::abs(z) > 2.9957 ? 1 : 0;
  }
  EXPECT_NEAR(squares / 1e6, 2.0, 0.0224);
  EXPECT_NEAR(tail / 1e6, 0.05, 0.0011);
  const auto two = noise(2, 1000000, 14);
  double sizes = 0;
  squares = 0;
  for (const double z : two) {
    sizes += std::abs(z);
    squares += z * z;
  }
  EXPECT_NEAR(sizes / 1e6, 2.0, 0.01);
  EXPECT_NEAR(squares / 1e6, 8.0, 0.1);
}

// E|sum of r draws| for r = 1, 2, 4, 16, 100, on 10^6 draws in all; six standard errors.
TEST(Laplace, SumsOfDrawsGrowAsIndependentOnesDo) {
  const auto draws = noise(1, 1000000, 15);
  const std::vector<std::pair<std::size_t, double>> expected = {
      {1, 1}, {2, 1.5}, {4, 2.1875}, {16, 4.4784}, {100, 11.2697}};
  for (const auto& [terms, mean] : expected) {
    double total = 0;
    const std::size_t groups = draws.size() / terms;
    for (std::size_t g = 0; g < groups; ++g) {
      double sum = 0;
      for (std::size_t i = 0; i < terms; ++i) sum += draws[g * terms + i];
      total += std::abs(sum);
    }
    const double error = std::sqrt(2.0 * static_cast<double>(terms) / static_cast<double>(groups));
    EXPECT_NEAR(total / static_cast<double>(groups), mean, 6 * error);
  }
}

/// Draws from the textbook: inverse cumulative distribution in doubles.
double textbook_laplace(double value, double scale, BitSource& bits) {
  const double u = (static_cast<double>(bits.next() >> 11) + 0.5) * 0x1p-53 - 0.5;
  return value - scale * std::copysign(std::log1p(-2 * std::abs(u)), u);
}

TEST(Laplace, ReleasesLieOnOneGridThatDoesNotDependOnTheValue) {
  const Laplace mechanism = laplace(1, 1);
  const double step = nearest_double(mechanism.lattice_step());
  EXPECT_EQ(step, 0x1p-16);
  SeededBits bits(16);
  int textbook_off_grid = 0;
  for (const double x : {0.0, 1.0, 0x1p-30, 1e9}) {
    std::vector<std::uint64_t> parity(2);
    for (int i = 0; i < 20000; ++i) {
      const double steps = release_once(mechanism, x, bits) / step;
      ASSERT_EQ(steps, std::floor(steps)) << x;
      parity[std::fmod(std::abs(steps), 2) == 0 ? 0 : 1] += 1;
      const double naive = textbook_laplace(x, 1, bits) / step;
      textbook_off_grid += naive != std::floor(naive) ? 1 : 0;
    }
    // The last bit is fair: p-values below 1e-6 have that probability.
    EXPECT_GT(testing::chi_square_p(parity, std::vector<double>{0.5, 0.5}), 1e-6) << x;
  }
  EXPECT_GT(textbook_off_grid, 50000);  // the test would catch it
}

TEST(Laplace, SurvivesTheAuditThatCatchesHalvedNoise) {
  const auto at = [](const Laplace& mechanism, double x) {
    return [&mechanism, x](BitSource& bits) { return release_once(mechanism, x, bits); };
  };
  const testing::AuditOptions options{.trials = 20000, .seed = 3};
  const Laplace right = laplace(1, 2);
  const Laplace halved = laplace(1, 1);
  const double epsilon = audited_epsilon(at(right, 0), at(right, 1), options);
  EXPECT_LE(epsilon, 0.5);
  EXPECT_GT(epsilon, 0.35);
  EXPECT_GT(audited_epsilon(at(halved, 0), at(halved, 1), options), 0.5);
}

TEST(Laplace, DrawsOfOneReleaseAreUncorrelated) {
  const auto draws = noise(1, 100000, 17);
  const std::span<const double> all(draws);
  // Standard deviation of a correlation is 1/sqrt(50,000): six of them.
  EXPECT_LT(std::abs(testing::correlation(all.first(50000), all.subspan(50000))), 0.027);
  EXPECT_LT(std::abs(testing::correlation(all.first(50000), all.subspan(1, 50000))), 0.027);
}

TEST(Laplace, RefusesValuesThatAreNoNumbers) {
  SeededBits bits(1);
  EXPECT_ERROR(release_once(laplace(1, 1), static_cast<double>(NAN), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(release_once(laplace(1, 1), static_cast<double>(INFINITY), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(release_once(laplace(1, 1, 3), std::span<const double>(), bits),
               ErrorCode::kInvalidInput);
}

TEST(Laplace, IsRightAtTheEndsOfTheRangeOfDoubles) {
  SeededBits bits(18);
  const double huge = release_once(laplace(1, 1), 1e308, bits);
  EXPECT_EQ(huge, 1e308);  // noise of 1 is below its last bit
  const Laplace tiny_epsilon = laplace(1, parse_ratio("1e308"));
  EXPECT_EQ(pure_epsilon(tiny_epsilon.event()), parse_ratio("1e-308"));
  EXPECT_GT(std::abs(release_once(tiny_epsilon, 0.0, bits)), 1e300);
  const Laplace huge_epsilon = laplace(1, parse_ratio("1e-308"));
  EXPECT_NEAR(release_once(huge_epsilon, 0.5, bits), 0.5, 1e-15);
}

}  // namespace
}  // namespace gauze
