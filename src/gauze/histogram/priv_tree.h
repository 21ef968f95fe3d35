#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Halves boxes as long as they are full enough, to any depth, for a price that does not grow with the
/// depth: for points whose density varies over many scales.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   each of the smallest boxes.
/// Numerics   integers throughout, sums of rows saturate.
/// Time       O(points * depth); the expected number of boxes is in proportion to the boxes that are
///            full enough.
/// Argument   priv_tree.md
class PrivTree {
 public:
  struct Options {
    Required<Shape> shape;
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio structure_share = Ratio(1, 3);  ///< of epsilon, for the boxes; the rest for their counts
    std::uint32_t axes_per_split = 2;     ///< a box is halved along so many axes, in turn, 1 to 8
    std::uint32_t max_depth = 0;          ///< 0 allows boxes of a single cell
  };

  explicit PrivTree(Options options);

  Event event() const { return {events::Pure{options_.epsilon}, Relation::kAddRemove}; }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` for points outside of the shape.
  Release<RangeHistogram> run(const Points& points, Context& context) const;

 private:
  Options options_;
  CountNoise decision_;  // of whether a box is full enough
  CountNoise leaf_;      // of the count of a smallest box
  std::int64_t decay_;   // what a box must hold more for each level of depth
};

}  // namespace gauze
