#include "gauze/mechanism/discrete_accuracy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

// Published values of another library (OpenDP, test_accuracy.py).
TEST(DiscreteAccuracy, AgreesWithPublishedValues) {
  EXPECT_NEAR(discrete_gaussian_sigma_for(1, 0.5), 0.797878994872694, 1e-14);
  EXPECT_NEAR(discrete_laplace_scale_for(1, 0.5), 0.9102392266268373, 1e-14);  // 1/ln 3
  EXPECT_EQ(discrete_gaussian_accuracy(1, 0.5), 2.0);
}

double laplace_beyond(double scale, double r) {  // P(|X| > r)
  const double q = std::exp(-1 / scale);
  return 2 * std::pow(q, r + 1) / (1 + q);
}

TEST(DiscreteAccuracy, LaplaceRadiusIsTheSmallestThatHolds) {
  for (const double scale : {0.05, 0.5, 1.0, 7.0, 123.4}) {
    for (const double beta : {0.5, 0.1, 0.05, 1e-9}) {
      const double r = discrete_laplace_radius(ratio_of_bits(scale), beta);
      EXPECT_LE(laplace_beyond(scale, r), beta * (1 + 1e-9));
      if (r > 0) {
        EXPECT_GT(laplace_beyond(scale, r - 1), beta * (1 - 1e-9));
      }
    }
  }
}

TEST(DiscreteAccuracy, GaussianRadiusIsTheSmallestThatHolds) {
  for (const double sigma : {0.05, 0.5, 1.0, 7.0, 123.4}) {
    double total = 0;
    for (int x = -5000; x <= 5000; ++x) total += std::exp(-x * x / (2 * sigma * sigma));
    for (const double beta : {0.5, 0.1, 0.05, 1e-9}) {
      const auto r = static_cast<int>(discrete_gaussian_radius(ratio_of_bits(sigma), beta));
      double beyond = 0;
      for (int x = r + 1; x <= 5000; ++x) beyond += 2 * std::exp(-x * x / (2 * sigma * sigma));
      EXPECT_LE(beyond / total, beta * (1 + 1e-9));
      beyond += 2 * std::exp(-r * r / (2 * sigma * sigma));
      if (r > 0) {
        EXPECT_GT(beyond / total, beta * (1 - 1e-9));
      }
    }
  }
}

TEST(DiscreteAccuracy, LargeSigmasUseTheNormalTail) {
  EXPECT_NEAR(discrete_gaussian_radius(Ratio(1000000), 0.05), 1959963.98, 2);
}

TEST(DiscreteAccuracy, ScalesAndAccuraciesInvertEachOther) {
  for (const double accuracy : {1.0, 2.0, 17.0}) {
    const double scale = discrete_laplace_scale_for(accuracy, 0.05);
    EXPECT_EQ(discrete_laplace_accuracy(scale * (1 - 1e-9), 0.05), accuracy);
    EXPECT_EQ(discrete_laplace_accuracy(scale * (1 + 1e-9), 0.05), accuracy + 1);
    const double sigma = discrete_gaussian_sigma_for(accuracy, 0.05);
    EXPECT_EQ(discrete_gaussian_accuracy(sigma * (1 - 1e-9), 0.05), accuracy);
    EXPECT_EQ(discrete_gaussian_accuracy(sigma * (1 + 1e-9), 0.05), accuracy + 1);
  }
}

TEST(DiscreteAccuracy, RejectsWhatHasNoMeaning) {
  EXPECT_ERROR(discrete_laplace_radius(Ratio(1), 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete_gaussian_radius(Ratio(1), 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete_laplace_scale_for(0.5, 0.1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete_gaussian_sigma_for(NAN, 0.1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete_gaussian_accuracy(-1, 0.1), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
