#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Counts points in grids within grids: every box is halved along each axis, level by level, down to a
/// height that the number of rows decides.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   each of the smallest boxes; large ranges are made of few large boxes.
/// Numerics   integers throughout, sums of rows saturate.
/// Time       O(points + boxes).
/// Argument   quadtree.md
class Quadtree {
 public:
  struct Options {
    Required<Shape> shape;
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise; needs `height` or `expected_rows`
    std::uint64_t expected_rows = 0;    ///< publicly known size of the data; 0 pays for an estimate
    Ratio count_share = Ratio(1, 100);  ///< of epsilon, for that estimate; in (0, 1)
    std::uint32_t branching = 2;        ///< parts of a box along each axis, 2 to 1024
    std::uint32_t height = 0;           ///< levels below the root; 0 lets the number of rows decide
    Ratio coarseness = 10;              ///< larger for a lower tree
    std::uint64_t max_boxes = 1u << 22;  ///< of the last level
  };

  explicit Quadtree(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` for points outside of the shape.
  Release<RangeHistogram> run(const Points& points, Context& context) const;

 private:
  bool pays_for_rows() const { return options_.height == 0 && options_.expected_rows == 0; }
  /// What is left for the boxes.
  HistogramBudget budget() const;
  Shape parts(double height) const;
  Shape parts_for(double rows) const;
  /// One noise for each level of a tree down to these parts, the root first.
  std::vector<CountNoise> noises(const Shape& parts) const;

  Options options_;
  std::vector<CountNoise> noises_;  // of all levels; of the highest possible tree if rows decide
};

/// The share of epsilon of each level of a tree from the root down, in proportion to
/// branching^(level (axes - 1) / 3).
std::vector<Ratio> geometric_shares(std::size_t levels, std::uint32_t branching, std::size_t axes);

}  // namespace gauze
