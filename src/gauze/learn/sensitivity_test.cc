#include "gauze/learn/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

constexpr double kTolerance = 1e-6;  // relative, of the published values

void expect_close(double value, double expected) {
  EXPECT_NEAR(value, expected, kTolerance * expected);
}

double moved(const SgdPlan& plan, const LossBounds& loss) {
  const ModelSensitivity s = sgd_sensitivity(plan, loss, Relation::kReplace);
  EXPECT_GE(s.rounding, 0);
  EXPECT_LE(s.rounding, 1e-3 * s.l2_sensitivity);
  EXPECT_GE(s.total(), s.l2_sensitivity + s.rounding);
  return s.l2_sensitivity;
}

const LossBounds kConvex{.lipschitz = 1, .smoothness = 1};

// Check 1 of the catalogue: 2 k L eta / b.
TEST(SgdSensitivity, IsTheClosedFormForConstantSteps) {
  const auto at = [](std::uint64_t passes, std::uint64_t batch) {
    return moved({.schedule = Schedule::constant(1 / std::sqrt(60000.0)),
                  .records = 60000,
                  .passes = passes,
                  .batch = batch},
                 kConvex);
  };
  expect_close(at(1, 1), 0.0081649658);
  expect_close(at(20, 1), 0.16329932);
  expect_close(at(20, 10), 0.016329932);
  expect_close(at(10, 50), 0.0016329932);
}

// Check 2: the exact sums, with positions counted in updates. The published closed form is smaller.
TEST(SgdSensitivity, IsTheExactSumForDecreasingSteps) {
  const auto at = [](std::uint64_t batch, double exponent, std::uint64_t passes) {
    return moved({.schedule = Schedule::decreasing(1, 10000, exponent),
                  .records = 10000,
                  .passes = passes,
                  .batch = batch},
                 kConvex);
  };
  expect_close(at(1, 0.5, 10), 0.040729375);
  expect_close(at(10, 0.5, 10), 0.0050342524);
  expect_close(at(50, 0.5, 10), 0.0016970179);
  expect_close(at(1, 0.75, 2), 4 * 0.0010899018);
  EXPECT_GT(at(1, 0.75, 2), 4 * 0.0010693147);
}

TEST(SgdSensitivity, IsTheExactSumForSquareRootSteps) {
  for (const std::uint64_t batch : {1, 10, 50}) {
    double sum = 0;
    for (int j = 0; j < 7; ++j) {
      sum += 1 / (std::sqrt(j * 10000.0 / static_cast<double>(batch) + 1) + 10);
    }
    expect_close(moved({.schedule = Schedule::square_root(1, 10000, 0.25),
                        .records = 10000,
                        .passes = 7,
                        .batch = batch},
                       kConvex),
                 4 * sum / static_cast<double>(batch));
  }
}

// Check 4, with the regulariser's convexity and with that of the loss.
TEST(SgdSensitivity, IsTheGeometricSumForConstantStepsAndStrongConvexity) {
  const auto at = [](double rate, double gamma, std::uint64_t batch) {
    SgdPlan plan{.schedule = Schedule::constant(rate),
                 .records = 1000,
                 .passes = 10,
                 .batch = batch,
                 .regularisation = gamma};
    const double by_lambda = moved(plan, kConvex);
    plan.regularisation = 0;
    const double by_loss = moved(plan, {.lipschitz = 1, .smoothness = 1, .curvature = gamma});
    EXPECT_DOUBLE_EQ(by_lambda, by_loss);
    return by_lambda;
  };
  expect_close(at(0.5, 0.01, 1), 1.0066985);
  expect_close(at(0.5, 0.01, 10), 0.25197147);
  EXPECT_GT(at(0.5, 0.01, 10), 0.10066985);  // what dividing by the batch would claim
  expect_close(at(0.01, 0.1, 1), 0.031628897);
  expect_close(at(0.01, 0.1, 10), 0.013282614);
}

// Check 5: 2 L / (gamma m) whatever the batch, and the listed values of the calculator.
TEST(SgdSensitivity, DoesNotFallWithTheBatchForStronglyConvexSteps) {
  for (const std::uint64_t batch : {1, 4, 10}) {
    expect_close(moved({.schedule = Schedule::strongly_convex(1, 1),
                        .records = 1000,
                        .passes = 3,
                        .batch = batch},
                       {.lipschitz = 1, .smoothness = 1, .curvature = 1}),
                 0.002);
  }
  const auto at = [](std::uint64_t records, std::uint64_t batch, std::uint64_t passes) {
    return moved({.schedule = Schedule::strongly_convex(1.0001, 1e-4),
                  .records = records,
                  .passes = passes,
                  .batch = batch,
                  .regularisation = 1e-4,
                  .fresh_permutations = true},
                 {.lipschitz = 2, .smoothness = 1});
  };
  expect_close(at(60000, 1, 10), 0.6666666667);
  expect_close(at(60000, 10, 10), 0.6446844283);
  expect_close(at(60000, 50, 10), 0.4828584075);
  expect_close(at(72876, 50, 10), 0.427733);
  expect_close(at(498010, 50, 10), 0.0802884);
  expect_close(at(60000, 50, 20), 0.574763);
}

TEST(SgdSensitivity, OnePermutationForAllPassesMovesNoMoreThanFreshOnes) {
  for (const double lambda : {0.0, 0.01, 0.3}) {
    SgdPlan plan{.schedule = Schedule::square_root(1 + lambda, 500, 0.3),
                 .records = 500,
                 .passes = 4,
                 .batch = 7,
                 .regularisation = lambda};
    const double once = moved(plan, kConvex);
    plan.fresh_permutations = true;
    EXPECT_LE(once, moved(plan, kConvex));
  }
}

// Averages: (k + 1) L eta / b for constant steps; for 1/(gamma t) the uniform average moves by
// 2 L H_m / (gamma m), more than the last model, and weights t by 4 L / (gamma (m + 1)).
TEST(SgdSensitivity, KnowsWhatAveragesMoveBy) {
  expect_close(moved({.schedule = Schedule::constant(0.01),
                      .records = 1000,
                      .passes = 5,
                      .batch = 10,
                      .average = Average::kUniform},
                     kConvex),
               6 * 0.01 / 10);
  const LossBounds quadratic{.lipschitz = 1, .smoothness = 1, .curvature = 1};
  const auto at = [&](Average average) {
    return moved({.schedule = Schedule::strongly_convex(1, 1), .records = 100, .average = average},
                 quadratic);
  };
  double harmonic = 0;
  for (int t = 1; t <= 100; ++t) harmonic += 1.0 / t;
  expect_close(at(Average::kLast), 0.02);
  expect_close(at(Average::kUniform), 2 * harmonic / 100);  // 0.10375
  expect_close(at(Average::kLinear), 4.0 / 101);
}

// w <- w - step/b * sum of (w - a) over the batch: the last batch of 11 records in tens has one.
double quadratic_model(const SgdPlan& plan, const std::vector<double>& a) {
  double w = 0;
  std::uint64_t t = 0;
  for (std::uint64_t pass = 0; pass < plan.passes; ++pass) {
    for (std::uint64_t first = 0; first < plan.updates_per_pass() * plan.batch;
         first += plan.batch) {
      double sum = 0;
      for (std::uint64_t i = first; i < std::min<std::uint64_t>(first + plan.batch, a.size());
           ++i) {
        sum += w - a[i];
      }
      w -= plan.schedule->step(++t) / static_cast<double>(plan.batch) * sum;
    }
  }
  return w;
}

// Check 7 and the counter-example to a short batch that contracts in full: the loss (w - a)^2 / 2 with
// two values of a that are 2 apart, so that the gradients differ by 2.
TEST(SgdSensitivity, CoversQuadraticLossesWithShortBatches) {
  const LossBounds quadratic{.lipschitz = 1, .smoothness = 1, .curvature = 1};
  for (const std::uint64_t records : {11, 20, 100, 103}) {
    for (const std::uint64_t batch : {1, 2, 5, 10}) {
      for (const Tail tail : {Tail::kDrop, Tail::kKeep}) {
        for (const std::uint64_t passes : {1, 3}) {
          const SgdPlan plan{.schedule = Schedule::strongly_convex(1, 1),
                             .records = records,
                             .passes = passes,
                             .batch = batch,
                             .tail = tail};
          double most = 0;
          for (std::uint64_t i = 0; i < records; ++i) {
            std::vector<double> a(records, 0.5);
            a[i] = -1;
            const double low = quadratic_model(plan, a);
            a[i] = 1;
            most = std::max(most, std::fabs(quadratic_model(plan, a) - low));
          }
          const double bound = sgd_sensitivity(plan, quadratic, Relation::kReplace).total();
          EXPECT_LE(most, bound);
          EXPECT_GE(most, bound * (1 - 1e-9)) << "tight";
        }
      }
    }
  }
  const SgdPlan short_batch{
      .schedule = Schedule::strongly_convex(1, 1), .records = 11, .batch = 10, .tail = Tail::kKeep};
  expect_close(moved(short_batch, quadratic), 0.19);
  SgdPlan by_lambda = short_batch;  // the regulariser contracts a short batch in full
  by_lambda.regularisation = 1;
  by_lambda.schedule = Schedule::strongly_convex(1 + 1e-9, 1);
  expect_close(moved(by_lambda, {.lipschitz = 1, .smoothness = 1e-9}), 0.1);
}

TEST(SgdSensitivity, GrowsWithWhatRoundingDependsOn) {
  const SgdPlan plan{.schedule = Schedule::constant(0.1), .records = 1000, .passes = 10};
  const auto rounding = [&](std::uint32_t dimension, std::uint64_t rows) {
    return sgd_sensitivity(plan, kConvex, Relation::kAddRemove, {dimension, rows}).rounding;
  };
  EXPECT_GT(rounding(1, 1), 0);
  EXPECT_GT(rounding(1000, 1), rounding(1, 1));
  EXPECT_GT(rounding(1, 1000), rounding(1, 1));
  EXPECT_LT(rounding(1000, 1000), 1e-5);
}

TEST(SgdSensitivity, IsThatOfAReplacedUnitUnderAddRemove) {
  // With all slots taken, a unit more pushes another one out: its slot has one loss instead of the other.
  for (const std::uint64_t batch : {1u, 10u, 50u}) {
    const SgdPlan plan{
        .schedule = Schedule::constant(0.01), .records = 1000, .passes = 3, .batch = batch};
    const ModelSensitivity replaced = sgd_sensitivity(plan, kConvex, Relation::kReplace);
    const ModelSensitivity added = sgd_sensitivity(plan, kConvex, Relation::kAddRemove);
    EXPECT_GE(added.total(), replaced.l2_sensitivity);
    expect_close(added.l2_sensitivity, 2 * 3 * 0.01 / static_cast<double>(batch));  // 2 k L eta / b
  }
}

TEST(SgdSensitivity, RefusesWhatNoProofCovers) {
  const SgdPlan plan{.schedule = Schedule::constant(1), .records = 100, .batch = 10};
  const auto with = [&](const LossBounds& loss, Relation relation = Relation::kReplace) {
    return sgd_sensitivity(plan, loss, relation).total();
  };
  EXPECT_NO_THROW(with({.lipschitz = 1, .smoothness = 2}));
  EXPECT_ERROR(with({.lipschitz = 1, .smoothness = 2.1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::hinge().bounds()), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({.lipschitz = 0, .smoothness = 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({.lipschitz = 1, .smoothness = 1, .curvature = 2}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({.lipschitz = 1, .smoothness = 1, .curvature = 1}, Relation::kAddRemove),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(kConvex, Relation::kEdge), ErrorCode::kInvalidOption);
  const auto of = [&](auto change) {
    SgdPlan changed = plan;
    change(changed);
    return sgd_sensitivity(changed, kConvex, Relation::kReplace).total();
  };
  EXPECT_ERROR(of([](SgdPlan& p) { p.batch = 101; }), ErrorCode::kInvalidOption);
  EXPECT_ERROR(of([](SgdPlan& p) { p.batch = 0; }), ErrorCode::kInvalidOption);
  EXPECT_ERROR(of([](SgdPlan& p) { p.passes = 0; }), ErrorCode::kInvalidOption);
  EXPECT_ERROR(of([](SgdPlan& p) { p.records = std::uint64_t{0}; }), ErrorCode::kInvalidOption);
  EXPECT_ERROR(of([](SgdPlan& p) { p.radius = 0; }), ErrorCode::kInvalidOption);
  EXPECT_ERROR(of([](SgdPlan& p) { p.regularisation = NAN; }), ErrorCode::kInvalidOption);
  EXPECT_ERROR(of([](SgdPlan& p) { p.regularisation = 0.6; }), ErrorCode::kInvalidOption);
}

// Check 9: losses ±w with lambda w^2 / 2 have minimisers ∓1/lambda times the mean slope.
TEST(MinimiserSensitivity, IsAttainedByLinearLosses) {
  expect_close(minimiser_sensitivity(1, 0.1, 100, Relation::kReplace), 0.2);
  expect_close(minimiser_sensitivity(1, 0.1, 100, Relation::kAddRemove), 0.1);
  const auto minimiser = [](double sum_of_slopes) { return -sum_of_slopes / 100 / 0.1; };
  EXPECT_NEAR(minimiser(98) - minimiser(100), 0.2, 1e-12);
  EXPECT_NEAR(minimiser(99) - minimiser(100), 0.1, 1e-12);
  EXPECT_ERROR(minimiser_sensitivity(1, 0, 100, Relation::kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(minimiser_sensitivity(1, 0.1, 0, Relation::kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(minimiser_sensitivity(1, 0.1, 100, Relation::kUser), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
