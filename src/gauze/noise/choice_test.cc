#include "gauze/noise/choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::chi_square_p;
using testing::kSignificance;
using testing::SeededBits;

// Chi-square tests assert p > 1e-9: a right sampler fails for one seed in 10^9, and seeds are
// fixed.

template <class Choose>
std::vector<std::uint64_t> frequencies(std::size_t candidates, int draws, Choose choose) {
  std::vector<std::uint64_t> observed(candidates, 0);
  for (int i = 0; i < draws; ++i) ++observed[choose()];
  return observed;
}

TEST(ChooseExp, HasProbabilitiesProportionalToTheExponential) {
  // Temperature 1, scores 0, 1, 2: .0900306, .2447285, .6652410 (mir.md AC-2).
  SeededBits bits(1);
  const std::vector<double> scores = {0, 1, 2};
  const std::vector<double> expected = {0.0900306, 0.2447285, 0.6652410};
  EXPECT_GT(
      chi_square_p(frequencies(3, 300'000, [&] { return choose_exp(scores, 1, bits); }), expected),
      kSignificance);
  // The same test refuses the mechanism with half the temperature.
  EXPECT_LT(
      chi_square_p(frequencies(3, 300'000, [&] { return choose_exp(scores, Ratio(1, 2), bits); }),
                   expected),
      kSignificance);
}

TEST(ChooseExp, CountsEveryCopyBehindAScore) {
  SeededBits bits(2);
  const std::vector<double> scores = {0, -1, 0, 5};
  const std::vector<Integer> copies = {1, Integer(1) << 40, 7, 0};
  const double e = std::exp(-0.5);
  const double sum = 1 + std::ldexp(e, 40) + 7;
  const std::vector<double> expected = {1 / sum, std::ldexp(e, 40) / sum, 7 / sum, 0};
  const auto observed =
      frequencies(4, 50'000, [&] { return choose_exp(scores, Ratio(1, 2), bits, copies); });
  EXPECT_EQ(observed[3], 0u);
  EXPECT_GT(chi_square_p(observed, expected), kSignificance);

  const std::vector<Integer> few = {3, 2, 1, 0};
  const double total = 3 + 2 * e + 1;
  EXPECT_GT(chi_square_p(
                frequencies(4, 200'000, [&] { return choose_exp(scores, Ratio(1, 2), bits, few); }),
                std::vector<double>{3 / total, 2 * e / total, 1 / total, 0}),
            kSignificance);
}

TEST(ChooseExp, SurvivesScoresAtTheEndsOfTheRange) {
  SeededBits bits(3);
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(choose_exp(std::vector<double>{-most, most, 0}, 1, bits), 1u);
  EXPECT_EQ(choose_exp(std::vector<double>{-most, most}, parse_ratio("1e400"), bits), 1u);
  // A rate of zero, or scores whose differences are tiny, leave every candidate equally likely.
  const std::vector<double> flat = {1e-320, 0, 5e-324, 1e-300};
  const std::vector<double> even(4, 0.25);
  EXPECT_GT(chi_square_p(frequencies(4, 40'000, [&] { return choose_exp(flat, 1, bits); }), even),
            kSignificance);
  EXPECT_GT(chi_square_p(frequencies(4, 40'000,
                                     [&] {
                                       return choose_exp(std::vector<double>{1, 9, 4, 2}, 0, bits);
                                     }),
                         even),
            kSignificance);
}

TEST(ChooseExp, TakesTheOnlyCandidateThereIs) {
  SeededBits bits(6);
  EXPECT_EQ(choose_exp(std::vector<double>{3}, 1, bits), 0u);
  EXPECT_EQ(choose_exp(std::vector<double>{3, 4, 5}, 1, bits, std::vector<Integer>{0, 2, 0}), 1u);
  EXPECT_EQ(permute_and_flip(std::vector<double>{3}, 1, bits), 0u);
}

TEST(ChooseExp, RejectsWhatItCannotChooseFrom) {
  SeededBits bits(4);
  EXPECT_ERROR(choose_exp({}, 1, bits), ErrorCode::kInvalidInput);
  EXPECT_ERROR(choose_exp(std::vector<double>{1, NAN}, 1, bits), ErrorCode::kInvalidInput);
  EXPECT_ERROR(choose_exp(std::vector<double>{1, INFINITY}, 1, bits), ErrorCode::kInvalidInput);
  EXPECT_ERROR(choose_exp(std::vector<double>{1}, -1, bits), ErrorCode::kInvalidOption);
  EXPECT_ERROR(choose_exp(std::vector<double>{1, 2}, 1, bits, std::vector<Integer>{0, 0}),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(permute_and_flip({}, 1, bits), ErrorCode::kInvalidInput);
}

/// P(i) by summing over all orders of three candidates.
std::vector<double> permute_and_flip_of_three(const std::vector<double>& scores, double rate) {
  std::vector<double> p(3, 0);
  std::vector<std::size_t> order = {0, 1, 2};
  const double best = *std::max_element(scores.begin(), scores.end());
  do {
    double reached = 1.0 / 6;
    for (const std::size_t i : order) {
      const double accept = std::exp(rate * (scores[i] - best));
      p[i] += reached * accept;
      reached *= 1 - accept;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return p;
}

TEST(PermuteAndFlip, HasItsProbabilities) {
  SeededBits bits(5);
  const std::vector<double> scores = {0, 1, 2.5};
  EXPECT_GT(chi_square_p(frequencies(3, 300'000,
                                     [&] { return permute_and_flip(scores, Ratio(3, 4), bits); }),
                         permute_and_flip_of_three(scores, 0.75)),
            kSignificance);
  EXPECT_LT(
      chi_square_p(frequencies(3, 300'000, [&] { return choose_exp(scores, Ratio(3, 4), bits); }),
                   permute_and_flip_of_three(scores, 0.75)),
      kSignificance);
}

// 20,000 draws of a choice with odds 1 : e^-2; p < 1e-9 for one seed in 10^9.
TEST(Choice, IsExactWhereTheRateOrTheScoresLeaveTheRangeOfDoubles) {
  const std::vector<double> expected = {1 / (1 + std::exp(-2.0)), 1 / (1 + std::exp(2.0))};
  const auto fit = [&](double step, const Ratio& rate) {
    const std::vector<double> scores = {step, 0};
    SeededBits bits(31);
    std::vector<std::uint64_t> chosen(2);
    for (int i = 0; i < 20000; ++i) ++chosen[choose_exp(scores, rate, bits)];
    return testing::chi_square_p(chosen, expected);
  };
  EXPECT_GT(fit(1e-310, Ratio(2 / ratio_of_bits(1e-310))), 1e-9);
  EXPECT_GT(fit(5e-324, Ratio(2 / ratio_of_bits(5e-324))), 1e-9);
  EXPECT_GT(fit(1e-302, Ratio(2 / ratio_of_bits(1e-302))), 1e-9);
  EXPECT_GT(fit(1e308, Ratio(2 / ratio_of_bits(1e308))), 1e-9);
}

}  // namespace
}  // namespace gauze
