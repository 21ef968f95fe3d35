#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Counts points in a coarse grid, then each of its boxes in a grid as fine as its own noisy count
/// allows: dense regions get small boxes, empty ones stay whole. The best of the methods for points.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   each of the smallest boxes; those that a range cuts count by the share of their cells.
/// Numerics   integers throughout, sums of rows saturate.
/// Time       O(points + boxes).
/// Argument   adaptive_grid.md
class AdaptiveGrid {
 public:
  struct Options {
    Required<Shape> shape;
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;                    ///< above 0 allows Gaussian noise where that is smaller
    std::uint64_t expected_rows = 0;    ///< publicly known size of the data; 0 pays for an estimate
    Ratio count_share = Ratio(1, 100);  ///< of epsilon, for that estimate; in (0, 1)
    Ratio coarse_share = Ratio(1, 2);   ///< of the rest, for the coarse grid; in (0, 1)
    Ratio coarseness = 10;              ///< of the coarse grid; larger for fewer boxes
    Ratio fine_coarseness = 3;          ///< of the fine grids
    std::uint64_t max_boxes = 1u << 22;  ///< of the fine grids together, and of the coarse one
  };

  explicit AdaptiveGrid(Options options);

  Event event() const { return composed(noises_); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` for points outside of the shape.
  Release<RangeHistogram> run(const Points& points, Context& context) const;

 private:
  const CountNoise& coarse() const { return noises_.end()[-2]; }
  const CountNoise& fine() const { return noises_.back(); }
  Shape coarse_parts(double rows) const;
  Shape fine_parts(const Box& box, double rows, std::size_t boxes) const;

  Options options_;
  std::vector<CountNoise> noises_;  // of the number of rows if it is asked for, coarse, fine
};

}  // namespace gauze
