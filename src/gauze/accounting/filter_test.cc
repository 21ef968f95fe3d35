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

// By hand: 1/(2*9) + 0.4^2/2 + 0.2^2/8 + 2 * (0.1^2/2), and 2 * 10^-7 of delta.
TEST(Budget, PricesEveryPartOfACompositionInApproximateConcentratedDp) {
  const Event query = event(events::Composed{{event(events::DiscreteGaussian{3, 1}), pure("0.4"),
                                              exponential("0.2"), approximate("0.1", "1e-7", 2)}});
  EXPECT_EQ(Budget::price(query, Budget::Currency::kZcdp),
            Budget::zcdp(Ratio(1, 18) + parse_ratio("0.095"), parse_ratio("2e-7")));
  EXPECT_ERROR(Budget::price(query, Budget::Currency::kApproximate), ErrorCode::kCannotCompose);
  EXPECT_ERROR(Budget::price(poisson("0.1", {gaussian("1")}), Budget::Currency::kZcdp),
               ErrorCode::kCannotCompose);
}

TEST(Budget, ApproximateConcentratedSharesAddUpAndDeltaIsNotExceeded) {
  const Budget whole = Budget::zcdp(parse_ratio("0.1"), parse_ratio("1e-6"));
  PrivacyFilter filter(whole, Relation::kAddRemove);
  for (const Budget& share : whole.split(7)) {
    filter.charge(event(events::Composed{
        {event(events::Zcdp{share.amount}), event(events::Approximate{0, share.delta})}}));
  }
  EXPECT_LE(filter.left().amount, parse_ratio("1e-15"));
  EXPECT_LE(filter.left().delta, parse_ratio("1e-20"));
  EXPECT_ERROR(filter.charge(approximate("0", "1e-9")), ErrorCode::kBudgetExceeded);
  PrivacyFilter strict(Budget::zcdp(1), Relation::kAddRemove);
  EXPECT_ERROR(strict.charge(approximate("0.1", "1e-12")), ErrorCode::kBudgetExceeded);
  strict.charge(approximate("0.1", "0"));
  EXPECT_EQ(strict.left().amount, parse_ratio("0.995"));
}

// (1, 1e-5) with sensitivity 1 needs sigma 3.730632 (the published analytic Gaussian).
TEST(Budget, PricesAWholeQueryAtTheDeltaItWasAskedAt) {
  const Ratio delta = parse_ratio("1e-5");
  const Budget price = Budget::price(gaussian("3.730632"), Budget::Currency::kApproximate, delta);
  EXPECT_NEAR(price.amount.convert_to<double>(), 1, 1e-6);
  EXPECT_EQ(price.delta, delta);
  EXPECT_EQ(Budget::price(pure("0.3"), Budget::Currency::kApproximate, delta),
            Budget::approximate(parse_ratio("0.3"), 0));
  EXPECT_EQ(Budget::price(approximate("1", "1e-6"), Budget::Currency::kApproximate, 0),
            Budget::approximate(1, parse_ratio("1e-6")));
  PrivacyFilter filter(Budget::approximate(2, parse_ratio("2e-5")), Relation::kAddRemove);
  filter.charge(gaussian("3.730633"), delta);
  EXPECT_FALSE(filter.accepts(gaussian("3.5"), delta));
  filter.charge(gaussian("3.730633"), delta);
  EXPECT_EQ(filter.left().delta, 0);
}

TEST(Budget, RoundsPricesUpToThirtyPlacesAndLeavesSharesAsTheyAre) {
  const Budget third = Budget::zcdp(Ratio(1, 3), Ratio(1, 7)).rounded_up();
  EXPECT_EQ(third.amount, parse_ratio("0.333333333333333333333333333334"));
  EXPECT_EQ(third.delta, parse_ratio("0.142857142857142857142857142858"));
  EXPECT_EQ(Budget::pure(parse_ratio("1e-40")).rounded_up().amount, parse_ratio("1e-30"));
  for (const char* whole : {"1", "0.1", "1e-12", "7/3", "1e-29", "123456789012345678"}) {
    for (const Budget& share : Budget::pure(parse_ratio(whole)).split(7)) {
      EXPECT_EQ(share.rounded_up(), share) << whole;
      EXPECT_LE(share.amount * 7, parse_ratio(whole));
    }
  }
}

TEST(PrivacyFilter, RunsExactlyAsManyStepsAsTheBudgetHolds) {
  PrivacyFilter filter(Budget::zcdp(1), Relation::kAddRemove);
  for (int i = 0; i < 50; ++i) filter.charge(gaussian("5"));
  EXPECT_FALSE(filter.accepts(gaussian("1000")));
  EXPECT_ERROR(filter.charge(gaussian("1000")), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(filter.left().amount, 0);
  // Half a step is left: no step, and nothing spent by trying.
  PrivacyFilter uneven(Budget::zcdp(Ratio(99, 100)), Relation::kAddRemove);
  for (int i = 0; i < 49; ++i) uneven.charge(gaussian("5"));
  EXPECT_ERROR(uneven.charge(gaussian("5")), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(uneven.left().amount, Ratio(1, 100));
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
