#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Noise on the Haar wavelet of a histogram: its total, and how each half differs from the other. As
/// accurate as a binary hierarchy with inference, and without inference; wider ones are better.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   any one range; every answer states its own variance.
/// Time       O(cells).
/// Argument   wavelet.md
class WaveletHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< one axis, at most 2^28 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
  };

  explicit WaveletHistogram(Options options);

  Event event() const { return composed(noises_); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  Options options_;
  std::vector<CountNoise> noises_;  // of the total, then of the differences, longest halves first
};

}  // namespace gauze
