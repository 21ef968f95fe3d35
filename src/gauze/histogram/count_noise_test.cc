#include "gauze/histogram/count_noise.h"

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

using testing::SeededBits;

std::vector<std::int64_t> draw(const CountNoise& noise, const std::vector<std::int64_t>& counts,
                               BitSource& bits) {
  Meter meter(noise.event());
  Context context{meter, bits};
  return noise.run(counts, context);
}

TEST(CountNoise, BudgetsOutsideTheirRangeAreRefused) {
  EXPECT_ERROR(check_budget({0, 0, 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(check_budget({1, 1, 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(check_budget({1, -1, 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(check_budget({1, 0, 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(split_budget({1, 0, 1}, std::vector<Ratio>{1, 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(deviations(1, false), ErrorCode::kInvalidOption);
}

TEST(CountNoise, LevelsCostEpsilonTogetherExactly) {
  const std::vector<Ratio> weights = {1, Ratio(7, 3), 5};
  const auto noises = split_budget({Ratio(1, 3), 0, 4}, weights);
  ASSERT_EQ(noises.size(), 3u);
  EXPECT_EQ(pure_epsilon(composed(noises)), Ratio(1, 3));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(pure_epsilon(noises[i].event()), Ratio(Ratio(1, 3) * weights[i] / Ratio(25, 3)));
}

TEST(CountNoise, GaussianLevelsKeepTheGuaranteeAndTheirProportions) {
  for (const std::uint64_t rows : {1u, 3u}) {
    const auto noises = split_budget({1, parse_ratio("1e-6"), rows}, std::vector<Ratio>(12, 1));
    ASSERT_TRUE(noises.front().is_gaussian());
    EXPECT_LE(epsilon_at({composed(noises)}, 1e-6).epsilon, 1.0);
    // Twelve continuous levels are one Gaussian: sigma = 4.22468 sqrt(12) for (1, 1e-6), by Balle and Wang.
    const double continuous = 4.22468 * std::sqrt(12.0) * static_cast<double>(rows);
    EXPECT_GE(std::sqrt(noises.front().variance()), continuous);
    EXPECT_LE(std::sqrt(noises.front().variance()), continuous * (rows == 1 ? 1.002 : 1.08));
  }
  const std::vector<Ratio> weights = {1, 4, 1, 1, 1, 1, 1, 1};
  const auto noises = split_budget({1, parse_ratio("1e-3"), 1}, weights);
  ASSERT_TRUE(noises.front().is_gaussian());
  EXPECT_NEAR(noises[0].variance() / noises[1].variance(), 16, 1e-6);
}

TEST(CountNoise, GaussianNoiseIsTakenOnlyWhereItIsSmaller) {
  EXPECT_FALSE(split_budget({1, parse_ratio("1e-9"), 1}, std::vector<Ratio>{1})[0].is_gaussian());
  EXPECT_FALSE(split_budget({1, 0, 1}, std::vector<Ratio>(50, 1))[0].is_gaussian());
  EXPECT_TRUE(
      split_budget({1, parse_ratio("1e-9"), 1}, std::vector<Ratio>(50, 1))[0].is_gaussian());
}

TEST(CountNoise, VarianceIsThatOfTheDistribution) {
  for (const double epsilon : {0.01, 0.3, 1.0, 5.0, 20.0}) {
    const double shrink = std::exp(-epsilon);
    double variance = 0;
    for (double x = std::ceil(60 / epsilon); x >= 1; --x)
      variance += 2 * x * x * std::exp(-epsilon * x);
    variance *= (1 - shrink) / (1 + shrink);
    const double stated = CountNoise::laplace(ratio_of_bits(epsilon), 1).variance();
    EXPECT_GE(stated, variance * (1 - 1e-13));
    EXPECT_NEAR(stated, variance, 1e-9 * variance);
  }
  // Never zero, so that levels can be weighed against each other.
  EXPECT_GT(CountNoise::laplace(5000, 1).variance(), 0);
}

// Mean of squares of 40,000 draws: for Laplace noise its standard error is sqrt(5)/200 of the variance,
// for normal noise sqrt(2)/200; five of them are missed once in 10^6 runs.
TEST(CountNoise, DrawsHaveTheStatedVariance) {
  for (const CountNoise& noise :
       {CountNoise::laplace(Ratio(3, 2), 3), CountNoise::gaussian(7, 3)}) {
    SeededBits bits(1);
    double squares = 0;
    for (const std::int64_t x : draw(noise, std::vector<std::int64_t>(40000, 0), bits))
      squares += static_cast<double>(x) * static_cast<double>(x);
    EXPECT_NEAR(squares / 40000 / noise.variance(), 1, 5 * std::sqrt(5.0) / 200);
  }
}

TEST(CountNoise, CountsBeyond64BitsSaturate) {
  SeededBits bits(1);
  const std::vector<std::int64_t> counts(100, INT64_MAX);
  for (const std::int64_t x : draw(CountNoise::laplace(Ratio(1, 1000), 1), counts, bits))
    EXPECT_GE(x, INT64_MAX - 100000);
}

// A unit with three rows in one cell, and a twin that was told of one row.
TEST(CountNoise, SurvivesTheAuditThatCatchesForgottenRows) {
  const auto sampler = [](const CountNoise& noise, std::int64_t count) {
    return [=, drawn = std::vector<std::int64_t>()](BitSource& bits) mutable {
      if (drawn.empty()) drawn = draw(noise, std::vector<std::int64_t>(1000, count), bits);
      const auto last = static_cast<double>(drawn.back());
      drawn.pop_back();
      return last;
    };
  };
  const testing::AuditOptions options{.trials = 40000};
  const CountNoise right = CountNoise::laplace(1, 3);
  EXPECT_LE(testing::audited_epsilon(sampler(right, 0), sampler(right, 3), options), 1.0);
  const CountNoise forgetful = CountNoise::laplace(1, 1);
  EXPECT_GT(testing::audited_epsilon(sampler(forgetful, 0), sampler(forgetful, 3), options), 1.5);
}

TEST(CountNoise, StepsCannotSpendMoreThanWasPaid) {
  const CountNoise noise = CountNoise::laplace(1, 1);
  const Event price = composed(std::vector<CountNoise>{noise, noise});
  Meter meter(price);
  SeededBits bits(1);
  Context context{meter, bits};
  StepMeter steps(price, context);
  EXPECT_TRUE(meter.exhausted());
  const std::vector<std::int64_t> counts = {1};
  noise.run(counts, steps.context());
  noise.run(counts, steps.context());
  EXPECT_ERROR(noise.run(counts, steps.context()), ErrorCode::kBudgetExceeded);
}

// P(|X| > t sd): normal quantiles from tables, Laplace by its formula.
TEST(CountNoise, DeviationsAreTheLargerOfNormalAndLaplace) {
  EXPECT_NEAR(deviations(0.95, true), 1.959964, 1e-5);
  EXPECT_NEAR(deviations(0.95, false), std::log(20.0) / std::sqrt(2.0), 2e-4);
  EXPECT_NEAR(deviations(0.5, false), 0.674490, 1e-5);
  EXPECT_NEAR(deviations(0.99, true), 2.575829, 1e-5);
}

}  // namespace
}  // namespace gauze
