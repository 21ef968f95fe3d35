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
  weights[0] = shape.axes() == 1 ? Ratio(3, 8) : Ratio(0);
  return weights;
}

double split_price(const Shape& shape, HistogramAim aim) {
  return aim == HistogramAim::kCells || shape.axes() > 1 ? 8 : 12;
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

/// The nodes of a level's depth, and cells that are reached between it and the level above.
std::vector<std::size_t> HalvingTree::blocks(std::size_t level, std::size_t levels) const {
  const std::uint32_t at = level_depth(level, levels, depth_);
  const std::uint32_t above = level == 0 ? 0 : level_depth(level - 1, levels, depth_);
  std::vector<std::size_t> blocks;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool early = nodes_[i].children == 0 && depths_[i] > above && depths_[i] < at;
    if (depths_[i] == at || early) blocks.push_back(i);
  }
  return blocks;
}

std::int64_t HalvingTree::rows(std::size_t level, std::size_t levels) const {
  std::int64_t sum = 0;
  for (const std::size_t block : blocks(level, levels)) sum = saturated_sum(sum, counts_[block]);
  return sum;
}

void HalvingTree::measure(std::size_t level, std::size_t levels, const CountNoise& noise,
                          Context& context) {
  const std::vector<std::size_t> blocks = this->blocks(level, levels);
  std::vector<std::int64_t> counts;
  for (const std::size_t block : blocks) counts.push_back(counts_[block]);
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

PrunedHierarchy::PrunedHierarchy(Options options) : options_(std::move(options)) {
  check_dense(options_.shape);
  require(options_.shape->cells() <= 1u << 24, "shape: must have at most 2^24 cells");
  require((options_.split_price >= 0 && std::isfinite(options_.split_price)) ||
              options_.split_price == -1,
          "split_price: must be 0 or more, or -1 for what suits the aim");
  if (options_.split_price < 0) options_.split_price = split_price(options_.shape, options_.aim);
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
  return {noise_half_width(cells.variance(), confidence, cells.is_gaussian()), confidence,
          "the noise of each cell before pruning"};
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
