#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// How a kd-tree finds its cuts.
enum class KdSplit : std::uint8_t {
  kMedian,  ///< at a private median, the axes in turn: the standard kd-tree
  kBalanced,  ///< along the axis, and there at the line, that balances best: chosen privately together
  kGuided,  ///< by the counts of a noisy grid, so that both halves are as even as possible
};

/// Cuts the domain where the points are: boxes of about equal counts, or of about even density.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   each of the smallest boxes.
/// Numerics   integers throughout, sums of rows saturate; cuts are chosen exactly.
/// Time       O(points * height * axes + boxes).
/// Argument   kd_tree.md
class KdTree {
 public:
  struct Options {
    Required<Shape> shape;
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    KdSplit split = KdSplit::kMedian;
    std::uint64_t expected_rows = 0;    ///< publicly known size of the data; 0 pays for an estimate
    Ratio count_share = Ratio(1, 100);  ///< of epsilon, for that estimate; in (0, 1)
    /// Of the rest, for cuts or the guiding grid; in [0, 1): 0 takes 3/10 for cuts, 1/2 for the grid.
    Ratio structure_share = 0;
    std::uint32_t height = 0;          ///< levels of a cut along each axis; 0 lets the rows decide
    std::uint32_t private_levels = 0;  ///< of private cuts, the others halve (a hybrid); 0: all
    bool private_first = true;         ///< private cuts near the root, halves below, or the reverse
    Ratio coarseness = 10;             ///< larger for a lower tree, or for a coarser guiding grid
    std::uint64_t max_boxes = 1u << 22;
  };

  explicit KdTree(Options options);

  Event event() const { return {events::Pure{options_.epsilon}, Relation::kAddRemove}; }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` for points outside of the shape.
  Release<RangeHistogram> run(const Points& points, Context& context) const;

 private:
  struct Shares {
    Ratio rows, structure, counts;
  };
  bool pays_for_rows() const {
    return options_.expected_rows == 0 &&
           (options_.height == 0 || options_.split == KdSplit::kGuided);
  }
  Shares shares() const;
  std::uint32_t height_for(double rows) const;
  /// One noise for each level of a tree of private cuts that is counted, the root first.
  std::vector<CountNoise> noises(std::uint32_t height) const;
  RangeHistogram cut(const Points& points, std::uint32_t height, Context& context) const;
  RangeHistogram guided(const Points& points, double rows, Context& context) const;

  Options options_;
};

}  // namespace gauze
