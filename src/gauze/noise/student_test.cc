#include "gauze/noise/student.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::kSignificance;
using testing::SeededBits;

double weight(double x, double scale, unsigned degrees) {
  return std::pow(1 + x * x / (degrees * scale * scale), -0.5 * (degrees + 1));
}

/// Sum of the weights beyond `from` on one side: terms, then the integral of the power tail.
double tail(std::int64_t from, double scale, unsigned degrees) {
  constexpr std::int64_t kTerms = 1'000'000;
  double sum = 0;
  for (std::int64_t x = from + kTerms; x >= from; --x) {
    sum += weight(static_cast<double>(x), scale, degrees);
  }
  const double end = static_cast<double>(from + kTerms) + 0.5;
  const double spread = degrees * scale * scale;
  return sum + std::pow(spread, 0.5 * (degrees + 1)) * std::pow(end, -double(degrees)) / degrees;
}

double fit(const Ratio& drawn, unsigned drawn_degrees, double scale, unsigned degrees,
           std::uint64_t seed) {
  constexpr std::int64_t kReach = 60;
  const double total = 1 + 2 * tail(1, scale, degrees);
  const StudentNoise noise(drawn, drawn_degrees);
  SeededBits bits(seed);
  return testing::chi_square_p(
      [&] { return saturate(noise.draw(bits)); }, 60'000, -kReach, kReach,
      [&](std::int64_t x) { return weight(static_cast<double>(x), scale, degrees) / total; },
      tail(kReach + 1, scale, degrees) / total);
}

TEST(StudentNoise, HasItsLawInTheCentreAndInTheTails) {
  EXPECT_GT(fit(1, 1, 1, 1, 1), kSignificance);
  EXPECT_GT(fit(Ratio(7, 3), 1, 7.0 / 3, 1, 2), kSignificance);
  EXPECT_GT(fit(Ratio(1, 5), 1, 0.2, 1, 3), kSignificance);
  EXPECT_GT(fit(3, 3, 3, 3, 4), kSignificance);
  EXPECT_GT(fit(Ratio(16, 3), 5, 16.0 / 3, 5, 5), kSignificance);
  // The same test refuses a scale one tenth off and other degrees.
  EXPECT_LT(fit(Ratio(11, 10), 1, 1, 1, 1), kSignificance);
  EXPECT_LT(fit(3, 1, 3, 3, 4), kSignificance);
}

// P(|X| > 4096 scale) of the Cauchy law is 2/(4096 pi): one draw in 6434.
TEST(StudentNoise, ReachesAsFarAsThePowerSays) {
  const StudentNoise noise(1024, 1);
  SeededBits bits(6);
  int far = 0;
  for (int i = 0; i < 200'000; ++i) far += abs(noise.draw(bits)) > Integer(4096 * 1024) ? 1 : 0;
  // Expected 31.1; outside these with probability below 1e-9.
  EXPECT_GT(far, 5);
  EXPECT_LT(far, 75);
}

TEST(StudentNoise, RejectsParametersOutsideTheirRange) {
  EXPECT_ERROR(StudentNoise(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(StudentNoise(1, 2), ErrorCode::kInvalidOption);
  EXPECT_ERROR(StudentNoise(1, 17), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
