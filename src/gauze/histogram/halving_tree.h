#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// A tree of halves over the cells of a shape, counted level by level: what hierarchies that look at their noisy
/// counts before they are done share.
class HalvingTree {
 public:
  HalvingTree(const Shape& shape, std::span<const std::int64_t> counts);

  /// How many halvings there are from the whole to a cell, at most.
  std::uint32_t depth() const { return depth_; }
  /// One of `levels` levels of blocks, 0 for the whole. Cells that are reached between it and `above`, the level
  /// that was measured last (0 where none was), are blocks of it.
  struct Level {
    std::size_t level, levels, above;
  };
  /// How many rows a level counts, each as often as it is counted.
  std::int64_t rows(const Level& level) const;
  /// Measures the blocks of a level; every row is counted once. To be called at most once for each, from
  /// above.
  void measure(const Level& level, const CountNoise& noise, Context& context);
  /// Measures blocks, no two of which share a row; a block that was measured before is known by both,
  /// weighed by their variances.
  void measure(std::span<const std::size_t> blocks, const CountNoise& noise, Context& context);

  /// The block of all cells is 0.
  std::vector<std::size_t> below(std::size_t block, std::uint32_t halvings) const;
  bool is_cell(std::size_t block) const { return nodes_[block].children == 0; }
  std::uint32_t height(std::size_t block) const { return depth_ - depths_[block]; }
  double estimate(std::size_t block) const { return nodes_[block].estimate; }
  std::pair<std::size_t, std::size_t> halves(std::size_t block) const {
    return {nodes_[block].first_child, nodes_[block].first_child + 1};
  }
  /// By how much the halves of a block, both measured, differ from an even spread: squared, in variances
  /// of noise.
  double evidence(std::size_t block) const;
  /// What is known of both halves is known of the block, too.
  void learn_from_halves(std::size_t block);
  /// The block is not halved any further: its rows are spread evenly. What lies below is lost.
  void close(std::size_t block) { nodes_[block].children = 0; }

  /// Fits what was measured; at a price it is smoothed, too: splits count by how much they are to be
  /// believed, and blocks that seem empty are cleared.
  RangeHistogram fitted(double split_price, bool gaussian);
  /// Fits what was measured with the blocks cleared that seem empty. Variances are those before.
  RangeHistogram fitted_sparse();

 private:
  /// By how much the halves of a node differ from an even spread, and that in variances of noise.
  struct Split {
    double surplus = 0;  ///< of the first half
    double evidence = 0;
  };
  Split split(std::size_t node) const;
  std::vector<std::size_t> blocks(const Level& level) const;
  std::vector<double> belief(double split_price) const;
  std::vector<double> belief(const std::vector<double>& log_odds,
                             const std::vector<double>& shown) const;
  std::vector<double> trust(const std::vector<double>& belief) const;
  bool shrink(double split_price);
  std::vector<std::size_t> kept() const;
  void clear_empty_leaves(std::vector<TreeNode> measured);
  RangeHistogram histogram(bool gaussian) const;
  /// One more measurement of a node, weighed with those before.
  void learn(std::size_t node, double estimate, double variance);
  double volume(std::size_t node) const;

  Shape shape_;
  std::uint32_t depth_ = 0;
  std::vector<TreeNode> nodes_;
  std::vector<std::uint32_t> bounds_;
  std::vector<std::uint8_t> depths_;
  std::vector<std::int64_t> counts_;
};

}  // namespace gauze
