#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Shares recovered from randomised answers.
struct ShareEstimate {
  std::vector<double> shares;               ///< unbiased; may leave [0, 1], clip only to show it
  std::vector<double> standard_deviations;  ///< of each share, at the estimated share
};

/// One person's answer out of `options`: the truth with probability p, else one of the others,
/// uniformly.
///
/// Privacy    local, pure DP, epsilon = ln(p (options - 1) / (1 - p)).
/// Accuracy   each option's share among n answers within sqrt(ln(2/beta) / (2 n)) / (p - lie),
///            where lie = (1 - p)/(options - 1), with probability 1 - beta.
/// Numerics   the probabilities are exact.
/// Argument   randomized_response.md
class RandomizedResponse {
 public:
  struct Options {
    Required<Ratio> p;          ///< probability of the truth, in (1/options, 1)
    std::uint64_t options = 2;  ///< number of possible answers, >= 2
  };

  explicit RandomizedResponse(Options options);

  /// The largest p (to 2^-60) whose loss is at most epsilon > 0.
  static Ratio p_for(const Ratio& epsilon, std::uint64_t options = 2);

  Event event() const;
  /// Of the share of one option estimated from `answers` people.
  Accuracy accuracy(std::uint64_t answers, double confidence = 0.95) const;

  /// Charges the meter, then releases the answer of one person. Throws `kInvalidInput` unless
  /// truth < options.
  Release<std::uint64_t> run(std::uint64_t truth, Context& context) const;

  /// Shares of the options from how often each was answered; reads released answers only.
  ShareEstimate estimate(std::span<const std::uint64_t> counts) const;

  /// Variance of the estimated share when the true one is `share` and `answers` people answered,
  /// each drawn from the population.
  double variance(double share, std::uint64_t answers) const;

 private:
  Options options_;
};

/// One person's bits, each kept with probability p and flipped otherwise, independently.
///
/// Privacy    local, pure DP, epsilon = length * ln(p / (1 - p)).
/// Accuracy   each bit's share among n answers, as `RandomizedResponse`.
/// Numerics   the probabilities are exact.
/// Argument   randomized_response.md
class RandomizedBits {
 public:
  struct Options {
    Required<Ratio> p;               ///< probability that a bit is kept, in (1/2, 1)
    Required<std::uint64_t> length;  ///< number of bits, >= 1
  };

  explicit RandomizedBits(Options options);

  Event event() const;
  /// Of the share of ones at one position estimated from `answers` people.
  Accuracy accuracy(std::uint64_t answers, double confidence = 0.95) const;

  /// Charges the meter, then releases one person's bits. Throws `kInvalidInput` on another length.
  Release<std::vector<bool>> run(const std::vector<bool>& truth, Context& context) const;

  /// Share of ones at each position from how often it was answered one.
  ShareEstimate estimate(std::span<const std::uint64_t> ones, std::uint64_t answers) const;

 private:
  Options options_;
};

}  // namespace gauze
