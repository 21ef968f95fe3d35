// How well the largest of a list are found, by everything that can find them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "gauze/mechanism/retraversal.h"
#include "gauze/mechanism/sparse_vector.h"
#include "gauze/mechanism/top_k.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/broken_sparse_vector.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Answers = std::vector<double>;
using Chosen = std::vector<std::size_t>;

constexpr int kRuns = 60;
const Ratio kEpsilon(1, 10);

/// 10^6 occurrences of 10,000 items, the i-th with a share of 1/i.
Answers zipf() {
  Answers counts(10000);
  double harmonic = 0;
  for (std::size_t i = 1; i <= counts.size(); ++i) harmonic += 1 / static_cast<double>(i);
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = std::round(1e6 / harmonic / static_cast<double>(i + 1));
  return counts;
}

void shuffle(Answers& answers, BitSource& bits) {
  for (std::size_t i = answers.size(); i > 1; --i)
    std::swap(answers[i - 1], answers[uniform_below(bits, i)]);
}

/// Share of the true top c that was missed, and share of their sum.
struct Misses {
  double negatives = 0;
  double score = 0;
};

Misses average(std::size_t c, std::uint64_t seed,
               const std::function<Chosen(const Answers&, double, BitSource&)>& choose) {
  Answers answers = zipf();
  const double least = answers[c - 1];
  const double threshold = (answers[c - 1] + answers[c]) / 2;
  const double best =
      std::accumulate(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(c), 0.0);
  SeededBits bits(seed);
  Misses total;
  for (int run = 0; run < kRuns; ++run) {
    shuffle(answers, bits);
    double found = 0;
    double sum = 0;
    const Chosen chosen = choose(answers, threshold, bits);
    EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), chosen.size());
    for (const std::size_t i : chosen) {
      found += answers[i] >= least ? 1 : 0;
      sum += answers[i];
    }
    total.negatives += (1 - found / static_cast<double>(c)) / kRuns;
    total.score += (1 - sum / best) / kRuns;
  }
  return total;
}

Chosen above(const std::vector<ThresholdAnswer>& said) {
  Chosen chosen;
  for (std::size_t i = 0; i < said.size(); ++i)
    if (said[i].above) chosen.push_back(i);
  return chosen;
}

auto sparse(std::size_t c, const Ratio& threshold_share) {
  return [=](const Answers& answers, double threshold, BitSource& bits) {
    const SparseVector mechanism({.epsilon = kEpsilon,
                                  .sensitivity = 1,
                                  .positives = c,
                                  .threshold = ratio_of_decimal(threshold),
                                  .monotone = true,
                                  .threshold_share = threshold_share});
    return above(release_once(mechanism, std::span<const double>(answers), bits));
  };
}

auto retraversal(std::size_t c, const Ratio& raise) {
  return [=](const Answers& answers, double threshold, BitSource& bits) {
    const Retraversal mechanism({.epsilon = kEpsilon,
                                 .sensitivity = 1,
                                 .positives = c,
                                 .threshold = ratio_of_decimal(threshold),
                                 .raise = raise,
                                 .monotone = true});
    return release_once(mechanism, std::span<const double>(answers), bits);
  };
}

auto top(std::size_t c) {
  return [=](const Answers& answers, double, BitSource& bits) {
    const TopK mechanism({.k = c, .epsilon = kEpsilon, .sensitivity = 1, .monotone = true});
    return release_once(mechanism, std::span<const double>(answers), bits);
  };
}

auto textbook(std::size_t c) {
  return [variant = testing::algorithm_13(0.1, c)](const Answers& answers, double threshold,
                                                   BitSource& bits) {
    const auto said = variant.run(answers, Answers{threshold}, bits);
    Chosen chosen;
    for (std::size_t i = 0; i < said.size(); ++i)
      if (said[i] == testing::kAbove) chosen.push_back(i);
    return chosen;
  };
}

// Published: .315 (exponential), .34, .73, .94, .98, each within .06, which is many standard errors.
TEST(SelectionSlow, FindsTheLargestOfAListInThePublishedOrder) {
  const double by_top = average(50, 1, top(50)).negatives;
  const double twice = average(50, 2, retraversal(50, 2)).negatives;
  const double best_split = average(50, 3, sparse(50, 0)).negatives;
  const double even = average(50, 4, sparse(50, Ratio(1, 2))).negatives;
  const double book = average(50, 5, textbook(50)).negatives;
  EXPECT_NEAR(by_top, 0.315, 0.06);
  EXPECT_NEAR(twice, 0.34, 0.06);
  EXPECT_NEAR(best_split, 0.73, 0.06);
  EXPECT_NEAR(even, 0.94, 0.06);
  EXPECT_NEAR(book, 0.98, 0.06);
  EXPECT_LE(by_top, twice + 0.02);
  EXPECT_LT(twice, best_split);
  EXPECT_LT(best_split, even);
  EXPECT_LT(even, book);
}

TEST(SelectionSlow, LosesLittleOfTheScoreOfAHundred) {
  EXPECT_NEAR(average(100, 6, top(100)).score, 0.26, 0.06);
  EXPECT_NEAR(average(100, 7, retraversal(100, 3)).score, 0.27, 0.06);
  EXPECT_GE(average(100, 8, sparse(100, 0)).score, 0.89);
}

}  // namespace
}  // namespace gauze
