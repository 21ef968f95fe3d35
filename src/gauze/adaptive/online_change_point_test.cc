#include "gauze/adaptive/online_change_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/adaptive/change_point_test_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;
using Values = std::span<const double>;

OnlineChangePoint online(const Ratio& epsilon, std::uint64_t window, const Ratio& threshold) {
  return OnlineChangePoint(
      {.lower = -1, .upper = 1, .window = window, .threshold = threshold, .epsilon = epsilon});
}

TEST(OnlineChangePoint, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(online(0, 5, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(online(1, 0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(online(1, 5, 0), ErrorCode::kInvalidOption);
}

TEST(OnlineChangePoint, FindsAChangeSoonAfterItAndNotBefore) {
  const OnlineChangePoint mechanism = online(4, 200, 35);
  const Data ratios = stream(1000, 1000);
  SeededBits bits(4);
  for (int i = 0; i < 20; ++i) {
    const auto alarm = release_once(mechanism, Values(ratios), bits);
    ASSERT_TRUE(alarm.has_value());
    EXPECT_GT(alarm->seen, 1000u);
    EXPECT_LT(alarm->seen, 1200u);
    EXPECT_NEAR(static_cast<double>(alarm->change), 1000, 60);
    EXPECT_FALSE(release_once(mechanism, Values(stream(1500, 0)), bits).has_value());
  }
}

TEST(OnlineChangePoint, ChargesOnceBeforeTheFirstRecordAndEndsWithTheAlarm) {
  const OnlineChangePoint mechanism = online(1, 2, Ratio(1, 1000));
  SeededBits bits(5);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  auto watch = mechanism.start(context);
  EXPECT_TRUE(meter.exhausted());
  EXPECT_ERROR(mechanism.start(context), ErrorCode::kBudgetExceeded);
  std::optional<Alarm> alarm;
  while (!alarm) alarm = watch.see(1);
  EXPECT_ERROR(watch.see(1), ErrorCode::kBudgetExceeded);
}

// One record in the middle of the stream is in three windows. Telling alarm and place.
TEST(OnlineChangePoint, SurvivesTheAuditThatCatchesFourTimesTheRate) {
  const Data before = {-1, 1, -1, -1, 1, -1, -1};
  const Data after = {-1, 1, -1, 1, 1, -1, -1};
  const auto audit = [&](const Ratio& epsilon) {
    const OnlineChangePoint mechanism = online(epsilon, 3, 1);
    const auto at = [&](const Data& ratios) {
      return [&mechanism, &ratios](BitSource& bits) {
        const auto alarm = release_once(mechanism, Values(ratios), bits);
        return alarm ? static_cast<double>(10 * alarm->seen + alarm->change) : 0.0;
      };
    };
    return testing::audited_epsilon(at(before), at(after), {.trials = 40'000});
  };
  EXPECT_LE(audit(1), 1);
  EXPECT_GT(audit(4), 1);
}

}  // namespace
}  // namespace gauze
