#include "gauze/engine/meaning.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

// Table 3.1 of Li, Lyu, Su and Yang, "Differential Privacy: From Theory to Practice" (2016).
struct Row {
  double p;
  std::array<Closeness, 5> cells;
};
constexpr std::array<double, 5> kEpsilons = {0.01, 0.1, 1, 5, 10};
constexpr std::array<Row, 6> kTable = {{
    {0.001, {{{.0010, .0010}, {.0009, .0011}, {.0004, .0027}, {.0000, .1484}, {.0000, 1.0000}}}},
    {0.01, {{{.0099, .0101}, {.0090, .0111}, {.0037, .0272}, {.0001, .9933}, {.0000, 1.0000}}}},
    {0.1, {{{.0990, .1010}, {.0905, .1105}, {.0368, .2718}, {.0007, .9939}, {.0000, 1.0000}}}},
    {0.5, {{{.4950, .5050}, {.4524, .5476}, {.1839, .8161}, {.0034, .9966}, {.0000, 1.0000}}}},
    {0.75, {{{.7475, .7525}, {.7237, .7738}, {.3204, .9080}, {.0051, .9983}, {.0000, 1.0000}}}},
    {0.99, {{{.9899, .9901}, {.9889, .9910}, {.9728, .9963}, {.0067, .9999}, {.0000, 1.0000}}}},
}};

TEST(Meaning, ReproducesAllThirtyCellsOfThePublishedTable) {
  for (const Row& row : kTable) {
    for (std::size_t i = 0; i < kEpsilons.size(); ++i) {
      const Closeness range = close_probabilities(row.p, kEpsilons[i]);
      EXPECT_NEAR(range.lowest, row.cells[i].lowest, 5.1e-5) << row.p << " " << kEpsilons[i];
      EXPECT_NEAR(range.highest, row.cells[i].highest, 5.1e-5) << row.p << " " << kEpsilons[i];
    }
  }
}

TEST(Meaning, EveryReportedProbabilityIsCloseInAllFourInequalities) {
  for (const double epsilon : {1e-9, 0.3, 2.0, 12.0}) {
    for (const double delta : {0.0, 1e-6, 0.1}) {
      for (const double p : {0.0, 1e-6, 0.2, 0.5, 0.9, 1.0}) {
        const Closeness range = close_probabilities(p, epsilon, delta);
        for (const double q : {range.lowest, range.highest}) {
          const double lambda = std::exp(epsilon) * (1 + 1e-12);
          const double slack = delta + 1e-15 * lambda + 1e-12;
          EXPECT_LE(p, lambda * q + slack);
          EXPECT_LE(q, lambda * p + slack);
          EXPECT_LE(1 - p, lambda * (1 - q) + slack);
          EXPECT_LE(1 - q, lambda * (1 - p) + slack);
        }
        EXPECT_LE(range.lowest, p);
        EXPECT_GE(range.highest, p);
      }
    }
  }
}

TEST(Meaning, SaturatesAtTheEndsOfTheRange) {
  for (const double p : {0.0, 0.5, 1.0}) {
    const Closeness tight = close_probabilities(p, 1e-308);
    EXPECT_EQ(tight.lowest, p);
    EXPECT_EQ(tight.highest, p);
  }
  EXPECT_EQ(close_probabilities(0.5, 1e308).lowest, 0);
  EXPECT_EQ(close_probabilities(0.5, 1e308).highest, 1);
  EXPECT_EQ(close_probabilities(0, 1e308).highest, 0);
  EXPECT_EQ(best_guess(1e308), 1);
  EXPECT_EQ(best_guess(0), 0.5);
  EXPECT_EQ(best_guess(0, 1), 1);
}

// With randomised response at epsilon = ln 3 the best guess is the answer itself, true 3 times
// in 4.
TEST(Meaning, TheBestGuessAgainstRandomisedResponseIsItsAnswer) {
  EXPECT_NEAR(best_guess(std::log(3.0)), 0.75, 1e-15);
  EXPECT_NEAR(highest_power(0.25, std::log(3.0)), 0.75, 1e-15);
}

TEST(Meaning, AGroupPaysForEachMember) {
  EXPECT_NEAR(group_guarantee(4, 0.25).epsilon, 1, 1e-12);
  EXPECT_GE(group_guarantee(3, 0.1).epsilon, 0.3);
  const GroupGuarantee three = group_guarantee(3, 1, 1e-6);
  const double e = std::exp(1.0);
  EXPECT_NEAR(three.delta, 1e-6 * (1 + e + e * e), 1e-15);
  EXPECT_GE(three.delta, 1e-6 * (1 + e + e * e));
  EXPECT_NEAR(group_guarantee(5, 0, 1e-6).delta, 5e-6, 1e-15);
  EXPECT_EQ(group_guarantee(100, 50, 1e-6).delta, 1);
  EXPECT_EQ(group_guarantee(1, 0.7, 1e-6).epsilon, 0.7);
}

TEST(Meaning, BandsHaveTheirPublishedBorders) {
  EXPECT_EQ(band(0.1), Band::kStrong);
  EXPECT_EQ(band(0.11), Band::kAcceptable);
  EXPECT_EQ(band(1), Band::kAcceptable);
  EXPECT_EQ(band(1.01), Band::kJustify);
  EXPECT_EQ(band(4.99), Band::kJustify);
  EXPECT_EQ(band(5), Band::kDiscouraged);
  EXPECT_EQ(band(9.99), Band::kDiscouraged);
  EXPECT_EQ(band(10), Band::kRefused);
}

TEST(Meaning, RefusesTenAndMoreUnlessToldOtherwise) {
  EXPECT_NO_THROW(refuse_weak(9.999, 0, false));
  EXPECT_NO_THROW(refuse_weak(10, 0, true));
  EXPECT_ERROR(refuse_weak(10, 0, false), ErrorCode::kInvalidOption);
  EXPECT_ERROR(refuse_weak(std::numeric_limits<double>::infinity(), 0, false),
               ErrorCode::kInvalidOption);
}

TEST(Meaning, ALargeDeltaIsRefusedWhateverEpsilonIs) {
  EXPECT_EQ(band(1, 0.0099), Band::kAcceptable);
  EXPECT_EQ(band(1, 0.01), Band::kLargeDelta);
  EXPECT_EQ(band(0, 1), Band::kLargeDelta);
  EXPECT_EQ(band(10, 1), Band::kRefused);
  EXPECT_NE(verdict(band(1, 0.5)), verdict(Band::kAcceptable));
  EXPECT_NO_THROW(refuse_weak(1, 0.0099, false));
  EXPECT_NO_THROW(refuse_weak(1, 0.99, true));
  EXPECT_ERROR(refuse_weak(1, 0.01, false), ErrorCode::kInvalidOption);
  EXPECT_ERROR(refuse_weak(10, 0, false), ErrorCode::kInvalidOption);
}

TEST(Meaning, RejectsWhatIsNoGuarantee) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_ERROR(close_probabilities(0.5, -1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(close_probabilities(0.5, nan), ErrorCode::kInvalidOption);
  EXPECT_ERROR(close_probabilities(1.5, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(close_probabilities(0.5, 1, 2), ErrorCode::kInvalidOption);
  EXPECT_ERROR(best_guess(1, nan), ErrorCode::kInvalidOption);
  EXPECT_ERROR(group_guarantee(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(band(nan), ErrorCode::kInvalidOption);
  EXPECT_ERROR(band(1, nan), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
