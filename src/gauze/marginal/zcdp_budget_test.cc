#include "gauze/marginal/zcdp_budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/meter.h"
#include "gauze/accounting/zcdp.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(ZcdpBudget, BuysTheLargestRhoThatThePromiseAllows) {
  for (const char* epsilon : {"0.01", "0.1", "1", "10", "100"}) {
    for (const char* delta : {"1e-12", "1e-9", "0.01"}) {
      const Ratio rho = rho_for(parse_ratio(epsilon), parse_ratio(delta));
      const double least = round_down(parse_ratio(epsilon));
      EXPECT_LE(zcdp_delta(rho, least), round_down(parse_ratio(delta)));
      EXPECT_GT(zcdp_delta(Ratio(rho * Ratio(1'000'001, 1'000'000)), least),
                round_down(parse_ratio(delta)));
    }
  }
  // Better than epsilon = rho + 2 sqrt(rho ln(1/delta)), which a formula of one line gives.
  const double simple = std::pow(std::sqrt(std::log(1e9) + 1) - std::sqrt(std::log(1e9)), 2);
  EXPECT_GT(round_down(rho_for(1, parse_ratio("1e-9"))), simple);
}

TEST(ZcdpBudget, PricesAreCoveredExactlyAndNearlyUsedUp) {
  for (const char* text : {"1/3", "0.0123", "7", "1e-12", "123456789/1000"}) {
    const Ratio rho = parse_ratio(text);
    for (const std::uint64_t r : {1u, 3u, 1000u}) {
      const Ratio sigma = sigma_for(rho, r);
      const Ratio price = Ratio(Integer(r) * Integer(r)) / (2 * sigma * sigma);
      EXPECT_LE(price, rho);
      EXPECT_GT(price, rho * Ratio(99'999'997, 100'000'000));
    }
    const Ratio epsilon = choice_epsilon_for(rho);
    EXPECT_LE(Ratio(epsilon * epsilon / 8), rho);
    EXPECT_GT(Ratio(epsilon * epsilon / 8), rho * Ratio(99'999'997, 100'000'000));
  }
}

TEST(ZcdpBudget, AnySplitOfABudgetIsAccepted) {
  // A peer refuses its own split by a last bit (known-bugs A15).
  const Ratio rho = rho_for(1, parse_ratio("1e-9"));
  for (const std::uint64_t parts : {3u, 7u, 16u, 16u * 14}) {
    Meter meter(Event{events::Zcdp{rho}, Relation::kAddRemove});
    const Ratio share = rho / Integer(parts);
    for (std::uint64_t i = 0; i < parts; ++i)
      EXPECT_NO_THROW(meter.charge(
          {events::DiscreteGaussian{sigma_for(share, 2), 2, 0}, Relation::kAddRemove}));
    // There is no room for one more.
    EXPECT_ERROR(
        meter.charge({events::DiscreteGaussian{sigma_for(share, 2), 2, 0}, Relation::kAddRemove}),
        ErrorCode::kBudgetExceeded);
  }
}

TEST(ZcdpBudget, RefusesWhatHasNoRho) {
  EXPECT_ERROR(rho_for(0, Ratio(1, 2)), ErrorCode::kInvalidOption);
  EXPECT_ERROR(rho_for(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(rho_for(1, 1), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
