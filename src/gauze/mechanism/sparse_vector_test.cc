#include "gauze/mechanism/sparse_vector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/retraversal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/broken_sparse_vector.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::kAbove;
using testing::kBelow;
using testing::release_once;
using testing::SeededBits;
using testing::SparseVectorVariant;
using testing::Transcript;
using Answers = std::vector<double>;
using Said = std::vector<ThresholdAnswer>;

SparseVector sparse(const Ratio& epsilon, std::uint64_t positives, bool monotone = false) {
  return SparseVector(
      {.epsilon = epsilon, .sensitivity = 1, .positives = positives, .monotone = monotone});
}

/// With the even split that the tables of textbooks use.
SparseVector even(const Ratio& epsilon, std::uint64_t positives, bool monotone = false) {
  return SparseVector({.epsilon = epsilon,
                       .sensitivity = 1,
                       .positives = positives,
                       .monotone = monotone,
                       .threshold_share = Ratio(1, 2)});
}

/// The same noise in the plain twin, whose probabilities are integrals.
SparseVectorVariant twin(const SparseVector& mechanism, std::uint64_t positives) {
  return SparseVectorVariant({.threshold_scale = round_up(mechanism.threshold_scale()),
                              .query_scale = round_up(mechanism.query_scale()),
                              .positives = positives});
}

Said said(const SparseVector& mechanism, const Answers& answers, BitSource& bits) {
  return release_once(mechanism, std::span<const double>(answers), bits);
}

Answers join(std::initializer_list<std::pair<std::size_t, double>> runs) {
  Answers all;
  for (const auto& [count, value] : runs) all.insert(all.end(), count, value);
  return all;
}

const Answers kZero = {0};

double log_odds(const SparseVectorVariant& variant, const Answers& one, const Answers& other,
                const Transcript& transcript) {
  return std::log(variant.probability(one, kZero, transcript) /
                  variant.probability(other, kZero, transcript));
}

TEST(SparseVector, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(sparse(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(SparseVector({.epsilon = 1, .sensitivity = 0, .positives = 1u}),
               ErrorCode::kInvalidOption);
  for (const Ratio& share : {Ratio(-1, 2), Ratio(1)}) {
    EXPECT_ERROR(
        SparseVector({.epsilon = 1, .sensitivity = 1, .positives = 1u, .value_share = share}),
        ErrorCode::kInvalidOption);
    EXPECT_ERROR(
        SparseVector({.epsilon = 1, .sensitivity = 1, .positives = 1u, .threshold_share = share}),
        ErrorCode::kInvalidOption);
  }
  // Replacing a person takes one away and adds one: counts move both ways.
  EXPECT_ERROR(SparseVector({.epsilon = 1,
                             .sensitivity = 1,
                             .positives = 1u,
                             .monotone = true,
                             .relation = Relation::kReplace}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse(1, 1).value_accuracy(), ErrorCode::kInvalidOption);
}

TEST(SparseVector, CostsEpsilonInAllWithNumbersAndWithout) {
  for (const Ratio& share : {Ratio(0), Ratio(1, 3)}) {
    const SparseVector mechanism({.epsilon = Ratio(7, 10),
                                  .sensitivity = 3,
                                  .positives = 7u,
                                  .value_share = share,
                                  .threshold_share = Ratio(1, 5)});
    EXPECT_EQ(pure_epsilon(mechanism.event()), Ratio(7, 10));
  }
}

// Variance of the noise of a comparison in units of (sensitivity/epsilon)^2: the published table.
TEST(SparseVector, SplitsEpsilonForTheLeastNoise) {
  struct Row {
    std::uint64_t positives;
    double even, best, monotone_even, monotone_best;
  };
  const auto variance = [](const SparseVector& mechanism) {
    const double a = round_up(mechanism.threshold_scale());
    const double b = round_up(mechanism.query_scale());
    return 2 * a * a + 2 * b * b;
  };
  for (const Row& row : {Row{1, 40, 34.64, 16, 16}, Row{25, 20008, 6189, 5008, 1742},
                         Row{100, 320008, 87225, 80008, 22916}}) {
    EXPECT_NEAR(variance(even(1, row.positives)) / row.even, 1, 1e-3);
    EXPECT_NEAR(variance(sparse(1, row.positives)) / row.best, 1, 1e-3);
    EXPECT_NEAR(variance(even(1, row.positives, true)) / row.monotone_even, 1, 1e-3);
    EXPECT_NEAR(variance(sparse(1, row.positives, true)) / row.monotone_best, 1, 1e-3);
  }
  // epsilon_1 : epsilon_2 = 1 : 13.572 in general, 1 : 8.550 for monotone answers.
  const auto ratio = [](const SparseVector& mechanism, double shifts) {
    return shifts * round_up(mechanism.threshold_scale()) / round_up(mechanism.query_scale());
  };
  EXPECT_NEAR(ratio(sparse(1, 25), 50), 13.572, 5e-4);
  EXPECT_NEAR(ratio(sparse(1, 25, true), 25), 8.550, 5e-4);
}

// Every transcript of four questions with two positives; p-values below 1e-9 are that rare.
TEST(SparseVector, SaysEverythingWithTheProbabilityOfItsNoise) {
  const Answers answers = {0.5, -1, 2, 0};
  for (const bool monotone : {false, true}) {
    const SparseVector mechanism = sparse(2, 2, monotone);
    std::map<Transcript, std::uint64_t> counts;
    SeededBits bits(3);
    for (int i = 0; i < 60000; ++i) {
      Transcript transcript;
      for (const ThresholdAnswer& each : said(mechanism, answers, bits))
        transcript.push_back(each.above ? kAbove : kBelow);
      ++counts[transcript];
    }
    const SparseVectorVariant exact = twin(mechanism, 2);
    std::vector<std::uint64_t> observed;
    std::vector<double> probabilities;
    for (const auto& [transcript, count] : counts) {
      observed.push_back(count);
      probabilities.push_back(exact.probability(answers, kZero, transcript));
    }
    EXPECT_EQ(counts.size(), 11u);  // 16 patterns, of which those with three or four positives end
    EXPECT_GT(testing::chi_square_p(observed, probabilities), 1e-9);
  }
}

// The longest and the shortest outputs, answers moving against each other, every number of
// positives: the loss reaches epsilon and never exceeds it.
TEST(SparseVector, LosesEpsilonInTheWorstCaseAndNeverMore) {
  for (const std::uint64_t c : {1u, 2u, 5u}) {
    for (const SparseVector& mechanism : {even(1, c), sparse(1, c)}) {
      const SparseVectorVariant exact = twin(mechanism, c);
      double worst = 0;
      for (const std::size_t m : {0u, 1u, 10u, 1000u}) {
        const double loss = log_odds(exact, join({{m + c, 0}}), join({{m, 1}, {c, -1}}),
                                     join({{m, kBelow}, {c, kAbove}}));
        EXPECT_LE(std::abs(loss), 1 + 1e-6);
        worst = std::max(worst, loss);
      }
      EXPECT_GT(worst, 0.999) << c;
    }
    const SparseVectorVariant monotone = twin(sparse(1, c, true), c);
    for (const double shift : {1.0, -1.0}) {
      for (const std::size_t m : {1u, 10u, 200u}) {
        const double loss = log_odds(monotone, join({{m + c, 0}}), join({{m, shift}, {c, 0}}),
                                     join({{m, kBelow}, {c, kAbove}}));
        EXPECT_LE(std::abs(loss), 1 + 1e-6);
      }
    }
  }
}

// Threshold noise of scale 2, comparisons of scale 4: epsilon 1 split evenly, as published.
TEST(SparseVector, OfOnePositiveIsAboveThresholdWithItsPublishedProbabilities) {
  const SparseVector mechanism = even(1, 1);
  EXPECT_EQ(mechanism.threshold_scale(), 2);
  EXPECT_EQ(mechanism.query_scale(), 4);
  const SparseVectorVariant exact = twin(mechanism, 1);
  struct Row {
    std::size_t questions;
    double probability, loss;
  };
  for (const Row& row :
       {Row{1, 0.5, 0.17886}, Row{2, 0.208333, 0.42425}, Row{10, 0.00603989, 0.99142}}) {
    const std::size_t m = row.questions - 1;
    const Transcript transcript = join({{m, kBelow}, {1, kAbove}});
    const Answers still = join({{m + 1, 0}});
    EXPECT_NEAR(exact.probability(still, kZero, transcript) / row.probability, 1, 1e-5);
    EXPECT_NEAR(log_odds(exact, still, join({{m, 1}, {1, -1}}), transcript), row.loss, 1e-5);
    // And runs agree, within six standard deviations.
    SeededBits bits(4);
    int hits = 0;
    for (int i = 0; i < 50000; ++i) {
      const Said got = said(mechanism, still, bits);
      hits += got.size() == m + 1 && got.back().above ? 1 : 0;
    }
    EXPECT_NEAR(hits, 50000 * row.probability, 6 * std::sqrt(50000 * row.probability));
  }
  // 37.718 is exact for the continuous noise, P(max of 1000 comparisons - threshold > a) = .05 by
  // numerical integration; the published bound is 8 (ln 1000 + ln 40) = 84.7731.
  EXPECT_GE(mechanism.accuracy(1000, 0.95).half_width, 37.71);
  EXPECT_LE(mechanism.accuracy(1000, 0.95).half_width, 38.05);
}

/// The transcript as a number, for audits.
auto sampler(const SparseVector& mechanism, const Answers& answers) {
  return [&mechanism, answers](BitSource& bits) {
    double code = 1;
    for (const ThresholdAnswer& each : said(mechanism, answers, bits))
      code = 2 * code + (each.above ? 1 : 0);
    return code;
  };
}

TEST(SparseVector, SurvivesTheAuditThatCatchesMonotoneNoiseOnAnswersThatMoveBothWays) {
  const Answers still = join({{6, 0}});
  const Answers both_ways = join({{5, 1}, {1, -1}});
  const testing::AuditOptions options{.trials = 200000, .seed = 6};
  const SparseVector right = even(4, 1);
  const SparseVector broken = even(4, 1, true);
  EXPECT_LE(audited_epsilon(sampler(right, still), sampler(right, both_ways), options), 4);
  EXPECT_GT(audited_epsilon(sampler(broken, still), sampler(broken, both_ways), options), 4);
}

TEST(SparseVector, EndsAfterItsPositives) {
  SeededBits bits(5);
  EXPECT_EQ(said(sparse(1, 3), Answers(10, 1e6), bits), Said(3, {true}));
  EXPECT_EQ(said(sparse(1, 3), Answers(10, -1e6), bits), Said(10, {false}));
  Meter meter(sparse(1, 2).event());
  Context context{meter, bits};
  SparseVector::Conversation conversation = sparse(1, 2).start(context);
  EXPECT_TRUE(meter.exhausted());
  EXPECT_TRUE(conversation.ask(1e6).above);
  EXPECT_EQ(conversation.left(), 1u);
  EXPECT_FALSE(conversation.ask(-1e6).above);
  EXPECT_TRUE(conversation.ask(0, -1e6).above);
  EXPECT_TRUE(conversation.ended());
  EXPECT_ERROR(conversation.ask(-1e6), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(conversation.ask(0, 0), ErrorCode::kBudgetExceeded);
}

// An answer 3 below the threshold passes when its comparison's noise is large. A number with that
// noise would be at least 3 - |threshold's noise| too high on average; fresh noise has mean 0.
// Standard error of the mean 10/sqrt(10,000 hits or so); six of them.
TEST(SparseVector, NumbersHaveNoiseOfTheirOwn) {
  const SparseVector mechanism({.epsilon = 2,
                                .sensitivity = 1,
                                .positives = 1u,
                                .threshold = 3,
                                .value_share = Ratio(1, 2)});
  SeededBits bits(7);
  double sum = 0;
  double squares = 0;
  double hits = 0;
  for (int i = 0; i < 60000; ++i) {
    const Said got = said(mechanism, kZero, bits);
    if (!got[0].above) continue;
    ASSERT_TRUE(got[0].value);
    sum += *got[0].value;
    squares += *got[0].value * *got[0].value;
    ++hits;
  }
  EXPECT_GT(hits, 10000);
  EXPECT_NEAR(sum / hits, 0, 6 * std::sqrt(2 / hits));  // noise of scale 1 has variance 2
  EXPECT_NEAR(squares / hits, 2, 6 * std::sqrt(20 / hits));
  EXPECT_GE(mechanism.value_accuracy(0.95).half_width, std::log(20));
  EXPECT_LE(mechanism.value_accuracy(0.95).half_width, std::log(20) + 0.001);
}

TEST(SparseVector, AThresholdOfItsOwnIsAShiftOfTheAnswer) {
  const Answers answers = {1, 5, 2.5, -3, 4};
  const Answers thresholds = {0, 4, 2, -4, 5};
  const Answers differences = {1, 1, 0.5, 1, -1};
  const SparseVector mechanism = sparse(1, 2);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SeededBits a(seed);
    SeededBits b(seed);
    Meter meter(mechanism.event());
    Context context{meter, a};
    EXPECT_EQ(mechanism.run(answers, thresholds, context).value, said(mechanism, differences, b));
  }
  SeededBits bits(1);
  Meter meter(mechanism.event());
  Context context{meter, bits};
  EXPECT_ERROR(mechanism.run(answers, kZero, context), ErrorCode::kInvalidInput);
}

// Of 10,000 conversations about 200 answers on both sides at the promised distance, 95 % are right
// throughout; the union bound over them is not far from the truth, so half of the distance is caught.
TEST(SparseVector, KeepsItsAccuracyPromise) {
  const SparseVector mechanism({.epsilon = 1, .sensitivity = 1, .positives = 100u, .threshold = 7});
  const double promised = mechanism.accuracy(200, 0.95).half_width;
  const auto right = [&](double distance) {
    Answers answers;
    for (int i = 0; i < 100; ++i) {
      answers.push_back(7 - distance);
      answers.push_back(7 + distance);
    }
    SeededBits bits(8);
    int kept = 0;
    for (int i = 0; i < 2000; ++i) {
      const Said got = said(mechanism, answers, bits);
      bool all = got.size() == 200;
      for (std::size_t j = 0; all && j < 200; ++j) all = got[j].above == (j % 2 == 1);
      kept += all ? 1 : 0;
    }
    return kept;
  };
  EXPECT_GE(right(promised), 2000 * 0.92);  // 95 % less six standard deviations
  EXPECT_LE(right(promised / 2), 2000 * 0.5);
}

TEST(SparseVector, IsRightForAnswersAndSensitivitiesOfAnySize) {
  SeededBits bits(9);
  for (const char* sensitivity : {"1e-300", "1", "1e300", "7/3"}) {
    const Ratio delta = parse_ratio(sensitivity);
    const SparseVector mechanism(
        {.epsilon = 1, .sensitivity = delta, .positives = 1u, .threshold = 1000 * delta});
    EXPECT_EQ(said(mechanism, {0, -1e308, round_up(Ratio(2000 * delta))}, bits),
              (Said{{false}, {false}, {true}}));
  }
  const SparseVector tiny({.epsilon = parse_ratio("1e-30"), .sensitivity = 1, .positives = 1u});
  EXPECT_EQ(said(tiny, {-1e40, 1e40}, bits), (Said{{false}, {true}}));
  EXPECT_GT(tiny.accuracy(10).half_width, 1e30);
  for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)})
    EXPECT_ERROR(said(sparse(1, 1), {bad}, bits), ErrorCode::kInvalidInput);
}

Retraversal retraversal(const Ratio& raise, std::uint64_t passes = 1000) {
  return Retraversal({.epsilon = 1,
                      .sensitivity = 1,
                      .positives = 3u,
                      .threshold = 100,
                      .raise = raise,
                      .passes = passes});
}

TEST(Retraversal, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(retraversal(-1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(retraversal(1, 0), ErrorCode::kInvalidOption);
}

// Which answer is found first, where some rise and one falls; the twin takes four times the budget.
TEST(Retraversal, SurvivesTheAuditThatCatchesFourTimesTheBudget) {
  const auto sampler = [](const Ratio& epsilon, Answers answers) {
    return [epsilon, answers = std::move(answers)](BitSource& bits) {
      const Retraversal mechanism({.epsilon = epsilon,
                                   .sensitivity = 1,
                                   .positives = 1u,
                                   .threshold = 0,
                                   .raise = 0,
                                   .passes = 1});
      Meter meter(mechanism.event());
      Context context{meter, bits};
      const auto found = mechanism.run(answers, context).value;
      return found.empty() ? 2.0 : static_cast<double>(found.front());
    };
  };
  const testing::AuditOptions options{.trials = 20000};
  const Answers one = {-1, -1, -1, 1}, other = {0, 0, 0, 0};
  EXPECT_LE(testing::audited_epsilon(sampler(2, one), sampler(2, other), options), 2);
  EXPECT_GT(testing::audited_epsilon(sampler(8, one), sampler(8, other), options), 2);
}

TEST(Retraversal, FindsDifferentAnswersAndPrefersTheLarge) {
  SeededBits bits(10);
  const Answers answers = {90, 1000, 80, 900, 1100, 0};
  for (int i = 0; i < 100; ++i) {
    const auto chosen = release_once(retraversal(2), std::span<const double>(answers), bits);
    EXPECT_EQ(chosen, (std::vector<std::size_t>{1, 3, 4}));
  }
  const auto all = release_once(retraversal(2), std::span<const double>(Answers{60, 60}), bits);
  EXPECT_LE(all.size(), 2u);
}

// One pass over answers 60 below the raised threshold, noise 21 or so, finds few; a thousand find
// all three.
TEST(Retraversal, GoesOnUntilItHasFoundThemOrPassesEnd) {
  SeededBits bits(11);
  const Answers answers(10, 100.0);
  int once = 0;
  for (int i = 0; i < 200; ++i) {
    once += static_cast<int>(
        release_once(retraversal(3, 1), std::span<const double>(answers), bits).size());
    EXPECT_EQ(release_once(retraversal(3), std::span<const double>(answers), bits).size(), 3u);
  }
  EXPECT_LT(once, 300);
}

TEST(Retraversal, CostsEpsilonHoweverManyPasses) {
  EXPECT_EQ(pure_epsilon(retraversal(2, 5).event()), 1);
  EXPECT_EQ(retraversal(2, 5).event(), retraversal(2, 5000).event());
  EXPECT_GT(retraversal(2, 5000).accuracy(10).half_width,
            retraversal(2, 5).accuracy(10).half_width);
}

}  // namespace
}  // namespace gauze
