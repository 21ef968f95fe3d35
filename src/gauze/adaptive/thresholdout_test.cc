#include "gauze/adaptive/thresholdout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/loss.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::SeededBits;

Thresholdout thresholdout(std::uint64_t size, const Ratio& tolerance, std::uint64_t budget) {
  return Thresholdout(
      {.holdout_size = size, .threshold = Ratio(1, 25), .tolerance = tolerance, .budget = budget});
}

TEST(Thresholdout, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(thresholdout(0, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(thresholdout(1, 0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(thresholdout(1, 1, 0), ErrorCode::kInvalidOption);
}

// 0.005 for a comparison and 0.005 for a number, a hundred times.
TEST(Thresholdout, CostsItsBudgetOverToleranceTimesRows) {
  const Event price = thresholdout(10000, Ratio(1, 100), 100).event();
  EXPECT_EQ(pure_epsilon(price), 1);
  EXPECT_EQ(price.relation, Relation::kReplace);
  EXPECT_EQ(pure_epsilon(thresholdout(10000, Ratio(1, 100), 1).event()), Ratio(1, 100));
}

TEST(Thresholdout, PassesTheBattery) {
  const std::vector<std::pair<double, double>> one = {{0.5, 0.5}, {0.9, 0.1}};
  const std::vector<std::pair<double, double>> other = {{0, 1}, {1, 0}, {0.3, 0.3}};
  using Means = std::span<const std::pair<double, double>>;
  testing::expect_contract(thresholdout(1000, Ratio(1, 100), 2), Means(one), Means(other));
}

TEST(Thresholdout, TakesExactMeansOfValuesInTheUnitInterval) {
  EXPECT_EQ(Thresholdout::mean(std::vector<double>{0.25, 0.5}), 0.375);
  EXPECT_EQ(Thresholdout::mean(std::vector<double>{-3, 7, NAN, INFINITY}), 0.5);
  EXPECT_ERROR(Thresholdout::mean(std::vector<double>{}), ErrorCode::kInvalidInput);
  // A tenth, ten million times: no drift.
  EXPECT_EQ(Thresholdout::mean(std::vector<double>(1000000, 0.1)), 0.1);
}

TEST(Thresholdout, AnswersFromTrainingUntilItIsOverfitted) {
  const Thresholdout mechanism = thresholdout(1000000, Ratio(1, 1000), 2);
  SeededBits bits(1);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  Thresholdout::Conversation conversation = mechanism.start(context);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(conversation.ask(0.51, 0.5), (GuardedAnswer{0.5, false}));
  const GuardedAnswer bought = conversation.ask(0.5, 0.9);
  EXPECT_TRUE(bought.fresh);
  EXPECT_NEAR(bought.value, 0.5, 0.05);
  conversation.ask(0.5, 0.9);
  EXPECT_TRUE(conversation.ended());
}

// The published experiment, smaller: labels are coins, features are coins. Choosing features by their
// correlation with the label on both sets and checking on the holdout looks like skill; through
// Thresholdout it does not.
TEST(Thresholdout, KeepsAnAnalystFromOverfittingTheHoldout) {
  constexpr std::size_t kRows = 2000;
  constexpr std::size_t kFeatures = 500;
  SeededBits bits(2);
  const auto coins = [&](std::size_t n) {
    std::vector<double> values(n);
    for (double& value : values) value = bits.next() >> 63 != 0 ? 1 : -1;
    return values;
  };
  struct Set {
    std::vector<double> labels;
    std::vector<std::vector<double>> features;
  };
  const auto make = [&] {
    Set set{coins(kRows), {}};
    for (std::size_t f = 0; f < kFeatures; ++f) set.features.push_back(coins(kRows));
    return set;
  };
  const Set training = make();
  const Set holdout = make();
  const Set fresh = make();
  /// How often a feature agrees with the label.
  const auto agreement = [](const Set& set, std::size_t f) {
    std::vector<double> agree;
    for (std::size_t i = 0; i < kRows; ++i) agree.push_back(set.features[f][i] == set.labels[i]);
    return Thresholdout::mean(agree);
  };
  /// A majority vote of the features that seem to agree with the label on both sets.
  const auto accuracy = [&](const Set& set, const std::vector<double>& votes) {
    std::vector<double> right;
    for (std::size_t i = 0; i < kRows; ++i) {
      double vote = 0;
      for (std::size_t f = 0; f < kFeatures; ++f) vote += votes[f] * set.features[f][i];
      right.push_back((vote >= 0 ? 1 : -1) == set.labels[i]);
    }
    return Thresholdout::mean(right);
  };
  const Thresholdout mechanism({.holdout_size = kRows,
                                .threshold = Ratio(2, 25),
                                .tolerance = Ratio(1, 500),
                                .budget = 10u});
  Meter meter(mechanism.event());
  Context context{meter, bits};
  Thresholdout::Conversation conversation = mechanism.start(context);
  std::vector<double> naive(kFeatures);
  std::vector<double> careful(kFeatures);
  for (std::size_t f = 0; f < kFeatures; ++f) {
    const double on_training = agreement(training, f) - 0.5;
    const double on_holdout = agreement(holdout, f) - 0.5;
    if (on_training * on_holdout > 0) naive[f] = on_training > 0 ? 1 : -1;
    const double told = conversation.ask(on_holdout + 0.5, on_training + 0.5).value - 0.5;
    if (on_training * told > 0) careful[f] = on_training > 0 ? 1 : -1;
  }
  // Looking at the holdout directly: it seems to work, and does not.
  EXPECT_GT(accuracy(holdout, naive), 0.57);
  EXPECT_LT(std::abs(accuracy(fresh, naive) - 0.5), 0.06);
  // Through Thresholdout what is told is close to the truth: its answers, or at least the last word.
  const GuardedAnswer told =
      conversation.ask(accuracy(holdout, careful), accuracy(training, careful));
  EXPECT_TRUE(told.fresh);
  EXPECT_LT(std::abs(told.value - 0.5), 0.1);
  EXPECT_LT(std::abs(accuracy(holdout, careful) - 0.5), 0.06);
}

}  // namespace
}  // namespace gauze
