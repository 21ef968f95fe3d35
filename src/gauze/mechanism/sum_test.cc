#include "gauze/mechanism/sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;

Sum sum(const Ratio& lower, const Ratio& upper, Relation relation, const Ratio& epsilon = 1) {
  return Sum({.lower = lower, .upper = upper, .epsilon = epsilon, .relation = relation});
}

TEST(Sum, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(sum(1, 1, Relation::kReplace),
               ErrorCode::kInvalidOption);  // nothing would be noised
  EXPECT_ERROR(sum(2, 1, Relation::kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sum(0, 1, Relation::kReplace, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sum(0, 1, Relation::kUser), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sum(0, parse_ratio("1e-400"), Relation::kReplace), ErrorCode::kInvalidOption);
}

/// Largest change of the exact sum over all neighbouring integer data sets of up to four records,
/// the empty one included.
int brute_force(int lower, int upper, Relation relation) {
  int worst = 0;
  for (int x = lower; x <= upper; ++x) {
    if (relation == Relation::kAddRemove) worst = std::max(worst, std::abs(x));
    // The other records cancel, whatever they are.
    for (int y = lower; y <= upper && relation == Relation::kReplace; ++y) {
      worst = std::max(worst, std::abs(x - y));
    }
  }
  return worst;
}

TEST(Sum, ClaimsTheSensitivityThatBruteForceFinds) {
  for (int lower = -5; lower <= 5; ++lower) {
    for (int upper = lower + 1; upper <= 6; ++upper) {
      for (const Relation relation : {Relation::kAddRemove, Relation::kReplace}) {
        const int expected = brute_force(lower, upper, relation);
        EXPECT_EQ(sum(lower, upper, relation).sensitivity(), expected);
        const IntegerSum integers({.lower = std::int64_t{lower},
                                   .upper = std::int64_t{upper},
                                   .epsilon = 1,
                                   .relation = relation});
        EXPECT_EQ(integers.sensitivity(), expected);
      }
    }
  }
  EXPECT_EQ(sum(50, 60, Relation::kAddRemove).sensitivity(), 60);
  EXPECT_EQ(sum(0, 100, Relation::kAddRemove).sensitivity(), 100);
}

TEST(Sum, CostsEpsilon) {
  EXPECT_EQ(pure_epsilon(sum(-1, Ratio(7, 3), Relation::kAddRemove, Ratio(1, 3)).event()),
            Ratio(1, 3));
}

TEST(Sum, BringsEveryDoubleIntoTheRangeAndCountsEveryRecordOnce) {
  const Sum mechanism = sum(Ratio(-1, 10), 10, Relation::kAddRemove);
  const Data wild = {NAN, -NAN, INFINITY, -INFINITY, -0.0, 1e308, -1e308, 3};
  const double low = std::nextafter(-0.1, 0);  // -0.1 lies below -1/10
  const double inside = ratio_of_bits(-0.1) < Ratio(-1, 10) ? low : -0.1;
  const Data tame = {inside, inside, 10, inside, 0.0, 10, inside, 3};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SeededBits a(seed);
    SeededBits b(seed);
    EXPECT_EQ(release_once(mechanism, std::span<const double>(wild), a),
              release_once(mechanism, std::span<const double>(tame), b));
  }
}

TEST(Sum, DoesNotDependOnTheOrderOfTheRecords) {
  Data data(2000, 1.0);
  data.push_back(0x1p53);
  // Noise of scale 1: what rounding after every record would lose, 2,000, shows.
  const Sum mechanism({.lower = 0,
                       .upper = parse_ratio("1e16"),
                       .epsilon = parse_ratio("1e16"),
                       .relation = Relation::kReplace});
  SeededBits a(1);
  const double forwards = release_once(mechanism, std::span<const double>(data), a);
  std::reverse(data.begin(), data.end());
  SeededBits b(1);
  EXPECT_EQ(release_once(mechanism, std::span<const double>(data), b), forwards);
}

// 20,000 sums: the promise of 95 % is kept in at least 94.23 % except with probability 3e-7.
TEST(Sum, KeepsItsAccuracyPromise) {
  const Data data = {1, 2.5, 9};
  for (const Relation relation : {Relation::kAddRemove, Relation::kReplace}) {
    const Sum mechanism = sum(5, 10, relation);
    const double promised = mechanism.accuracy().half_width;
    EXPECT_NEAR(promised, (relation == Relation::kReplace ? 5 : 10) * std::log(20.0), 1e-3);
    SeededBits bits(2);
    int kept = 0;
    for (int i = 0; i < 20000; ++i) {
      const double answer = release_once(mechanism, std::span<const double>(data), bits);
      kept += std::abs(answer - 19) <= promised ? 1 : 0;  // 5 + 5 + 9 after clamping
    }
    EXPECT_GE(kept, 20000 * 0.9423);
  }
}

// Range [50, 60], no record against {60}: noise for the width of 10 leaks several epsilon.
TEST(Sum, SurvivesTheAuditThatCatchesTheWidthAsSensitivity) {
  const testing::AuditOptions options{.trials = 20000};
  const Sum right = sum(50, 60, Relation::kAddRemove);
  const Data none;
  const Data one = {60};
  const auto at = [&](const Data& data) {
    return
        [&](BitSource& bits) { return release_once(right, std::span<const double>(data), bits); };
  };
  EXPECT_LE(testing::audited_epsilon(at(none), at(one), options), 1);
  const Laplace printed({.l1_sensitivity = 10, .scale = 20});  // epsilon 1/2, as printed
  const auto broken = [&](double value) {
    return [&printed, value](BitSource& bits) { return release_once(printed, value, bits); };
  };
  EXPECT_GT(testing::audited_epsilon(broken(0), broken(60), options), 2);  // truly 3
}

TEST(IntegerSum, NeverWrapsNearTheEndOf64Bits) {
  const IntegerSum mechanism({.lower = INT64_MIN,
                              .upper = INT64_MAX,
                              .epsilon = parse_ratio("1e18"),
                              .relation = Relation::kReplace});
  // Two, not three: three times the largest wraps to nearly the largest.
  const std::vector<std::int64_t> large(2, INT64_MAX);
  const std::vector<std::int64_t> small(2, INT64_MIN);
  SeededBits bits(3);
  EXPECT_EQ(release_once(mechanism, std::span<const std::int64_t>(large), bits), INT64_MAX);
  EXPECT_EQ(release_once(mechanism, std::span<const std::int64_t>(small), bits), INT64_MIN);
  EXPECT_ERROR(IntegerSum({.lower = std::int64_t{3},
                           .upper = std::int64_t{3},
                           .epsilon = 1,
                           .relation = Relation::kReplace}),
               ErrorCode::kInvalidOption);
}

TEST(IntegerSum, KeepsItsAccuracyPromise) {
  const IntegerSum mechanism({.lower = std::int64_t{0},
                              .upper = std::int64_t{10},
                              .epsilon = 2,
                              .relation = Relation::kAddRemove});
  EXPECT_EQ(pure_epsilon(mechanism.event()), 2);
  const std::vector<std::int64_t> data = {-5, 3, 40};
  SeededBits bits(4);
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto answer = release_once(mechanism, std::span<const std::int64_t>(data), bits);
    const double error = std::abs(static_cast<double>(answer - 13));
    kept += error <= mechanism.accuracy().half_width ? 1 : 0;
  }
  EXPECT_GE(kept, 20000 * 0.9423);
}

}  // namespace
}  // namespace gauze
