#include "gauze/histogram/tree.h"

#include <cmath>

namespace gauze {

// Hay, Rastogi, Miklau and Suciu (2010), generalised to any tree and unequal variances.
void fit(std::span<TreeNode> tree) {
  // Upwards: what the subtree of each node knows about it, by inverse variances.
  for (std::size_t i = tree.size(); i-- > 0;) {
    TreeNode& node = tree[i];
    if (node.children == 0) continue;
    double sum = 0;
    double variance = 0;
    for (const TreeNode& child : tree.subspan(node.first_child, node.children)) {
      sum += child.estimate;
      variance += child.variance;
    }
    if (std::isinf(node.variance)) {
      node.estimate = sum;
      node.variance = variance;
    } else {
      const double own = variance / (node.variance + variance);
      node.estimate = own * node.estimate + (1 - own) * sum;
      node.variance *= own;
    }
  }
  // Downwards: what a parent knows more is shared by variances.
  for (const TreeNode& node : tree) {
    if (node.children == 0) continue;
    const auto children = tree.subspan(node.first_child, node.children);
    double sum = 0;
    double variance = 0;
    for (const TreeNode& child : children) {
      sum += child.estimate;
      variance += child.variance;
    }
    const double surplus = (node.estimate - sum) / variance;
    for (TreeNode& child : children) child.estimate += child.variance * surplus;
  }
}

}  // namespace gauze
