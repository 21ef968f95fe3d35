#include "gauze/accounting/zcdp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gauze {
namespace {

Ratio r(const char* text) {
  return parse_ratio(text);
}

// Expected values: 60-digit minimisation over the order in another system, cut off. Never below, by no
// fraction of an ulp either; at most a few ulp above.
void expect_just_above(double ours, const char* truth) {
  EXPECT_GE(ratio_of_bits(ours), r(truth));
  EXPECT_LE(ours, round_up(r(truth)) * (1 + 1e-15));
}

TEST(Zcdp, DeltaIsTheInfimumRoundedUp) {
  expect_just_above(zcdp_delta(r("5e-30"), 1e-13), "2.61967632972963009297728e-234");
  expect_just_above(zcdp_delta(r("0.05"), 0.25), "0.08177275310369552087");
  expect_just_above(zcdp_delta(r("0.5"), 0), "0.5588356393474346336");
  expect_just_above(zcdp_delta(r("1/32"), 0), "0.1508457845622860902");
}

TEST(Zcdp, NeverExceedsThePublishedConservativeValues) {
  EXPECT_LE(zcdp_delta(r("5e-30"), 1e-13), 2.619676329730346e-234);
  EXPECT_LE(zcdp_delta(r("0.05"), 0.25), 0.0817727531036956);
  EXPECT_LE(zcdp_delta(r("0.5"), 0), 0.5588356393474351);
  EXPECT_LE(zcdp_delta(r("1/32"), 0), 0.1508457845622862);
  EXPECT_LE(2 * zcdp_epsilon(r("0.5"), 1e-7), 11.341717670937543);
}

TEST(Zcdp, EpsilonIsTheInfimumRoundedUp) {
  expect_just_above(zcdp_epsilon(r("0.5"), 1e-7), "5.67085883546877028627");
}

// Bun and Steinke 2016 prove the larger rho + 2 sqrt(rho ln(1/delta)).
TEST(Zcdp, BeatsTheFirstConversion) {
  for (const double rho : {1e-6, 0.01, 1.0, 50.0}) {
    for (const double delta : {1e-12, 1e-6, 0.01}) {
      const double ours = zcdp_epsilon(ratio_of_bits(rho), delta);
      EXPECT_LT(ours, rho + 2 * std::sqrt(rho * std::log(1 / delta)));
      EXPECT_LE(zcdp_delta(ratio_of_bits(rho), ours), delta * (1 + 1e-12));
      if (ours > 0) {
        EXPECT_GT(zcdp_delta(ratio_of_bits(rho), ours * 0.999999), delta);
      }
    }
  }
}

TEST(Zcdp, SaturatesAtTheEndsOfItsRange) {
  EXPECT_EQ(zcdp_delta(0, 0), 0);
  EXPECT_EQ(zcdp_epsilon(0, 0), 0);
  EXPECT_TRUE(std::isinf(zcdp_epsilon(1, 0)));
  EXPECT_EQ(zcdp_delta(r("1e400"), 1), 1);
  EXPECT_TRUE(std::isinf(zcdp_epsilon(r("1e400"), 1e-6)));
  EXPECT_GE(zcdp_epsilon(r("1e-300"), 1e-6), 0);
  EXPECT_GE(zcdp_epsilon(r("1e300"), 1e-6), 1e300);
  EXPECT_LE(zcdp_delta(r("1e-300"), 1), 5e-324);
}

}  // namespace
}  // namespace gauze
