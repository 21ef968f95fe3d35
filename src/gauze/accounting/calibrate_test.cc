#include "gauze/accounting/calibrate.h"

#include <cmath>
#include <limits>

#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders
using Family = std::function<std::vector<Event>(const Ratio&)>;

Family gaussians(const char* l2) {
  return [=](const Ratio& sigma) {
    return std::vector<Event>{event(events::Gaussian{sigma, parse_ratio(l2)})};
  };
}
Family laplaces(const char* l1, std::uint64_t count) {
  return [=](const Ratio& scale) {
    return std::vector<Event>{event(events::Laplace{scale, parse_ratio(l1)}, count)};
  };
}
Family discrete_laplaces(int l1, std::uint64_t count) {
  return [=](const Ratio& scale) {
    return std::vector<Event>{event(events::DiscreteLaplace{scale, l1}, count)};
  };
}
Family sampled(const char* rate, std::uint64_t steps) {
  return [=](const Ratio& sigma) {
    return std::vector<Event>{poisson(rate, {event(events::Gaussian{sigma, 1})}, steps)};
  };
}

// 40-digit solutions of delta(sigma) = delta in another system.
TEST(Calibrate, GaussianNoiseIsTheSmallest) {
  const auto expect = [](const char* l2, double epsilon, double delta, double truth) {
    const double ours = calibrate(gaussians(l2), {epsilon, delta});
    EXPECT_GE(ours, truth * (1 - 1e-15));
    EXPECT_LE(ours, truth * (1 + 1e-9));
  };
  expect("1", 1, 1e-5, 3.73063163481594183225);
  expect("1", 0.5, 1e-6, 8.057618480725044255199);
  expect("1", 0.1, 1e-6, 36.30469042619578493863);
  expect("1", 3, 1e-6, 1.543861417775640069308);
  expect("15", 1, 1e-10, 88.01666624445789583427);
  expect("10", 0.2, 1e-10, 277.2236055565398835691);
  expect("5", 1, 1e-5, 18.65315817407970916125);
}

TEST(Calibrate, StaysBelowPublishedSearches) {
  EXPECT_LE(calibrate(gaussians("15"), {1, 1e-10}), 88.06640625);
  EXPECT_LE(calibrate(gaussians("10"), {0.2, 1e-10}), 277.34375);
  EXPECT_LE(calibrate(gaussians("5"), {1, 1e-5}), 18.662109375);
  const double sigma = calibrate(gaussians("1"), {std::log(3.0), 1e-5});
  EXPECT_LE(sigma * sigma, 11.73597717285156);
  EXPECT_NEAR(sigma * sigma, 11.72831253965148505984, 1e-7);
}

// Noise for epsilon 8 at delta 1e-5 after 2,000 steps at rate 0.04, as published: 1.3562 by Renyi orders;
// 1.2915 by a loss distribution that adds 0.01 to its epsilon, in a search that stops within another 0.01.
TEST(Calibrate, StaysBelowPublishedTrainingRuns) {
  const auto epsilon = [](const char* sigma, Accountant accountant) {
    return epsilon_at({poisson("0.04", {gaussian(sigma)}, 2000)}, 1e-5, accountant).epsilon;
  };
  EXPECT_LE(epsilon("1.3562", Accountant::kRdp), 8);
  EXPECT_GT(epsilon("1.3561", Accountant::kRdp), 8);
  EXPECT_LE(epsilon("1.2915", Accountant::kPld), 8);
  EXPECT_GT(epsilon("1.2915", Accountant::kPld), 8 - 0.02);
}

TEST(Calibrate, LaplaceNoiseMatchesPublishedValues) {
  EXPECT_NEAR(calibrate(laplaces("21", 10), {3, 0}), 70, 1e-6);
  EXPECT_NEAR(calibrate(laplaces("1", 20), {1, 1e-4}), 13.547, 1e-3);
  EXPECT_NEAR(calibrate(laplaces("0.5", 20), {1, 1e-4}), 6.8, 0.1);
  EXPECT_NEAR(calibrate(laplaces("1", 500), {1, 1e-4}), 70.960, 1e-3);
  EXPECT_NEAR(1 / calibrate(discrete_laplaces(1, 20), {1, 1e-4}), 0.073, 1e-3);
  EXPECT_NEAR(1 / calibrate(discrete_laplaces(5, 20), {1, 1e-4}), 0.014, 1e-3);
  const double scale = calibrate(laplaces("1", 1), {std::log(3.0), 0});
  EXPECT_NEAR(2 * scale * scale, 1.6570708993804462, 1e-8);
}

TEST(Calibrate, RoundTripsThroughTheAccountant) {
  const auto check = [](const Family& family, double epsilon, double delta) {
    const double noise = calibrate(family, {epsilon, delta});
    const double back = epsilon_at(family(ratio_of_decimal(noise)), delta).epsilon;
    EXPECT_LE(back, epsilon);
    EXPECT_GE(back, epsilon * (1 - 1e-9));
  };
  check(gaussians("1"), 1, 1e-6);
  check(gaussians("1"), 1e-6, 1e-9);
  check(laplaces("1", 1), 0.1, 0);
  check(laplaces("1", 7), 0.3, 1e-6);
  check(discrete_laplaces(3, 4), 2, 1e-8);
  check(sampled("0.01", 100), 1, 1e-6);
  check(sampled("0.01", 1000), 0.01, 1e-6);
}

TEST(Calibrate, SaysWhenNoNoiseIsEnough) {
  EXPECT_ERROR(calibrate(gaussians("1"), {1, 0}), ErrorCode::kUnreachable);
  const Family fixed = [](const Ratio&) { return std::vector<Event>{pure("2")}; };
  EXPECT_ERROR(calibrate(fixed, {1, 0}), ErrorCode::kUnreachable);
}

TEST(Calibrate, ChecksItsTarget) {
  EXPECT_ERROR(calibrate(gaussians("1"), {0, 1e-6}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(calibrate(gaussians("1"), {std::nan(""), 1e-6}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(calibrate(gaussians("1"), {1, 1}), ErrorCode::kInvalidOption);
}

TEST(Calibrate, ReachesExtremeTargets) {
  for (const double epsilon : {1e-300, 1e-20, 1e20, 1e300}) {
    const double scale = calibrate(laplaces("1", 1), {epsilon, 0});
    EXPECT_NEAR(scale * epsilon, 1, 1e-9);
    const double sigma = calibrate(gaussians("1"), {epsilon, 1e-6});
    EXPECT_LE(epsilon_at({event(events::Gaussian{ratio_of_decimal(sigma), 1})}, 1e-6).epsilon,
              epsilon);
  }
}

TEST(Calibrate, NeedNotFindNoiseWhereNoneIsNeeded) {
  const Family free = [](const Ratio&) { return std::vector<Event>{pure("0.5")}; };
  EXPECT_LE(calibrate(free, {1, 0}), 1e-300);
}

}  // namespace
}  // namespace gauze
