#include "gauze/mechanism/randomized_response.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

RandomizedResponse response(const Ratio& p, std::uint64_t options = 2) {
  return RandomizedResponse({.p = p, .options = options});
}

TEST(RandomizedResponse, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(response(1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(response(Ratio(1, 2)), ErrorCode::kInvalidOption);
  EXPECT_ERROR(response(Ratio(1, 4), 4), ErrorCode::kInvalidOption);
  EXPECT_ERROR(response(Ratio(3, 4), 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(RandomizedBits({.p = Ratio(1, 2), .length = 3u}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(RandomizedBits({.p = Ratio(3, 4), .length = 0u}), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(response(Ratio(3, 4)), std::uint64_t{2}, bits),
               ErrorCode::kInvalidInput);
}

TEST(RandomizedResponse, WithTwoCoinsCostsTheLogarithmOfThree) {
  EXPECT_NEAR(pure_epsilon(response(Ratio(3, 4)).event())->convert_to<double>(), 1.098612, 1e-6);
  EXPECT_GE(*pure_epsilon(response(Ratio(3, 4)).event()), ratio_of_bits(std::log(3.0)));
}

TEST(RandomizedResponse, FindsTheLargestTruthProbabilityForAnEpsilon) {
  for (const std::uint64_t options : {2u, 3u, 100u}) {
    for (const double epsilon : {1e-6, 0.1, 1.0, 5.0}) {
      const Ratio p = RandomizedResponse::p_for(ratio_of_decimal(epsilon), options);
      const double spent = pure_epsilon(response(p, options).event())->convert_to<double>();
      EXPECT_LE(spent, epsilon * (1 + 1e-9));
      EXPECT_GT(spent, epsilon * (1 - 1e-9));
    }
  }
  EXPECT_LT(RandomizedResponse::p_for(1000), 1);
}

// 10,000 answers per truth; a right sampler fails once in 10^6 seeds.
TEST(RandomizedResponse, AnswersWithExactProbabilities) {
  for (const std::uint64_t options : {2u, 5u}) {
    const RandomizedResponse mechanism = response(Ratio(3, 4), options);
    for (std::uint64_t truth = 0; truth < options; ++truth) {
      std::vector<double> pmf(options, 0.25 / static_cast<double>(options - 1));
      pmf[truth] = 0.75;
      std::vector<std::uint64_t> counts(options);
      SeededBits bits(truth);
      for (int i = 0; i < 10000; ++i) ++counts[release_once(mechanism, truth, bits)];
      EXPECT_GT(testing::chi_square_p(counts, pmf), 1e-6);
    }
  }
}

// 10,000 people, 30 % yes: the standard deviation of the estimate is 0.00979796.
TEST(RandomizedResponse, EstimatesSharesWithoutBiasAndWithTheStatedVariance) {
  const RandomizedResponse mechanism = response(Ratio(3, 4));
  EXPECT_NEAR(std::sqrt(mechanism.variance(0.3, 10000)), 0.00979796, 1e-8);
  const auto estimate = mechanism.estimate(std::vector<std::uint64_t>{6000, 4000});
  EXPECT_NEAR(estimate.shares[1], 2 * 0.4 - 0.5, 1e-12);  // 2 (fraction yes) - 1/2
  EXPECT_NEAR(estimate.standard_deviations[1], 2 * std::sqrt(0.4 * 0.6 / 10000), 1e-12);
  EXPECT_NEAR(estimate.shares[0] + estimate.shares[1], 1, 1e-12);
  SeededBits bits(3);
  std::vector<std::uint64_t> counts(2);
  for (int i = 0; i < 30000; ++i) {
    ++counts[release_once(mechanism, std::uint64_t{i % 10 < 3 ? 1u : 0u}, bits)];
  }
  EXPECT_NEAR(mechanism.estimate(counts).shares[1], 0.3, 6 * 0.00979796 / std::sqrt(3.0));
}

// 1,000 surveys of 50 people: the promise of 95 % holds in at least 91.4 % of them except with
// probability 1e-6.
TEST(RandomizedResponse, KeepsItsAccuracyPromise) {
  const RandomizedResponse mechanism = response(Ratio(3, 4), 3);
  const double promised = mechanism.accuracy(50).half_width;
  SeededBits bits(4);
  int kept = 0;
  for (int survey = 0; survey < 1000; ++survey) {
    std::vector<std::uint64_t> counts(3);
    for (std::uint64_t i = 0; i < 50; ++i)
      ++counts[release_once(mechanism, i % 5 == 0 ? 1 : 0, bits)];
    kept += std::abs(mechanism.estimate(counts).shares[1] - 0.2) <= promised ? 1 : 0;
  }
  EXPECT_GE(kept, 1000 * 0.914);
}

TEST(RandomizedResponse, SurvivesTheAuditThatCatchesALargerTruthProbability) {
  const auto at = [](const RandomizedResponse& mechanism, std::uint64_t truth) {
    return [&mechanism, truth](BitSource& bits) {
      return static_cast<double>(release_once(mechanism, truth, bits));
    };
  };
  const testing::AuditOptions options{.trials = 8000};
  const auto right = response(Ratio(3, 4));
  const auto broken = response(Ratio(85, 100));
  EXPECT_LE(testing::audited_epsilon(at(right, 0), at(right, 1), options), std::log(3.0));
  EXPECT_GT(testing::audited_epsilon(at(broken, 0), at(broken, 1), options), std::log(3.0));
}

TEST(RandomizedBits, CostsOneLossPerBit) {
  const RandomizedBits mechanism({.p = Ratio(3, 4), .length = 8u});
  EXPECT_NEAR(pure_epsilon(mechanism.event())->convert_to<double>(), 8 * std::log(3.0), 1e-12);
}

/// Flips counted at each position over `runs` releases.
template <class Run>
std::vector<std::uint64_t> flips(std::size_t length, int runs, Run run) {
  SeededBits bits(5);
  std::vector<std::uint64_t> counts(length);
  for (int i = 0; i < runs; ++i) {
    const std::vector<bool> answer = run(bits);
    for (std::size_t j = 0; j < length; ++j) counts[j] += answer[j] ? 1 : 0;
  }
  return counts;
}

// p close to 1/2: a position that never flips in 64 runs has probability 2^-63.
TEST(RandomizedBits, FlipsEveryPositionTheLastOneToo) {
  const std::vector<bool> truth(65);
  const RandomizedBits nearly_fair({.p = Ratio(501, 1000), .length = 65u});
  const auto seen =
      flips(65, 64, [&](BitSource& bits) { return release_once(nearly_fair, truth, bits); });
  for (const std::uint64_t count : seen) EXPECT_GT(count, 0u);

  const auto forgetful = flips(65, 64, [&](BitSource& bits) {
    std::vector<bool> answer = release_once(nearly_fair, truth, bits);
    answer.back() = truth.back();
    return answer;
  });
  EXPECT_EQ(forgetful.back(), 0u);  // what the loop above would have caught

  const RandomizedBits mechanism({.p = Ratio(9, 10), .length = 65u});
  const auto counts =
      flips(65, 2000, [&](BitSource& bits) { return release_once(mechanism, truth, bits); });
  for (const std::uint64_t count : counts) {
    EXPECT_GT(testing::chi_square_p(std::vector<std::uint64_t>{count, 2000 - count},
                                    std::vector<double>{0.1, 0.9}),
              1e-6);
  }
}

TEST(RandomizedBits, EstimatesEachPosition) {
  const RandomizedBits mechanism({.p = Ratio(3, 4), .length = 2u});
  const auto estimate = mechanism.estimate(std::vector<std::uint64_t>{25, 75}, 100);
  EXPECT_NEAR(estimate.shares[0], 0, 1e-12);
  EXPECT_NEAR(estimate.shares[1], 1, 1e-12);
  EXPECT_ERROR(mechanism.estimate(std::vector<std::uint64_t>{1}, 100), ErrorCode::kInvalidInput);
}

TEST(RandomizedResponse, EstimatesFromCountsWhoseSumExceeds64Bits) {
  const RandomizedResponse mechanism({.p = Ratio(3, 4)});
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  for (const double share : mechanism.estimate(std::vector<std::uint64_t>{kHalf, kHalf}).shares) {
    EXPECT_EQ(share, 0.5);
  }
}

TEST(RandomizedResponse, StatesAFiniteAccuracyForTheWeakestCoin) {
  const Ratio gap = parse_ratio("1e-30");
  const RandomizedResponse mechanism({.p = Ratio(1, 2) + gap / 2});
  // sqrt(ln(2/beta) / (2 n)) / (p - lie), and p - lie is the gap.
  EXPECT_NEAR(mechanism.accuracy(1).half_width, std::sqrt(std::log(40.0) / 2) * 1e30, 1e20);
}

TEST(RandomizedBits, RefuseMoreOnesThanAnswers) {
  const RandomizedBits mechanism({.p = Ratio(3, 4), .length = 2});
  EXPECT_ERROR(mechanism.estimate(std::vector<std::uint64_t>{1, 11}, 10), ErrorCode::kInvalidInput);
  EXPECT_NO_THROW(mechanism.estimate(std::vector<std::uint64_t>{0, 10}, 10));
}

}  // namespace
}  // namespace gauze
