#include "gauze/accounting/filter.h"

#include <cmath>

#include "gauze/accounting/zcdp.h"
#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders

// Floating-point budgets refuse the last of three thirds; exact ones do not.
TEST(Budget, AcceptsAllPartsOfAnySplit) {
  for (const Budget& whole :
       {Budget::pure(1), Budget::pure(parse_ratio("0.1")), Budget::pure(parse_ratio("1e-12")),
        Budget::pure(parse_ratio("7/3"))}) {
    for (const std::size_t parts : {1, 3, 7, 16, 48, 112, 1000}) {
      PrivacyFilter filter(whole, Relation::kAddRemove);
      for (const Budget& share : whole.split(parts)) {
        // Through a double and its decimal form, as a user would write it down.
        const double written = share.amount.convert_to<double>();
        filter.charge(event(events::Pure{ratio_of_decimal(written)}));
      }
      EXPECT_LE(filter.left().amount, whole.amount * parse_ratio("1e-13"));
      EXPECT_ERROR(filter.charge(event(events::Pure{whole.amount / 1000000})),
                   ErrorCode::kBudgetExceeded);
    }
  }
}

TEST(Budget, SplitsByWeights) {
  const std::vector<Ratio> weights = {1, 2, 0, parse_ratio("1/3")};
  const Budget whole = Budget::approximate(1, parse_ratio("1e-6"));
  const std::vector<Budget> shares = whole.split(weights);
  ASSERT_EQ(shares.size(), 4u);
  EXPECT_EQ(shares[0].amount, parse_ratio("0.3"));
  EXPECT_EQ(shares[1].amount, parse_ratio("0.6"));
  EXPECT_EQ(shares[2].amount, 0);
  EXPECT_EQ(shares[3].delta, parse_ratio("1e-7"));
  EXPECT_ERROR(whole.split(std::vector<Ratio>{0, 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(whole.split(std::vector<Ratio>{1, -1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(whole.split(std::vector<Ratio>{}), ErrorCode::kInvalidOption);
}

TEST(PrivacyFilter, RunsExactlyAsManyStepsAsTheBudgetHolds) {
  PrivacyFilter filter(Budget::zcdp(1), Relation::kAddRemove);
  for (int i = 0; i < 50; ++i) filter.charge(gaussian("5"));
  EXPECT_FALSE(filter.accepts(gaussian("1000")));
  EXPECT_ERROR(filter.charge(gaussian("1000")), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(filter.left().amount, 0);
}

TEST(PrivacyFilter, RefusesOtherRelationsAndCurrencies) {
  PrivacyFilter filter(Budget::pure(1), Relation::kReplace);
  EXPECT_ERROR(filter.charge(pure("0.1")), ErrorCode::kCannotCompose);
  PrivacyFilter unit(Budget::pure(1), Relation::kAddRemove);
  EXPECT_ERROR(unit.charge(gaussian("5")), ErrorCode::kCannotCompose);
  EXPECT_EQ(unit.left().amount, 1);
  unit.charge(approximate("0.5", "0"));
  PrivacyFilter slack(Budget::approximate(1, parse_ratio("1e-6")), Relation::kAddRemove);
  slack.charge(approximate("0.5", "1e-6"));
  EXPECT_ERROR(slack.charge(approximate("0.1", "1e-9")), ErrorCode::kBudgetExceeded);
  slack.charge(pure("0.5"));
}

// With order a, n Gaussian steps of rho cost n a rho; the filter must stop where the conversion at
// that order reaches epsilon, worked out here.
TEST(RenyiFilter, StopsWhereTheConversionReachesEpsilon) {
  RenyiFilter filter(1, 1e-6, Relation::kAddRemove, 20);
  const double room = 1 - std::log(19.0 / 20) + (std::log(1e-6) + std::log(20.0)) / 19;
  EXPECT_NEAR(filter.budget(), room, 1e-12);
  const double per_step = 20 / (2 * 40.0 * 40.0);
  int steps = 0;
  while (filter.accepts(gaussian("40"))) {
    filter.charge(gaussian("40"));
    ++steps;
  }
  EXPECT_EQ(steps, static_cast<int>(room / per_step));
  EXPECT_ERROR(filter.charge(gaussian("40")), ErrorCode::kBudgetExceeded);
  EXPECT_TRUE(filter.accepts(poisson("0.001", {gaussian("40")})));
  EXPECT_ERROR(filter.charge(approximate("0", "0.1")), ErrorCode::kBudgetExceeded);
}

TEST(RenyiFilter, ChoosesAnOrderThatNearlyMatchesConcentratedDp) {
  RenyiFilter filter(1, 1e-6, Relation::kAddRemove);
  // The largest rho with zcdp_epsilon(rho, 1e-6) <= 1 lies just above what the order allows.
  const Ratio rho = ratio_of_bits(filter.budget() / filter.order());
  EXPECT_LE(zcdp_epsilon(rho, 1e-6), 1);
  EXPECT_GT(zcdp_epsilon(rho * parse_ratio("1.001"), 1e-6), 1);
}

TEST(Odometer, ReportsPureLossExactlyAndConcentratedLossByTheLadder) {
  Odometer odometer(Relation::kAddRemove);
  EXPECT_EQ(odometer.spent(0).epsilon, 0);
  for (int i = 0; i < 10; ++i) odometer.record(pure("0.1"));
  EXPECT_EQ(odometer.spent(0).epsilon, 1);
  odometer.record(gaussian("1"));
  EXPECT_TRUE(std::isinf(odometer.spent(0).epsilon));
  // rho = 0.05 + 0.5 lies on the rung 1 (k = 0), which has delta / 3.2.
  const Guarantee now = odometer.spent(1e-6);
  EXPECT_EQ(now.accountant, Accountant::kZcdp);
  EXPECT_EQ(now.epsilon, zcdp_epsilon(1, 1e-6 / 3.2));
  EXPECT_GT(now.epsilon, zcdp_epsilon(parse_ratio("0.55"), 1e-6));
  EXPECT_ERROR(odometer.record(approximate("1", "0.1")), ErrorCode::kCannotCompose);
}

}  // namespace
}  // namespace gauze
