#include "gauze/mechanism/permute_and_flip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/exponential.h"
#include "gauze/mechanism/selection_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::max_log_ratio;

PermuteAndFlip flip(const Ratio& epsilon) {
  return PermuteAndFlip({.epsilon = epsilon, .sensitivity = 1});
}

TEST(PermuteAndFlip, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(flip(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      PermuteAndFlip(
          {.epsilon = 1, .sensitivity = 1, .monotone = true, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
}

TEST(PermuteAndFlip, ChoosesWithTheProbabilitiesOfItsDefinition) {
  for (const Scores& scores : {Scores{0, 0}, Scores{1, -1}, Scores{3, 2, 2, 0}}) {
    EXPECT_GT(choice_p(flip(2), scores, permute_and_flip_pmf(scores, 1)), 1e-6);
  }
  EXPECT_LT(choice_p(flip(4), {1, -1}, permute_and_flip_pmf({1, -1}, 1)), 1e-6);
}

// The divergence of order 2 exceeds what bounded range epsilon = 2 would allow (2 rho = 1), and
// stays below what pure epsilon = 2 does (2 rho = 4).
TEST(PermuteAndFlip, IsPricedAsPureNotAsBoundedRange) {
  const auto p = permute_and_flip_pmf({0, 0}, 1);
  const auto q = permute_and_flip_pmf({1, -1}, 1);
  const double divergence = testing::renyi_divergence(p, q, 2);
  EXPECT_NEAR(divergence, 1.376918739600336, 1e-12);
  EXPECT_LE(divergence, 2 * zcdp_rho(flip(2).event())->convert_to<double>());
  EXPECT_GT(divergence, 2 * zcdp_rho(ExponentialMechanism({.epsilon = 2, .sensitivity = 1}).event())
                                ->convert_to<double>());
  EXPECT_LE(max_log_ratio(p, q), 2 + 1e-12);
}

TEST(PermuteAndFlip, IsNeverWorseThanTheExponentialMechanism) {
  for (const Scores& scores : {Scores{3, 2, 2, 0}, Scores{0, 0, 0}, Scores{5, -5, 1, 1}}) {
    const auto ours = permute_and_flip_pmf(scores, 1);
    const auto theirs = softmax(scores, 1);
    double gain = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) gain += (ours[i] - theirs[i]) * scores[i];
    EXPECT_GE(gain, -1e-12);
  }
  expect_accuracy_promise(flip(Ratio(1, 2)));
}

TEST(PermuteAndFlip, SurvivesTheAuditThatCatchesTwiceTheRate) {
  const testing::AuditOptions options{.trials = 20000, .seed = 5};
  const auto right = flip(1);
  const auto doubled = flip(2);
  const Scores before = {0, 0};
  const Scores after = {1, -1};
  EXPECT_LE(testing::audited_epsilon(testing::sampler(right, before),
                                     testing::sampler(right, after), options),
            1);
  EXPECT_GT(testing::audited_epsilon(testing::sampler(doubled, before),
                                     testing::sampler(doubled, after), options),
            1);
}

}  // namespace
}  // namespace gauze
