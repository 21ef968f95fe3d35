#include "gauze/mechanism/discrete_laplace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::audited_epsilon;
using testing::release_once;
using testing::SeededBits;

DiscreteLaplace discrete(std::uint64_t sensitivity, const Ratio& scale) {
  return DiscreteLaplace({.l1_sensitivity = sensitivity, .scale = scale});
}

TEST(DiscreteLaplace, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(discrete(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete(1, Ratio(-1, 2)), ErrorCode::kInvalidOption);
}

TEST(DiscreteLaplace, CostsSensitivityOverScale) {
  EXPECT_EQ(pure_epsilon(discrete(3, Ratio(7, 3)).event()), Ratio(9, 7));
}

// P(|X| <= r) = 1 - 2 q^(r+1)/(1+q), q = e^(-1/scale), is at least 0.95 at the promised r; the
// empirical coverage of 20,000 draws is then above 0.9423 except with probability 3e-7.
TEST(DiscreteLaplace, KeepsItsAccuracyPromise) {
  for (const Ratio& scale : {Ratio(1, 10), Ratio(2), Ratio(50)}) {
    const DiscreteLaplace mechanism = discrete(1, scale);
    const double r = mechanism.accuracy(0.95).half_width;
    const double q = std::exp(-1 / scale.convert_to<double>());
    EXPECT_LE(2 * std::pow(q, r + 1) / (1 + q), 0.05);
    if (r > 0) {
      EXPECT_GT(2 * std::pow(q, r) / (1 + q), 0.05);
    }
    SeededBits bits(19);
    const std::vector<std::int64_t> zeros(20000);
    const auto draws = release_once(mechanism, std::span<const std::int64_t>(zeros), bits);
    const auto kept = std::count_if(draws.begin(), draws.end(), [&](std::int64_t z) {
      return std::abs(static_cast<double>(z)) <= r;
    });
    EXPECT_GE(kept, 20000 * 0.9423);
  }
}

TEST(DiscreteLaplace, SurvivesTheAuditThatCatchesHalvedNoise) {
  const auto at = [](const DiscreteLaplace& mechanism, std::int64_t x) {
    return [&mechanism, x](BitSource& bits) {
      return static_cast<double>(release_once(mechanism, x, bits));
    };
  };
  const testing::AuditOptions options{.trials = 20000, .seed = 3};
  const DiscreteLaplace right = discrete(1, 2);
  const DiscreteLaplace halved = discrete(1, 1);
  EXPECT_LE(audited_epsilon(at(right, 0), at(right, 1), options), 0.5);
  EXPECT_GT(audited_epsilon(at(halved, 0), at(halved, 1), options), 0.5);
}

TEST(DiscreteLaplace, SaturatesCountsNearTheEndOf64BitsAndNeverWraps) {
  SeededBits bits(20);
  const DiscreteLaplace mechanism = discrete(1, 10);
  int at_end = 0;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t top = release_once(mechanism, INT64_MAX, bits);
    EXPECT_GT(top, INT64_MAX - 1000);
    at_end += top == INT64_MAX ? 1 : 0;
    EXPECT_LT(release_once(mechanism, INT64_MIN, bits), INT64_MIN + 1000);
    EXPECT_NEAR(static_cast<double>(release_once(mechanism, std::int64_t{0xffffffff}, bits)),
                0x1p32, 1000);
  }
  EXPECT_GT(at_end, 60);
  EXPECT_LT(at_end, 140);
}

// With scale 2^63 a draw leaves 64 bits often. The exact sum is saturated, not the draw: at -2^62
// the result lies strictly between 2^62 and 2^63 - 1 with probability (e^-1 - e^-1.5)/2, which a
// saturated draw, ending at 2^63 - 1 - 2^62, would never reach.
TEST(DiscreteLaplace, AddsBeforeItSaturates) {
  SeededBits bits(21);
  const DiscreteLaplace mechanism = discrete(1, Ratio(Integer(1) << 63));
  int between = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t result = release_once(mechanism, -(std::int64_t{1} << 62), bits);
    between += result > (std::int64_t{1} << 62) && result < INT64_MAX ? 1 : 0;
  }
  const double expected = (std::exp(-1.0) - std::exp(-1.5)) / 2;  // noise in (2^63, 1.5 * 2^63)
  EXPECT_NEAR(between / 20000.0, expected, 6 * std::sqrt(expected / 20000));
}

}  // namespace
}  // namespace gauze
