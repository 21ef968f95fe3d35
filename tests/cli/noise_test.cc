#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <sstream>

#include "program.h"

namespace {

using ::testing::HasSubstr;

std::vector<std::int64_t> lines(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::int64_t>(stream), {}};
}

// P(x) proportional to e^(-3|x|/7): frequencies of -8..8 and of the rest over 200,000 draws;
// chi-square with 17 degrees of freedom is above 64 with probability below 1e-6.
TEST(NoiseCommand, DrawsTheDiscreteLaplaceDistribution) {
  const int n = 200'000;
  const auto draws = lines(gauze_program("noise discrete_laplace --scale 7/3 --count 200000").out);
  ASSERT_EQ(draws.size(), static_cast<std::size_t>(n));
  std::map<std::int64_t, int> counts;
  for (const std::int64_t draw : draws) ++counts[std::abs(draw) > 8 ? 9 : draw];
  const double r = std::exp(-3.0 / 7);
  double chi_square = 0;
  double rest = n;
  for (int x = -8; x <= 8; ++x) {
    const double expected = n * (1 - r) / (1 + r) * std::pow(r, std::abs(x));
    rest -= expected;
    chi_square += std::pow(counts[x] - expected, 2) / expected;
  }
  chi_square += std::pow(counts[9] - rest, 2) / rest;
  EXPECT_LT(chi_square, 64);
  EXPECT_GT(chi_square, 1);
}

// The variance of 100,000 draws at sigma 5 is within 3 % of 25 except with probability below 1e-10.
TEST(NoiseCommand, TakesTheScaleOfTheGaussianAsSigma) {
  const auto draws = lines(gauze_program("noise discrete_gaussian --scale 5 --count 1e5").out);
  ASSERT_EQ(draws.size(), 100'000u);
  double squares = 0;
  for (const std::int64_t draw : draws) squares += static_cast<double>(draw * draw);
  EXPECT_NEAR(squares / 1e5, 25, 0.75);
}

TEST(NoiseCommand, GeometricIsNeverNegative) {
  for (const std::int64_t draw : lines(gauze_program("noise geometric --scale 3 --count 1000").out))
    EXPECT_GE(draw, 0);
}

TEST(NoiseCommand, TwoRunsDiffer) {
  EXPECT_NE(gauze_program("noise discrete_laplace --scale 1e9 --count 8").out,
            gauze_program("noise discrete_laplace --scale 1e9 --count 8").out);
}

TEST(NoiseCommand, JsonHoldsAllDrawsAcrossBatches) {
  const auto json = gauze_program("noise discrete_laplace --scale 2 --count 8193 --json").json();
  EXPECT_EQ(json.at("draws").size(), 8193u);
}

TEST(NoiseCommand, AScaleBeyondSixtyFourBitsSaturates) {
  const auto draws = lines(gauze_program("noise discrete_laplace --scale 1e300 --count 50").out);
  ASSERT_EQ(draws.size(), 50u);
  for (const std::int64_t draw : draws) EXPECT_TRUE(draw == INT64_MAX || draw == INT64_MIN);
}

TEST(NoiseCommand, RefusesBadScalesAndCounts) {
  for (const char* scale : {"0", "-1", "nan", "inf", "1/0", "x", "''"}) {
    const Ran ran = gauze_program(std::string("noise discrete_laplace --count 1 --scale ") + scale);
    EXPECT_EQ(ran.exit, 2) << scale;
    EXPECT_THAT(ran.err, HasSubstr("scale")) << scale;
    EXPECT_EQ(ran.out, "") << scale;
  }
  for (const char* count : {"0", "-5", "1.5", "9223372036854775808", "nan"}) {
    const Ran ran = gauze_program(std::string("noise discrete_laplace --scale 1 --count ") + count);
    EXPECT_EQ(ran.exit, 2) << count;
  }
  EXPECT_EQ(gauze_program("noise cauchy --scale 1").exit, 2);
  EXPECT_EQ(gauze_program("noise discrete_laplace").exit, 2);
}

}  // namespace
