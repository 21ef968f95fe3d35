#include "gauze/histogram/hierarchical.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gauze/base/error.h"

namespace gauze {
namespace {

/// Cells along an axis of a block with `height` levels below it; beyond 2^32 it does not matter.
std::uint64_t side_of(std::uint32_t branching, std::size_t height) {
  std::uint64_t side = 1;
  while (height-- > 0 && side < (std::uint64_t{1} << 32)) side *= branching;
  return side;
}

std::uint32_t longest(const Shape& shape) {
  return *std::max_element(shape.extents.begin(), shape.extents.end());
}

/// The fewest levels with which this branching reaches single cells.
std::size_t levels_for(const Shape& shape, std::uint32_t branching) {
  std::size_t levels = 1;
  while (side_of(branching, levels) < longest(shape)) ++levels;
  return levels;
}

/// The smallest branching with which so many levels reach single cells.
std::uint32_t branching_for(const Shape& shape, std::size_t levels) {
  const double root = std::pow(longest(shape), 1.0 / static_cast<double>(levels));
  auto branching = static_cast<std::uint32_t>(std::max(2.0, std::floor(root) - 1));
  while (side_of(branching, levels) < longest(shape)) ++branching;
  return branching;
}

std::vector<Ratio> weights_of(const HierarchicalHistogram::Options& options,
                              std::uint32_t branching, std::size_t levels) {
  if (!options.level_weights.empty()) return options.level_weights;
  std::vector<Ratio> weights(levels, Ratio(1));
  if (options.budget == LevelBudget::kGeometric)
    for (std::size_t i = 1; i < levels; ++i)
      weights[i] = ratio_of_decimal(std::pow(branching, static_cast<double>(i) / 3));
  return weights;
}

std::vector<double> variances_of(std::span<const CountNoise> noises) {
  std::vector<double> variances;
  for (const CountNoise& noise : noises) variances.push_back(noise.variance());
  return variances;
}

/// The nodes of all levels with their boxes, level by level: level k has the nodes from ends[k - 1] to
/// ends[k], the root is level 0.
class Blocks {
 public:
  std::vector<TreeNode> nodes = {TreeNode{}};
  std::vector<std::uint32_t> bounds;
  std::vector<std::size_t> ends = {1};

  Blocks(const Shape& shape, std::uint32_t branching, std::size_t levels) : axes_(shape.axes()) {
    nodes.reserve(shape.cells() + 2 * shape.cells() / branching);
    bounds.reserve(nodes.capacity() * 2 * axes_);
    bounds.assign(axes_, 0);
    bounds.insert(bounds.end(), shape.extents.begin(), shape.extents.end());
    for (std::size_t level = 1; level <= levels; ++level) {
      const std::size_t begin = level == 1 ? 0 : ends[level - 2];
      for (std::size_t i = begin; i < ends[level - 1]; ++i)
        split(i, side_of(branching, levels - level));
      ends.push_back(nodes.size());
    }
  }

  /// The true counts of the nodes of a level, from those of the level below.
  std::vector<std::int64_t> sums(std::size_t level, std::span<const std::int64_t> below) const {
    std::vector<std::int64_t> sums;
    sums.reserve(ends[level] - ends[level - 1]);
    for (std::size_t i = ends[level - 1]; i < ends[level]; ++i) {
      std::int64_t sum = 0;
      for (std::uint32_t c = 0; c < nodes[i].children; ++c)
        sum = saturating_add(sum, below[nodes[i].first_child - ends[level] + c]);
      sums.push_back(sum);
    }
    return sums;
  }

  /// The counts of the last level, whose nodes are the cells.
  std::vector<std::int64_t> leaves(const Shape& shape, std::span<const std::int64_t> counts) const {
    std::vector<std::int64_t> leaves;
    leaves.reserve(counts.size());
    for (std::size_t i = ends[ends.size() - 2]; i < ends.back(); ++i) {
      std::size_t cell = 0;
      for (std::size_t axis = 0; axis < axes_; ++axis)
        cell = cell * shape.extents[axis] + bounds[i * 2 * axes_ + axis];
      leaves.push_back(counts[cell]);
    }
    return leaves;
  }

 private:
  std::size_t axes_;

  /// Gives a node its children: blocks of `side` cells along each axis.
  void split(std::size_t parent, std::uint64_t side) {
    std::array<std::uint32_t, 16> box{};
    std::copy_n(bounds.begin() + static_cast<std::ptrdiff_t>(parent * 2 * axes_), 2 * axes_,
                box.begin());
    std::array<std::uint32_t, 16> at = box;
    nodes[parent].first_child = static_cast<std::uint32_t>(nodes.size());
    for (bool more = true; more;) {
      for (std::size_t axis = 0; axis < axes_; ++axis)
        at[axes_ + axis] =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(at[axis] + side, box[axes_ + axis]));
      bounds.insert(bounds.end(), at.begin(), at.begin() + static_cast<std::ptrdiff_t>(2 * axes_));
      nodes.emplace_back();
      more = false;
      for (std::size_t axis = axes_; axis-- > 0 && !more;) {
        more = at[axes_ + axis] < box[axes_ + axis];
        at[axis] = more ? at[axes_ + axis] : box[axis];
      }
    }
    nodes[parent].children = static_cast<std::uint32_t>(nodes.size()) - nodes[parent].first_child;
  }
};

}  // namespace

HierarchicalHistogram::HierarchicalHistogram(Options options)
    : options_(std::move(options)), branching_(options_.branching) {
  const Shape& shape = options_.shape;
  check_dense(shape);
  require(branching_ != 1, "branching must be at least 2, or 0, which chooses");
  const std::size_t given = options_.level_weights.size();
  if (given > 0) {
    require(given <= 32, "level_weights: must be at most 32");
    if (branching_ == 0) branching_ = branching_for(shape, given);
    require(side_of(branching_, given) >= longest(shape),
            "level_weights: too few to reach single cells with this branching");
    noises_ = noises(branching_, given);
  } else if (branching_ > 0) {
    noises_ = noises(branching_, levels_for(shape, branching_));
  } else {
    choose();
  }
}

std::vector<CountNoise> HierarchicalHistogram::noises(std::uint32_t branching,
                                                      std::size_t levels) const {
  return split_budget({options_.epsilon, options_.delta, options_.rows_per_unit},
                      weights_of(options_, branching, levels));
}

// For each number of levels the smallest branching that reaches the cells: larger ones measure the same
// number of levels with longer sums between them.
void HierarchicalHistogram::choose() {
  const Shape& shape = options_.shape;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t levels = 1; levels <= levels_for(shape, 2); ++levels) {
    const std::uint32_t branching = branching_for(shape, levels);
    if (levels_for(shape, branching) < levels) continue;
    auto candidate = noises(branching, levels);
    const double average = average_range_variance(shape, branching, variances_of(candidate));
    if (average >= least) continue;
    least = average;
    branching_ = branching;
    noises_ = std::move(candidate);
  }
}

double HierarchicalHistogram::average_variance() const {
  return average_range_variance(options_.shape, branching_, variances_of(noises_));
}

Accuracy HierarchicalHistogram::accuracy(double confidence) const {
  const double variance = largest_range_variance(options_.shape, branching_, variances_of(noises_));
  return {noise_half_width(variance, confidence, noises_.front().is_gaussian()), confidence,
          "any range"};
}

Release<RangeHistogram> HierarchicalHistogram::run(std::span<const std::int64_t> counts,
                                                   Context& context) const {
  const Shape& shape = options_.shape;
  if (counts.size() != shape.cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  Blocks blocks(shape, branching_, levels());
  std::vector<std::int64_t> sums = blocks.leaves(shape, counts);
  for (std::size_t level = levels(); level >= 1; --level) {
    const CountNoise& noise = noises_[level - 1];
    const std::vector<std::int64_t> noisy = noise.run(sums, steps.context());
    const double variance = noise.variance();
    for (std::size_t i = 0; i < noisy.size(); ++i) {
      TreeNode& node = blocks.nodes[blocks.ends[level - 1] + i];
      node.estimate = static_cast<double>(noisy[i]);
      node.variance = variance;
    }
    if (level > 1) sums = blocks.sums(level - 1, sums);
  }
  blocks.nodes.front().variance = std::numeric_limits<double>::infinity();
  fit(blocks.nodes);
  return {RangeHistogram(shape, std::move(blocks.nodes), std::move(blocks.bounds),
                         noises_.front().is_gaussian()),
          accuracy(), event()};
}

}  // namespace gauze
