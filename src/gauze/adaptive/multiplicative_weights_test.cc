#include "gauze/adaptive/multiplicative_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "gauze/accounting/loss.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/audit_options.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;
using Counts = std::vector<std::int64_t>;
using Weights = std::vector<double>;

MultiplicativeWeights::Options sensible(std::uint64_t cells) {
  return {.cells = cells, .epsilon = 1, .rows_per_unit = 1u, .threshold = 500, .fresh = 40u};
}

TEST(MultiplicativeWeights, RejectsOptionsOutsideTheirRange) {
  const auto with = [](auto change) {
    auto options = sensible(8);
    change(options);
    return options;
  };
  EXPECT_ERROR(MultiplicativeWeights(sensible(0)), ErrorCode::kInvalidOption);
  EXPECT_ERROR(MultiplicativeWeights(with([](auto& o) { o.epsilon = 0; })),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(MultiplicativeWeights(with([](auto& o) { o.rows_per_unit = 0u; })),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(MultiplicativeWeights(with([](auto& o) { o.total_share = 1; })),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(MultiplicativeWeights(with([](auto& o) { o.passes = 0; })),
               ErrorCode::kInvalidOption);
}

TEST(MultiplicativeWeights, CostsEpsilonInAllAndPaysBeforeItDraws) {
  const MultiplicativeWeights mechanism(sensible(4));
  EXPECT_EQ(pure_epsilon(mechanism.event()), 1);
  SeededBits bits(1);
  Meter meter(mechanism.event());
  meter.charge(mechanism.event());
  Context context{meter, bits};
  EXPECT_ERROR(mechanism.start(Counts{1, 2, 3, 4}, context), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(bits.refills(), 0u);
}

// Everything that anybody sees: the estimate before and after, every answer, and whether it is fresh. A
// sound one is accused with probability 1e-3.
TEST(MultiplicativeWeights, SurvivesTheAuditThatCatchesTwiceTheBudget) {
  const auto subject = [](const Ratio& epsilon) {
    const MultiplicativeWeights mechanism({.cells = 3u,
                                           .epsilon = epsilon,
                                           .rows_per_unit = 1u,
                                           .threshold = 1,
                                           .fresh = 1u,
                                           .total_share = Ratio(1, 2),
                                           .passes = 3});
    const auto run = [mechanism](const std::vector<double>& rows, BitSource& bits) {
      Meter meter(mechanism.event());
      Context context{meter, bits};
      auto conversation = mechanism.start(Counts(rows.begin(), rows.end()), context);
      std::vector<double> seen = conversation.estimate();
      for (const Weights& question : {Weights{1, 0, 0}, Weights{0, 1, 1}, Weights{0, 0, 1}}) {
        const bool ended = conversation.ended();
        const GuardedAnswer answer = ended ? GuardedAnswer{} : conversation.ask(question);
        seen.insert(seen.end(), {answer.value, ended ? 2.0 : answer.fresh ? 1.0 : 0.0});
      }
      seen.insert(seen.end(), conversation.estimate().begin(), conversation.estimate().end());
      return seen;
    };
    const std::vector<audit::Neighbours<std::vector<double>>> pairs = {
        {"a row more in the first cell", {9, 3, 3}, {10, 3, 3}},
        {"a row more in the last cell", {3, 3, 9}, {3, 3, 10}}};
    return audit::subject_of("weights", audit::Claim::approximate(1), pairs, run);
  };
  EXPECT_FALSE(audit::audit(subject(1), testing::audit_options(1, 60'000)).violation());
  EXPECT_TRUE(audit::audit(subject(2), testing::audit_options(2, 60'000)).violation());
}

/// A histogram with two humps, about 250,000 rows.
Counts humps(std::size_t cells) {
  Counts counts(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(cells);
    counts[i] = std::llround(6000 * std::exp(-200 * (x - 0.2) * (x - 0.2)) +
                             20000 * std::exp(-800 * (x - 0.7) * (x - 0.7)));
  }
  return counts;
}

Weights range(std::size_t cells, std::size_t begin, std::size_t end) {
  Weights weights(cells, 0.0);
  for (std::size_t i = begin; i < end; ++i) weights[i] = 1;
  return weights;
}

double exact(const Counts& counts, const Weights& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    sum += weights[i] * static_cast<double>(counts[i]);
  return sum;
}

// 2,000 ranges at epsilon 1: by themselves each would have noise of scale 2,000.
TEST(MultiplicativeWeights, AnswersManyMoreQuestionsThanItAsksTheData) {
  constexpr std::size_t kCells = 128;
  const Counts counts = humps(kCells);
  auto options = sensible(kCells);
  options.threshold = 2000;
  const MultiplicativeWeights mechanism(options);
  const double promised = mechanism.accuracy(2000, 0.999).half_width;
  EXPECT_LT(promised, 5000);
  SeededBits bits(2);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  auto conversation = mechanism.start(counts, context);
  std::uint64_t fresh = 0;
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t a = uniform_below(bits, kCells);
    const std::uint64_t b = uniform_below(bits, kCells);
    const Weights weights = range(kCells, std::min(a, b), std::max(a, b) + 1);
    const GuardedAnswer answer = conversation.ask(weights);
    fresh += answer.fresh ? 1 : 0;
    worst = std::max(worst, std::abs(answer.value - exact(counts, weights)));
  }
  EXPECT_LE(worst, promised);
  EXPECT_FALSE(conversation.ended());
  EXPECT_LT(fresh, 40u);
  EXPECT_GT(fresh, 2u);
}

TEST(MultiplicativeWeights, LearnsFromWhatItWasTold) {
  const Counts counts = {10000, 0, 0, 0};
  const MultiplicativeWeights mechanism(sensible(4));
  SeededBits bits(3);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  auto conversation = mechanism.start(counts, context);
  EXPECT_NEAR(conversation.estimate()[0], 2500, 200);
  const Weights first = {1, 0, 0, 0};
  EXPECT_TRUE(conversation.ask(first).fresh);
  EXPECT_GT(conversation.estimate()[0], 6000);
  const double total =
      std::accumulate(conversation.estimate().begin(), conversation.estimate().end(), 0.0);
  EXPECT_NEAR(total, 10000, 200);
  // The complement is known now without asking.
  for (int i = 0; i < 10 && conversation.ask(first).fresh;) ++i;
  EXPECT_FALSE(conversation.ask({{0, 1, 1, 1}}).fresh);
}

TEST(MultiplicativeWeights, RefusesWeightsThatAreNoShares) {
  const MultiplicativeWeights mechanism(sensible(2));
  SeededBits bits(4);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  EXPECT_ERROR(mechanism.start(Counts{1}, context), ErrorCode::kInvalidInput);
  auto conversation = mechanism.start(Counts{1, 2}, context);
  for (const Weights& bad : {Weights{1}, Weights{2, 0}, Weights{-0.5, 0}, Weights{NAN, 0}})
    EXPECT_ERROR(conversation.ask(bad), ErrorCode::kInvalidInput);
}

TEST(MultiplicativeWeights, SaturatesHugeCounts) {
  const MultiplicativeWeights mechanism(sensible(2));
  SeededBits bits(5);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  auto conversation = mechanism.start(Counts{INT64_MAX, INT64_MIN}, context);
  EXPECT_NEAR(conversation.ask(Weights{1, 1}).value, 0x1p32, 1000);
  const GuardedAnswer first = conversation.ask(Weights{1, 0});
  EXPECT_TRUE(first.fresh);
  EXPECT_NEAR(first.value, 0x1p32, 1000);
}

}  // namespace
}  // namespace gauze
