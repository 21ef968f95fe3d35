#include "gauze/mechanism/enhanced_exponential.h"

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

/// Scores of three candidates as sums over records from {0, 1, 2}: L_w(x) = w * x.
constexpr double kRecordSpread = 4;     // w (x - x') for w = 2, x - x' = 2
constexpr double kCandidateSpread = 4;  // (w - w') x

Scores additive_scores(const std::vector<int>& records) {
  Scores scores(3);
  for (const int x : records) {
    for (int w = 0; w < 3; ++w) scores[static_cast<std::size_t>(w)] += w * x;
  }
  return scores;
}

TEST(EnhancedExponential, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(
      EnhancedExponential({.epsilon = 0, .candidate_spread = 1, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      EnhancedExponential({.epsilon = 1, .candidate_spread = 0, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
  EXPECT_ERROR(EnhancedExponential({.epsilon = 1,
                                    .candidate_spread = 1,
                                    .record_spread = Ratio(1),
                                    .relation = Relation::kAddRemove}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      EnhancedExponential({.epsilon = 1, .candidate_spread = 1, .relation = Relation::kEdge}),
      ErrorCode::kInvalidOption);
}

TEST(EnhancedExponential, UsesTheSmallerSpreadAndTheFactorOfItsRelation) {
  const Scores scores = {0, 1, 2};
  const EnhancedExponential add(
      {.epsilon = 4, .candidate_spread = 4, .relation = Relation::kAddRemove});
  EXPECT_GT(choice_p(add, scores, softmax(scores, 1)), 1e-6);
  const EnhancedExponential replace(
      {.epsilon = 4, .candidate_spread = 4, .relation = Relation::kReplace});
  EXPECT_GT(choice_p(replace, scores, softmax(scores, 0.5)), 1e-6);
  const EnhancedExponential by_record({.epsilon = 4,
                                       .candidate_spread = 4,
                                       .record_spread = Ratio(2),
                                       .relation = Relation::kReplace});
  EXPECT_GT(choice_p(by_record, scores, softmax(scores, 1)), 1e-6);
  EXPECT_LT(choice_p(by_record, scores, softmax(scores, 0.5)), 1e-6);
}

// Exhaustive over all data sets of up to three records; epsilon = 1.
TEST(EnhancedExponential, IsPrivateOnEveryPairOfSmallDataSets) {
  double worst_add = 0;
  double worst_replace = 0;
  double broken_replace = 0;  // the factor of add_remove used under replace
  for (int code = 0; code < 27; ++code) {
    const std::vector<int> three = {code % 3, code / 3 % 3, code / 9};
    const std::vector<int> two(three.begin(), three.begin() + 2);
    const double rate_add = 1 / kCandidateSpread;
    worst_add = std::max(worst_add, max_log_ratio(softmax(additive_scores(three), rate_add),
                                                  softmax(additive_scores(two), rate_add)));
    for (int x = 0; x < 3; ++x) {
      const std::vector<int> other = {three[0], three[1], x};
      const double rate = 1 / (2 * std::min(kCandidateSpread, kRecordSpread));
      worst_replace = std::max(worst_replace, max_log_ratio(softmax(additive_scores(three), rate),
                                                            softmax(additive_scores(other), rate)));
      const double half = 2.2;  // a spread below half of the true one
      broken_replace =
          std::max(broken_replace, max_log_ratio(softmax(additive_scores(three), 1 / half),
                                                 softmax(additive_scores(other), 1 / half)));
    }
  }
  EXPECT_LE(worst_add, 1);
  EXPECT_LE(worst_replace, 1);
  EXPECT_GT(broken_replace, 1);
}

TEST(EnhancedExponential, KeepsItsAccuracyPromise) {
  expect_accuracy_promise(
      EnhancedExponential({.epsilon = 1, .candidate_spread = 1, .relation = Relation::kAddRemove}));
}

}  // namespace
}  // namespace gauze
