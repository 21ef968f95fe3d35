#include "gauze/mechanism/variance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::audited_epsilon;
using testing::release_once;
using testing::sampler;
using testing::SeededBits;
using Data = std::vector<double>;

Variance variance(const Ratio& lower, const Ratio& upper, const Ratio& epsilon,
                  Relation relation = Relation::kAddRemove) {
  return Variance({.lower = lower, .upper = upper, .epsilon = epsilon, .relation = relation});
}

TEST(Variance, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(variance(1, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(variance(0, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(variance(0, 1, 1, Relation::kEdge), ErrorCode::kInvalidOption);
}

// One record moves its steps by at most 2^26 and its centred square by at most 2^51 (twice that
// when replaced); the events say so, and add up to epsilon.
TEST(Variance, CostsEpsilonForSensitivitiesThatBruteForceConfirms) {
  for (const Relation relation : {Relation::kAddRemove, Relation::kReplace}) {
    const Event event = variance(-3, 5, Ratio(3, 7), relation).event();
    EXPECT_EQ(pure_epsilon(event), Ratio(3, 7));
    const auto& parts = std::get<events::Composed>(event.kind).events;
    double first = 0;
    double second = 0;
    for (double x = -8; x <= 8; ++x) {  // eighths of the half width
      const double steps = x * 0x1p23;
      const double square = steps * steps - 0x1p51;
      for (double y = -8; y <= 8; ++y) {
        const double other = y * 0x1p23;
        const bool replace = relation == Relation::kReplace;
        first = std::max(first, std::abs(replace ? steps - other : steps));
        second = std::max(second, std::abs(replace ? square - (other * other - 0x1p51) : square));
      }
    }
    EXPECT_EQ(std::get<events::DiscreteLaplace>(parts[0].kind).l1_sensitivity,
              ratio_of_bits(first));
    EXPECT_EQ(std::get<events::DiscreteLaplace>(parts[1].kind).l1_sensitivity,
              ratio_of_bits(second));
  }
}

TEST(Variance, KeepsItsAccuracyPromise) {
  Data data;
  for (int i = 0; i < 100; ++i) data.push_back(i % 5);  // variance 2
  for (const Relation relation : {Relation::kAddRemove, Relation::kReplace}) {
    const Variance mechanism = variance(0, 4, 8, relation);
    const double promised = mechanism.accuracy(100).half_width;
    EXPECT_LT(promised, 1);
    SeededBits bits(8);
    int kept = 0;
    int stated = 0;
    for (int i = 0; i < 20000; ++i) {
      Meter meter(mechanism.event());
      Context context{meter, bits};
      const auto release = mechanism.run(data, context);
      kept += std::abs(release.value - 2) <= promised ? 1 : 0;
      stated += std::abs(release.value - 2) <= release.accuracy.half_width ? 1 : 0;
    }
    EXPECT_GE(kept, 20000 * 0.9423);
    EXPECT_GE(stated, 20000 * 0.9423);
  }
}

TEST(Variance, StaysInItsRangeAndSurvivesWildValues) {
  const Variance mechanism = variance(0, 10, Ratio(1, 10));
  SeededBits bits(9);
  for (int i = 0; i < 200; ++i) {
    const double answer = release_once(mechanism, std::span<const double>(Data{1, 2}), bits);
    EXPECT_GE(answer, 0);
    EXPECT_LE(answer, 25);
  }
  SeededBits a(6);
  SeededBits b(6);
  EXPECT_EQ(release_once(mechanism, std::span<const double>(Data{NAN, INFINITY, -0.0}), a),
            release_once(mechanism, std::span<const double>(Data{0, 10, 0}), b));
}

TEST(Variance, SurvivesTheAuditThatCatchesHalvedNoise) {
  const testing::AuditOptions options{.trials = 6000};
  const Variance right = variance(0, 1, 1);
  const Data before = {0, 0, 0};
  const Data after = {0, 0, 0, 1};
  EXPECT_LE(audited_epsilon(sampler(right, before), sampler(right, after), options), 1);
  const Variance eighth = variance(0, 1, 12);
  EXPECT_GT(audited_epsilon(sampler(eighth, before), sampler(eighth, after), options), 1);
}

TEST(Variance, AcceptsEveryRecordInTheSmallestRangeThereIs) {
  const Variance mechanism(
      {.lower = 0, .upper = ratio_of_bits(5e-324), .epsilon = 1, .relation = Relation::kAddRemove});
  SeededBits bits(21);
  for (const double record : {0.0, 5e-324, 1.0, -1.0, static_cast<double>(NAN)}) {
    const std::vector<double> data(3, record);
    EXPECT_NO_THROW(release_once(mechanism, std::span<const double>(data), bits)) << record;
  }
}

}  // namespace
}  // namespace gauze
