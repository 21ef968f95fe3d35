#include "gauze/audit/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "gauze/testing/seeded_bits.h"

namespace gauze::audit {
namespace {

/// After half of the runs other work makes every third take long: the later one of a pair.
Subject on_a_machine_with_other_work() {
  const std::vector<Neighbours<int>> pairs = {{"nobody and somebody", 0, 1}};
  return timed(subject_of("loop", Claim::approximate(1), pairs,
                          [runs = std::make_shared<int>(0)](int, BitSource&) {
                            ++*runs;
                            volatile double waste = 0;
                            const bool slow = *runs > 3000 && *runs % 3 == 2;
                            for (int i = slow ? 50'000 : 1'000; i > 0; --i) waste = waste + i;
                            return 0;
                          }));
}

int slow_runs(const Outputs& outputs) {
  int slow = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) slow += outputs.vector(i)[0] > 1.5;
  return slow;
}

TEST(Timing, OtherWorkOnTheMachineSlowsBothInputsAlike) {
  testing::SeededBits bits(5);
  const BothOutputs seen = on_a_machine_with_other_work().draw_in_turns(0, 2000, bits);
  ASSERT_EQ(seen.first.size(), 2000u);
  ASSERT_EQ(seen.second.size(), 2000u);
  const int first = slow_runs(seen.first);
  const int second = slow_runs(seen.second);
  EXPECT_GT(first + second, 500);
  // Which of the two a slow run falls on is a fair coin: six standard deviations, 2e-9.
  EXPECT_LT(std::abs(first - second), 6 * std::sqrt(first + second));
}

}  // namespace
}  // namespace gauze::audit
