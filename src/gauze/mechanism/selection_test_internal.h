#pragma once

// What the tests of the selection mechanisms share.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {

using Scores = std::vector<double>;

/// e^(rate score), normalised.
inline std::vector<double> softmax(const Scores& scores, double rate) {
  std::vector<double> p;
  double total = 0;
  for (const double score : scores) total += p.emplace_back(std::exp(rate * score));
  for (double& mass : p) mass /= total;
  return p;
}

/// Permute-and-flip by going through all orders.
inline std::vector<double> permute_and_flip_pmf(const Scores& scores, double rate) {
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
  testing::SeededBits bits(7);
  std::vector<std::uint64_t> counts(scores.size());
  for (int i = 0; i < draws; ++i) {
    ++counts[testing::release_once(mechanism, std::span<const double>(scores), bits)];
  }
  return testing::chi_square_p(counts, pmf);
}

/// Share of choices within the promised distance of the best score, over 20,000 draws; a promise of
/// 95 % is kept in at least 94.23 % of them except with probability 3e-7.
template <class Mechanism>
void expect_accuracy_promise(const Mechanism& mechanism) {
  Scores scores(34);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = 3 * static_cast<double>(i);
  const double promised = mechanism.accuracy(scores.size(), 0.95).half_width;
  EXPECT_LT(promised, 99);
  testing::SeededBits bits(8);
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t choice =
        testing::release_once(mechanism, std::span<const double>(scores), bits);
    kept += 99 - scores[choice] <= promised ? 1 : 0;
  }
  EXPECT_GE(kept, 20000 * 0.9423);
}

}  // namespace gauze
