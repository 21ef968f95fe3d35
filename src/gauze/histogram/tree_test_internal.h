#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <vector>

#include "gauze/histogram/tree.h"
#include "gauze/random/uniform.h"

namespace gauze::testing {

inline constexpr double kUnmeasured = std::numeric_limits<double>::infinity();

/// The least-squares leaves of a measured tree and their covariance, by solving the normal equations.
struct LeastSquares {
  Eigen::VectorXd leaves;
  Eigen::MatrixXd covariance;
};

inline void mark_leaves(std::span<const TreeNode> tree, std::size_t node,
                        const std::vector<Eigen::Index>& column, Eigen::RowVectorXd& row) {
  if (tree[node].children == 0) row[column[node]] = 1;
  for (std::uint32_t c = 0; c < tree[node].children; ++c)
    mark_leaves(tree, tree[node].first_child + c, column, row);
}

inline LeastSquares least_squares(std::span<const TreeNode> tree) {
  std::vector<Eigen::Index> column(tree.size(), -1);
  Eigen::Index leaves = 0;
  for (std::size_t i = 0; i < tree.size(); ++i)
    if (tree[i].children == 0) column[i] = leaves++;
  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(leaves, leaves);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(leaves);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (std::isinf(tree[i].variance)) continue;
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(leaves);
    mark_leaves(tree, i, column, row);
    normal += row.transpose() * row / tree[i].variance;
    right += row.transpose() * tree[i].estimate / tree[i].variance;
  }
  const Eigen::MatrixXd covariance = normal.inverse();
  return {covariance * right, covariance};
}

inline double uniform_in(double low, double high, BitSource& bits) {
  return low + (high - low) * static_cast<double>(uniform_below(bits, 1u << 20)) / (1u << 20);
}

/// A ragged tree over one axis with its bounds, measured at random with random variances.
struct RandomTree {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> bounds;

  RandomTree(std::uint32_t cells, BitSource& bits) : nodes(1), bounds{0, cells} {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::uint32_t begin = bounds[2 * i];
      const std::uint32_t end = bounds[2 * i + 1];
      // Also single children, and leaves of several cells.
      if (end - begin > 1 && (i == 0 || uniform_below(bits, 8) > 0)) {
        nodes[i].first_child = static_cast<std::uint32_t>(nodes.size());
        for (std::uint32_t at = begin; at < end;) {
          const auto next =
              static_cast<std::uint32_t>(at + 1 + uniform_below(bits, (end - begin + 1) / 2));
          bounds.insert(bounds.end(), {at, std::min(end, next)});
          nodes.emplace_back();
          ++nodes[i].children;
          at = next;
        }
      }
      nodes[i].estimate = uniform_in(-20, 100, bits);
      nodes[i].variance = std::exp(uniform_in(-4, 4, bits));
      if (nodes[i].children > 0 && uniform_below(bits, 4) == 0) nodes[i].variance = kUnmeasured;
    }
  }
};

}  // namespace gauze::testing
