#include "gauze/mechanism/gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
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

Gaussian gaussian(const Ratio& sensitivity, const Ratio& sigma, std::uint64_t dimension = 1) {
  return Gaussian({.l2_sensitivity = sensitivity, .sigma = sigma, .dimension = dimension});
}

TEST(Gaussian, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(gaussian(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(gaussian(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(gaussian(1, -1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(gaussian(1, 1, 0), ErrorCode::kInvalidOption);
}

TEST(Gaussian, CostsExactlyTheRhoOfItsOptionsWhateverTheRounding) {
  for (const Ratio& sensitivity : {Ratio(1), Ratio(1, 10), Ratio(7, 3)}) {
    for (const std::uint64_t dimension : {1u, 2u, 1000u}) {
      const Ratio sigma(13, 4);
      const Ratio rho = sensitivity * sensitivity / (2 * sigma * sigma);
      EXPECT_EQ(zcdp_rho(gaussian(sensitivity, sigma, dimension).event()), rho);
      EXPECT_EQ(pure_epsilon(gaussian(sensitivity, sigma, dimension).event()), std::nullopt);
    }
  }
}

// 20,000 draws: coverage of a true 95 % lies within 0.9423 and 0.9577 except with probability 6e-7.
TEST(Gaussian, KeepsItsAccuracyPromise) {
  const double promised = gaussian(1, 3).accuracy(0.95).half_width;
  EXPECT_NEAR(promised, 3 * 1.959963984540054, 1e-4);
  SeededBits bits(2);
  const std::vector<double> zeros(20000);
  const auto draws = release_once(gaussian(1, 3, 20000), std::span<const double>(zeros), bits);
  double squares = 0;
  int kept = 0;
  for (const double z : draws) {
    squares += z * z;
    kept += std::abs(z) <= promised ? 1 : 0;
  }
  EXPECT_GE(kept, 20000 * 0.9423);
  EXPECT_LE(kept, 20000 * 0.9577);
  EXPECT_NEAR(squares / 20000, 9, 9 * 5 * std::sqrt(2.0 / 20000));  // five standard deviations
}

/// delta at epsilon of normal noise with sensitivity/sigma = shift.
double gaussian_delta(double shift, double epsilon) {
  const auto phi = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  return phi(shift / 2 - epsilon / shift) - std::exp(epsilon) * phi(-shift / 2 - epsilon / shift);
}

TEST(Gaussian, SurvivesTheAuditThatCatchesHalvedNoise) {
  const double delta = 0.02;
  double epsilon = 0;  // the true one at sigma = 2: about 0.9
  while (gaussian_delta(0.5, epsilon) > delta) epsilon += 1e-4;
  const auto at = [](const Gaussian& mechanism, double x) {
    return [&mechanism, x](BitSource& bits) { return release_once(mechanism, x, bits); };
  };
  const testing::AuditOptions options{.trials = 30000, .seed = 4, .delta = delta};
  const Gaussian right = gaussian(1, 2);
  const Gaussian halved = gaussian(1, 1);
  EXPECT_LE(audited_epsilon(at(right, 0), at(right, 1), options), epsilon);
  EXPECT_GT(audited_epsilon(at(halved, 0), at(halved, 1), options), epsilon);
}

TEST(Gaussian, ReleasesLieOnOneGridThatDoesNotDependOnTheValue) {
  const Gaussian mechanism = gaussian(1, 1);
  SeededBits bits(5);
  for (const double x : {0.0, 1.0, 0x1p-30, 1e9}) {
    std::vector<std::uint64_t> parity(2);
    for (int i = 0; i < 20000; ++i) {
      const double steps = release_once(mechanism, x, bits) / 0x1p-20;
      ASSERT_EQ(steps, std::floor(steps)) << x;
      parity[std::fmod(std::abs(steps), 2) == 0 ? 0 : 1] += 1;
    }
    EXPECT_GT(testing::chi_square_p(parity, std::vector<double>{0.5, 0.5}), 1e-6) << x;
  }
  EXPECT_EQ(mechanism.lattice_step(), power_of_two(-20));
}

}  // namespace
}  // namespace gauze
