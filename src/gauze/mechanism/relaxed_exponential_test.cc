#include "gauze/mechanism/relaxed_exponential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/selection_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::max_log_ratio;

RelaxedExponential relaxed(const Ratio& temperature, const Ratio& bound, const Ratio& delta) {
  return RelaxedExponential(
      {.temperature = temperature, .bound = bound, .delta = delta, .relation = Relation::kReplace});
}

TEST(RelaxedExponential, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(relaxed(0, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(relaxed(1, 0, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(relaxed(1, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(relaxed(1, 1, Ratio(-1, 10)), ErrorCode::kInvalidOption);
}

TEST(RelaxedExponential, PaysForTheNormaliserThatTheThesisForgets) {
  const auto loss = approximate_loss(relaxed(Ratio(1, 2), Ratio(1, 2), Ratio(1, 1000)).event());
  EXPECT_EQ(loss->delta, Ratio(1, 1000));
  EXPECT_NEAR(loss->epsilon.convert_to<double>(), 0.5 + 0.0010005003335835344, 1e-15);
  EXPECT_EQ(approximate_loss(relaxed(Ratio(1, 2), 3, 0).event())->epsilon, 3);
}

// 999 candidates keep their score, one loses it all: chosen with probability 1/1000 before. With
// bound -> 0 the pair has a ratio of 1/(1 - delta) on the others, which only the extra term covers.
TEST(RelaxedExponential, CoversAPairThatNeedsTheExtraTerm) {
  std::vector<double> before(1000, 1.0 / 1000);
  std::vector<double> after(1000, 1.0 / 999);
  after.back() = 0;
  const double extra = -std::log1p(-0.001);
  EXPECT_LE(testing::hockey_stick(before, after, extra), 0.001 + 1e-15);
  std::vector<double> kept(before.begin(), before.end() - 1);
  std::vector<double> kept_after(after.begin(), after.end() - 1);
  EXPECT_NEAR(max_log_ratio(kept, kept_after), extra, 1e-12);
}

TEST(RelaxedExponential, ChoosesWithItsTemperature) {
  EXPECT_GT(choice_p(relaxed(1, 1, 0), {0, 1, 2}, {.0900306, .2447285, .6652410}), 1e-6);
  EXPECT_LT(choice_p(relaxed(2, 1, 0), {0, 1, 2}, {.0900306, .2447285, .6652410}), 1e-6);
  expect_accuracy_promise(relaxed(Ratio(1, 2), 1, Ratio(1, 1000)));
}

}  // namespace
}  // namespace gauze
