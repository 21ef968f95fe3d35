#include "gauze/accounting/meter.h"

#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders

TEST(Meter, AcceptsAllPartsOfASplitBudgetAndNotOneMore) {
  for (const int parts : {3, 7, 16, 32, 160, 1600}) {
    const Ratio epsilon = parse_ratio("0.1");
    Meter meter(event(events::Pure{epsilon}));
    for (int i = 0; i < parts; ++i) meter.charge(event(events::Pure{epsilon / parts}));
    EXPECT_TRUE(meter.exhausted()) << parts;
    EXPECT_ERROR(meter.charge(pure("1e-30")), ErrorCode::kBudgetExceeded);
    EXPECT_EQ(meter.charged().size(), static_cast<std::size_t>(parts));
  }
}

TEST(Meter, LeavesEverythingAsItWasWhenItRefuses) {
  Meter meter(pure("1"));
  meter.charge(laplace("2"));
  EXPECT_ERROR(meter.charge(laplace("1")), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(meter.charge(gaussian("10")), ErrorCode::kCannotCompose);
  EXPECT_EQ(meter.charged().size(), 1u);
  meter.charge(laplace("2"));
  EXPECT_TRUE(meter.exhausted());
}

TEST(Meter, CountsConcentratedLossOfGaussianSteps) {
  Meter meter(zcdp("0.5"));
  meter.charge(gaussian("2", "1", 4));
  EXPECT_TRUE(meter.exhausted());
  EXPECT_ERROR(meter.charge(gaussian("1e9")), ErrorCode::kBudgetExceeded);
}

TEST(Meter, ChargesEpsilonAndDeltaTogether) {
  Meter meter(approximate("1", "1e-6"));
  meter.charge(approximate("0.5", "1e-6"));
  EXPECT_ERROR(meter.charge(approximate("0.1", "1e-9")), ErrorCode::kBudgetExceeded);
  meter.charge(pure("0.5"));
}

TEST(Meter, ChargesASampledRunStepByStep) {
  const Event step = poisson("0.01", {gaussian("1")});
  Meter meter(poisson("0.01", {gaussian("1")}, 3));
  meter.charge(step);
  EXPECT_ERROR(meter.charge(poisson("0.02", {gaussian("1")})), ErrorCode::kCannotCompose);
  meter.charge(step);
  meter.charge(step);
  EXPECT_TRUE(meter.exhausted());
  EXPECT_ERROR(meter.charge(step), ErrorCode::kBudgetExceeded);
}

TEST(Meter, RefusesAnotherRelation) {
  Meter meter(pure("1"));
  EXPECT_ERROR(meter.charge(event(events::Pure{1}, 1, Relation::kReplace)),
               ErrorCode::kCannotCompose);
}

Event composed(std::vector<Event> parts, std::uint64_t count = 1) {
  return event(events::Composed{std::move(parts)}, count);
}
Event discrete_gaussian(const char* sigma, std::uint64_t count = 1) {
  return event(events::DiscreteGaussian{parse_ratio(sigma), 1}, count);
}

TEST(Meter, AcceptsExactlyThePartsOfACompositionInAnyOrder) {
  const std::vector<Event> parts = {discrete_gaussian("3"), approximate("0", "1e-6"),
                                    discrete_gaussian("7/2", 2)};
  for (const std::vector<int>& order :
       {std::vector<int>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}}) {
    Meter meter(composed(parts));
    EXPECT_ERROR(meter.charge(discrete_gaussian("2")), ErrorCode::kCannotCompose);
    for (const int i : order) {
      EXPECT_FALSE(meter.exhausted());
      meter.charge(parts[static_cast<std::size_t>(i)]);
    }
    EXPECT_TRUE(meter.exhausted());
    for (const Event& part : parts) EXPECT_ERROR(meter.charge(part), ErrorCode::kBudgetExceeded);
  }
  Meter whole(composed(parts, 3));
  whole.charge(composed(parts, 2));
  whole.charge(discrete_gaussian("7/2"));
  EXPECT_ERROR(whole.charge(composed(parts, 2)), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(whole.charged().size(), 2u);
  whole.charge(discrete_gaussian("7/2"));
  whole.charge(composed({parts[1], parts[0]}));
  EXPECT_TRUE(whole.exhausted());
}

// Equal pure losses need not cost the same in another currency: a choice of bounded range has
// epsilon^2/8, Laplace noise epsilon^2/2, and two halves cost less together than one whole.
TEST(Meter, DoesNotExchangeEventsThatAreEquallyPureForDearerOnes) {
  Meter choice(exponential("1"));
  EXPECT_ERROR(choice.charge(laplace("1")), ErrorCode::kCannotCompose);
  EXPECT_ERROR(choice.charge(pure("1")), ErrorCode::kCannotCompose);
  choice.charge(exponential("1"));
  Meter halves(pure("0.5", 2));
  EXPECT_ERROR(halves.charge(laplace("1")), ErrorCode::kBudgetExceeded);
  halves.charge(laplace("2", "1", 2));
  EXPECT_TRUE(halves.exhausted());
}

TEST(Meter, SpendsMoneyAndNamedPartsSideBySide) {
  Meter meter(composed({pure("1", 2), zcdp("0.5"), discrete_gaussian("4")}));
  meter.charge(gaussian("2", "1", 3));
  meter.charge(discrete_gaussian("4"));
  EXPECT_ERROR(meter.charge(gaussian("2", "1", 2)), ErrorCode::kBudgetExceeded);
  meter.charge(gaussian("2"));
  meter.charge(laplace("3", "1", 5));
  EXPECT_ERROR(meter.charge(laplace("3", "1", 2)), ErrorCode::kBudgetExceeded);
  meter.charge(laplace("3"));
  EXPECT_TRUE(meter.exhausted());
}

TEST(Meter, HandlesCountsNearTwoToTheSixtyThree) {
  const std::uint64_t many = (std::uint64_t{1} << 63) - 1;
  Meter meter(pure("1e-20", many));
  meter.charge(pure("1e-20", many - 1));
  EXPECT_ERROR(meter.charge(pure("1e-20", 2)), ErrorCode::kBudgetExceeded);
  meter.charge(pure("1e-20"));
}

}  // namespace
}  // namespace gauze
