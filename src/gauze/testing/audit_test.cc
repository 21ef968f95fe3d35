#include "gauze/testing/audit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/random/uniform.h"

namespace gauze::testing {
namespace {

// Two-coin randomised response: the truth with probability 3/4, epsilon = ln 3.
double coin(BitSource& bits, int truth, const Ratio& p) {
  return bernoulli(bits, p) ? truth : 1 - truth;
}

TEST(Audit, BoundsRandomisedResponseFromBelowAndTightly) {
  const auto zero = [](BitSource& bits) { return coin(bits, 0, Ratio(3, 4)); };
  const auto one = [](BitSource& bits) { return coin(bits, 1, Ratio(3, 4)); };
  const double epsilon = audited_epsilon(zero, one);
  EXPECT_LE(epsilon, std::log(3.0));
  EXPECT_GT(epsilon, 0.95 * std::log(3.0));
  EXPECT_EQ(audited_epsilon(one, one), 0);
}

TEST(Audit, CatchesAnOutputThatOnlyOneSideHas) {
  const auto never = [](BitSource&) { return 0.0; };
  const auto rarely = [](BitSource& bits) { return bernoulli(bits, Ratio(1, 100)) ? 7.0 : 0.0; };
  EXPECT_GT(audited_epsilon(rarely, never), 3.0);
  EXPECT_LT(audited_epsilon(rarely, never, {.delta = 0.02}), 0.1);
}

TEST(Audit, ConfidenceBoundsHoldAsOftenAsTheySay) {
  for (std::uint64_t hits = 0; hits <= 50; ++hits) {
    EXPECT_LE(probability_at_least(hits, 50, 1e-3), static_cast<double>(hits) / 50);
    EXPECT_GE(probability_at_most(hits, 50, 1e-3), static_cast<double>(hits) / 50);
  }
  // Exact coverage at p = 0.3: the mass of counts for which the bound fails.
  double failing_low = 0;
  double failing_high = 0;
  for (int k = 0; k <= 50; ++k) {
    const double mass = std::exp(std::lgamma(51) - std::lgamma(k + 1) - std::lgamma(51 - k) +
                                 k * std::log(0.3) + (50 - k) * std::log(0.7));
    const auto hits = static_cast<std::uint64_t>(k);
    if (probability_at_least(hits, 50, 1e-3) > 0.3) failing_low += mass;
    if (probability_at_most(hits, 50, 1e-3) < 0.3) failing_high += mass;
  }
  EXPECT_LE(failing_low, 1e-3);
  EXPECT_LE(failing_high, 1e-3);
}

TEST(ExactChecks, KnowTheDefinitions) {
  const std::vector<double> p = {0.75, 0.25};
  const std::vector<double> q = {0.25, 0.75};
  EXPECT_NEAR(max_log_ratio(p, q), std::log(3.0), 1e-15);
  EXPECT_NEAR(hockey_stick(p, q, 0), 0.5, 1e-15);
  EXPECT_NEAR(hockey_stick(p, q, std::log(3.0)), 0, 1e-15);
  EXPECT_NEAR(renyi_divergence(p, q, 2), std::log(0.25 * 9 + 0.75 / 9), 1e-15);
  EXPECT_TRUE(std::isinf(max_log_ratio(std::vector<double>{1, 0}, q)));
}

// Publishing one uniformly random record of four is (0, 1/4)-DP under replace, and no better.
TEST(ExactChecks, PriceTheRandomRecordAtOneOverN) {
  const std::vector<double> before = {0.25, 0.25, 0.25, 0.25, 0};
  const std::vector<double> after = {0.25, 0.25, 0.25, 0, 0.25};
  EXPECT_DOUBLE_EQ(hockey_stick(before, after, 0), 0.25);
  EXPECT_TRUE(std::isinf(max_log_ratio(before, after)));
}

}  // namespace
}  // namespace gauze::testing
