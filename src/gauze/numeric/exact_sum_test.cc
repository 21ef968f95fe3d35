#include "gauze/numeric/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

TEST(ExactSum, KeepsTheOnesAfterTwoToTheFiftyThree) {
  ExactSum sum;
  sum.add(0x1p53);
  for (int i = 0; i < 1001; ++i) sum.add(1.0);
  EXPECT_EQ(sum.value(), Ratio((Integer(1) << 53) + 1001));
  EXPECT_EQ(sum.rounded(), 0x1p53 + 1000);  // 2^53 + 1001 lies halfway; 2^53 + 1000 ends in 0
}

TEST(ExactSum, IsTheSameInEveryOrder) {
  std::vector<double> values = {-kMax, -1e16, -1.0, -kTiny, 0.1, kMax};
  std::sort(values.begin(), values.end());
  Ratio expected = 0;
  for (const double value : values) expected += ratio_of_bits(value);
  do {
    EXPECT_EQ(ExactSum(values).value(), expected);
  } while (std::next_permutation(values.begin(), values.end()));
}

TEST(ExactSum, IsTheSameInEveryGrouping) {
  testing::SeededBits bits(5);
  std::vector<double> values;
  while (values.size() < 1000) {
    const auto value = std::bit_cast<double>(bits.next());
    if (std::isfinite(value)) values.push_back(value);
  }
  Ratio expected = 0;
  for (const double value : values) expected += ratio_of_bits(value);
  ExactSum halves{std::span(values).first(300)};
  halves.add(ExactSum(std::span(values).subspan(300)));
  EXPECT_EQ(halves.value(), expected);
  EXPECT_EQ(ExactSum(values).value(), expected);
}

TEST(ExactSum, OneMoreValueMovesTheSumByExactlyThatValue) {
  ExactSum sum(std::vector<double>{1e300, -3.5, kTiny, 0x1p53});
  const Ratio before = sum.value();
  sum.add(1.0);
  EXPECT_EQ(sum.value() - before, 1);
}

TEST(ExactSum, SurvivesSubnormalsSignedZerosAndSumsBeyondTheLargestDouble) {
  EXPECT_EQ(ExactSum(std::vector<double>{kTiny, kTiny, -0.0, 0.0}).rounded(), 2 * kTiny);
  EXPECT_EQ(ExactSum(std::vector<double>{kMax, kMax, -kMax}).rounded(), kMax);
  EXPECT_EQ(ExactSum(std::vector<double>{kMax, kMax}).rounded(), INFINITY);
  EXPECT_EQ(ExactSum(std::vector<double>{-kMax, -kMax}).rounded(), -INFINITY);
  EXPECT_EQ(ExactSum().value(), 0);
}

TEST(ExactSum, RefusesWhatIsNoNumberAndStaysAsItWas) {
  ExactSum sum(std::vector<double>{2.0});
  EXPECT_ERROR(sum.add(NAN), ErrorCode::kInvalidInput);
  EXPECT_ERROR(sum.add(-INFINITY), ErrorCode::kInvalidInput);
  EXPECT_EQ(sum.value(), 2);
}

TEST(NearestDouble, RoundsTiesToEvenAlsoAmongSubnormals) {
  EXPECT_EQ(nearest_double(Ratio((Integer(1) << 53) + 1)), 0x1p53);
  EXPECT_EQ(nearest_double(Ratio((Integer(1) << 53) + 3)), 0x1p53 + 4);
  EXPECT_EQ(nearest_double(ratio_of_bits(kTiny) * Ratio(3, 2)), 2 * kTiny);
  EXPECT_EQ(nearest_double(ratio_of_bits(kTiny) * Ratio(1, 2)), 0.0);
  EXPECT_EQ(nearest_double(-ratio_of_bits(kTiny) * Ratio(5, 4)), -kTiny);
}

}  // namespace
}  // namespace gauze
