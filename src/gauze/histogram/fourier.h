#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Histogram made of its lowest frequencies: each kept coefficient of the real Fourier basis, cosine and
/// sine, gets noise, the others are dropped. For smooth or periodic counts.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   noise of each cell; what dropping frequencies adds depends on the data.
/// Numerics   coefficients are whole multiples of a public unit, computed exactly; rounding of the
///            scores that choose how many to keep is paid for.
/// Time       O(cells * frequencies that are kept or, where they are chosen, may be), a sixth of that where
///            cells can be halved again and again.
/// Argument   fourier.md
class FourierHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< one axis of at most 2^20 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    /// Keep the constant and this many frequencies, at most half as many as there are cells: FPA. 0
    /// chooses how many with a part of epsilon, at most `most_frequencies`: EFPA.
    std::uint32_t frequencies = 0;
    std::uint32_t most_frequencies = 2048;
    Ratio choice_share = Ratio(1, 4);  ///< of epsilon, for choosing; between 0 and 1
  };

  explicit FourierHistogram(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  /// One cell has nothing to choose.
  bool chooses() const { return options_.frequencies == 0 && options_.most_frequencies > 0; }
  Ratio measuring_epsilon() const;
  std::uint32_t cells() const { return options_.shape->extents[0]; }
  /// Variance of the noise of a coefficient of the orthonormal basis.
  double noise_variance(std::uint64_t sensitivity_in_units) const;
  std::uint32_t most_kept() const;
  /// About the norm of the noise on this many frequencies and the constant.
  double noise_norm(std::uint32_t frequencies) const;
  std::uint32_t choose(std::span<const std::int64_t> counts, Context& context) const;
  RangeHistogram measure(std::span<const std::int64_t> counts, std::uint32_t frequencies,
                         Context& context) const;

  Options options_;
};

}  // namespace gauze
