#include "gauze/learn/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

struct Named {
  const char* name;
  Loss loss;
};

std::vector<Named> losses() {
  return {{"logistic", Loss::logistic()},
          {"huber", Loss::huber(0.1)},
          {"wide huber", Loss::huber(1)},
          {"squared", Loss::squared(2)},
          {"hinge", Loss::hinge()},
          {"weighted", Loss::logistic().weighted(0.5, 3)},
          {"weighted huber", Loss::huber(0.5).weighted(2, 0.25)}};
}

// Scores that a model in the ball can have.
double reach(const Loss& loss) {
  return std::min(loss.radius(), 5.0);
}

TEST(Loss, RefusesWhatHasNoBound) {
  EXPECT_ERROR(Loss::huber(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Loss::huber(1.5), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Loss::huber(NAN), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Loss::squared(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Loss::squared(INFINITY), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Loss::logistic().weighted(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Loss::squared(1).weighted(1, 1), ErrorCode::kInvalidOption);
}

// LOSS-01 to LOSS-04 of the table of constants.
TEST(Loss, HasTheConstantsOfTheTable) {
  EXPECT_EQ(Loss::logistic().bounds().lipschitz, 1);
  EXPECT_EQ(Loss::logistic().bounds().smoothness, 0.25);
  EXPECT_EQ(Loss::huber(0.1).bounds().lipschitz, 1);
  EXPECT_DOUBLE_EQ(Loss::huber(0.1).bounds().smoothness, 5);
  EXPECT_EQ(Loss::squared(2).bounds().lipschitz, 3);
  EXPECT_EQ(Loss::squared(2).bounds().smoothness, 1);
  EXPECT_EQ(Loss::hinge().bounds().lipschitz, 1);
  EXPECT_EQ(Loss::hinge().bounds().smoothness, kInfinity);
  EXPECT_EQ(Loss::logistic().weighted(0.5, 3).bounds().lipschitz, 3);
  EXPECT_EQ(Loss::logistic().weighted(0.5, 3).bounds().smoothness, 0.75);
}

TEST(Loss, HasTheValuesOfItsFormula) {
  EXPECT_DOUBLE_EQ(Loss::logistic().value(0.3, -1), std::log(1 + std::exp(0.3)));
  EXPECT_DOUBLE_EQ(Loss::logistic().value(-800, 1), 800);
  EXPECT_DOUBLE_EQ(Loss::huber(0.1).value(1.05, 1), (1.1 - 1.05) * (1.1 - 1.05) / 0.4);
  EXPECT_DOUBLE_EQ(Loss::huber(0.1).value(-2, 1), 3);
  EXPECT_EQ(Loss::huber(0.1).value(1.2, 1), 0);
  EXPECT_DOUBLE_EQ(Loss::squared(2).value(1.5, -0.5), 2);
  EXPECT_DOUBLE_EQ(Loss::hinge().value(0.25, -1), 1.25);
  EXPECT_EQ(Loss::hinge().weighted(2, 3).value(0, 1), 3);
}

// Central differences over 2^-12: the second derivative is at most smoothness, and jumps at most by it.
TEST(Loss, SlopeIsTheDerivativeWithinItsBounds) {
  for (const Named& named : losses()) {
    SCOPED_TRACE(named.name);
    const Loss& loss = named.loss;
    const LossBounds bounds = loss.bounds();
    const double end = reach(loss);
    double before = NAN;
    for (double score = -end; score <= end; score += 0x1p-6) {
      for (const double label : {-1.0, 1.0}) {
        const double slope = loss.slope(score, label);
        EXPECT_LE(std::fabs(slope), bounds.lipschitz);
        if (bounds.smoothness == kInfinity) continue;
        const double h = 0x1p-12;
        const double difference =
            (loss.value(score + h, label) - loss.value(score - h, label)) / (2 * h);
        EXPECT_NEAR(slope, difference, bounds.smoothness * h);
        if (label > 0 && score > -end) {
          EXPECT_GE(slope - before, -1e-15) << "convex";
          EXPECT_LE(slope - before, bounds.smoothness * 0x1p-6 * (1 + 1e-9));
        }
        if (label > 0) before = slope;
      }
    }
  }
}

TEST(Loss, BendIsTheDerivativeOfTheSlope) {
  const double h = 0x1p-20;
  for (const Loss& loss : {Loss::logistic().weighted(0.5, 3), Loss::huber(0.3), Loss::squared(4)}) {
    for (double score = -3.01; score <= 3; score += 0.13) {
      for (const double label : {-1.0, 1.0}) {
        const double difference =
            (loss.slope(score + h, label) - loss.slope(score - h, label)) / (2 * h);
        EXPECT_NEAR(loss.bend(score, label), difference, 1e-8) << score;
      }
    }
  }
}

TEST(Loss, BoundsAreAttained) {
  EXPECT_EQ(Loss::squared(2).slope(2, -1), 3);
  EXPECT_EQ(Loss::huber(0.1).slope(0, 1), -1);
  EXPECT_NEAR(Loss::logistic().slope(-50, 1), -1, 1e-12);
  // The logistic loss is steepest in its slope at 0: 1/4.
  const double h = 1e-3;
  EXPECT_NEAR((Loss::logistic().slope(h, 1) - Loss::logistic().slope(-h, 1)) / (2 * h), 0.25, 1e-6);
}

// In long double each slope has eleven more bits.
TEST(Loss, ComputedSlopesAreWithinTheStatedError) {
  const double h = 0.1;
  for (double score = -40; score <= 40; score += 0.01171875) {
    const long double s = score;
    const long double logistic = -1 / (1 + std::exp(s));
    EXPECT_LE(std::fabs(static_cast<double>(Loss::logistic().slope(score, 1) - logistic)),
              Loss::logistic().bounds().slope_error);
    const long double wide = h;
    const long double huber = -std::clamp<long double>((1 + wide - s) / (2 * wide), 0, 1);
    EXPECT_LE(std::fabs(static_cast<double>(Loss::huber(h).slope(score, 1) - huber)),
              Loss::huber(h).bounds().slope_error);
  }
}

TEST(Loss, IsFiniteAtTheEnds) {
  for (const Named& named : losses()) {
    for (const double score : {-1e300, 1e300}) {
      EXPECT_TRUE(std::isfinite(named.loss.slope(score, 1))) << named.name;
    }
  }
}

}  // namespace
}  // namespace gauze
