#include "gauze/mechanism/count.h"

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

using testing::release_once;
using testing::SeededBits;

TEST(Count, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(Count({.epsilon = 0, .relation = Relation::kAddRemove}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Count({.epsilon = 1, .relation = Relation::kNode}), ErrorCode::kInvalidOption);
}

TEST(Count, KeepsItsAccuracyPromiseAndNeverWraps) {
  const Count mechanism({.epsilon = Ratio(1, 2), .relation = Relation::kReplace});
  EXPECT_EQ(pure_epsilon(mechanism.event()), Ratio(1, 2));
  SeededBits bits(5);
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto answer = release_once(mechanism, std::int64_t{41}, bits);
    const double error = std::abs(static_cast<double>(answer - 41));
    kept += error <= mechanism.accuracy().half_width ? 1 : 0;
  }
  EXPECT_GE(kept, 20000 * 0.9423);
  EXPECT_GT(release_once(mechanism, INT64_MAX, bits), INT64_MAX - 1000);
}

TEST(Count, SurvivesTheAuditThatCatchesHalvedNoise) {
  const auto at = [](const Count& mechanism, std::int64_t x) {
    return [&mechanism, x](BitSource& bits) {
      return static_cast<double>(release_once(mechanism, x, bits));
    };
  };
  const testing::AuditOptions options{.trials = 20000};
  const Count right({.epsilon = 1, .relation = Relation::kAddRemove});
  const Count halved({.epsilon = 2, .relation = Relation::kAddRemove});
  EXPECT_LE(testing::audited_epsilon(at(right, 5), at(right, 6), options), 1);
  EXPECT_GT(testing::audited_epsilon(at(halved, 5), at(halved, 6), options), 1);
}

}  // namespace
}  // namespace gauze
