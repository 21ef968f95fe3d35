#include "gauze/accounting/composition.h"

#include <cmath>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(Composition, ReproducesThePrintedAdvancedBound) {
  EXPECT_NEAR(first_advanced_epsilon(0.1, 100, 1e-6), 6.30823, 1e-5);
  EXPECT_NEAR(first_advanced_epsilon(1, 10, 1e-6), 33.8054, 1e-4);
}

TEST(Composition, ReportsBasicWhereAdvancedIsWorse) {
  EXPECT_NEAR(advanced_epsilon({{1, 0, 10}}, 1e-6), 10, 1e-12);
  EXPECT_LT(advanced_epsilon({{0.1, 0, 100}}, 1e-6), 6.30823);
}

// Kairouz, Oh and Viswanath 2015, Theorem 3.5, worked out by hand for 300 x (0.1, 0.001). A widely
// used program reports delta 0.19256 here, which is too small.
TEST(Composition, ComposesThreeHundredApproximateGuarantees) {
  const EpsilonDelta total = advanced_composition({{0.1, 1e-3, 300}}, 5e-4);
  EXPECT_NEAR(total.epsilon, 8.2519, 1e-4);
  EXPECT_NEAR(total.delta, 0.2596633, 1e-6);
  EXPECT_NEAR(advanced_epsilon({{0.1, 1e-3, 300}}, total.delta), total.epsilon, 1e-6);
  EXPECT_NEAR(advanced_delta({{0.1, 1e-3, 300}}, total.epsilon), total.delta, 1e-8);
  EXPECT_TRUE(std::isinf(advanced_epsilon({{0.1, 1e-3, 300}}, 0.19256)));
}

TEST(Composition, MixesDifferentGuarantees) {
  const double both = advanced_epsilon({{0.1, 0, 50}, {0.1, 0, 50}}, 1e-6);
  EXPECT_NEAR(both, advanced_epsilon({{0.1, 0, 100}}, 1e-6), 1e-12);
  EXPECT_LE(advanced_epsilon({{0.1, 0, 50}, {2, 0, 1}}, 1e-6), 7 + 1e-12);
}

TEST(Composition, GroupPrivacyTelescopesDelta) {
  const EpsilonDelta group = group_privacy({0.5, 1e-6}, 3);
  EXPECT_DOUBLE_EQ(group.epsilon, 1.5);
  EXPECT_NEAR(group.delta, 5.36700e-6, 1e-11);
  EXPECT_LT(group.delta, 8.15485e-6);  // the looser printed form
  EXPECT_DOUBLE_EQ(group_privacy({0, 1e-6}, 3).delta, 3e-6);
  EXPECT_EQ(group_privacy({1e308, 0.5}, 3).delta, 1);
}

TEST(Composition, ParallelCostsTheDearestPartUnderAddRemoveOnly) {
  const std::vector<EpsilonDelta> parts = {{0.3, 0}, {0.7, 0}, {0.5, 0}};
  EXPECT_EQ(parallel_composition(parts, Relation::kAddRemove).epsilon, 0.7);
  EXPECT_ERROR(parallel_composition(parts, Relation::kReplace), ErrorCode::kCannotCompose);
  EXPECT_ERROR(parallel_composition(parts, Relation::kNode), ErrorCode::kCannotCompose);
}

TEST(Composition, AmplifiesPureLossBySampling) {
  EXPECT_NEAR(amplified_epsilon(0.23, 0.05), 0.012847122, 1e-9);
  EXPECT_NEAR(amplified_epsilon(1, 0.05), 0.082422113, 1e-9);
  EXPECT_NEAR(amplified_epsilon(0.5, 0.1), 0.062854723, 1e-9);
  EXPECT_EQ(amplified_epsilon(3, 1), 3);
  EXPECT_NEAR(amplified_epsilon_coarse(1, 0.05), 0.1, 1e-15);
  EXPECT_GE(amplified_epsilon_coarse(1.2564, 0.01), amplified_epsilon(1.2564, 0.01));
  EXPECT_ERROR(amplified_epsilon_coarse(1.3, 0.05), ErrorCode::kInvalidOption);
}

TEST(Composition, TextbookGaussianHoldsBelowOneOnly) {
  EXPECT_NEAR(textbook_gaussian_sigma(0.5, 1e-5, 1), 9.689610525, 1e-9);
  EXPECT_ERROR(textbook_gaussian_sigma(1.5, 1e-5, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(textbook_gaussian_sigma(0.5, 0, 1), ErrorCode::kInvalidOption);
}

TEST(Composition, RestatesAddRemoveForReplace) {
  const EpsilonDelta replace = add_remove_as_replace({0.5, 1e-6});
  EXPECT_DOUBLE_EQ(replace.epsilon, 1);
  EXPECT_NEAR(replace.delta, 1e-6 * (1 + std::exp(0.5)), 1e-18);
}

}  // namespace
}  // namespace gauze
