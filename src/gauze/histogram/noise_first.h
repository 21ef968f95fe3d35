#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Noise on every cell with the whole budget, then neighbouring cells are merged where that lowers the
/// estimated error: single cells become better than in a flat histogram, long ranges hardly.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   noise of each cell before merging.
/// Time       O(cells) times some tens.
/// Argument   noise_first.md
class NoiseFirstHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< one axis
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
    /// What another segment has to save, in variances of one cell, >= 0; 0 merges what is equal alone. 2 is
    /// the price at which a given partition is judged rightly.
    double segment_price = 16;
  };

  explicit NoiseFirstHistogram(Options options);

  Event event() const { return noise_.event(); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  Options options_;
  CountNoise noise_;
};

}  // namespace gauze
