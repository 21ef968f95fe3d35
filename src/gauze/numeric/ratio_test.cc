#include "gauze/numeric/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(Ratio, ReadsDecimalsAndQuotientsExactly) {
  EXPECT_EQ(parse_ratio("0.1"), Ratio(1, 10));
  EXPECT_EQ(parse_ratio("7/3"), Ratio(7, 3));
  EXPECT_EQ(parse_ratio("-12"), Ratio(-12));
  EXPECT_EQ(parse_ratio("1e-6"), Ratio(1, 1'000'000));
  EXPECT_EQ(parse_ratio("2.50E+1"), Ratio(25));
  EXPECT_EQ(parse_ratio("08.5"), Ratio(17, 2));
  EXPECT_EQ(parse_ratio(".5/.25"), Ratio(2));
  EXPECT_EQ(parse_ratio("6/4"), Ratio(3, 2));
  EXPECT_EQ(denominator(parse_ratio("6/4")), 2);  // reduced
}

TEST(Ratio, RefusesWhatIsNoNumber) {
  for (const char* bad : {"", "-", ".", "e5", "1e", "nan", "inf", "0x10", "1/0", "1//2", "1 2",
                          "1e1000000", "--1", "1/2/3"}) {
    EXPECT_ERROR(parse_ratio(bad), ErrorCode::kInvalidInput);
  }
  EXPECT_ERROR(ratio_of_decimal(NAN), ErrorCode::kInvalidInput);
  EXPECT_ERROR(ratio_of_bits(INFINITY), ErrorCode::kInvalidInput);
}

TEST(Ratio, TakesADoubleAsItIsWrittenOrAsItIsStored) {
  EXPECT_EQ(ratio_of_decimal(0.1), Ratio(1, 10));
  EXPECT_EQ(ratio_of_bits(0.1), Ratio(Integer("3602879701896397"), Integer("36028797018963968")));
  EXPECT_EQ(ratio_of_decimal(-0.0), 0);
  EXPECT_EQ(ratio_of_decimal(1e308), parse_ratio("1e308"));
  EXPECT_EQ(ratio_of_bits(5e-324), power_of_two(-1074));
}

// The reduction that a bignum library once forgot (F4): quotients of products stay exact.
TEST(Ratio, DividesExactly) {
  for (int n = 1; n < 60; ++n) {
    for (int d = 1; d < 60; ++d) {
      const Ratio q = Ratio(n) / Ratio(d) / Ratio(6);
      EXPECT_EQ(q * 6 * d, n);
      EXPECT_EQ(gcd(Integer(numerator(q)), Integer(denominator(q))), 1);
    }
  }
}

TEST(Ratio, RoundsInTheDirectionItSays) {
  EXPECT_EQ(round_up(Ratio(1, 2)), 0.5);
  EXPECT_EQ(round_down(Ratio(1, 2)), 0.5);
  EXPECT_EQ(round_up(Ratio(1, 3)), std::nextafter(round_down(Ratio(1, 3)), 1));
  EXPECT_LT(ratio_of_bits(round_down(Ratio(-1, 3))), Ratio(-1, 3));
  EXPECT_GT(ratio_of_bits(round_up(Ratio(-1, 3))), Ratio(-1, 3));
  EXPECT_EQ(round_up(parse_ratio("1e400")), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_down(parse_ratio("1e400")), std::numeric_limits<double>::max());
  EXPECT_EQ(round_up(parse_ratio("1e-400")), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(round_down(parse_ratio("1e-400")), 0);
  EXPECT_EQ(floor(Ratio(-7, 2)), -4);
  EXPECT_EQ(ceil(Ratio(-7, 2)), -3);
  EXPECT_EQ(floor(Ratio(7, 2)), 3);
  EXPECT_EQ(ceil(Ratio(7, 2)), 4);
}

TEST(Ratio, SaturatesInsteadOfWrapping) {
  EXPECT_EQ(saturate((Integer(1) << 63) - 1), INT64_MAX);
  EXPECT_EQ(saturate(Integer(1) << 63), INT64_MAX);
  EXPECT_EQ(saturate(-(Integer(1) << 64)), INT64_MIN);
  EXPECT_EQ(saturate(-5), -5);
  EXPECT_EQ(saturating_add(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(saturating_add(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(saturating_add(INT64_MAX, INT64_MIN), -1);
}

TEST(Ratio, PrintsDecimalsWhereTheyAreExact) {
  EXPECT_EQ(to_string(Ratio(1, 10)), "0.1");
  EXPECT_EQ(to_string(Ratio(7, 3)), "7/3");
  EXPECT_EQ(to_string(Ratio(5)), "5");
  EXPECT_EQ(parse_ratio(to_string(parse_ratio("1e-300"))), parse_ratio("1e-300"));
}

}  // namespace
}  // namespace gauze
