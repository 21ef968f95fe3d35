#pragma once

#include <cstdint>
#include <span>

namespace gauze {

/// A node of a tree of counts. Parents stand before their children, the root first; the children of
/// a node stand together.
struct TreeNode {
  std::uint32_t first_child = 0;
  std::uint32_t children = 0;  ///< 0 for a leaf
  /// Measured: the noisy count and the variance of its noise, infinite when it was not measured.
  /// Fitted: the least-squares count, and the variance of what the node's own subtree knows about it,
  /// which is how a parent's surplus is shared among its children.
  double estimate = 0;
  double variance = 0;
  bool operator==(const TreeNode&) const = default;
};

/// Constrained inference: replaces noisy counts by the least-squares (minimum-variance unbiased linear)
/// counts, in which every node is the sum of its children. Leaves must have been measured. Any shape of
/// tree and any variances; O(nodes). Argument: tree.md
void fit(std::span<TreeNode> tree);

}  // namespace gauze
