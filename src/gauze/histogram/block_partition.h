#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/cells.h"
#include "gauze/histogram/tree.h"

namespace gauze {

/// A partition of the cells into boxes, as a tree: parents before their children, the leaves are the
/// boxes of the partition. `estimate` and `variance` of the nodes are not set.
struct BlockTree {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> bounds;  ///< of node i: the begins of all axes, then the ends

  Box box(std::size_t node, std::size_t axes) const;
  bool operator==(const BlockTree&) const = default;
};

/// Chooses a partition of the cells into blocks with nearly equal counts. Blocks come from halving the
/// longest axis again and again; every way to stop somewhere is a candidate, and the exponential
/// mechanism chooses among all of them by the sum, over blocks, of |count - median of the block|.
///
/// Privacy    pure DP, `epsilon`, of bounded range; add_remove.
/// Accuracy   with probability 1 - beta the deviations sum to at most ln(1/beta)/rate more than the least
///            sum of deviations + ln(1/prior)/rate, rate just below epsilon / (2 rows_per_unit).
/// Numerics   deviations are whole numbers, logarithms of weights are whole multiples of a public unit;
///            what rounding them adds is paid for in the rate.
/// Time       O(cells log cells); memory 24 bytes a cell.
/// Argument   block_partition.md
class BlockPartition {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^24 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    /// The prior odds that a block of m cells of n is split are e^(split_bias + split_slope log2(m /
    /// sqrt(n))). Data without any deviation split by these odds alone.
    double split_bias = -0.5;
    double split_slope = 0.25;
  };

  explicit BlockPartition(Options options);

  Event event() const;
  /// How far the deviations may lie above the best deviations plus prior, in rows.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<BlockTree> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  Options options_;
  int unit_bits_;            // the unit of log weights is 2^-unit_bits
  std::int64_t rate_units_;  // log weight of one deviating row, in units
};

}  // namespace gauze
