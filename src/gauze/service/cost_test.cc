#include "gauze/service/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/service/wording.h"
#include "gauze/testing/matchers.h"

namespace gauze::service {
namespace {

Event pure(const Ratio& epsilon) {
  return {events::Pure{epsilon}, Relation::kAddRemove};
}

Event approximate(const Ratio& epsilon, const Ratio& delta) {
  return {events::Approximate{epsilon, delta}, Relation::kAddRemove};
}

Event gaussian(const Ratio& sigma) {
  return {events::Gaussian{.sigma = sigma, .l2_sensitivity = 1}, Relation::kAddRemove};
}

TEST(TheCost, OfAPureEventIsItsEpsilonExactly) {
  for (const Named& named : {Named{}, Named{.epsilon = Ratio(3, 10)},
                             Named{.epsilon = Ratio(3, 10), .delta = Ratio(1, 1'000'000)},
                             Named{.quote_delta = Ratio(1, 1000)}}) {
    const Cost cost = cost_of(pure(Ratio(3, 10)), named);
    EXPECT_EQ(cost.epsilon, 0.3);
    EXPECT_EQ(cost.delta, 0);
    EXPECT_EQ(cost_text(cost), "ε = 0.3");
    EXPECT_EQ(cost.price, Budget::approximate(Ratio(3, 10), 0));
  }
}

TEST(TheCost, IsWhatWasAskedWhereTheEventKeepsIt) {
  const Named asked{.epsilon = 1, .delta = Ratio(1, 100'000)};
  const Cost parts = cost_of(approximate(1, Ratio(1, 100'000)), asked);
  EXPECT_EQ(parts.epsilon, 1);
  EXPECT_EQ(parts.delta, 1e-5);
  // Gaussian noise that is more than enough has no smaller price of its own.
  const Cost noise = cost_of(gaussian(10), asked);
  EXPECT_EQ(noise.epsilon, 1);
  EXPECT_EQ(noise.delta, 1e-5);
  EXPECT_EQ(cost_text(noise), "ε = 1, δ = 1e-05");
}

TEST(TheCost, IsWhatTheEventCostsWhereThatIsMoreThanWasAsked) {
  const Named asked{.epsilon = Ratio(1, 100), .delta = Ratio(1, 100'000)};
  EXPECT_GT(cost_of(gaussian(1), asked).epsilon, 1);
  EXPECT_EQ(cost_of(gaussian(1), asked).delta, 1e-5);
  EXPECT_EQ(cost_of(pure(2), asked).epsilon, 2);
}

TEST(TheCost, IsQuotedAtTheDeltaThatWasWished) {
  const Event noise = gaussian(5);
  EXPECT_EQ(cost_of(noise, {}).delta, 1e-6);
  const Cost at = cost_of(noise, {.quote_delta = Ratio(1, 1000)});
  EXPECT_EQ(at.delta, 1e-3);
  EXPECT_EQ(at.epsilon, epsilon_at({noise}, 1e-3).epsilon);
  const Cost own = cost_of(noise, {.delta = Ratio(1, 10'000)});
  EXPECT_EQ(own.delta, 1e-4);
  // With a delta that the event does not have there is no guarantee.
  const Cost none = cost_of(approximate(1, Ratio(1, 1000)), {.quote_delta = Ratio(1, 1'000'000)});
  EXPECT_TRUE(std::isinf(none.epsilon));
}

TEST(TheCost, IsRefusedAtADeltaThatIsNone) {
  for (const Ratio& delta : {Ratio(0), Ratio(1), Ratio(2), Ratio(-1)})
    EXPECT_ERROR(cost_of(gaussian(1), {.quote_delta = delta}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(cost_of(gaussian(1), {.delta = Ratio(1)}), ErrorCode::kInvalidOption);
}

TEST(TheCost, IsAskedOfTheLedgerAsItWasWritten) {
  const Named third{.epsilon = Ratio(1, 3), .delta = Ratio(1, 1'000'000)};
  EXPECT_EQ(asked_at(cost_of(gaussian(100), third), third).amount, Ratio(1, 3));
  EXPECT_EQ(asked_at(cost_of(gaussian(100), third), third).delta, Ratio(1, 1'000'000));
  const Cost unnamed = cost_of(gaussian(5), {});
  EXPECT_EQ(asked_at(unnamed, {}).amount, ratio_of_decimal(unnamed.epsilon));
  EXPECT_EQ(asked_at(unnamed, {}).delta, Ratio(1, 1'000'000));
}

TEST(Amounts, AreExactWhereThatIsShortAndElseRoundedTheSafeWay) {
  EXPECT_EQ(amount_text(Ratio(1, 3), round_up), "0.333334");
  EXPECT_EQ(amount_text(Ratio(1, 3), round_down), "0.333333");
  EXPECT_EQ(amount_text(Ratio(3, 10), round_down), "0.3");
  EXPECT_EQ(budget_text(Budget::zcdp(Ratio(1, 2))), "ρ = 0.5");
  EXPECT_EQ(price_text(Budget::approximate(1, Ratio(1, 1'000'000))), "ε = 1, δ = 1e-06");
}

}  // namespace
}  // namespace gauze::service
