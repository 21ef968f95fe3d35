#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/sparse_vector.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Chooses answers above a threshold from a list that is known beforehand: a sparse vector with a
/// raised threshold that goes through those not yet chosen again and again. `TopK` is better where
/// the best are wanted and no threshold is given.
///
/// Privacy    pure DP, epsilon in total, as `SparseVector`: passes are free.
/// Accuracy   as `SparseVector`, against the raised threshold, for all comparisons of all passes.
/// Numerics   as `SparseVector`.
/// Time       O(answers * passes).
/// Argument   retraversal.md
class Retraversal {
 public:
  struct Options {
    Required<Ratio> epsilon;                   ///< loss of the whole choice, > 0
    Required<Ratio> sensitivity;               ///< how far one privacy unit moves any answer, > 0
    Required<std::uint64_t> positives;         ///< how many to choose, >= 1
    Required<Ratio> threshold;                 ///< what is worth choosing
    Ratio raise = 2;                           ///< in standard deviations of a comparison, >= 0
    std::uint64_t passes = 1000;               ///< at most so many, >= 1
    bool monotone = false;                     ///< a promise, as in `SparseVector`
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
  };

  explicit Retraversal(const Options& options);

  Event event() const;
  Accuracy accuracy(std::uint64_t answers, double confidence = 0.95) const;

  /// Charges the meter, then releases positions in the order in which they were found: `positives`
  /// of them, or fewer when the passes were not enough. Throws `kInvalidInput` unless all answers
  /// are finite.
  Release<std::vector<std::size_t>> run(std::span<const double> answers, Context& context) const;

 private:
  std::uint64_t passes_;
  SparseVector comparisons_;
};

}  // namespace gauze
