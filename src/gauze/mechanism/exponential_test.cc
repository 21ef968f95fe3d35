#include "gauze/mechanism/exponential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/selection_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::max_log_ratio;
using testing::release_once;
using testing::SeededBits;

ExponentialMechanism exponential(const Ratio& epsilon, bool monotone = false) {
  return ExponentialMechanism({.epsilon = epsilon, .sensitivity = 1, .monotone = monotone});
}

TEST(ExponentialMechanism, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(exponential(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(exponential(-1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ExponentialMechanism({.epsilon = 1, .sensitivity = 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      ExponentialMechanism(
          {.epsilon = 1, .sensitivity = 1, .monotone = true, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(exponential(1), std::span<const double>(), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(release_once(exponential(1), std::span<const double>(Scores{1, NAN}), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(exponential(1).accuracy(0), ErrorCode::kInvalidOption);
}

TEST(ExponentialMechanism, CostsEpsilonAndAnEighthOfItsSquareInRho) {
  EXPECT_EQ(pure_epsilon(exponential(Ratio(1, 3)).event()), Ratio(1, 3));
  EXPECT_EQ(zcdp_rho(exponential(Ratio(1, 3)).event()), Ratio(1, 72));
}

TEST(ExponentialMechanism, ChoosesWithThePublishedProbabilities) {
  const Scores counts = {50, 30, 20};
  const std::vector<double> before = {0.628532, 0.231224, 0.140244};
  const std::vector<double> after = {0.640129, 0.224005, 0.135866};
  const Ratio tenth(1, 10);
  EXPECT_GT(choice_p(exponential(tenth), counts, before), 1e-6);
  EXPECT_GT(choice_p(exponential(tenth), {51, 30, 20}, after), 1e-6);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(softmax(counts, 0.05)[i], before[i], 1e-6);
    EXPECT_NEAR(softmax({51, 30, 20}, 0.05)[i], after[i], 1e-6);
  }
  EXPECT_LE(max_log_ratio(before, after), 0.1);
  // Temperature 1: epsilon 2 at sensitivity 1.
  EXPECT_GT(choice_p(exponential(2), {0, 1, 2}, {.0900306, .2447285, .6652410}), 1e-6);
  // The test notices a forgotten factor of two.
  EXPECT_LT(choice_p(exponential(2 * tenth), counts, before), 1e-6);
}

TEST(ExponentialMechanism, PromisesThePublishedAccuracyAndKeepsIt) {
  EXPECT_NEAR(exponential(Ratio(1, 10)).accuracy(3).half_width, 81.8869, 1e-4);
  EXPECT_NEAR(exponential(1).accuracy(3).half_width, 8.18869, 1e-5);
  EXPECT_NEAR(exponential(1, true).accuracy(3).half_width, 8.18869 / 2, 1e-5);
  expect_accuracy_promise(exponential(Ratio(1, 2)));
  expect_accuracy_promise(exponential(Ratio(1, 2), true));
}

TEST(ExponentialMechanism, DropsTheTwoOnlyForMonotoneScores) {
  EXPECT_GT(choice_p(exponential(1, true), {0, 1, 2}, softmax({0, 1, 2}, 1)), 1e-6);
  // Scores that move both ways break the monotone rate, and the exact check says so.
  EXPECT_GT(max_log_ratio(softmax({0, 0}, 1), softmax({1, -1}, 1)), 1.0);
  EXPECT_LE(max_log_ratio(softmax({0, 0}, 0.5), softmax({1, -1}, 0.5)), 1.0);
  EXPECT_LE(max_log_ratio(softmax({0, 0}, 1), softmax({1, 0}, 1)), 1.0);
}

TEST(ExponentialMechanism, SurvivesTheAuditThatCatchesTwiceTheRate) {
  const testing::AuditOptions options{.trials = 20000, .seed = 5};
  const auto right = exponential(1);
  const auto doubled = exponential(2);
  const Scores before = {0, 0};
  const Scores after = {1, -1};
  EXPECT_LE(testing::audited_epsilon(testing::sampler(right, before),
                                     testing::sampler(right, after), options),
            1);
  EXPECT_GT(testing::audited_epsilon(testing::sampler(doubled, before),
                                     testing::sampler(doubled, after), options),
            1);
}

TEST(ExponentialMechanism, TakesEnormousScoresAndRates) {
  SeededBits bits(9);
  const Scores scores = {-1e308, 1e308, 0};
  EXPECT_EQ(release_once(exponential(1), std::span<const double>(scores), bits), 1u);
  EXPECT_EQ(release_once(exponential(parse_ratio("1e308")),
                         std::span<const double>(Scores{0, 1e-300}), bits),
            1u);
  EXPECT_LT(release_once(exponential(parse_ratio("1e-308")), std::span<const double>(scores), bits),
            3u);
}

}  // namespace
}  // namespace gauze
