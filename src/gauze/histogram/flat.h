#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Noise on every cell, and nothing else: best for few cells and for single cells.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   each cell; the variance of a range grows with the cells in it.
/// Time       O(cells).
/// Argument   flat.md
class FlatHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^28 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
  };

  explicit FlatHistogram(Options options);

  Event event() const { return noise_.event(); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  Options options_;
  CountNoise noise_;
};

}  // namespace gauze
