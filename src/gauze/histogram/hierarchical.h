#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// How a hierarchy shares its budget among its levels.
enum class LevelBudget : std::uint8_t {
  kEqual,
  kGeometric,  ///< each level gets cbrt(branching) times what the one above it gets
};

/// Histogram whose long ranges are as usable as its single cells: blocks of b^k cells along each axis
/// are counted for every k, and the cells are fitted to all levels by least squares.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   any one range; every answer states its own variance, which is mostly far smaller.
/// Time       O(cells).
/// Argument   hierarchical.md
class HierarchicalHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^28 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
    /// Children of a node along each axis, >= 2. 0 chooses what makes the variance of ranges smallest
    /// on average; that is a flat histogram where no hierarchy is better.
    std::uint32_t branching = 0;
    LevelBudget budget = LevelBudget::kEqual;
    /// Shares of the budget instead, largest blocks first: as many as there shall be levels.
    std::vector<Ratio> level_weights = {};
  };

  explicit HierarchicalHistogram(Options options);

  std::uint32_t branching() const { return branching_; }
  /// How many levels are counted; 1 is a flat histogram.
  std::size_t levels() const { return noises_.size(); }
  /// The variance of noise of a range, averaged over all ranges: see below.
  double average_variance() const;

  Event event() const { return composed(noises_); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  std::vector<CountNoise> noises(std::uint32_t branching, std::size_t levels) const;
  void choose();

  Options options_;
  std::uint32_t branching_;
  std::vector<CountNoise> noises_;  // of the levels, largest blocks first
};

/// The variance of the noise of a range (in more axes: of a box), averaged over all of them, in a fitted
/// hierarchy whose levels have these noise variances, largest blocks first. Exact in one dimension, and
/// in more when every extent is a power of `branching`; else leaves of a cut block are taken to share it
/// evenly, which changes it by some percent. O(levels + branching) in one dimension.
double average_range_variance(const Shape& shape, std::uint32_t branching,
                              std::span<const double> level_variances);

/// No range of that hierarchy has a larger variance than this.
double largest_range_variance(const Shape& shape, std::uint32_t branching,
                              std::span<const double> level_variances);

}  // namespace gauze
