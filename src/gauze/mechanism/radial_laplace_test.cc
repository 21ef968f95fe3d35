#include "gauze/mechanism/radial_laplace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

RadialLaplace radial(const Ratio& sensitivity, const Ratio& scale, std::uint32_t dimension) {
  return RadialLaplace({.l2_sensitivity = sensitivity, .scale = scale, .dimension = dimension});
}

double norm(const std::vector<double>& z) {
  double squares = 0;
  for (const double part : z) squares += part * part;
  return std::sqrt(squares);
}

TEST(RadialLaplace, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(radial(0, 1, 2), ErrorCode::kInvalidOption);
  EXPECT_ERROR(radial(1, 0, 2), ErrorCode::kInvalidOption);
  EXPECT_ERROR(radial(1, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(radial(1, parse_ratio("1e308"), 2), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  const std::vector<double> one = {1};
  EXPECT_ERROR(release_once(radial(1, 1, 2), std::span<const double>(one), bits),
               ErrorCode::kInvalidInput);
  const std::vector<double> wild = {1, NAN};
  EXPECT_ERROR(release_once(radial(1, 1, 2), std::span<const double>(wild), bits),
               ErrorCode::kInvalidInput);
}

TEST(RadialLaplace, CostsExactlySensitivityOverScale) {
  EXPECT_EQ(pure_epsilon(radial(Ratio(1, 10), Ratio(7, 3), 5).event()), Ratio(3, 70));
}

TEST(RadialLaplace, PassesTheContract) {
  const std::vector<double> one = {1, 2, 3};
  const std::vector<double> other = {-1e300, 0, 1e-300};
  testing::expect_contract(radial(1, 1, 3), std::span<const double>(one),
                           std::span<const double>(other));
}

// Five dimensions, scale 1: E|z| = 5 and E|z|^2 = 30; five standard errors over 20,000 draws. The
// promise of 95 % is kept in 94.23 to 95.77 % except with probability 6e-7.
TEST(RadialLaplace, HasGammaNormAndNoDirectionAndKeepsItsAccuracyPromise) {
  const RadialLaplace mechanism = radial(1, 1, 5);
  const double promised = mechanism.accuracy().half_width;
  EXPECT_NEAR(promised, 9.15352, 1e-3);  // 95 % quantile of Gamma(5, 1)
  const std::vector<double> zeros(5);
  SeededBits bits(2);
  double first = 0;
  double second = 0;
  int kept = 0;
  std::vector<double> sum(5);
  for (int i = 0; i < 20000; ++i) {
    const auto z = release_once(mechanism, std::span<const double>(zeros), bits);
    first += norm(z);
    second += norm(z) * norm(z);
    kept += norm(z) <= promised ? 1 : 0;
    for (std::size_t j = 0; j < 5; ++j) sum[j] += z[j];
  }
  EXPECT_NEAR(first / 20000, 5, 5 * std::sqrt(5.0 / 20000));
  EXPECT_NEAR(second / 20000, 30, 5 * std::sqrt((1680.0 - 900) / 20000));  // E|z|^4 = 5*6*7*8
  EXPECT_GE(kept, 20000 * 0.9423);
  EXPECT_LE(kept, 20000 * 0.9577);
  for (const double total : sum) EXPECT_NEAR(total / 20000, 0, 5 * std::sqrt(6.0 / 20000));
}

TEST(RadialLaplace, SurvivesTheAuditThatCatchesHalvedNoise) {
  const auto at = [](const RadialLaplace& mechanism, double x) {
    return [&mechanism, x](BitSource& bits) {
      const std::vector<double> value = {x, 0};
      return release_once(mechanism, std::span<const double>(value), bits)[0];
    };
  };
  const testing::AuditOptions options{.trials = 10000};
  const RadialLaplace right = radial(1, 1, 2);
  const RadialLaplace halved = radial(1, Ratio(1, 2), 2);
  EXPECT_LE(testing::audited_epsilon(at(right, 0), at(right, 1), options), 1);
  EXPECT_GT(testing::audited_epsilon(at(halved, 0), at(halved, 1), options), 1);
}

}  // namespace
}  // namespace gauze
