#include "gauze/histogram/tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/histogram/range_histogram.h"
#include "gauze/histogram/tree_test_internal.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::kUnmeasured;
using testing::RandomTree;
using testing::SeededBits;

/// A complete tree over b^height leaves, root not measured, all others with variance 1.
std::vector<TreeNode> complete(std::uint32_t b, int height) {
  std::vector<TreeNode> tree = {{0, 0, 0, kUnmeasured}};
  std::size_t begin = 0;
  for (int level = 0; level < height; ++level) {
    const std::size_t end = tree.size();
    for (; begin < end; ++begin) {
      tree[begin].first_child = static_cast<std::uint32_t>(tree.size());
      tree[begin].children = b;
      tree.insert(tree.end(), b, {0, 0, 0, 1.0});
    }
  }
  return tree;
}

/// The coefficient of each node's noisy count in a sum of fitted nodes.
std::vector<double> coefficients(const std::vector<TreeNode>& tree,
                                 const std::vector<std::size_t>& sum) {
  std::vector<double> result;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    std::vector<TreeNode> unit = tree;
    unit[i].estimate = 1;
    fit(unit);
    double value = 0;
    for (const std::size_t node : sum) value += unit[node].estimate;
    result.push_back(value);
  }
  return result;
}

// Eight leaves, two children each: nodes 1, 2 at the top, 3 .. 6 below, leaves 7 .. 14. The
// coefficients are those of the worked example in Li, Lyu, Su and Yang (2016), figure 4.1.
TEST(Tree, FitHasThePublishedCoefficients) {
  const auto tree = complete(2, 3);
  const auto first = coefficients(tree, {7});
  const std::vector<std::pair<std::size_t, double>> expected = {
      {7, 13.0 / 21},  {3, 5.0 / 21},  {1, 1.0 / 7}, {4, -2.0 / 21}, {9, -1.0 / 21},
      {10, -1.0 / 21}, {8, -8.0 / 21}, {2, 0.0},     {11, 0.0}};
  for (const auto& [node, coefficient] : expected) EXPECT_NEAR(first[node], coefficient, 1e-12);

  const auto three = coefficients(tree, {7, 8, 9});
  const std::vector<std::pair<std::size_t, double>> sums = {
      {1, 3.0 / 7},  {3, 8.0 / 21},  {4, 1.0 / 21},   {7, 4.0 / 21},
      {8, 4.0 / 21}, {9, 11.0 / 21}, {10, -10.0 / 21}};
  double variance = 0;
  for (const auto& [node, coefficient] : sums) EXPECT_NEAR(three[node], coefficient, 1e-12);
  for (const double coefficient : three) variance += coefficient * coefficient;
  EXPECT_NEAR(variance, 399.0 / 441, 1e-12);
}

// Hay et al. (2010): the weight of a node's own count at height i.
TEST(Tree, FitUsesTheWeightsOfCompleteTrees) {
  for (const std::uint32_t b : {2u, 3u, 5u}) {
    const auto tree = complete(b, 3);
    const auto top = coefficients(tree, {1});
    const double b3 = std::pow(b, 3);
    EXPECT_NEAR(top[1], (b3 - b * b) / (b3 - 1), 1e-12);
    const std::size_t child = tree[1].first_child;
    const double below = (double(b) * b - 1) / (b3 - 1) * (double(b) * b - b) / (double(b) * b - 1);
    EXPECT_NEAR(top[child], below, 1e-12);
  }
}

TEST(Tree, FitIsLeastSquaresForAnyTreeAndAnyVariances) {
  SeededBits bits(1);
  for (int trial = 0; trial < 200; ++trial) {
    RandomTree tree(static_cast<std::uint32_t>(1 + trial % 23), bits);
    const auto expected = testing::least_squares(tree.nodes);
    fit(tree.nodes);
    Eigen::Index leaf = 0;
    for (const TreeNode& node : tree.nodes) {
      if (node.children == 0) {
        EXPECT_NEAR(node.estimate, expected.leaves[leaf++], 1e-8);
        continue;
      }
      double sum = 0;
      for (std::uint32_t c = 0; c < node.children; ++c)
        sum += tree.nodes[node.first_child + c].estimate;
      EXPECT_NEAR(node.estimate, sum, 1e-9 * (1 + std::abs(sum)));
    }
  }
}

// The broken twin shares a parent's surplus evenly, which is right for equal variances alone.
TEST(Tree, SharingEvenlyIsNotLeastSquares) {
  std::vector<TreeNode> tree = {{1, 2, 30, 1}, {0, 0, 10, 1}, {0, 0, 10, 9}};
  const auto expected = testing::least_squares(tree);
  fit(tree);
  EXPECT_NEAR(tree[1].estimate, expected.leaves[0], 1e-12);
  const double evenly = 10 + (tree[0].estimate - 20) / 2;
  EXPECT_GT(std::abs(evenly - expected.leaves[0]), 1);
}

TEST(Tree, OneNodeStaysAsItIs) {
  std::vector<TreeNode> tree = {{0, 0, 7, 3}};
  fit(tree);
  EXPECT_EQ(tree.front(), (TreeNode{0, 0, 7, 3}));
}

}  // namespace
}  // namespace gauze
