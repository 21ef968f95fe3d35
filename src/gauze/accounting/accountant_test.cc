#include "gauze/accounting/accountant.h"

#include <cmath>

#include "gauze/accounting/gaussian.h"
#include "gauze/numeric/infinity.h"
#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders

TEST(Accountant, NamesRoundTrip) {
  for (const char* name_of :
       {"pure", "basic", "advanced", "zcdp", "rdp", "pld", "gaussian", "best"}) {
    EXPECT_EQ(name(parse_accountant(name_of)), name_of);
  }
  EXPECT_ERROR(parse_accountant("moments"), ErrorCode::kUnknownName);
}

TEST(Accountant, BestSaysWhoWon) {
  EXPECT_EQ(epsilon_at({gaussian("1")}, 1e-5).accountant, Accountant::kGaussian);
  EXPECT_EQ(epsilon_at({pure("1")}, 0).accountant, Accountant::kPure);
  EXPECT_EQ(epsilon_at({pure("0.1", 200)}, 1e-6).accountant, Accountant::kPld);
  EXPECT_EQ(epsilon_at({zcdp("0.1")}, 1e-6).accountant, Accountant::kZcdp);
  EXPECT_EQ(epsilon_at({}, 1e-6).epsilon, 0);
}

TEST(Accountant, BestIsTheSmallestOfAll) {
  const std::vector<std::vector<Event>> cases = {{laplace("2", "1", 30)},
                                                 {exponential("0.2", 50), laplace("5", "1", 10)},
                                                 {approximate("0.1", "1e-8", 20), pure("0.2", 3)},
                                                 {event(events::DiscreteGaussian{4, 2, 0}, 5)}};
  for (const auto& events : cases) {
    const Guarantee best = epsilon_at(events, 1e-6);
    for (const Accountant one : {Accountant::kPure, Accountant::kBasic, Accountant::kAdvanced,
                                 Accountant::kZcdp, Accountant::kRdp, Accountant::kPld}) {
      try {
        EXPECT_LE(best.epsilon, epsilon_at(events, 1e-6, one).epsilon * (1 + 1e-6)) << name(one);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kCannotCompose);
      }
    }
  }
}

// The grid composes the same pairs and is never below the truth; it is above by its step.
TEST(Accountant, FineDiscreteNoiseBesideLeaksHasTheFormulaOfTheNormalDistribution) {
  const Event noise = event(events::DiscreteGaussian{Ratio(1 << 20), Ratio(1 << 18), 10}, 3);
  const Event lone = approximate("0", "2e-7", 2);
  const std::vector<Event> all = {noise, gaussian("2"), lone};
  const Guarantee best = epsilon_at(all, 1e-6);
  EXPECT_EQ(best.accountant, Accountant::kGaussian);
  const double grid = epsilon_at(all, 1e-6, Accountant::kPld).epsilon;
  EXPECT_LE(best.epsilon, grid * (1 + 1e-7));  // two leaks at once are counted twice
  EXPECT_GE(best.epsilon, grid * (1 - 1e-6));
  // mu^2 = 3/16 + 1/4 at what the leaks leave of delta.
  const double by_formula = gaussian_epsilon(Ratio(7, 16), 6e-7);
  EXPECT_GE(best.epsilon, by_formula);
  EXPECT_LE(best.epsilon, by_formula * (1 + 1e-7));
  EXPECT_NEAR(delta_at(all, best.epsilon).delta, 1e-6, 1e-15);
  EXPECT_GE(delta_at(all, by_formula).delta, 1e-6);
  EXPECT_EQ(epsilon_at(all, 4e-7, Accountant::kGaussian).epsilon, kInfinity);
}

TEST(Accountant, CoarseDiscreteNoiseAndLeaksAloneHaveNoFormula) {
  EXPECT_ERROR(
      epsilon_at({event(events::DiscreteGaussian{1000, 1, 1})}, 1e-6, Accountant::kGaussian),
      ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon_at({event(events::DiscreteGaussian{1 << 20, 1 << 18, 0})}, 1e-6,
                          Accountant::kGaussian),
               ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon_at({approximate("0", "1e-7")}, 1e-6, Accountant::kGaussian),
               ErrorCode::kCannotCompose);
}

TEST(Accountant, RefusesWhatItHasNoTheoremFor) {
  EXPECT_ERROR(epsilon_at({gaussian("1")}, 1e-6, Accountant::kPure), ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon_at({gaussian("1")}, 1e-6, Accountant::kBasic), ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon_at({laplace("1")}, 1e-6, Accountant::kGaussian), ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon_at({poisson("0.1", {gaussian("1")})}, 1e-6, Accountant::kZcdp),
               ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon_at({pure("1"), randomized_response("3/4", 2)}, 1e-6),
               ErrorCode::kCannotCompose);
}

// Outside an event of probability d the loss is that of rho, which leaves (1e-6 - d)/(1 - d) for it;
// the optimal composition of both, found by the loss distribution, lies below.
TEST(Accountant, ConcentratedAccountingSetsTheirOwnDeltaAside) {
  const Event keys = approximate("0.1", "1e-7", 2);
  const Ratio rho = Ratio(1, 32) + parse_ratio("0.01");
  const double rest = (1e-6 - 2e-7) / (1 - 2e-7);
  const Guarantee both = epsilon_at({gaussian("4"), keys}, 1e-6, Accountant::kZcdp);
  EXPECT_NEAR(both.epsilon, epsilon_at({event(events::Zcdp{rho})}, rest).epsilon, 1e-12);
  EXPECT_LT(epsilon_at({gaussian("4"), keys}, 1e-6, Accountant::kPld).epsilon, both.epsilon);
  EXPECT_EQ(epsilon_at({gaussian("4"), keys}, 1.9e-7, Accountant::kZcdp).epsilon, kInfinity);
  const double delta = delta_at({gaussian("4"), keys}, both.epsilon, Accountant::kZcdp).delta;
  EXPECT_NEAR(delta, 1e-6, 1e-15);
  EXPECT_GE(delta, 1e-6 * (1 - 1e-12));
}

TEST(Accountant, ChecksDeltaEpsilonAndEvents) {
  EXPECT_ERROR(epsilon_at({pure("1")}, -1e-9), ErrorCode::kInvalidOption);
  EXPECT_ERROR(epsilon_at({pure("1")}, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(epsilon_at({pure("1")}, std::nan("")), ErrorCode::kInvalidOption);
  EXPECT_ERROR(delta_at({pure("1")}, -1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(delta_at({pure("1")}, kInfinity), ErrorCode::kInvalidOption);
  EXPECT_ERROR(epsilon_at({laplace("-1")}, 1e-6), ErrorCode::kInvalidOption);
}

// Fixed-size batches have an event of their own; under add_remove there is none.
TEST(Accountant, SamplersAndRelationsAreNotMixed) {
  Event batches = without_replacement(256, 60000, {gaussian("1.1")}, 100);
  EXPECT_GT(epsilon_at({batches}, 1e-5).epsilon, 0);
  EXPECT_ERROR(epsilon_at({batches, poisson("0.01", {gaussian("1")})}, 1e-5),
               ErrorCode::kCannotCompose);
  batches.relation = Relation::kAddRemove;
  EXPECT_ERROR(epsilon_at({batches}, 1e-5), ErrorCode::kCannotCompose);
}

TEST(Accountant, MoreNoiseCostsStrictlyLess) {
  const char* levels[] = {"0.5", "0.5001", "1", "1.3", "20", "1000"};
  const auto falls = [&](auto make, double at) {
    double last = kInfinity;
    for (const char* level : levels) {
      const double now = epsilon_at({make(level)}, at).epsilon;
      EXPECT_LT(now, last) << level;
      last = now;
    }
  };
  falls([](const char* s) { return gaussian(s); }, 1e-6);
  falls([](const char* s) { return laplace(s, "1", 5); }, 1e-6);
  falls([](const char* s) { return discrete_laplace(s, "2", 5); }, 1e-6);
  falls([](const char* s) { return event(events::DiscreteGaussian{parse_ratio(s), 1, 1}); }, 1e-6);
  falls([](const char* s) { return poisson("0.1", {gaussian(s)}, 10); }, 1e-6);
  falls([](const char* s) { return without_replacement(1, 10, {gaussian(s)}, 10); }, 1e-6);
}

TEST(Accountant, DeltaAndEpsilonAnswersAgree) {
  for (const Event& e : {laplace("3", "1", 10), poisson("0.05", {gaussian("1")}, 200),
                         exponential("0.3", 40), gaussian("2")}) {
    const double epsilon = epsilon_at({e}, 1e-6).epsilon;
    EXPECT_NEAR(delta_at({e}, epsilon).delta / 1e-6, 1, 1e-4) << type_name(e);
  }
}

TEST(Accountant, PureLossNeedsNoDelta) {
  EXPECT_EQ(epsilon_at({laplace("1", "1", 3)}, 0).epsilon, 3);
  EXPECT_TRUE(std::isinf(epsilon_at({gaussian("1")}, 0).epsilon));
  EXPECT_EQ(delta_at({laplace("1", "1", 3)}, 3).delta, 0);
  EXPECT_GT(delta_at({laplace("1", "1", 3)}, 2.9).delta, 0);
}

TEST(Accountant, SaturatesInsteadOfBreakingOnExtremes) {
  const std::uint64_t many = (std::uint64_t{1} << 63) - 1;
  EXPECT_GE(epsilon_at({pure("1e308", 5)}, 1e-6).epsilon, 1e308);
  EXPECT_GE(epsilon_at({pure("1e-308")}, 1e-6).epsilon, 0);
  EXPECT_LE(epsilon_at({pure("1e-308")}, 1e-6).epsilon, 1.01e-308);
  EXPECT_LE(epsilon_at({laplace("1e300")}, 0).epsilon, 1.01e-300);
  EXPECT_GT(epsilon_at({laplace("1e-300")}, 1e-6).epsilon, 1e299);
  EXPECT_GT(epsilon_at({laplace("1e9", "1", many)}, 1e-6).epsilon, 1);
  EXPECT_GT(epsilon_at({poisson("1e-9", {gaussian("1")}, many)}, 1e-6).epsilon, 0);
  EXPECT_GE(epsilon_at({poisson("1e-300", {gaussian("1")})}, 1e-6).epsilon, 0);
  EXPECT_GE(epsilon_at({poisson("0.5", {gaussian("1e-200")})}, 1e-6).epsilon, 100);
  EXPECT_GE(epsilon_at({poisson("0.5", {gaussian("1e200")})}, 1e-6).epsilon, 0);
  EXPECT_LE(epsilon_at({poisson("0.5", {gaussian("1e200")})}, 1e-6).epsilon, 1e-3);
  EXPECT_EQ(epsilon_at({approximate("1", "1")}, 0.5).epsilon, kInfinity);
  EXPECT_EQ(epsilon_at({pure("0")}, 0).epsilon, 0);
  EXPECT_EQ(delta_at({pure("1")}, 1e308).delta, 0);
}

}  // namespace
}  // namespace gauze
