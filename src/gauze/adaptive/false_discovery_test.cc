#include "gauze/adaptive/false_discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

double uniform(BitSource& bits) {
  return (static_cast<double>(bits.next() >> 11) + 0.5) * 0x1p-53;
}

TEST(FalseDiscovery, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(Spending(1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Spending(1.6, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(LordPlusPlus({.rate = 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(LordPlusPlus({.rate = 0.1, .wealth = 0.1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Saffron({.rate = 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Saffron({.rate = 0.1, .candidacy = 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Saffron({.rate = 0.1, .wealth = 0.05}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Saffron({.rate = 0.1, .cap = 0.6}), ErrorCode::kInvalidOption);
}

// R. Cummings' lecture notes with the formulas of Ramdas, Zrnic, Wainwright and Jordan 2018.
TEST(Saffron, HasThePublishedLevels) {
  EXPECT_NEAR(Spending()(1), 0.438764, 5e-7);
  Saffron saffron({.rate = 0.05, .candidacy = 0.5, .wealth = 0.0125});
  const std::vector<double> p = {1e-4, 0.6, 5e-5, 0.02, 0.9, 0.001, 0.3, 5e-4};
  const std::vector<double> levels = {0.00548455, 0.01096910, 0.00361845, 0.01458755,
                                      0.01458755, 0.00550982, 0.01647892, 0.01647892};
  const std::vector<bool> rejected = {1, 0, 1, 0, 0, 1, 0, 1};
  for (std::size_t t = 0; t < p.size(); ++t) {
    EXPECT_NEAR(saffron.level(), levels[t], 5e-9) << t;
    EXPECT_EQ(saffron.test(p[t]), rejected[t]) << t;
  }
}

// Straight from the formula: rejections at 2, 5 and 6 of 8.
TEST(LordPlusPlus, HasTheLevelsOfItsFormula) {
  LordPlusPlus lord({.rate = 0.1, .wealth = 0.03});
  const Spending g;
  const std::vector<double> expected = {0.03 * g(1),
                                        0.03 * g(2),
                                        0.03 * g(3) + 0.07 * g(1),
                                        0.03 * g(4) + 0.07 * g(2),
                                        0.03 * g(5) + 0.07 * g(3),
                                        0.03 * g(6) + 0.07 * g(4) + 0.1 * g(1),
                                        0.03 * g(7) + 0.07 * g(5) + 0.1 * g(2) + 0.1 * g(1),
                                        0.03 * g(8) + 0.07 * g(6) + 0.1 * g(3) + 0.1 * g(2)};
  for (std::uint64_t t = 1; t <= 8; ++t) {
    EXPECT_NEAR(lord.level(), expected[t - 1], 1e-15) << t;
    lord.record(t == 2 || t == 5 || t == 6);
  }
}

// What the argument rests on.
TEST(LordPlusPlus, NeverSpendsMoreThanTheRateForEachRejection) {
  SeededBits bits(1);
  for (const double share : {0.0, 0.01, 0.3, 1.0}) {
    LordPlusPlus lord({.rate = 0.2, .spending = Spending(1.6, 100)});
    double spent = 0;
    int rejections = 0;
    for (int t = 0; t < 500; ++t) {
      spent += lord.level();
      EXPECT_LE(spent, 0.2 * std::max(1, rejections) * (1 + 1e-12));
      const bool rejected = uniform(bits) < share;
      lord.record(rejected);
      rejections += rejected ? 1 : 0;
    }
  }
}

/// Mean share of false discoveries over 400 runs of 300 tests, every tenth hypothesis false.
template <class Decide>
double false_discoveries(Decide decide) {
  SeededBits bits(2);
  double sum = 0;
  for (int run = 0; run < 400; ++run) {
    auto procedure = decide();
    int rejected = 0;
    int wrong = 0;
    for (int t = 0; t < 300; ++t) {
      const bool real = t % 10 == 9;
      const double p = real ? 1e-4 * uniform(bits) : uniform(bits);
      if (!procedure(p)) continue;
      ++rejected;
      wrong += real ? 0 : 1;
    }
    EXPECT_GT(rejected, 10);
    sum += static_cast<double>(wrong) / std::max(rejected, 1);
  }
  return sum / 400;
}

// At a rate of 1/5 the mean of 400 runs exceeds it by 0.03 with probability below 1e-8 (a share of
// false discoveries has a deviation of at most 0.1 here); without the memory of rejections it does.
TEST(FalseDiscovery, RatesAreAsPromised) {
  const double lord = false_discoveries([] {
    return [procedure = LordPlusPlus({.rate = 0.2})](double p) mutable {
      const bool rejected = p < procedure.level();
      procedure.record(rejected);
      return rejected;
    };
  });
  EXPECT_LE(lord, 0.23);
  const double saffron = false_discoveries([] {
    return [procedure = Saffron({.rate = 0.2})](double p) mutable { return procedure.test(p); };
  });
  EXPECT_LE(saffron, 0.23);
  EXPECT_GT(false_discoveries([] { return [](double p) { return p < 0.2; }; }), 0.23);
}

}  // namespace
}  // namespace gauze
