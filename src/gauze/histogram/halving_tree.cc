#include "gauze/histogram/halving_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gauze/histogram/empty_blocks.h"
#include "gauze/histogram/halving.h"

namespace gauze {
namespace {

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (a > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/// Splits that are less likely are not made.
constexpr double kUnlikely = 0.1;
/// The mean of what splits show that are not believed stands out from noise by so many standard errors.
constexpr double kStandsOut = 4.5;
/// What is taken to be known of the odds of splits, before any is seen, counts as so many of them.
constexpr double kPriorSplits = 32;

/// How deep the blocks of a level lie.
std::uint32_t level_depth(std::size_t level, std::size_t levels, std::uint32_t depth) {
  return static_cast<std::uint32_t>((2 * level * depth + levels) / (2 * levels));
}

/// How much likelier the evidence of a split is if there is one, as a logarithm; its size is taken to be
/// spread as by Johnstone and Silverman (2005). Noise of few cells has Laplace's tails, which grow more
/// slowly than those of normal noise.
double log_likelihood_ratio(double evidence, double cells) {
  if (evidence < 1e-3) return std::log(0.5);
  const bool few = cells <= 64 && evidence > 8;
  const double exponent = few ? std::sqrt(2 * evidence) : evidence / 2;
  return exponent + std::log(-std::expm1(-exponent) / evidence);
}

double log_one_plus_exp(double x) {
  return std::max(0.0, x) + std::log1p(std::exp(-std::abs(x)));
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
    const auto extent = [&](std::size_t axis) {
      return std::uint64_t{bounds_[own + axes + axis] - bounds_[own + axis]};
    };
    // Longest for the shape, so that ranges along a short axis need few blocks, too.
    std::size_t longest = axes;
    for (std::size_t axis = 0; axis < axes; ++axis)
      if (extent(axis) > 1 && (longest == axes || extent(axis) * shape.extents[longest] >
                                                      extent(longest) * shape.extents[axis]))
        longest = axis;
    if (longest == axes) {
      std::size_t cell = 0;
      for (std::size_t axis = 0; axis < axes; ++axis)
        cell = cell * shape.extents[axis] + bounds_[own + axis];
      counts_[i] = counts[cell];
      continue;
    }
    nodes_[i].first_child = static_cast<std::uint32_t>(nodes_.size());
    nodes_[i].children = 2;
    const auto middle = static_cast<std::uint32_t>(bounds_[own + longest] + extent(longest) / 2);
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
  // Variances of next to nothing must not make 0 / 0 of a split without surplus.
  const double sum = left.variance + right.variance;
  const double noise = sum > 0 ? left.variance / sum * right.variance : 0;
  return {surplus, surplus * surplus / std::max(noise, 1e-100)};
}

/// The probability that a block is split, and all above it: a mixture of all prunings, weighed by what
/// they show (Willems, Shtarkov and Tjalkens 1995). A split has these odds, by its depth, and shows that it
/// is so much likelier, all as logarithms.
std::vector<double> HalvingTree::belief(const std::vector<double>& log_odds,
                                        const std::vector<double>& shown) const {
  std::vector<double> weight(nodes_.size(), 0.0);  // of all prunings of a block, as a logarithm
  std::vector<double> belief(nodes_.size(), 0.0);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].children == 0) continue;
    const double before = log_odds[depths_[i]];
    const double after =
        before + shown[i] + weight[nodes_[i].first_child] + weight[nodes_[i].first_child + 1];
    weight[i] = log_one_plus_exp(after) - log_one_plus_exp(before);
    belief[i] = 1 / (1 + std::exp(-after));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (std::uint32_t c = 0; c < nodes_[i].children; ++c)
      belief[nodes_[i].first_child + c] *= belief[i];
  return belief;
}

/// At the top a split has even odds, and less by a factor of exp(-price / 2) at each halving; more at depths
/// where more blocks are split of those that could be.
std::vector<double> HalvingTree::belief(double split_price) const {
  std::vector<double> log_odds;
  for (std::uint32_t depth = 0; depth <= depth_; ++depth)
    log_odds.push_back(-split_price * depth / 2);
  std::vector<double> shown(nodes_.size(), 0.0);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].children != 0) shown[i] = log_likelihood_ratio(split(i).evidence, volume(i));
  std::vector<double> beliefs = belief(log_odds, shown);
  for (int round = 0; round < 3; ++round) {
    std::vector<double> split(depth_ + 1, 0.0);
    std::vector<double> could(depth_ + 1, 0.0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      split[depths_[i]] += beliefs[i];
      for (std::uint32_t c = 0; c < nodes_[i].children; ++c)
        if (nodes_[nodes_[i].first_child + c].children != 0) could[depths_[i] + 1u] += beliefs[i];
    }
    for (std::uint32_t depth = 1; depth <= depth_; ++depth) {
      const double prior = kPriorSplits / (1 + std::exp(split_price * depth / 2));
      const double odds =
          (prior + split[depth]) / (kPriorSplits - prior + could[depth] - split[depth]);
      log_odds[depth] = std::max(log_odds[depth], std::log(odds));
    }
    beliefs = belief(log_odds, shown);
  }
  return beliefs;
}

/// How much of the splits of a depth that are not believed singly is signal: 1 - 1 / (mean evidence),
/// after James and Stein (1961); 0 where that mean does not stand out from noise, whose evidence has
/// mean 1 and a standard deviation of at most 1.9.
std::vector<double> HalvingTree::trust(const std::vector<double>& belief) const {
  std::vector<double> sum(depth_ + 1, 0.0);
  std::vector<double> count(depth_ + 1, 0.0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].children == 0 || belief[i] > kUnlikely) continue;
    sum[depths_[i]] += split(i).evidence;
    count[depths_[i]] += 1;
  }
  std::vector<double> trust(depth_ + 1, 0.0);
  for (std::size_t depth = 0; depth <= depth_; ++depth) {
    if (count[depth] == 0) continue;
    const double mean = sum[depth] / count[depth];
    if ((mean - 1) * std::sqrt(count[depth]) > kStandsOut * 1.9) trust[depth] = 1 - 1 / mean;
  }
  return trust;
}

/// Whether splits that are not believed were kept, too.
bool HalvingTree::shrink(double split_price) {
  const std::vector<double> beliefs = belief(split_price);
  const std::vector<double> factors = trust(beliefs);
  std::vector<bool> any_below(depth_ + 2, false);
  for (std::size_t depth = depth_ + 1; depth-- > 0;)
    any_below[depth] = any_below[depth + 1] || factors[depth] > 0;
  std::vector<Split> splits(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].children != 0) splits[i] = split(i);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    TreeNode& node = nodes_[i];
    if (node.children == 0) continue;
    const bool is_likely = beliefs[i] > kUnlikely;
    if (!is_likely && !any_below[depths_[i]]) {
      node.children = 0;
      continue;
    }
    const double share = volume(node.first_child) / volume(i);
    const double moved =
        std::max(is_likely ? beliefs[i] : 0, factors[depths_[i]]) * splits[i].surplus;
    nodes_[node.first_child].estimate = share * node.estimate + moved;
    nodes_[node.first_child + 1].estimate = (1 - share) * node.estimate - moved;
  }
  return any_below[0];
}

/// The blocks of the tree that are left, parents first.
std::vector<std::size_t> HalvingTree::kept() const {
  std::vector<std::size_t> kept = {0};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const TreeNode& node = nodes_[kept[i]];
    for (std::uint32_t c = 0; c < node.children; ++c) kept.push_back(node.first_child + c);
  }
  return kept;
}

/// Fits once more what was measured, with what is to be expected of the leaves, four depths at a time.
/// Variances stay those without.
void HalvingTree::clear_empty_leaves(std::vector<TreeNode> measured) {
  const std::vector<std::size_t> blocks = kept();
  std::vector<std::vector<std::size_t>> groups(depth_ / 4 + 2);
  std::size_t leaves = 0;
  for (const std::size_t i : blocks) {
    measured[i].children = nodes_[i].children;
    if (nodes_[i].children != 0) continue;
    groups[(depths_[i] + 3) / 4].push_back(i);
    ++leaves;
  }
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<BlockCount> counts;
    for (const std::size_t i : group)
      counts.push_back({measured[i].estimate, measured[i].variance});
    clear_empty(counts, leaves);
    for (std::size_t j = 0; j < group.size(); ++j) {
      measured[group[j]].estimate = counts[j].estimate;
      measured[group[j]].variance = counts[j].variance;
    }
  }
  fit(measured);
  for (const std::size_t i : blocks) nodes_[i].estimate = measured[i].estimate;
}

RangeHistogram HalvingTree::fitted_sparse() {
  std::vector<TreeNode> measured = nodes_;
  fit(nodes_);
  clear_empty_leaves(std::move(measured));
  return histogram(false);
}

RangeHistogram HalvingTree::fitted(double split_price, bool gaussian) {
  std::vector<TreeNode> measured = nodes_;
  fit(nodes_);
  if (split_price > 0 && !shrink(split_price)) {
    for (const std::size_t i : kept())
      if (nodes_[i].children == 0) measured[i] = nodes_[i];
    clear_empty_leaves(std::move(measured));
  }
  return histogram(gaussian);
}

RangeHistogram HalvingTree::histogram(bool gaussian) const {
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
