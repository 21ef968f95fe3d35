#include "gauze/mechanism/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/noisy_max.h"
#include "gauze/mechanism/selection_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

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
              release_once(ReportNoisyMax({.epsilon = 1, .sensitivity = 1}),
                           std::span<const double>(scores), b));
  }
}

TEST(TopK, SurvivesTheAuditThatCatchesAThirdOfTheNoise) {
  const testing::AuditOptions options{.trials = 20000, .seed = 5};
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
  Scores scores(50);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(i);
  for (const TopKMethod method : {TopKMethod::kOneShot, TopKMethod::kPeeling}) {
    const TopK mechanism = top(3, 2, method);
    const double promised = mechanism.accuracy(50, 0.95).half_width;
    SeededBits bits(8);
    int kept = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto list = release_once(mechanism, std::span<const double>(scores), bits);
      bool all = true;
      for (std::size_t rank = 0; rank < 3; ++rank) {
        all = all && 49 - static_cast<double>(rank) - scores[list[rank]] <= promised;
      }
      kept += all ? 1 : 0;
    }
    EXPECT_GE(kept, 20000 * 0.9423);
  }
}

}  // namespace
}  // namespace gauze
