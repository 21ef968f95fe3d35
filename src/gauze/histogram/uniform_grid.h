#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Counts points in a grid of equal boxes, as fine as their number allows.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   each box of the grid; the noise of a range grows with the boxes in it, and boxes that it
///            cuts count by the share of their cells.
/// Numerics   integers throughout, sums of rows saturate.
/// Time       O(points + boxes).
/// Argument   uniform_grid.md
class UniformGrid {
 public:
  struct Options {
    Required<Shape> shape;
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;                    ///< above 0 allows Gaussian noise where that is smaller
    std::uint64_t expected_rows = 0;    ///< publicly known size of the data; 0 pays for an estimate
    Ratio count_share = Ratio(1, 100);  ///< of epsilon, for that estimate; in (0, 1)
    Ratio coarseness = 10;              ///< larger for fewer boxes: for data that are spread evenly
    std::uint32_t parts = 0;            ///< along each axis; 0 lets the number of rows decide
    std::uint64_t max_boxes = 1u << 22;
  };

  explicit UniformGrid(Options options);

  Event event() const { return composed(noises_); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` for points outside of the shape.
  Release<RangeHistogram> run(const Points& points, Context& context) const;

 private:
  bool pays_for_rows() const { return options_.parts == 0 && options_.expected_rows == 0; }
  const CountNoise& noise() const { return noises_.back(); }

  Options options_;
  std::vector<CountNoise> noises_;  // of the number of rows if it is asked for, of the boxes
};

}  // namespace gauze
