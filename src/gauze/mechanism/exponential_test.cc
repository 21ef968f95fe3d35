#include "gauze/mechanism/exponential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/enhanced_exponential.h"
#include "gauze/mechanism/noisy_max.h"
#include "gauze/mechanism/permute_and_flip.h"
#include "gauze/mechanism/relaxed_exponential.h"
#include "gauze/mechanism/top_k.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::max_log_ratio;
using testing::release_once;
using testing::SeededBits;
using Scores = std::vector<double>;

/// e^(rate score), normalised.
std::vector<double> softmax(const Scores& scores, double rate) {
  std::vector<double> p;
  double total = 0;
  for (const double score : scores) total += p.emplace_back(std::exp(rate * score));
  for (double& mass : p) mass /= total;
  return p;
}

/// Permute-and-flip by going through all orders.
std::vector<double> permute_and_flip_pmf(const Scores& scores, double rate) {
  const double best = *std::max_element(scores.begin(), scores.end());
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> p(scores.size());
  double orders = 0;
  do {
    double reached = 1;
    for (const std::size_t i : order) {
      const double accept = std::exp(rate * (scores[i] - best));
      p[i] += reached * accept;
      reached *= 1 - accept;
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& mass : p) mass /= orders;
  return p;
}

/// p-value of the hypothesis that the mechanism chooses with these probabilities; a right one gives
/// less than 1e-6 with that probability.
template <class Mechanism>
double choice_p(const Mechanism& mechanism, const Scores& scores, const std::vector<double>& pmf,
                int draws = 30000) {
  SeededBits bits(7);
  std::vector<std::uint64_t> counts(scores.size());
  for (int i = 0; i < draws; ++i) {
    ++counts[release_once(mechanism, std::span<const double>(scores), bits)];
  }
  return testing::chi_square_p(counts, pmf);
}

template <class Mechanism>
auto sampler(const Mechanism& mechanism, const Scores& scores) {
  return [&mechanism, scores](BitSource& bits) {
    return static_cast<double>(release_once(mechanism, std::span<const double>(scores), bits));
  };
}

/// Share of choices within the promised distance of the best score, over 20,000 draws; a promise of
/// 95 % is kept in at least 94.23 % of them except with probability 3e-7.
template <class Mechanism>
void expect_accuracy_promise(const Mechanism& mechanism) {
  Scores scores(100);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(i);
  const double promised = mechanism.accuracy(scores.size(), 0.95).half_width;
  EXPECT_LT(promised, 99);
  SeededBits bits(8);
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t choice = release_once(mechanism, std::span<const double>(scores), bits);
    kept += 99 - scores[choice] <= promised ? 1 : 0;
  }
  EXPECT_GE(kept, 20000 * 0.9423);
}

ExponentialMechanism exponential(const Ratio& epsilon, bool monotone = false) {
  return ExponentialMechanism({.epsilon = epsilon, .sensitivity = 1, .monotone = monotone});
}

TEST(ExponentialMechanism, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(exponential(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(exponential(-1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ExponentialMechanism({.epsilon = 1, .sensitivity = 0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      ExponentialMechanism(
          {.epsilon = 1, .sensitivity = 1, .monotone = true, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(exponential(1), std::span<const double>(), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(release_once(exponential(1), std::span<const double>(Scores{1, NAN}), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(exponential(1).accuracy(0), ErrorCode::kInvalidOption);
}

TEST(ExponentialMechanism, CostsEpsilonAndAnEighthOfItsSquareInRho) {
  EXPECT_EQ(pure_epsilon(exponential(Ratio(1, 3)).event()), Ratio(1, 3));
  EXPECT_EQ(zcdp_rho(exponential(Ratio(1, 3)).event()), Ratio(1, 72));
}

TEST(ExponentialMechanism, ChoosesWithThePublishedProbabilities) {
  const Scores counts = {50, 30, 20};
  const std::vector<double> before = {0.628532, 0.231224, 0.140244};
  const std::vector<double> after = {0.640129, 0.224005, 0.135866};
  const Ratio tenth(1, 10);
  EXPECT_GT(choice_p(exponential(tenth), counts, before), 1e-6);
  EXPECT_GT(choice_p(exponential(tenth), {51, 30, 20}, after), 1e-6);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(softmax(counts, 0.05)[i], before[i], 1e-6);
    EXPECT_NEAR(softmax({51, 30, 20}, 0.05)[i], after[i], 1e-6);
  }
  EXPECT_LE(max_log_ratio(before, after), 0.1);
  // Temperature 1: epsilon 2 at sensitivity 1.
  EXPECT_GT(choice_p(exponential(2), {0, 1, 2}, {.0900306, .2447285, .6652410}), 1e-6);
  // The test notices a forgotten factor of two.
  EXPECT_LT(choice_p(exponential(2 * tenth), counts, before), 1e-6);
}

TEST(ExponentialMechanism, PromisesThePublishedAccuracyAndKeepsIt) {
  EXPECT_NEAR(exponential(Ratio(1, 10)).accuracy(3).half_width, 81.8869, 1e-4);
  EXPECT_NEAR(exponential(1).accuracy(3).half_width, 8.18869, 1e-5);
  EXPECT_NEAR(exponential(1, true).accuracy(3).half_width, 8.18869 / 2, 1e-5);
  expect_accuracy_promise(exponential(Ratio(1, 2)));
  expect_accuracy_promise(exponential(Ratio(1, 2), true));
}

TEST(ExponentialMechanism, DropsTheTwoOnlyForMonotoneScores) {
  EXPECT_GT(choice_p(exponential(1, true), {0, 1, 2}, softmax({0, 1, 2}, 1)), 1e-6);
  // Scores that move both ways break the monotone rate, and the exact check says so.
  EXPECT_GT(max_log_ratio(softmax({0, 0}, 1), softmax({1, -1}, 1)), 1.0);
  EXPECT_LE(max_log_ratio(softmax({0, 0}, 0.5), softmax({1, -1}, 0.5)), 1.0);
  EXPECT_LE(max_log_ratio(softmax({0, 0}, 1), softmax({1, 0}, 1)), 1.0);
}

TEST(ExponentialMechanism, SurvivesTheAuditThatCatchesTwiceTheRate) {
  const testing::AuditOptions options{.trials = 40000, .seed = 5};
  const auto right = exponential(1);
  const auto doubled = exponential(2);
  const Scores before = {0, 0};
  const Scores after = {1, -1};
  EXPECT_LE(testing::audited_epsilon(sampler(right, before), sampler(right, after), options), 1);
  EXPECT_GT(testing::audited_epsilon(sampler(doubled, before), sampler(doubled, after), options),
            1);
}

TEST(ExponentialMechanism, TakesEnormousScoresAndRates) {
  SeededBits bits(9);
  const Scores scores = {-1e308, 1e308, 0};
  EXPECT_EQ(release_once(exponential(1), std::span<const double>(scores), bits), 1u);
  EXPECT_EQ(release_once(exponential(parse_ratio("1e308")),
                         std::span<const double>(Scores{0, 1e-300}), bits),
            1u);
  EXPECT_LT(release_once(exponential(parse_ratio("1e-308")), std::span<const double>(scores), bits),
            3u);
}

PermuteAndFlip flip(const Ratio& epsilon) {
  return PermuteAndFlip({.epsilon = epsilon, .sensitivity = 1});
}

TEST(PermuteAndFlip, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(flip(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      PermuteAndFlip(
          {.epsilon = 1, .sensitivity = 1, .monotone = true, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
}

TEST(PermuteAndFlip, ChoosesWithTheProbabilitiesOfItsDefinition) {
  for (const Scores& scores : {Scores{0, 0}, Scores{1, -1}, Scores{3, 2, 2, 0}}) {
    EXPECT_GT(choice_p(flip(2), scores, permute_and_flip_pmf(scores, 1)), 1e-6);
  }
  EXPECT_LT(choice_p(flip(4), {1, -1}, permute_and_flip_pmf({1, -1}, 1)), 1e-6);
}

// The divergence of order 2 exceeds what bounded range epsilon = 2 would allow (2 rho = 1), and
// stays below what pure epsilon = 2 does (2 rho = 4).
TEST(PermuteAndFlip, IsPricedAsPureNotAsBoundedRange) {
  const auto p = permute_and_flip_pmf({0, 0}, 1);
  const auto q = permute_and_flip_pmf({1, -1}, 1);
  const double divergence = testing::renyi_divergence(p, q, 2);
  EXPECT_NEAR(divergence, 1.376918739600336, 1e-12);
  EXPECT_LE(divergence, 2 * zcdp_rho(flip(2).event())->convert_to<double>());
  EXPECT_GT(divergence, 2 * zcdp_rho(exponential(2).event())->convert_to<double>());
  EXPECT_LE(max_log_ratio(p, q), 2 + 1e-12);
}

TEST(PermuteAndFlip, IsNeverWorseThanTheExponentialMechanism) {
  for (const Scores& scores : {Scores{3, 2, 2, 0}, Scores{0, 0, 0}, Scores{5, -5, 1, 1}}) {
    const auto ours = permute_and_flip_pmf(scores, 1);
    const auto theirs = softmax(scores, 1);
    double gain = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) gain += (ours[i] - theirs[i]) * scores[i];
    EXPECT_GE(gain, -1e-12);
  }
  expect_accuracy_promise(flip(Ratio(1, 2)));
}

TEST(PermuteAndFlip, SurvivesTheAuditThatCatchesTwiceTheRate) {
  const testing::AuditOptions options{.trials = 40000, .seed = 5};
  const auto right = flip(1);
  const auto doubled = flip(2);
  const Scores before = {0, 0};
  const Scores after = {1, -1};
  EXPECT_LE(testing::audited_epsilon(sampler(right, before), sampler(right, after), options), 1);
  EXPECT_GT(testing::audited_epsilon(sampler(doubled, before), sampler(doubled, after), options),
            1);
}

ReportNoisyMax noisy_max(const Ratio& epsilon, MaxNoise noise, bool monotone = false) {
  return ReportNoisyMax(
      {.epsilon = epsilon, .sensitivity = 1, .monotone = monotone, .noise = noise});
}

TEST(ReportNoisyMax, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(noisy_max(0, MaxNoise::kLaplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ReportNoisyMax({.epsilon = 1, .sensitivity = -1}), ErrorCode::kInvalidOption);
}

// One-sided exponential noise makes permute-and-flip (Ding, Kifer, Thakurta and Wang 2021); the
// lattice of 2^-20 is far below what 30,000 draws can see.
TEST(ReportNoisyMax, WithGeometricNoiseChoosesAsPermuteAndFlip) {
  for (const Scores& scores : {Scores{0, 0}, Scores{1, -1}, Scores{3, 2, 2, 0}}) {
    EXPECT_GT(choice_p(noisy_max(2, MaxNoise::kGeometric), scores, permute_and_flip_pmf(scores, 1)),
              1e-6);
  }
}

// Difference of two Laplace variables of scale b: P(X - Y > d) = e^(-d/b) (1/2 + d/(4 b)).
TEST(ReportNoisyMax, WithLaplaceNoiseChoosesAsTheFormulaSays) {
  const double worse = std::exp(-2.0) * (0.5 + 2.0 / 4);
  EXPECT_GT(choice_p(noisy_max(2, MaxNoise::kLaplace), {1, -1}, {1 - worse, worse}), 1e-6);
  EXPECT_LT(choice_p(noisy_max(4, MaxNoise::kLaplace), {1, -1}, {1 - worse, worse}), 1e-6);
}

TEST(ReportNoisyMax, KeepsItsAccuracyPromise) {
  expect_accuracy_promise(noisy_max(1, MaxNoise::kGeometric));
  expect_accuracy_promise(noisy_max(1, MaxNoise::kLaplace));
  expect_accuracy_promise(noisy_max(1, MaxNoise::kGeometric, true));
}

TEST(ReportNoisyMax, SurvivesTheAuditThatCatchesHalvedNoise) {
  const testing::AuditOptions options{.trials = 40000, .seed = 5};
  const Scores before = {0, 0, 0};
  const Scores after = {1, -1, -1};
  for (const MaxNoise noise : {MaxNoise::kGeometric, MaxNoise::kLaplace}) {
    const auto right = noisy_max(1, noise);
    const auto halved = noisy_max(2, noise);
    EXPECT_LE(testing::audited_epsilon(sampler(right, before), sampler(right, after), options), 1);
    const double caught =
        testing::audited_epsilon(sampler(halved, before), sampler(halved, after), options);
    EXPECT_GT(caught, 1);
  }
}

TopK top(std::uint64_t k, const Ratio& epsilon, TopKMethod method) {
  return TopK({.k = k, .epsilon = epsilon, .sensitivity = 1, .method = method});
}

/// The ordered list as one number.
auto list_sampler(const TopK& mechanism, const Scores& scores) {
  return [&mechanism, scores](BitSource& bits) {
    double code = 0;
    for (const std::size_t i : release_once(mechanism, std::span<const double>(scores), bits)) {
      code = code * 10 + static_cast<double>(i);
    }
    return code;
  };
}

TEST(TopK, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(top(0, 1, TopKMethod::kOneShot), ErrorCode::kInvalidOption);
  EXPECT_ERROR(top(1, 0, TopKMethod::kPeeling), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(
      release_once(top(3, 1, TopKMethod::kOneShot), std::span<const double>(Scores{1, 2}), bits),
      ErrorCode::kInvalidInput);
}

TEST(TopK, CostsEpsilonForTheWholeList) {
  for (const TopKMethod method : {TopKMethod::kOneShot, TopKMethod::kPeeling}) {
    EXPECT_EQ(pure_epsilon(top(7, Ratio(1, 3), method).event()), Ratio(1, 3));
  }
  EXPECT_EQ(zcdp_rho(top(7, 1, TopKMethod::kPeeling).event()), Ratio(1, 56));
}

TEST(TopK, ChoosesDifferentCandidatesAndTheBestWhenTheyStandOut) {
  SeededBits bits(3);
  const Scores scores = {5000, 0, 9000, 7000, 1};
  for (const TopKMethod method : {TopKMethod::kOneShot, TopKMethod::kPeeling}) {
    EXPECT_EQ(release_once(top(3, 1, method), std::span<const double>(scores), bits),
              (std::vector<std::size_t>{2, 3, 0}));
    auto all = release_once(top(5, Ratio(1, 1000), method), std::span<const double>(scores), bits);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  }
}

TEST(TopK, PeelsWithTheProbabilitiesOfTheExponentialMechanism) {
  const Scores scores = {1, 0, 2};
  const TopK mechanism = top(2, 4, TopKMethod::kPeeling);  // rate 4/(2*2) = 1
  std::vector<double> pmf(9);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (i == j) continue;
      const double rest = 1 - softmax(scores, 1)[i];
      pmf[3 * i + j] = softmax(scores, 1)[i] * softmax(scores, 1)[j] / rest;
    }
  }
  SeededBits bits(4);
  std::vector<std::uint64_t> counts(9);
  for (int i = 0; i < 30000; ++i) {
    const auto list = release_once(mechanism, std::span<const double>(scores), bits);
    ++counts[3 * list[0] + list[1]];
  }
  EXPECT_GT(testing::chi_square_p(counts, pmf), 1e-6);
}

TEST(TopK, OfOneIsTheNoisyMax) {
  const Scores scores = {3, 2, 2, 0};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SeededBits a(seed);
    SeededBits b(seed);
    EXPECT_EQ(release_once(top(1, 1, TopKMethod::kOneShot), std::span<const double>(scores), a)[0],
              release_once(noisy_max(1, MaxNoise::kGeometric), std::span<const double>(scores), b));
  }
}

TEST(TopK, SurvivesTheAuditThatCatchesAThirdOfTheNoise) {
  const testing::AuditOptions options{.trials = 40000, .seed = 5};
  const Scores before = {0, 0, 0, 0};
  const Scores after = {1, 1, -1, -1};
  for (const TopKMethod method : {TopKMethod::kOneShot, TopKMethod::kPeeling}) {
    const TopK right = top(2, 1, method);
    const TopK broken = top(2, 3, method);
    EXPECT_LE(
        testing::audited_epsilon(list_sampler(right, before), list_sampler(right, after), options),
        1);
    const double caught = testing::audited_epsilon(list_sampler(broken, before),
                                                   list_sampler(broken, after), options);
    EXPECT_GT(caught, 1) << static_cast<int>(method);
  }
}

TEST(TopK, KeepsItsAccuracyPromise) {
  Scores scores(100);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(i);
  for (const TopKMethod method : {TopKMethod::kOneShot, TopKMethod::kPeeling}) {
    const TopK mechanism = top(3, 2, method);
    const double promised = mechanism.accuracy(100, 0.95).half_width;
    SeededBits bits(8);
    int kept = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto list = release_once(mechanism, std::span<const double>(scores), bits);
      bool all = true;
      for (std::size_t rank = 0; rank < 3; ++rank) {
        all = all && 99 - static_cast<double>(rank) - scores[list[rank]] <= promised;
      }
      kept += all ? 1 : 0;
    }
    EXPECT_GE(kept, 20000 * 0.9423);
  }
}

/// Scores of three candidates as sums over records from {0, 1, 2}: L_w(x) = w * x.
constexpr double kRecordSpread = 4;     // w (x - x') for w = 2, x - x' = 2
constexpr double kCandidateSpread = 4;  // (w - w') x

Scores additive_scores(const std::vector<int>& records) {
  Scores scores(3);
  for (const int x : records) {
    for (int w = 0; w < 3; ++w) scores[static_cast<std::size_t>(w)] += w * x;
  }
  return scores;
}

TEST(EnhancedExponential, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(
      EnhancedExponential({.epsilon = 0, .candidate_spread = 1, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      EnhancedExponential({.epsilon = 1, .candidate_spread = 0, .relation = Relation::kReplace}),
      ErrorCode::kInvalidOption);
  EXPECT_ERROR(EnhancedExponential({.epsilon = 1,
                                    .candidate_spread = 1,
                                    .record_spread = Ratio(1),
                                    .relation = Relation::kAddRemove}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      EnhancedExponential({.epsilon = 1, .candidate_spread = 1, .relation = Relation::kEdge}),
      ErrorCode::kInvalidOption);
}

TEST(EnhancedExponential, UsesTheSmallerSpreadAndTheFactorOfItsRelation) {
  const Scores scores = {0, 1, 2};
  const EnhancedExponential add(
      {.epsilon = 4, .candidate_spread = 4, .relation = Relation::kAddRemove});
  EXPECT_GT(choice_p(add, scores, softmax(scores, 1)), 1e-6);
  const EnhancedExponential replace(
      {.epsilon = 4, .candidate_spread = 4, .relation = Relation::kReplace});
  EXPECT_GT(choice_p(replace, scores, softmax(scores, 0.5)), 1e-6);
  const EnhancedExponential by_record({.epsilon = 4,
                                       .candidate_spread = 4,
                                       .record_spread = Ratio(2),
                                       .relation = Relation::kReplace});
  EXPECT_GT(choice_p(by_record, scores, softmax(scores, 1)), 1e-6);
  EXPECT_LT(choice_p(by_record, scores, softmax(scores, 0.5)), 1e-6);
}

// Exhaustive over all data sets of up to three records; epsilon = 1.
TEST(EnhancedExponential, IsPrivateOnEveryPairOfSmallDataSets) {
  double worst_add = 0;
  double worst_replace = 0;
  double broken_replace = 0;  // the factor of add_remove used under replace
  for (int code = 0; code < 27; ++code) {
    const std::vector<int> three = {code % 3, code / 3 % 3, code / 9};
    const std::vector<int> two(three.begin(), three.begin() + 2);
    const double rate_add = 1 / kCandidateSpread;
    worst_add = std::max(worst_add, max_log_ratio(softmax(additive_scores(three), rate_add),
                                                  softmax(additive_scores(two), rate_add)));
    for (int x = 0; x < 3; ++x) {
      const std::vector<int> other = {three[0], three[1], x};
      const double rate = 1 / (2 * std::min(kCandidateSpread, kRecordSpread));
      worst_replace = std::max(worst_replace, max_log_ratio(softmax(additive_scores(three), rate),
                                                            softmax(additive_scores(other), rate)));
      const double half = 2.2;  // a spread below half of the true one
      broken_replace =
          std::max(broken_replace, max_log_ratio(softmax(additive_scores(three), 1 / half),
                                                 softmax(additive_scores(other), 1 / half)));
    }
  }
  EXPECT_LE(worst_add, 1);
  EXPECT_LE(worst_replace, 1);
  EXPECT_GT(broken_replace, 1);
}

TEST(EnhancedExponential, KeepsItsAccuracyPromise) {
  expect_accuracy_promise(
      EnhancedExponential({.epsilon = 1, .candidate_spread = 1, .relation = Relation::kAddRemove}));
}

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
