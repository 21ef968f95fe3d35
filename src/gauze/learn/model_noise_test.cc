#include "gauze/learn/model_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/gaussian.h"
#include "gauze/accounting/loss.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

ModelNoise noise(double sensitivity, std::uint32_t dimension, const Ratio& epsilon,
                 const Ratio& delta = 0) {
  return ModelNoise({.l2_sensitivity = sensitivity,
                     .dimension = dimension,
                     .epsilon = epsilon,
                     .relation = Relation::kReplace,
                     .delta = delta});
}

double norm(const std::vector<double>& z) {
  double squares = 0;
  for (const double part : z) squares += part * part;
  return std::sqrt(squares);
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double kept = 0;  // share within the promise
};

Moments moments(const ModelNoise& noise, std::uint32_t dimension, int draws, std::uint64_t seed) {
  SeededBits bits(seed);
  const std::vector<double> zeros(dimension);
  const double promised = noise.accuracy().half_width;
  double first = 0, second = 0, kept = 0;
  for (int i = 0; i < draws; ++i) {
    const double length = norm(noise.add(zeros, bits));
    first += length;
    second += length * length;
    kept += length <= promised ? 1 : 0;
  }
  const double mean = first / draws;
  return {mean, second / draws - mean * mean, kept / draws};
}

// Check 11: sensitivity 0.5, epsilon 0.2: the norm is Gamma(d, 2.5). Its mean 2.5 d has a standard error of
// 2.5 sqrt(d / draws); five of them fail with probability 6e-7. Its variance 6.25 d is estimated within
// 6.25 d sqrt((2 + 6/d) / draws).
TEST(ModelNoise, HasGammaNormForPureGuarantees) {
  for (const std::uint32_t dimension : {10u, 50u}) {
    const int draws = 10000;
    const Moments seen = moments(noise(0.5, dimension, Ratio(1, 5)), dimension, draws, 1);
    const double d = dimension;
    EXPECT_NEAR(seen.mean, 2.5 * d, 5 * 2.5 * std::sqrt(d / draws));
    EXPECT_NEAR(seen.variance, 6.25 * d, 5 * 6.25 * d * std::sqrt((2 + 6 / d) / draws));
    EXPECT_NEAR(seen.kept, 0.95, 5 * std::sqrt(0.95 * 0.05 / draws));
  }
}

// Sigma by the formula of Balle and Wang at any epsilon, also above 1; the textbook's is not private at 20.
TEST(ModelNoise, IsCalibratedExactlyForGaussianNoise) {
  for (const double epsilon : {0.1, 1.0, 4.0, 20.0}) {
    const std::uint32_t dimension = 7;
    const ModelNoise gaussian =
        noise(0.25, dimension, ratio_of_decimal(epsilon), parse_ratio("1e-5"));
    EXPECT_LE(delta_at({gaussian.event()}, epsilon).delta, 1e-5);
    const auto event = std::get<events::DiscreteGaussian>(gaussian.event().kind);
    const double mu = round_up(event.l2_sensitivity) / round_up(event.sigma);
    EXPECT_NEAR(about_gaussian_delta(mu, epsilon), 1e-5, 1e-9);
    const double sigma = 0.25 / mu;
    const Moments seen = moments(gaussian, dimension, 10000, 2);
    // E|z|^2 = d sigma^2, with a standard error of sigma^2 sqrt(2 d / draws).
    EXPECT_NEAR(seen.variance + seen.mean * seen.mean, dimension * sigma * sigma,
                5 * sigma * sigma * std::sqrt(2.0 * dimension / 10000));
    EXPECT_NEAR(seen.kept, 0.95, 5 * std::sqrt(0.95 * 0.05 / 10000));
  }
}

TEST(ModelNoise, CostsWhatItWasAskedToCost) {
  EXPECT_EQ(pure_epsilon(noise(0.3, 4, Ratio(7, 3)).event()), Ratio(7, 3));
  EXPECT_EQ(noise(0.3, 4, 1).event().relation, Relation::kReplace);
}

TEST(ModelNoise, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(noise(0, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(noise(INFINITY, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(noise(1, 0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(noise(1, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(noise(1, 1, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(noise(1, 1, 1, -1), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
