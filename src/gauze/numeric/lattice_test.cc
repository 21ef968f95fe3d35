#include "gauze/numeric/lattice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

TEST(Lattice, RoundsHalvesUpWhateverTheirSign) {
  const Lattice halves(-1);
  const std::vector<std::pair<double, int>> cases = {
      {0.0, 0}, {-0.0, 0}, {0.25, 1}, {-0.25, 0}, {0.24, 0}, {-0.26, -1}, {0.75, 2}, {-0.75, -1}};
  for (const auto& [x, steps] : cases) {
    EXPECT_EQ(halves.nearest(x), steps) << x;
    EXPECT_EQ(halves.nearest(ratio_of_bits(x)), steps) << x;
  }
}

TEST(Lattice, RoundsDoublesAsItRoundsFractions) {
  testing::SeededBits bits(2);
  for (int i = 0; i < 3000; ++i) {
    const auto x = std::bit_cast<double>(bits.next());
    if (!std::isfinite(x)) continue;
    for (const int exponent : {-1074, -40, 0, 3, 1000}) {
      EXPECT_EQ(Lattice(exponent).nearest(x), Lattice(exponent).nearest(ratio_of_bits(x)));
    }
    const double small = std::ldexp(static_cast<double>(bits.next() >> 40), -22);
    EXPECT_EQ(Lattice(-20).nearest(-small), Lattice(-20).nearest(-ratio_of_bits(small)));
  }
}

TEST(Lattice, ScalarsNeverMoveByMoreThanTheirSensitivityInSteps) {
  // Exhaustive over quarter steps: all x, y in [-4, 4], every integer and fractional distance.
  const Lattice unit(0);
  for (int x = -16; x <= 16; ++x) {
    for (int y = -16; y <= 16; ++y) {
      const Ratio distance(std::abs(x - y), 4);
      if (distance == 0) continue;
      const Integer moved = abs(Integer(unit.nearest(Ratio(x, 4)) - unit.nearest(Ratio(y, 4))));
      EXPECT_LE(moved, unit.l1_steps(distance));
      EXPECT_LE(moved, unit.l2_steps(distance));
    }
  }
}

TEST(Lattice, VectorsNeverMoveByMoreThanTheirSensitivityInSteps) {
  const Lattice unit(0);
  int attained = 0;
  for (int code = 0; code < 9 * 9 * 9 * 9; ++code) {  // x0, x1, y0, y1 in {-1, -3/4, ..., 1}
    int rest = code;
    int v[4];
    for (int& part : v) {
      part = rest % 9 - 4;
      rest /= 9;
    }
    Integer l1 = 0;
    Integer l2_squared = 0;
    for (int i = 0; i < 2; ++i) {
      const Integer move = unit.nearest(Ratio(v[i], 4)) - unit.nearest(Ratio(v[i + 2], 4));
      l1 += abs(move);
      l2_squared += move * move;
    }
    const int a = std::abs(v[0] - v[2]);
    const int b = std::abs(v[1] - v[3]);
    if (a + b == 0) continue;
    const Integer l1_bound = unit.l1_steps(Ratio(a + b, 4), 2);
    EXPECT_LE(l1, l1_bound);
    attained += l1 == l1_bound ? 1 : 0;
    const Ratio l2 = ratio_of_bits(std::hypot(a, b) / 4 * (1 + 1e-12));
    const Integer l2_bound = unit.l2_steps(l2, 2);
    EXPECT_LE(l2_squared, l2_bound * l2_bound);
  }
  EXPECT_GT(attained, 0);
}

TEST(Lattice, StepsComeFromPublicScales) {
  EXPECT_EQ(Lattice::within(Ratio(1)).exponent(), 0);
  EXPECT_EQ(Lattice::within(Ratio(7, 8)).exponent(), -1);
  EXPECT_EQ(Lattice::within(Ratio(4)).exponent(), 2);
  EXPECT_EQ(Lattice::within(parse_ratio("1e308")).exponent(), 1023);
  EXPECT_EQ(Lattice::for_noise(Ratio(1), 20, Ratio(1), 1).exponent(), -20);
  EXPECT_EQ(Lattice::for_noise(Ratio(1), 16, Ratio(1), 1 << 10).exponent(), -26);
}

TEST(Lattice, ReturnsTheNearestDouble) {
  EXPECT_EQ(Lattice(-20).value(3), std::ldexp(3.0, -20));
  EXPECT_EQ(Lattice(-1).value((Integer(1) << 60) + 1), std::ldexp(1.0, 59));
  EXPECT_EQ(Lattice(1000).value(Integer(1) << 100), INFINITY);
  EXPECT_EQ(Lattice(-1074).value(1), std::numeric_limits<double>::denorm_min());
}

TEST(Lattice, RefusesWhatIsNoNumber) {
  EXPECT_ERROR(Lattice(0).nearest(NAN), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Lattice(0).nearest(INFINITY), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
