#include "gauze/testing/broken_sparse_vector.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/testing/seeded_bits.h"

namespace gauze::testing {
namespace {

using Answers = std::vector<double>;

Answers join(std::initializer_list<std::pair<std::size_t, double>> runs) {
  Answers all;
  for (const auto& [count, value] : runs) all.insert(all.end(), count, value);
  return all;
}

/// Two neighbours' answers and a transcript that tells them apart.
struct Pair {
  Answers one;
  Answers other;
  Transcript said;
};

/// m questions that rise and m that fall; m below, then m above.
Pair rise_and_fall(std::size_t m) {
  return {join({{2 * m, 0}}), join({{m, 1}, {m, -1}}), join({{m, kBelow}, {m, kAbove}})};
}

const Answers kZero = {0};

double odds(const SparseVectorVariant& variant, const Pair& pair) {
  return variant.probability(pair.one, kZero, pair.said) /
         variant.probability(pair.other, kZero, pair.said);
}

/// How many of `runs` transcripts begin like `said`; numbers stand for all up to them.
int seen(const SparseVectorVariant& variant, const Answers& answers, const Transcript& said,
         int runs, std::uint64_t seed) {
  SeededBits bits(seed);
  int hits = 0;
  for (int i = 0; i < runs; ++i) {
    const Transcript got = variant.run(answers, kZero, bits);
    bool same = got.size() >= said.size();
    for (std::size_t j = 0; same && j < said.size(); ++j) {
      same = said[j] == kBelow ? got[j] == kBelow : got[j] > kBelow && got[j] <= said[j];
    }
    hits += same ? 1 : 0;
  }
  return hits;
}

/// Runs agree with quadrature within six standard deviations, about 2e-9.
void expect_seen(const SparseVectorVariant& variant, const Answers& answers, const Transcript& said,
                 int runs) {
  const double p = variant.probability(answers, kZero, said);
  EXPECT_NEAR(seen(variant, answers, said, runs, 1), p * runs, 6 * std::sqrt(p * runs) + 1);
}

TEST(BrokenSparseVector, WithoutNoiseOnComparisonsSaysOfOneNeighbourWhatItNeverSaysOfTheOther) {
  const Pair pair = {{0, 1}, {1, 0}, {kBelow, kAbove}};
  for (const auto& variant : {algorithm_16(1), auditorium_svt5(1, 2)}) {
    EXPECT_NEAR(variant.probability(pair.one, kZero, pair.said), (1 - std::exp(-0.5)) / 2, 1e-9);
    EXPECT_EQ(variant.probability(pair.other, kZero, pair.said), 0);
    expect_seen(variant, pair.one, pair.said, 100000);
    EXPECT_EQ(seen(variant, pair.other, pair.said, 100000, 2), 0);
  }
}

TEST(BrokenSparseVector, WithoutAnEndLeaksMoreWithEveryQuestion) {
  const SparseVectorVariant variant = algorithm_17(1);
  // Of 0: the beta function B(m+1, m+1).
  const std::vector<std::pair<double, double>> published = {
      {3.333e-2, 6.064e-3}, {7.143e-3, 5.218e-4}, {1.587e-3, 4.578e-5}};
  for (std::size_t m = 2; m <= 4; ++m) {
    const Pair pair = rise_and_fall(m);
    const auto& [one, other] = published[m - 2];
    EXPECT_NEAR(variant.probability(pair.one, kZero, pair.said) / one, 1, 5e-4) << m;
    EXPECT_NEAR(variant.probability(pair.other, kZero, pair.said) / other, 1, 5e-4) << m;
  }
  const Pair pair = rise_and_fall(3);
  expect_seen(variant, pair.one, pair.said, 300000);
  expect_seen(variant, pair.other, pair.said, 300000);
  // The pair of a published proof that does not hold, though what it says does.
  const std::vector<std::pair<std::size_t, double>> gptt_odds = {
      {1, 2.089}, {2, 4.616}, {4, 24.16}, {8, 741}};
  for (const auto& [t, expected] : gptt_odds) {
    const Pair swap = {join({{t, 0}, {t, 1}}), join({{t, 1}, {t, 0}}),
                       join({{t, kBelow}, {t, kAbove}})};
    EXPECT_NEAR(odds(gptt(0.5, 0.5), swap) / expected, 1, 5e-4) << t;
  }
}

TEST(BrokenSparseVector, WithNoiseForOnePositiveLosesMoreThanItsEpsilon) {
  EXPECT_NEAR(odds(algorithm_15(1, 2), rise_and_fall(2)), 12.03, 0.01);
  EXPECT_NEAR(odds(algorithm_15(1, 3), rise_and_fall(3)), 47.66, 0.01);
  const Pair pair = rise_and_fall(2);
  EXPECT_NEAR(algorithm_15(1, 2).probability(pair.one, kZero, pair.said), 1.552e-2, 1e-5);
  EXPECT_NEAR(algorithm_15(1, 2).probability(pair.other, kZero, pair.said), 1.290e-3, 1e-6);
  expect_seen(algorithm_15(1, 2), pair.one, pair.said, 300000);
  expect_seen(algorithm_15(1, 2), pair.other, pair.said, 300000);
  for (const auto& [c, bound] :
       {std::pair<std::size_t, double>{2, 5.7546}, {5, 54.60}, {10, 2321.6}}) {
    const Pair monotone = {join({{50 + c, 0}}), join({{50, 1}, {c, 0}}),
                           join({{50, kBelow}, {c, kAbove}})};
    EXPECT_NEAR(odds(algorithm_15(1, c), monotone) / bound, 1, 1e-3) << c;
  }
  EXPECT_GT(odds(auditorium_svt6(1, 3), rise_and_fall(3)), std::exp(2));
}

TEST(BrokenSparseVector, GivingTheComparedNumberRevealsTheThreshold) {
  const Pair pair = {join({{5, 0}, {1, 1}}), join({{5, 1}, {1, 0}}), join({{5, kBelow}, {1, 0}})};
  for (const auto& variant : {algorithm_14(1, 1), auditorium_svt3(1, 1)}) {
    EXPECT_NEAR(variant.probability(pair.one, kZero, pair.said), 1.128e-4, 1e-7);
    EXPECT_NEAR(variant.probability(pair.other, kZero, pair.said), 1.527e-5, 1e-8);
    EXPECT_NEAR(odds(variant, pair), std::exp(2), 1e-3);
  }
  EXPECT_NEAR(odds(algorithm_14(2, 1), pair), std::exp(4), 0.1);
  expect_seen(algorithm_14(1, 1), pair.one, pair.said, 500000);
}

TEST(BrokenSparseVector, TheSoundOnesReachTheirEpsilonAndNotMore) {
  for (const std::size_t c : {1u, 2u, 5u}) {
    for (const auto& variant : {algorithm_12(1, c), algorithm_13(1, c)}) {
      for (const std::size_t m : {1u, 10u, 200u}) {
        const Pair pair = {join({{m + c, 0}}), join({{m, 1}, {c, -1}}),
                           join({{m, kBelow}, {c, kAbove}})};
        EXPECT_LE(std::log(odds(variant, pair)), 1 + 1e-9) << c << " " << m;
        EXPECT_LE(-std::log(odds(variant, pair)), 1 + 1e-9) << c << " " << m;
      }
    }
  }
  const Pair long_one = {join({{1000, 0}, {5, 0}}), join({{1000, 1}, {5, -1}}),
                         join({{1000, kBelow}, {5, kAbove}})};
  EXPECT_NEAR(std::log(odds(algorithm_12(1, 5), long_one)), 1, 1e-4);
}

TEST(BrokenSparseVector, MonotoneNoiseOnAnswersThatMoveBothWaysLosesHalfMore) {
  const Pair pair = {join({{200, 0}, {1, 0}}), join({{200, 1}, {1, -1}}),
                     join({{200, kBelow}, {1, kAbove}})};
  EXPECT_NEAR(std::log(odds(algorithm_18(0.5, 0.5, 1, true), pair)), 1.5, 1e-3);
  EXPECT_LE(std::log(odds(algorithm_18(0.5, 0.5, 1, false), pair)), 1 + 1e-9);
}

TEST(BrokenSparseVector, StopsAndDrawsAnewWhereItsRecipeSays) {
  SeededBits bits(5);
  const Answers high(10, 1000.0);
  EXPECT_EQ(algorithm_13(1, 3).run(high, kZero, bits), Transcript(3, kAbove));
  EXPECT_EQ(algorithm_17(1).run(high, kZero, bits), Transcript(10, kAbove));
  EXPECT_EQ(algorithm_12(1, 3).run(high, Answers(10, 2000.0), bits), Transcript(10, kBelow));
  // Two above with thresholds of their own: the probability of one, squared.
  const double once = algorithm_13(1, 2).probability(Answers{0}, kZero, Transcript{kAbove});
  EXPECT_NEAR(algorithm_13(1, 2).probability(Answers{0, 0}, kZero, Transcript(2, kAbove)),
              once * once, 1e-9);
  expect_seen(algorithm_13(1, 2), {0, 3, -2}, {kAbove, kBelow, kAbove}, 100000);
}

}  // namespace
}  // namespace gauze::testing
