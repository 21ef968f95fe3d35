#include "gauze/adaptive/history_answers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Answers = std::vector<double>;

HistoryAnswers history(const Ratio& epsilon, const Ratio& threshold, std::uint64_t fresh) {
  return HistoryAnswers(
      {.epsilon = epsilon, .sensitivity = 1, .threshold = threshold, .fresh = fresh});
}

TEST(HistoryAnswers, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(history(0, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(history(1, -1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(history(1, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(HistoryAnswers({.epsilon = 1, .sensitivity = 0, .threshold = 1, .fresh = 1u}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(HistoryAnswers(
                   {.epsilon = 1, .sensitivity = 1, .threshold = 1, .fresh = 1u, .value_share = 1}),
               ErrorCode::kInvalidOption);
}

TEST(HistoryAnswers, PassesTheBattery) {
  testing::expect_contract(history(1, 5, 2), std::span<const double>(Answers{1, 2, 3}),
                           std::span<const double>(Answers{1e9, -1e9, 1e9, 4}));
}

TEST(HistoryAnswers, CostsEpsilonForGuessesAndNumbers) {
  EXPECT_EQ(pure_epsilon(history(Ratio(3, 7), 5, 9).event()), Ratio(3, 7));
}

TEST(HistoryAnswers, GivesGoodGuessesBackAndBuysTheRest) {
  const HistoryAnswers mechanism = history(1, 1000, 2);
  SeededBits bits(1);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  HistoryAnswers::Conversation conversation = mechanism.start(context);
  EXPECT_TRUE(meter.exhausted());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(conversation.ask(50, 50.25), (GuardedAnswer{50.25, false}));
  }
  for (const double exact : {5000.0, -5000.0}) {
    const GuardedAnswer bought = conversation.ask(exact, 0);
    EXPECT_TRUE(bought.fresh);
    EXPECT_NEAR(bought.value, exact, 100);
  }
  EXPECT_TRUE(conversation.ended());
  EXPECT_ERROR(conversation.ask(50, 50), ErrorCode::kBudgetExceeded);
}

TEST(HistoryAnswers, FollowsASeriesAndPublishesAnewWhereItDrifts) {
  Answers series(200, 10.0);
  for (std::size_t i = 100; i < 200; ++i) series[i] = 3000;
  SeededBits bits(2);
  const auto said = release_once(history(1, 1000, 3), std::span<const double>(series), bits);
  ASSERT_EQ(said.size(), 200u);
  EXPECT_EQ(std::count_if(said.begin(), said.end(), [](const auto& each) { return each.fresh; }),
            1);
  EXPECT_TRUE(said[100].fresh);
  EXPECT_NEAR(said[199].value, 3000, 100);
}

/// In how many of 500 conversations all answers are within the promise.
int kept(const HistoryAnswers& mechanism, const Answers& series, double promised) {
  SeededBits bits(3);
  int count = 0;
  for (int run = 0; run < 500; ++run) {
    const auto said = release_once(mechanism, std::span<const double>(series), bits);
    bool all = true;
    for (std::size_t i = 0; i < said.size(); ++i)
      all = all && std::abs(said[i].value - series[i]) <= promised;
    count += all ? 1 : 0;
  }
  return count;
}

// 95 % of conversations, less six standard deviations; a third of the promise would not be kept.
TEST(HistoryAnswers, KeepsItsAccuracyPromise) {
  Answers drifting;
  Answers jumping;
  for (int i = 0; i < 100; ++i) {
    drifting.push_back(5 * i);
    jumping.push_back(i % 2 == 0 ? 1e5 : -1e5);
  }
  for (const auto& series : {drifting, jumping}) {
    const HistoryAnswers mechanism = history(1, 20, 100);
    const double promised = mechanism.accuracy(100, 0.95).half_width;
    EXPECT_GE(kept(mechanism, series, promised), 500 * 0.89);
    EXPECT_LT(promised, 4000);
  }
  const HistoryAnswers mechanism = history(1, 20, 100);
  EXPECT_LT(kept(mechanism, jumping, mechanism.accuracy(100, 0.95).half_width / 3), 500 * 0.89);
}

/// Whether each of two answers was bought, and the sign of the last number.
auto sampler(const HistoryAnswers& mechanism, const Answers& series) {
  return [&mechanism, series](BitSource& bits) {
    double code = 1;
    double last = 0;
    for (const GuardedAnswer& each :
         release_once(mechanism, std::span<const double>(series), bits)) {
      code = 2 * code + (each.fresh ? 1 : 0);
      last = each.value;
    }
    return code + (last > 0 ? 0.5 : 0);
  };
}

TEST(HistoryAnswers, SurvivesTheAuditThatCatchesAThirdOfTheNoise) {
  const Answers before = {0, 0, 1};
  const Answers after = {1, -1, 0};
  const testing::AuditOptions options{.trials = 40000, .seed = 4};
  const HistoryAnswers right = history(2, 1, 1);
  const HistoryAnswers broken = history(6, 1, 1);
  EXPECT_LE(audited_epsilon(sampler(right, before), sampler(right, after), options), 2);
  EXPECT_GT(audited_epsilon(sampler(broken, before), sampler(broken, after), options), 2);
}

TEST(HistoryAnswers, RefusesWhatIsNoNumber) {
  SeededBits bits(5);
  EXPECT_ERROR(release_once(history(1, 1, 1), std::span<const double>(Answers{NAN}), bits),
               ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
