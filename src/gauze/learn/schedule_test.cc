#include "gauze/learn/schedule.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(Schedule, FollowsItsFormula) {
  EXPECT_EQ(Schedule::constant(0.3).step(1), 0.3);
  EXPECT_EQ(Schedule::constant(0.3).step(1000), 0.3);
  EXPECT_DOUBLE_EQ(Schedule::decreasing(0.5, 10000, 0.5).step(7), 2 / (0.5 * (7 + 100)));
  EXPECT_DOUBLE_EQ(Schedule::square_root(0.5, 10000, 0.5).step(9), 2 / (0.5 * (3 + 100)));
  EXPECT_DOUBLE_EQ(Schedule::strongly_convex(1.25, 0.25).step(4), 0.8);
  EXPECT_DOUBLE_EQ(Schedule::strongly_convex(1.25, 0.25).step(8), 0.5);
}

TEST(Schedule, NeverGrows) {
  for (const Schedule& steps :
       {Schedule::constant(0.1), Schedule::decreasing(1, 50, 0.75), Schedule::square_root(1, 50, 0),
        Schedule::strongly_convex(2, 0.01)}) {
    for (std::uint64_t t = 1; t < 3000; ++t) EXPECT_LE(steps.step(t + 1), steps.step(t));
  }
}

TEST(Schedule, RefusesWhatItsProofsDoNotCover) {
  EXPECT_ERROR(Schedule::constant(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Schedule::constant(INFINITY), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Schedule::decreasing(1, 10, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Schedule::decreasing(1, 0, 0.5), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Schedule::square_root(INFINITY, 10, 0.5), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Schedule::square_root(1, 10, -0.1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Schedule::strongly_convex(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Schedule::strongly_convex(NAN, 1), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
