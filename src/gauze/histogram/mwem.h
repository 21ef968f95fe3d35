#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Multiplicative weights with the exponential mechanism: each round finds a range that the estimate so far
/// answers badly, measures it together with blocks around it, and moves the estimate towards all
/// measurements. Never negative.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   noise of the total; other answers depend on the data.
/// Numerics   scores are whole numbers, measurements are whole-numbered.
/// Time       O(rounds^2 (cells + ranges)).
/// Argument   mwem.md
class MwemHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< one axis of at most 2^20 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    /// The ranges that matter, boxes of one axis. Empty: all that begin at 0, and aligned blocks of 2^k cells.
    std::vector<Box> ranges = {};
    std::uint32_t rounds = 0;          ///< 0 chooses by epsilon times a noisy number of rows
    Ratio total_share = Ratio(1, 20);  ///< of epsilon, for that number; between 0 and 1
    Ratio choice_share =
        Ratio(1, 4);  ///< of a round's budget, for finding the range; between 0 and 1
  };

  explicit MwemHistogram(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  CountNoise total_noise() const;
  std::uint32_t rounds_for(double rows) const;

  Options options_;
};

}  // namespace gauze
