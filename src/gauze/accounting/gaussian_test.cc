#include "gauze/accounting/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/composition.h"

namespace gauze {
namespace {

Ratio r(const char* text) {
  return parse_ratio(text);
}

void expect_just_above(double ours, double truth) {
  EXPECT_GE(ours, truth * (1 - 1e-16));
  EXPECT_LE(ours, truth * (1 + 1e-15));
}

// 400-digit values of Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu) from another system.
TEST(AnalyticGaussian, DeltaKeepsRelativePrecisionEverywhere) {
  expect_just_above(gaussian_delta(1, 1), 0.1269367375066439458008);
  expect_just_above(gaussian_delta(power_of_two(-20), 0.03125), 1.686759604579512348463e-229);
  expect_just_above(gaussian_delta(power_of_two(-60), 3 * 0x1p-30), 3.559089429505048409699e-13);
  expect_just_above(gaussian_delta(90000, 44000), 0.9995657410326238255622);
}

TEST(AnalyticGaussian, MatchesPublishedDeltas) {
  EXPECT_NEAR(gaussian_delta(1, 2), 0.02092364, 1e-8);
  EXPECT_NEAR(gaussian_delta(1, -2), 0.86749642, 1e-8);
  EXPECT_NEAR(gaussian_delta(1, -1), 0.67881797, 1e-8);
  EXPECT_NEAR(gaussian_delta(1, 0), 0.38292492, 1e-8);
  EXPECT_NEAR(gaussian_delta(r("1/25"), 1), 1.75463e-08, 1e-12);
  EXPECT_NEAR(gaussian_delta(1 / (r("3.42") * r("3.42")), 1.1), 1.00362244e-05, 1e-10);
}

TEST(AnalyticGaussian, MatchesPublishedEpsilons) {
  EXPECT_NEAR(gaussian_epsilon(1, 1e-5), 4.37718, 1e-5);
  EXPECT_NEAR(gaussian_epsilon(r("1/4"), 1e-5), 1.99309, 1e-5);
  EXPECT_NEAR(gaussian_epsilon(r("1/16"), 1e-5), 0.926342, 1e-6);
}

// The textbook sigma at epsilon 10 and 20 is refused, because it would not be private there.
TEST(AnalyticGaussian, CatchesTheTextbookFormulaAboveEpsilonOne) {
  const double sigma10 = std::sqrt(2 * std::log(1.25e5)) / 10;
  const double sigma20 = sigma10 / 2;
  EXPECT_NEAR(gaussian_delta(ratio_of_bits(1 / (sigma10 * sigma10)), 10), 2.265e-5, 1e-8);
  EXPECT_NEAR(gaussian_delta(ratio_of_bits(1 / (sigma20 * sigma20)), 20), 1.527e-3, 1e-6);
  const double sigma = textbook_gaussian_sigma(0.9, 1e-5, 1);
  EXPECT_LE(gaussian_delta(ratio_of_bits(1 / (sigma * sigma)), 0.9), 1e-5);
}

TEST(AnalyticGaussian, InvertsItself) {
  for (const double mu_squared : {1e-12, 1e-3, 1.0, 100.0}) {
    for (const double delta : {1e-200, 1e-12, 1e-6, 1e-3}) {
      const Ratio m = ratio_of_bits(mu_squared);
      const double epsilon = gaussian_epsilon(m, delta);
      EXPECT_LE(gaussian_delta(m, epsilon), delta);
      if (epsilon > 0) {
        EXPECT_GT(gaussian_delta(m, epsilon * (1 - 1e-14)), delta);
      }
    }
  }
}

TEST(AnalyticGaussian, SaturatesAtTheEndsOfItsRange) {
  EXPECT_EQ(gaussian_delta(0, 0), 0);
  EXPECT_TRUE(std::isinf(gaussian_epsilon(1, 0)));
  EXPECT_LE(gaussian_delta(r("1e-600"), 1e-300), 1e-300);
  EXPECT_EQ(gaussian_delta(r("1e700"), 1), 1);
  EXPECT_TRUE(std::isinf(gaussian_epsilon(r("1e700"), 1e-6)));
  EXPECT_LE(gaussian_delta(1, 1e308), 5e-324);
  EXPECT_GT(gaussian_epsilon(1, 1e-300), 37);
}

TEST(Gaussian, TheFastFormulaHasNineDigits) {
  for (const double mu : {1e-9, 2e-4, 1e-2, 0.2, 1.0, 7.0, 900.0, 1e5}) {
    for (const double of_mu : {0.0, 0.5, 3.0, 8.0}) {
      const double epsilon = of_mu * mu + mu * mu / 2;
      const double exact = gaussian_delta(ratio_of_bits(mu) * ratio_of_bits(mu), epsilon);
      EXPECT_NEAR(about_gaussian_delta(mu, epsilon) / exact, 1, 1e-9) << mu << " " << epsilon;
    }
  }
}

}  // namespace
}  // namespace gauze
