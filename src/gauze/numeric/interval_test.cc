#include "gauze/numeric/interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

/// Same quantity at 64 and at 300 bits: the narrow one must lie inside the wide one.
template <class F>
void expect_nested(F f) {
  const Interval wide = f(64u);
  const Interval narrow = f(300u);
  EXPECT_FALSE((narrow - wide).positive());
  EXPECT_FALSE((narrow - wide).negative());
  EXPECT_LE(wide.lower(), narrow.lower());
  EXPECT_GE(wide.upper(), narrow.upper());
}

TEST(Interval, EnclosesWhatItComputes) {
  for (const Ratio& x : {Ratio(1, 3), Ratio(22, 7), Ratio(1, 1000), Ratio(50)}) {
    expect_nested([&](unsigned b) { return exp(-Interval(x, b)); });
    expect_nested([&](unsigned b) { return log(Interval(x, b)); });
    expect_nested([&](unsigned b) { return log1p(Interval(x, b)); });
    expect_nested([&](unsigned b) { return expm1(Interval(x, b)); });
    expect_nested([&](unsigned b) { return sqrt(Interval(x, b)); });
    expect_nested([&](unsigned b) { return Interval(x, b) / Interval(Ratio(-7, 11), b); });
    expect_nested([&](unsigned b) { return (Interval(x, b) - Interval::pi(b)) * Interval(x, b); });
    EXPECT_NEAR(exp(-Interval(x, 64)).upper(), std::exp(-x.convert_to<double>()), 1e-15);
    EXPECT_NEAR(log(Interval(x, 64)).lower(), std::log(x.convert_to<double>()), 1e-14);
  }
  EXPECT_NEAR(Interval::pi(64).upper(), M_PI, 1e-15);
}

TEST(Interval, MultipliesAcrossZero) {
  const Interval spread = Interval::zero_to_one(64) - Interval(0.5, 64);  // [-1/2, 1/2]
  const Interval product = spread * Interval(-4.0, 64);
  EXPECT_EQ(product.lower(), -2);
  EXPECT_EQ(product.upper(), 2);
  EXPECT_FALSE(product.positive());
  EXPECT_FALSE(product.negative());
}

TEST(Interval, RefusesArgumentsOutsideTheDomain) {
  EXPECT_ERROR(log(Interval(0.0, 64)), ErrorCode::kInternal);
  EXPECT_ERROR(sqrt(Interval(-1.0, 64)), ErrorCode::kInternal);
  EXPECT_ERROR(Interval(1.0, 64) / Interval::zero_to_one(64), ErrorCode::kInternal);
  EXPECT_ERROR(log1p(Interval(-1.0, 64)), ErrorCode::kInternal);
}

}  // namespace
}  // namespace gauze
