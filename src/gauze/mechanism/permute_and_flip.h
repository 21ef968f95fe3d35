#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Chooses a candidate: goes through them in random order and accepts each with probability
/// e^(epsilon (score - best) / (2 sensitivity)), without the 2 for monotone scores.
///
/// Privacy    pure DP, epsilon; not of bounded range, so rho = epsilon^2 / 2.
/// Accuracy   never worse than the exponential mechanism in expected score, up to twice as good.
/// Numerics   the probabilities are exact for the binary values of the scores.
/// Time       O(candidates).
/// Argument   permute_and_flip.md
class PermuteAndFlip {
 public:
  struct Options {
    Required<Ratio> epsilon;      ///< loss of one choice, > 0
    Required<Ratio> sensitivity;  ///< how far one privacy unit moves any score, > 0
    bool monotone = false;        ///< a unit moves all scores the same way; add_remove only
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
  };

  explicit PermuteAndFlip(Options options);

  Event event() const;
  /// How far the chosen score may lie below the best of `candidates`.
  Accuracy accuracy(std::uint64_t candidates, double confidence = 0.95) const;

  /// Charges the meter, then releases the index of one score. Throws `kInvalidInput` when there is
  /// none or one is not finite.
  Release<std::size_t> run(std::span<const double> scores, Context& context) const;

 private:
  Ratio rate() const;

  Options options_;
};

}  // namespace gauze
