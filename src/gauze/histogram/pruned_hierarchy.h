#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/buckets.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Counts of cells and of blocks of cells, fitted to each other; then blocks whose halves do not differ
/// by more than noise are spread evenly, and where they differ a little everywhere the differences are
/// shrunk by as much as is noise. What is sparse or smooth becomes as accurate as with methods that pay
/// for finding that out, and what is neither stays as accurate as a hierarchy.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP. Pruning is post-processing.
/// Accuracy   the noise of each cell before pruning; every answer states that of its own blocks.
/// Time       O(cells).
/// Argument   pruned_hierarchy.md
class PrunedHierarchy {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^24 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
    HistogramAim aim = HistogramAim::kRanges;
    /// Shares of the budget instead of what `aim` takes: of the total, then of blocks from large to
    /// small, at last of cells; blocks of one level are about as much larger than those of the next.
    /// 0 leaves a level out; the last one is above 0.
    std::vector<Ratio> level_weights = {};
    /// How much more a split has to show to be believed than one of a block twice as large, in variances of
    /// its noise; 0 believes all.
    double split_price = 0.2;
  };

  explicit PrunedHierarchy(Options options);

  Event event() const { return composed(noises_); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  Options options_;
  std::vector<CountNoise> noises_;  // of the levels with a share, from the total to the cells
};

/// The shares for ranges of a shape: one for cells and for blocks of about 16, 256, ... cells, 3/8 for the
/// total; in more dimensions for blocks of about 32, 1024, ... cells, and none for the total.
std::vector<Ratio> range_level_weights(const Shape& shape);

}  // namespace gauze
