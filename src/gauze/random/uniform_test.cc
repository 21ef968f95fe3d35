#include "gauze/random/uniform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "gauze/random/subsample.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::chi_square_p;
using testing::kSignificance;
using testing::SeededBits;

// Chi-square tests assert p > 1e-9: a right generator fails for one seed in 10^9, and seeds are
// fixed.

double binary_p(std::uint64_t yes, std::uint64_t draws, double p) {
  const std::vector<std::uint64_t> observed = {yes, draws - yes};
  const std::vector<double> expected = {p, 1 - p};
  return chi_square_p(observed, expected);
}

TEST(UniformBelow, IsEvenForAwkwardBounds) {
  SeededBits bits(1);
  for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 100u, 641u}) {
    std::vector<std::uint64_t> observed(bound, 0);
    for (int i = 0; i < 200'000; ++i) ++observed[uniform_below(bits, bound)];
    EXPECT_GT(chi_square_p(observed, std::vector<double>(bound, 1.0 / static_cast<double>(bound))),
              kSignificance);
  }
  // 3 * 2^62 wraps the naive modulus: values below 2^62 would come up twice as often as the rest.
  std::vector<std::uint64_t> thirds(3, 0);
  for (int i = 0; i < 100'000; ++i) ++thirds[uniform_below(bits, std::uint64_t{3} << 62) >> 62];
  EXPECT_GT(chi_square_p(thirds, std::vector<double>(3, 1.0 / 3)), kSignificance);
}

TEST(UniformBelow, WorksForIntegersOfAnySize) {
  SeededBits bits(2);
  const Integer bound = (Integer(1) << 200) + 12345;
  std::vector<std::uint64_t> sevenths(7, 0);
  for (int i = 0; i < 50'000; ++i) {
    const Integer draw = uniform_below(bits, bound);
    ASSERT_TRUE(draw >= 0 && draw < bound);
    ++sevenths[Integer(draw * 7 / bound).convert_to<std::size_t>()];
  }
  EXPECT_GT(chi_square_p(sevenths, std::vector<double>(7, 1.0 / 7)), kSignificance);
  EXPECT_EQ(uniform_below(bits, Integer(1)), 0);
  EXPECT_ERROR(uniform_below(bits, std::uint64_t{0}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(uniform_below(bits, Integer(0)), ErrorCode::kInvalidOption);
}

TEST(Bernoulli, HasItsRationalProbability) {
  SeededBits bits(3);
  for (const Ratio& p : {Ratio(1, 3), Ratio(2, 7), Ratio(999, 1000),
                         Ratio(Integer(1) << 90, (Integer(1) << 91) + 1)}) {
    std::uint64_t yes = 0;
    for (int i = 0; i < 200'000; ++i) yes += bernoulli(bits, p) ? 1 : 0;
    EXPECT_GT(binary_p(yes, 200'000, p.convert_to<double>()), kSignificance) << p;
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(bernoulli(bits, 0));
    EXPECT_TRUE(bernoulli(bits, 1));
  }
  EXPECT_ERROR(bernoulli(bits, Ratio(4, 3)), ErrorCode::kInvalidOption);
}

// F4: a bignum division that does not reduce biases this; several denominators, 2 * 10^5 draws.
TEST(BernoulliExp, HasProbabilityEToTheMinusX) {
  SeededBits bits(4);
  for (const Ratio& x : {Ratio(1, 1000), Ratio(1, 3), Ratio(6, 4), Ratio(22, 7), Ratio(5)}) {
    std::uint64_t yes = 0;
    for (int i = 0; i < 200'000; ++i) yes += bernoulli_exp(bits, x) ? 1 : 0;
    EXPECT_GT(binary_p(yes, 200'000, std::exp(-x.convert_to<double>())), kSignificance) << x;
    // The test sees the difference to a probability two percent off.
    if (x == Ratio(1, 3)) {
      EXPECT_LT(binary_p(yes, 200'000, std::exp(-0.34)), 1e-4);
    }
  }
  EXPECT_TRUE(bernoulli_exp(bits, 0));
  for (const char* huge : {"800", "1e308", "1e400"})
    EXPECT_FALSE(bernoulli_exp(bits, parse_ratio(huge)));
  EXPECT_ERROR(bernoulli_exp(bits, -1), ErrorCode::kInvalidOption);
}

// An undecided comparison must look further and still be right: the estimate is useless on purpose,
// so every answer comes from the intervals.
TEST(LazyUniform, DecidesByIntervalsWhenTheEstimateCannot) {
  SeededBits bits(5);
  std::uint64_t by_interval = 0;
  for (int i = 0; i < 20'000; ++i) {
    LazyUniform uniform(bits);
    by_interval += uniform.below([](unsigned p) { return exp(-Interval(Ratio(2, 3), p)); }) ? 1 : 0;
  }
  EXPECT_GT(binary_p(by_interval, 20'000, std::exp(-2.0 / 3)), kSignificance);
  // Thresholds that agree with the first 64 bits: the next bits decide, about half the time each
  // way.
  std::uint64_t below = 0;
  const std::uint64_t head = 0x123456789abcdef0u;
  const Ratio middle = (Ratio(Integer(head)) + Ratio(1, 2)) / power_of_two(64);
  for (int i = 0; i < 20'000; ++i) {
    below +=
        LazyUniform(bits, head)
                .below(middle.convert_to<double>(), [&](unsigned p) { return Interval(middle, p); })
            ? 1
            : 0;
  }
  EXPECT_GT(binary_p(below, 20'000, 0.5), kSignificance);
}

TEST(Shuffle, MakesEveryOrderEquallyLikely) {
  SeededBits bits(6);
  std::vector<std::uint64_t> orders(24, 0);
  for (int i = 0; i < 120'000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    shuffle(bits, std::span<int>(items));
    std::size_t rank = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      std::size_t smaller = 0;
      for (std::size_t b = a + 1; b < 4; ++b) smaller += items[b] < items[a] ? 1 : 0;
      rank = rank * (4 - a) + smaller;
    }
    ++orders[rank];
  }
  EXPECT_GT(chi_square_p(orders, std::vector<double>(24, 1.0 / 24)), kSignificance);
}

TEST(PoissonSubsample, IncludesEachIndependentlyAtTheRate) {
  SeededBits bits(7);
  std::vector<std::uint64_t> sizes(11, 0);
  std::vector<std::uint64_t> member(10, 0);
  for (int i = 0; i < 50'000; ++i) {
    const auto chosen = poisson_subsample(bits, 10, Ratio(3, 10));
    ++sizes[chosen.size()];
    for (const std::uint64_t c : chosen) ++member[c];
  }
  std::vector<double> binomial(11);
  for (int k = 0; k <= 10; ++k) {
    binomial[static_cast<std::size_t>(k)] =
        std::exp(std::lgamma(11) - std::lgamma(k + 1) - std::lgamma(11 - k)) * std::pow(0.3, k) *
        std::pow(0.7, 10 - k);
  }
  EXPECT_GT(chi_square_p(sizes, binomial), kSignificance);
  for (const std::uint64_t count : member) EXPECT_GT(binary_p(count, 50'000, 0.3), kSignificance);
  EXPECT_TRUE(poisson_subsample(bits, 100, 0).empty());
  EXPECT_EQ(poisson_subsample(bits, 100, 1).size(), 100u);
  EXPECT_ERROR(poisson_subsample(bits, 1, Ratio(3, 2)), ErrorCode::kInvalidOption);
}

TEST(FixedSizeSubsample, MakesEverySetEquallyLikely) {
  SeededBits bits(8);
  std::vector<std::uint64_t> sets(32, 0);
  for (int i = 0; i < 60'000; ++i) {
    std::size_t mask = 0;
    const auto chosen = fixed_size_subsample(bits, 5, 2);
    ASSERT_EQ(chosen.size(), 2u);
    for (const std::uint64_t c : chosen) mask |= std::size_t{1} << c;
    ++sets[mask];
  }
  std::vector<std::uint64_t> pairs;
  for (std::size_t mask = 0; mask < 32; ++mask) {
    if (__builtin_popcountll(mask) == 2) pairs.push_back(sets[mask]);
  }
  EXPECT_EQ(std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0}), 60'000u);
  EXPECT_GT(chi_square_p(pairs, std::vector<double>(10, 0.1)), kSignificance);
  EXPECT_ERROR(fixed_size_subsample(bits, 3, 4), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
