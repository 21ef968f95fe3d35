#include "gauze/histogram/pruned_hierarchy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "gauze/base/error.h"

namespace gauze {
namespace {

/// Halvings from the whole to a cell.
std::uint32_t halvings(const Shape& shape) {
  std::uint32_t sum = 0;
  for (const std::uint32_t extent : shape.extents)
    sum += static_cast<std::uint32_t>(std::bit_width(extent - 1));
  return sum;
}

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (a > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/// How deep the blocks of a level lie.
std::uint32_t level_depth(std::size_t level, std::size_t levels, std::uint32_t depth) {
  return static_cast<std::uint32_t>((2 * level * depth + levels) / (2 * levels));
}

std::vector<Ratio> weights_of(const PrunedHierarchy::Options& options) {
  if (!options.level_weights.empty()) return options.level_weights;
  if (options.aim == HistogramAim::kCells) return {0, 1};
  return range_level_weights(options.shape);
}

std::vector<Ratio> without_zeros(std::vector<Ratio> weights) {
  std::erase(weights, Ratio(0));
  return weights;
}

}  // namespace

std::vector<Ratio> range_level_weights(const Shape& shape) {
  // Blocks 16 times as large along an axis, 32 times in the plane: measured on public arrays.
  const std::uint32_t step = shape.axes() == 1 ? 4 : 5;
  const std::size_t levels = std::max<std::size_t>(1, (halvings(shape) + step / 2) / step);
  std::vector<Ratio> weights(levels + 1, 1);
  weights[0] = Ratio(1, 2);
  return weights;
}

HalvingTree::HalvingTree(const Shape& shape, std::span<const std::int64_t> counts)
    : shape_(shape), depth_(halvings(shape)) {
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

void HalvingTree::measure(std::size_t level, std::size_t levels, const CountNoise& noise,
                          Context& context) {
  const std::uint32_t at = level_depth(level, levels, depth_);
  const std::uint32_t above = level == 0 ? 0 : level_depth(level - 1, levels, depth_);
  std::vector<std::size_t> blocks;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    // A cell that is reached early belongs to the level below it.
    const bool early = nodes_[i].children == 0 && depths_[i] > above && depths_[i] < at;
    if (depths_[i] != at && !early) continue;
    blocks.push_back(i);
    counts.push_back(counts_[i]);
  }
  const std::vector<std::int64_t> noisy = noise.run(counts, context);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    nodes_[blocks[i]].estimate = static_cast<double>(noisy[i]);
    nodes_[blocks[i]].variance = noise.variance();
  }
}

void HalvingTree::set_total(double estimate, double variance) {
  nodes_.front().estimate = estimate;
  nodes_.front().variance = variance;
}

void HalvingTree::prune(double split_price) {
  const auto volume = [&](std::size_t i) {
    double product = 1;
    const std::size_t axes = shape_.axes();
    for (std::size_t axis = 0; axis < axes; ++axis)
      product *= bounds_[i * 2 * axes + axes + axis] - bounds_[i * 2 * axes + axis];
    return product;
  };
  // What the splits of a subtree show beyond their price; a subtree that shows nothing is cut.
  std::vector<double> gain(nodes_.size(), 0.0);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    TreeNode& node = nodes_[i];
    if (node.children == 0) continue;
    const TreeNode& left = nodes_[node.first_child];
    const TreeNode& right = nodes_[node.first_child + 1];
    const double share = volume(node.first_child) / volume(i);
    const double surplus = left.estimate - share * node.estimate;
    const double noise = left.variance * right.variance / (left.variance + right.variance);
    gain[i] = surplus * surplus / noise - split_price + gain[node.first_child] +
              gain[node.first_child + 1];
    if (gain[i] > 0) continue;
    gain[i] = 0;
    node.children = 0;
  }
}

RangeHistogram HalvingTree::fitted(double split_price, bool gaussian) {
  fit(nodes_);
  if (split_price > 0) prune(split_price);
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

PrunedHierarchy::PrunedHierarchy(Options options) : options_(std::move(options)) {
  check_dense(options_.shape);
  require(options_.shape->cells() <= 1u << 24, "shape: must have at most 2^24 cells");
  require(options_.split_price >= 0 && std::isfinite(options_.split_price),
          "split_price: must be 0 or more");
  options_.level_weights = weights_of(options_);
  const std::vector<Ratio>& weights = options_.level_weights;
  require(
      weights.size() >= 2 && weights.size() <= 65 && weights.back() > 0,
      "level_weights: must be the share of the total, then of 1 to 64 levels, the last above 0");
  for (const Ratio& weight : weights) require(weight >= 0, "level_weights: must not be negative");
  noises_ = split_budget({options_.epsilon, options_.delta, options_.rows_per_unit},
                         without_zeros(weights));
}

Accuracy PrunedHierarchy::accuracy(double confidence) const {
  const CountNoise& cells = noises_.back();
  return {deviations(confidence, cells.is_gaussian()) * std::sqrt(cells.variance()) + 0.5,
          confidence, "the noise of each cell before pruning"};
}

Release<RangeHistogram> PrunedHierarchy::run(std::span<const std::int64_t> counts,
                                             Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  HalvingTree tree(options_.shape, counts);
  const std::size_t levels = options_.level_weights.size() - 1;
  auto noise = noises_.begin();
  for (std::size_t level = 0; level <= levels; ++level)
    if (options_.level_weights[level] > 0) tree.measure(level, levels, *noise++, steps.context());
  return {tree.fitted(options_.split_price, noises_.back().is_gaussian()), accuracy(), event()};
}

}  // namespace gauze
