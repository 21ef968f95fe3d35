#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"
#include "gauze/histogram/strategy.h"
#include "gauze/mechanism/discrete_gaussian.h"

namespace gauze {

/// Measures the sums that a strategy names, with noise, and estimates all cells from them by least
/// squares: any weighted sum of cells then has the smallest variance that these measurements allow.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   each cell; every answer states its own variance.
/// Numerics   weights and sums are whole numbers, noise is exact; beyond 64 bits saturated.
/// Time       O(cells * measurements along an axis).
/// Argument   matrix_mechanism.md
class MatrixMechanism {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^28 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Required<Strategy> strategy;  ///< along the axes of the shape, or along one axis of all cells
    Ratio delta = 0;              ///< above 0 allows Gaussian noise where that is smaller
  };

  explicit MatrixMechanism(Options options);

  /// Of one measurement.
  double noise_variance() const;
  bool is_gaussian() const { return gaussian_.has_value(); }

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  Options options_;
  CountNoise laplace_;
  std::optional<DiscreteGaussian> gaussian_;  // taken where it is there
  double sigma_ = 0;                          // of that
};

}  // namespace gauze
