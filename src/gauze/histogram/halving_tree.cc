#include "gauze/histogram/halving_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gauze/histogram/halving.h"

namespace gauze {
namespace {

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (a > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/// How deep the blocks of a level lie.
std::uint32_t level_depth(std::size_t level, std::size_t levels, std::uint32_t depth) {
  return static_cast<std::uint32_t>((2 * level * depth + levels) / (2 * levels));
}

}  // namespace

HalvingTree::HalvingTree(const Shape& shape, std::span<const std::int64_t> counts)
    : shape_(shape), depth_(halving_depths(shape).most) {
  const std::size_t axes = shape.axes();
  const std::size_t nodes = 2 * counts.size() - 1;
  nodes_.reserve(nodes);
  depths_.reserve(nodes);
  counts_.reserve(nodes);
  bounds_.reserve(nodes * 2 * axes);
  const auto add = [&](std::uint8_t depth) {
    nodes_.push_back({0, 0, 0, std::numeric_limits<double>::infinity()});
    depths_.push_back(depth);
    counts_.push_back(0);
  };
  add(0);
  bounds_.assign(axes, 0);
  bounds_.insert(bounds_.end(), shape.extents.begin(), shape.extents.end());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::size_t own = i * 2 * axes;
    std::size_t longest = 0;
    const auto extent = [&](std::size_t axis) {
      return bounds_[own + axes + axis] - bounds_[own + axis];
    };
    for (std::size_t axis = 1; axis < axes; ++axis)
      if (extent(axis) > extent(longest)) longest = axis;
    if (extent(longest) == 1) {
      std::size_t cell = 0;
      for (std::size_t axis = 0; axis < axes; ++axis)
        cell = cell * shape.extents[axis] + bounds_[own + axis];
      counts_[i] = counts[cell];
      continue;
    }
    nodes_[i].first_child = static_cast<std::uint32_t>(nodes_.size());
    nodes_[i].children = 2;
    const std::uint32_t middle = bounds_[own + longest] + extent(longest) / 2;
    for (const bool upper : {false, true}) {
      add(static_cast<std::uint8_t>(depths_[i] + 1));
      const std::size_t box = bounds_.size();
      for (std::size_t j = 0; j < 2 * axes; ++j) bounds_.push_back(bounds_[own + j]);
      bounds_[box + (upper ? 0 : axes) + longest] = middle;
    }
  }
  for (std::size_t i = nodes_.size(); i-- > 0;)
    if (nodes_[i].children != 0)
      counts_[i] =
          saturated_sum(counts_[nodes_[i].first_child], counts_[nodes_[i].first_child + 1]);
}

std::vector<std::size_t> HalvingTree::blocks(const Level& level) const {
  const std::uint32_t at = level_depth(level.level, level.levels, depth_);
  const std::uint32_t above = level_depth(level.above, level.levels, depth_);
  std::vector<std::size_t> blocks;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool early = nodes_[i].children == 0 && depths_[i] > above && depths_[i] < at;
    if (depths_[i] == at || early) blocks.push_back(i);
  }
  return blocks;
}

std::int64_t HalvingTree::rows(const Level& level) const {
  std::int64_t sum = 0;
  for (const std::size_t block : blocks(level)) sum = saturated_sum(sum, counts_[block]);
  return sum;
}

void HalvingTree::measure(const Level& level, const CountNoise& noise, Context& context) {
  measure(blocks(level), noise, context);
}

void HalvingTree::measure(std::span<const std::size_t> blocks, const CountNoise& noise,
                          Context& context) {
  std::vector<std::int64_t> counts;
  for (const std::size_t block : blocks) counts.push_back(counts_[block]);
  const std::vector<std::int64_t> noisy = noise.run(counts, context);
  const double variance = noise.variance();
  for (std::size_t i = 0; i < blocks.size(); ++i)
    learn(blocks[i], static_cast<double>(noisy[i]), variance);
}

void HalvingTree::learn(std::size_t i, double estimate, double variance) {
  TreeNode& node = nodes_[i];
  const double before = std::isinf(node.variance) ? 0 : variance / (node.variance + variance);
  node.estimate = before * node.estimate + (1 - before) * estimate;
  node.variance = (1 - before) * variance;
}

void HalvingTree::learn_from_halves(std::size_t block) {
  const TreeNode& left = nodes_[nodes_[block].first_child];
  const TreeNode& right = nodes_[nodes_[block].first_child + 1];
  learn(block, left.estimate + right.estimate, left.variance + right.variance);
}

double HalvingTree::evidence(std::size_t block) const {
  const auto [left, right] = halves(block);
  const double share = volume(left) / volume(block);
  const double surplus = (1 - share) * nodes_[left].estimate - share * nodes_[right].estimate;
  return surplus * surplus /
         ((1 - share) * (1 - share) * nodes_[left].variance +
          share * share * nodes_[right].variance);
}

/// So many halvings below a block, or cells that are reached before.
std::vector<std::size_t> HalvingTree::below(std::size_t block, std::uint32_t halvings) const {
  std::vector<std::size_t> level = {block};
  for (std::uint32_t i = 0; i < halvings; ++i) {
    std::vector<std::size_t> next;
    for (const std::size_t each : level) {
      next.push_back(nodes_[each].children == 0 ? each : nodes_[each].first_child);
      if (nodes_[each].children != 0) next.push_back(nodes_[each].first_child + 1);
    }
    level = std::move(next);
  }
  return level;
}

double HalvingTree::volume(std::size_t node) const {
  double product = 1;
  const std::size_t axes = shape_.axes();
  for (std::size_t axis = 0; axis < axes; ++axis)
    product *= bounds_[node * 2 * axes + axes + axis] - bounds_[node * 2 * axes + axis];
  return product;
}

HalvingTree::Split HalvingTree::split(std::size_t i) const {
  const TreeNode& node = nodes_[i];
  const TreeNode& left = nodes_[node.first_child];
  const TreeNode& right = nodes_[node.first_child + 1];
  const double surplus = left.estimate - volume(node.first_child) / volume(i) * node.estimate;
  const double noise = left.variance * right.variance / (left.variance + right.variance);
  return {surplus, surplus * surplus / noise};
}

/// Splits of subtrees that show more than they cost, from the top down.
std::vector<bool> HalvingTree::believed(double split_price) const {
  std::vector<double> gain(nodes_.size(), 0.0);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].children == 0) continue;
    const double below = gain[nodes_[i].first_child] + gain[nodes_[i].first_child + 1];
    gain[i] = std::max(0.0, split(i).evidence - split_price + below);
  }
  std::vector<bool> believed(nodes_.size(), false);
  believed[0] = gain[0] > 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!believed[i]) continue;
    for (std::uint32_t c = 0; c < 2; ++c)
      believed[nodes_[i].first_child + c] = gain[nodes_[i].first_child + c] > 0;
  }
  return believed;
}

/// How much of the splits of a depth that are not believed singly is signal: 1 - 1 / (mean evidence),
/// after James and Stein (1961); 0 where that mean does not stand out from noise, whose evidence has
/// mean 1 and a standard deviation of at most 1.9.
std::vector<double> HalvingTree::trust(const std::vector<bool>& believed) const {
  std::vector<double> sum(depth_ + 1, 0.0);
  std::vector<double> count(depth_ + 1, 0.0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].children == 0 || believed[i]) continue;
    sum[depths_[i]] += split(i).evidence;
    count[depths_[i]] += 1;
  }
  std::vector<double> trust(depth_ + 1, 0.0);
  for (std::size_t depth = 0; depth <= depth_; ++depth) {
    if (count[depth] == 0) continue;
    const double mean = sum[depth] / count[depth];
    if ((mean - 1) * std::sqrt(count[depth]) > 3 * 1.9) trust[depth] = 1 - 1 / mean;
  }
  return trust;
}

void HalvingTree::shrink(double split_price) {
  const std::vector<bool> believe = believed(split_price);
  const std::vector<double> factors = trust(believe);
  std::vector<bool> any_below(depth_ + 2, false);
  for (std::size_t depth = depth_ + 1; depth-- > 0;)
    any_below[depth] = any_below[depth + 1] || factors[depth] > 0;
  std::vector<Split> splits(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].children != 0) splits[i] = split(i);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    TreeNode& node = nodes_[i];
    if (node.children == 0) continue;
    if (!believe[i] && !any_below[depths_[i]]) {
      node.children = 0;
      continue;
    }
    const double share = volume(node.first_child) / volume(i);
    const double moved = (believe[i] ? 1.0 : factors[depths_[i]]) * splits[i].surplus;
    nodes_[node.first_child].estimate = share * node.estimate + moved;
    nodes_[node.first_child + 1].estimate = (1 - share) * node.estimate - moved;
  }
}

RangeHistogram HalvingTree::fitted(double split_price, bool gaussian) {
  fit(nodes_);
  if (split_price > 0) shrink(split_price);
  const std::size_t box = 2 * shape_.axes();
  std::vector<TreeNode> nodes = {nodes_.front()};
  std::vector<std::uint32_t> bounds(bounds_.begin(), bounds_.begin() + std::ptrdiff_t(box));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].children == 0) continue;
    const std::size_t from = nodes[i].first_child;
    nodes[i].first_child = static_cast<std::uint32_t>(nodes.size());
    for (std::size_t child = from; child < from + 2; ++child) {
      nodes.push_back(nodes_[child]);
      const auto begin = bounds_.begin() + std::ptrdiff_t(child * box);
      bounds.insert(bounds.end(), begin, begin + std::ptrdiff_t(box));
    }
  }
  return {shape_, std::move(nodes), std::move(bounds), gaussian};
}

}  // namespace gauze
