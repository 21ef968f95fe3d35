#include "gauze/mechanism/noisy_max.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/selection_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

ReportNoisyMax noisy_max(const Ratio& epsilon, MaxNoise noise, bool monotone = false) {
  return ReportNoisyMax(
      {.epsilon = epsilon, .sensitivity = 1, .monotone = monotone, .noise = noise});
}

TEST(ReportNoisyMax, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(noisy_max(0, MaxNoise::kLaplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ReportNoisyMax({.epsilon = 1, .sensitivity = -1}), ErrorCode::kInvalidOption);
}

// One-sided exponential noise makes permute-and-flip (Ding, Kifer, Thakurta and Wang 2021); the
// lattice of 2^-20 is far below what 30,000 draws can see.
TEST(ReportNoisyMax, WithGeometricNoiseChoosesAsPermuteAndFlip) {
  for (const Scores& scores : {Scores{0, 0}, Scores{1, -1}, Scores{3, 2, 2, 0}}) {
    EXPECT_GT(choice_p(noisy_max(2, MaxNoise::kGeometric), scores, permute_and_flip_pmf(scores, 1)),
              1e-6);
  }
}

// Difference of two Laplace variables of scale b: P(X - Y > d) = e^(-d/b) (1/2 + d/(4 b)).
TEST(ReportNoisyMax, WithLaplaceNoiseChoosesAsTheFormulaSays) {
  const auto worse = [](double gap) { return std::exp(-gap) * (0.5 + gap / 4); };
  const double two = worse(2);
  EXPECT_GT(choice_p(noisy_max(2, MaxNoise::kLaplace), {1, -1}, {1 - two, two}), 1e-6);
  EXPECT_LT(choice_p(noisy_max(4, MaxNoise::kLaplace), {1, -1}, {1 - two, two}), 1e-6);
  // Scores between whole sensitivities count as they are.
  const double less = worse(0.75);
  EXPECT_GT(choice_p(noisy_max(2, MaxNoise::kLaplace), {0.25, -0.5}, {1 - less, less}), 1e-6);
}

TEST(ReportNoisyMax, KeepsItsAccuracyPromise) {
  expect_accuracy_promise(noisy_max(1, MaxNoise::kGeometric));
  expect_accuracy_promise(noisy_max(1, MaxNoise::kLaplace));
  expect_accuracy_promise(noisy_max(1, MaxNoise::kGeometric, true));
}

TEST(ReportNoisyMax, SurvivesTheAuditThatCatchesHalvedNoise) {
  const testing::AuditOptions options{.trials = 20000, .seed = 5};
  const Scores before = {0, 0, 0};
  const Scores after = {1, -1, -1};
  for (const MaxNoise noise : {MaxNoise::kGeometric, MaxNoise::kLaplace}) {
    const auto right = noisy_max(1, noise);
    const auto halved = noisy_max(2, noise);
    EXPECT_LE(testing::audited_epsilon(testing::sampler(right, before),
                                       testing::sampler(right, after), options),
              1);
    const double caught = testing::audited_epsilon(testing::sampler(halved, before),
                                                   testing::sampler(halved, after), options);
    EXPECT_GT(caught, 1);
  }
}

}  // namespace
}  // namespace gauze
