#include "gauze/learn/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/learn/model_noise.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

// Check 16: the published values.
TEST(Parameters, SimpleLambdaIsThePublishedRule) {
  const auto at = [](std::uint64_t records, std::uint32_t dimension, const char* epsilon) {
    return simple_lambda(
        {.dimension = dimension, .records = records, .epsilon = parse_ratio(epsilon)});
  };
  EXPECT_NEAR(at(3000, 14, "0.1"), 0.216025, 1e-6);
  EXPECT_NEAR(at(3000, 14, "0.2"), 0.152753, 1e-6);
  EXPECT_NEAR(at(3000, 14, "0.5"), 0.096609, 1e-6);
  EXPECT_NEAR(at(3000, 14, "1"), 0.068313, 1e-6);
  EXPECT_NEAR(at(768, 8, "0.1"), 0.322749, 1e-6);
  EXPECT_NEAR(at(768, 8, "1"), 0.102062, 1e-6);
}

// What the two parts cost together, by the formula in the header, with the variance of a coordinate.
double cost(double lambda, double variance, double norm) {
  return lambda * norm * norm / 2 + 0.25 / 2 * variance / (lambda * lambda);
}

TEST(Parameters, BalancedLambdaCostsLeast) {
  for (const double epsilon : {0.1, 1.0, 8.0}) {
    for (const char* delta : {"0", "1e-5"}) {
      const PublicNumbers numbers{.dimension = 30u,
                                  .records = std::uint64_t{24000},
                                  .epsilon = ratio_of_decimal(epsilon),
                                  .delta = parse_ratio(delta)};
      const double best = balanced_lambda(numbers, Loss::logistic().bounds(), 1, 10);
      double variance = 31 / (epsilon * epsilon);  // (d + 1) scale^2
      if (numbers.delta > 0) {
        // The median of the norm squared over the median of chi-square with 30 degrees of freedom, 29.336.
        const ModelNoise noise({.l2_sensitivity = 1,
                                .dimension = 30u,
                                .epsilon = numbers.epsilon,
                                .relation = Relation::kReplace,
                                .delta = numbers.delta});
        variance = std::pow(noise.accuracy(0.5).half_width, 2) / 29.336;
      }
      variance /= 24000.0 * 24000.0;
      EXPECT_LE(cost(best, variance, 10), cost(best * 1.02, variance, 10));
      EXPECT_LE(cost(best, variance, 10), cost(best / 1.02, variance, 10));
    }
  }
}

TEST(Parameters, RefuseNumbersOutsideTheirRange) {
  const auto with = [](std::uint32_t dimension, std::uint64_t records, const Ratio& epsilon) {
    return simple_lambda({.dimension = dimension, .records = records, .epsilon = epsilon});
  };
  EXPECT_ERROR(with(0, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(1, 0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(1, 1, 0), ErrorCode::kInvalidOption);
  const PublicNumbers one{.dimension = 1u, .records = std::uint64_t{1}, .epsilon = 1};
  EXPECT_ERROR(balanced_lambda(one, Loss::hinge().bounds(), 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(balanced_lambda(one, Loss::logistic().bounds(), 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(balanced_lambda(one, Loss::logistic().bounds(), 0, 1), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
