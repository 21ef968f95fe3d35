#include "gauze/mechanism/discrete_gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::audited_epsilon;
using testing::release_once;
using testing::SeededBits;

DiscreteGaussian discrete(const Ratio& sensitivity, const Ratio& sigma) {
  return DiscreteGaussian({.l2_sensitivity = sensitivity, .sigma = sigma});
}

TEST(DiscreteGaussian, PricesTheCoordinatesThatOneUnitCanMove) {
  const DiscreteGaussian few({.l2_sensitivity = 3, .sigma = 5, .dimension = 1000, .moved = 2});
  EXPECT_EQ(std::get<events::DiscreteGaussian>(few.event().kind).dimension, 2u);
  EXPECT_ERROR(DiscreteGaussian({.l2_sensitivity = Ratio(3, 2), .sigma = 1, .moved = 1}),
               ErrorCode::kInvalidOption);
}

TEST(DiscreteGaussian, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(discrete(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(DiscreteGaussian({.l2_sensitivity = Ratio(3, 2), .sigma = 1, .dimension = 1}),
               ErrorCode::kInvalidOption);
}

TEST(DiscreteGaussian, CostsTheRhoOfItsOptions) {
  EXPECT_EQ(zcdp_rho(discrete(3, 2).event()), Ratio(9, 8));
}

TEST(DiscreteGaussian, KeepsItsAccuracyPromise) {
  for (const Ratio& sigma : {Ratio(1, 3), Ratio(2), Ratio(5000)}) {
    const DiscreteGaussian mechanism = discrete(1, sigma);
    const double r = mechanism.accuracy(0.95).half_width;
    SeededBits bits(3);
    const std::vector<std::int64_t> zeros(20000);
    const auto draws = release_once(mechanism, std::span<const std::int64_t>(zeros), bits);
    const auto kept = std::count_if(draws.begin(), draws.end(), [&](std::int64_t z) {
      return std::abs(static_cast<double>(z)) <= r;
    });
    EXPECT_GE(kept, 20000 * 0.9423) << sigma;
  }
}

TEST(DiscreteGaussian, SurvivesTheAuditThatCatchesHalvedNoise) {
  // Exact: probabilities on -60..60, the rest is below 1e-190.
  const auto pmf = [](double sigma, int centre) {
    std::vector<double> p;
    double total = 0;
    for (int x = -60; x <= 60; ++x) {
      p.push_back(std::exp(-(x - centre) * (x - centre) / (2 * sigma * sigma)));
      total += p.back();
    }
    for (double& mass : p) mass /= total;
    return p;
  };
  const double delta = 0.02;
  double epsilon = 0;
  while (testing::hockey_stick(pmf(2, 0), pmf(2, 1), epsilon) > delta) epsilon += 1e-4;
  const auto at = [](const DiscreteGaussian& mechanism, std::int64_t x) {
    return [&mechanism, x](BitSource& bits) {
      return static_cast<double>(release_once(mechanism, x, bits));
    };
  };
  const testing::AuditOptions options{.trials = 30000, .seed = 4, .delta = delta};
  const DiscreteGaussian right = discrete(1, 2);
  const DiscreteGaussian halved = discrete(1, 1);
  EXPECT_LE(audited_epsilon(at(right, 0), at(right, 1), options), epsilon);
  EXPECT_GT(audited_epsilon(at(halved, 0), at(halved, 1), options), epsilon);
}

TEST(DiscreteGaussian, SaturatesCountsNearTheEndOf64BitsAndNeverWraps) {
  SeededBits bits(6);
  for (int i = 0; i < 200; ++i) {
    EXPECT_GT(release_once(discrete(1, 10), INT64_MAX, bits), INT64_MAX - 1000);
    EXPECT_LT(release_once(discrete(1, 10), INT64_MIN, bits), INT64_MIN + 1000);
  }
}

}  // namespace
}  // namespace gauze
