#include "gauze/histogram/range_histogram.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"

namespace gauze {
namespace {

/// Calls visit(cell) for every cell of the box; the cells of a dense shape.
template <class Visit>
void for_cells(const Shape& shape, std::span<const std::uint32_t> begin,
               std::span<const std::uint32_t> end, Visit visit) {
  for (std::size_t axis = 0; axis < shape.axes(); ++axis)
    if (begin[axis] >= end[axis]) return;
  const std::size_t last = shape.axes() - 1;
  std::vector<std::uint32_t> at(begin.begin(), begin.end());
  for (;;) {
    std::size_t first = 0;
    for (std::size_t axis = 0; axis <= last; ++axis) first = first * shape.extents[axis] + at[axis];
    for (std::uint32_t i = 0; i < end[last] - begin[last]; ++i) visit(first + i);
    std::size_t axis = last;
    for (;;) {
      if (axis == 0) return;
      --axis;
      if (++at[axis] < end[axis]) break;
      at[axis] = begin[axis];
    }
  }
}

/// The nearest point with these properties: no coordinate negative, the given sum. It is
/// max(x - shift, 0) for one shift (Held, Wolfe and Crowder 1974).
std::vector<double> nearest_non_negative(std::vector<double> values, double sum) {
  if (sum <= 0) return std::vector<double>(values.size(), 0.0);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double running = 0;
  double shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    running += sorted[i];
    const double candidate = (running - sum) / static_cast<double>(i + 1);
    if (sorted[i] <= candidate) break;
    shift = candidate;
  }
  for (double& value : values) value = std::max(value - shift, 0.0);
  return values;
}

}  // namespace

RangeHistogram::RangeHistogram(Shape shape, std::vector<TreeNode> nodes,
                               std::vector<std::uint32_t> bounds, bool gaussian)
    : shape_(std::move(shape)),
      nodes_(std::move(nodes)),
      bounds_(std::move(bounds)),
      gaussian_(gaussian) {
  if (nodes_.empty() || bounds_.size() != nodes_.size() * 2 * shape_.axes())
    throw Error(ErrorCode::kInvalidInput, "a histogram needs a root, and a box for every node");
}

RangeHistogram::RangeHistogram(Shape shape, std::span<const double> cells, Variance variance,
                               bool gaussian)
    : RangeHistogram(std::move(shape), cells, 1.0, gaussian) {
  variance_ = std::move(variance);
}

RangeHistogram::RangeHistogram(Shape shape, std::span<const double> cells, double variance,
                               bool gaussian)
    : shape_(std::move(shape)), gaussian_(gaussian) {
  check_dense(shape_);
  if (cells.size() != shape_.cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one value for each cell of the shape");
  nodes_.resize(cells.size() + 1);
  nodes_[0] = {1, static_cast<std::uint32_t>(cells.size()), 0,
               variance * static_cast<double>(cells.size())};
  bounds_.reserve(nodes_.size() * 2 * shape_.axes());
  bounds_.assign(shape_.axes(), 0);
  bounds_.insert(bounds_.end(), shape_.extents.begin(), shape_.extents.end());
  std::vector<std::uint32_t> at(shape_.axes(), 0);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    nodes_[cell + 1] = {0, 0, cells[cell], variance};
    nodes_[0].estimate += cells[cell];
    bounds_.insert(bounds_.end(), at.begin(), at.end());
    for (const std::uint32_t begin : at) bounds_.push_back(begin + 1);
    for (std::size_t axis = shape_.axes(); axis-- > 0;) {
      if (++at[axis] < shape_.extents[axis]) break;
      at[axis] = 0;
    }
  }
}

std::size_t RangeHistogram::leaves() const {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.children == 0; }));
}

/// Children share what the parent knows by their variances, and what they differ by is independent
/// of it: child = (s / S) parent + e, with Cov(e) = diag(s) - s s' / S.
RangeHistogram::Part RangeHistogram::joined(const TreeNode& node,
                                            std::span<const Part> children) const {
  Part sum;
  double variance = 0;
  double mixed = 0;
  double squares = 0;
  for (std::uint32_t i = 0; i < node.children; ++i) {
    const double s = nodes_[node.first_child + i].variance;
    variance += s;
    mixed += children[i].weight * s;
    squares += children[i].weight * children[i].weight * s;
    sum.value += children[i].value;
    sum.variance += children[i].variance;
  }
  if (variance > 0) {
    sum.weight = mixed / variance;
    sum.variance += std::max(0.0, squares - mixed * sum.weight);
  }
  return sum;
}

RangeHistogram::Part RangeHistogram::part(std::size_t index, const Box& box) const {
  const TreeNode& node = nodes_[index];
  const auto own = bounds(index);
  double share = 1;
  for (std::size_t axis = 0; axis < shape_.axes(); ++axis) {
    const std::uint32_t begin = own[axis];
    const std::uint32_t end = own[shape_.axes() + axis];
    const std::uint32_t from = std::max(begin, box.begin[axis]);
    const std::uint32_t to = std::min(end, box.end[axis]);
    if (from >= to) return {};
    if (to - from != end - begin) share *= double(to - from) / double(end - begin);
  }
  if (node.children == 0 || share == 1) return {share * node.estimate, share, 0};
  std::vector<Part> children(node.children);
  for (std::uint32_t i = 0; i < node.children; ++i) children[i] = part(node.first_child + i, box);
  return joined(node, children);
}

Estimate RangeHistogram::estimate(const Part& root, double largest_weight,
                                  double confidence) const {
  const double variance = root.weight * root.weight * nodes_.front().variance + root.variance;
  return {root.value, variance, noise_half_width(variance, confidence, gaussian_, largest_weight)};
}

std::vector<double> RangeHistogram::weights(const Box& box) const {
  std::vector<double> weights(shape_.cells(), 0.0);
  for_cells(shape_, box.begin, box.end, [&](std::size_t cell) { weights[cell] = 1; });
  return weights;
}

Estimate RangeHistogram::range(const Box& box, double confidence) const {
  require(box.begin.size() == shape_.axes() && box.end.size() == shape_.axes(),
          "range: must have a begin and an end for each axis");
  for (std::size_t axis = 0; axis < shape_.axes(); ++axis)
    require(box.begin[axis] <= box.end[axis] && box.end[axis] <= shape_.extents[axis],
            "range: must lie inside the histogram, its begin not after its end");
  Part root = part(0, box);
  if (variance_) root = {root.value, 0, variance_(weights(box))};
  return estimate(root, 1, confidence);
}

Estimate RangeHistogram::weighted(std::span<const double> weights, double confidence) const {
  check_dense(shape_);
  require(weights.size() == shape_.cells(), "weights: must be one for each cell");
  double largest = 0;
  for (const double weight : weights) {
    require(std::isfinite(weight), "weights: must be finite");
    largest = std::max(largest, std::abs(weight));
  }
  std::vector<Part> parts(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const TreeNode& node = nodes_[i];
    if (node.children != 0) {
      parts[i] = joined(node, std::span(parts).subspan(node.first_child, node.children));
      continue;
    }
    double sum = 0;
    double count = 0;
    const auto own = bounds(i);
    for_cells(shape_, own.first(shape_.axes()), own.last(shape_.axes()), [&](std::size_t cell) {
      sum += weights[cell];
      count += 1;
    });
    const double mean = count == 0 ? 0 : sum / count;
    parts[i] = {mean * node.estimate, mean, 0};
  }
  Part root = parts.front();
  if (variance_) root = {root.value, 0, variance_(weights)};
  return estimate(root, largest, confidence);
}

RangeHistogram RangeHistogram::stretched(std::span<const std::uint32_t> begins) const {
  if (variance_ || shape_.axes() != 1 || begins.size() != shape_.cells() + 1 || begins[0] != 0 ||
      std::adjacent_find(begins.begin(), begins.end(), std::greater_equal<>()) != begins.end())
    throw Error(ErrorCode::kInvalidInput,
                "begins: must rise from 0, one more than there are cells");
  RangeHistogram result = *this;
  result.shape_.extents = {begins.back()};
  for (std::uint32_t& bound : result.bounds_) bound = begins[bound];
  return result;
}

std::vector<double> RangeHistogram::cells() const {
  check_dense(shape_);
  std::vector<double> cells(shape_.cells());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].children != 0) continue;
    const auto own = bounds(i);
    double volume = 1;
    for (std::size_t axis = 0; axis < shape_.axes(); ++axis)
      volume *= own[shape_.axes() + axis] - own[axis];
    const double each = nodes_[i].estimate / volume;
    for_cells(shape_, own.first(shape_.axes()), own.last(shape_.axes()),
              [&](std::size_t cell) { cells[cell] = each; });
  }
  return cells;
}

std::vector<RangeHistogram::Leaf> RangeHistogram::partition() const {
  std::vector<Leaf> leaves;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].children != 0) continue;
    const auto own = bounds(i);
    Box box{{own.begin(), own.begin() + std::ptrdiff_t(shape_.axes())},
            {own.begin() + std::ptrdiff_t(shape_.axes()), own.end()}};
    const double variance = range(box).variance;
    leaves.push_back({std::move(box), nodes_[i].estimate, variance});
  }
  return leaves;
}

void RangeHistogram::set_leaves(std::span<const double> values) {
  std::size_t leaf = 0;
  for (TreeNode& node : nodes_)
    if (node.children == 0) node.estimate = values[leaf++];
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    TreeNode& node = nodes_[i];
    if (node.children == 0) continue;
    node.estimate = 0;
    for (std::uint32_t c = 0; c < node.children; ++c)
      node.estimate += nodes_[node.first_child + c].estimate;
  }
}

RangeHistogram RangeHistogram::non_negative() const {
  std::vector<double> values;
  for (const TreeNode& node : nodes_)
    if (node.children == 0) values.push_back(node.estimate);
  RangeHistogram result = *this;
  result.set_leaves(nearest_non_negative(std::move(values), nodes_.front().estimate));
  return result;
}

RangeHistogram RangeHistogram::whole() const {
  std::vector<double> cells = non_negative().cells();
  // Rounding running sums keeps every range within one of what it was.
  double running = 0;
  double before = 0;
  for (double& cell : cells) {
    running += cell;
    const double now = std::round(running);
    cell = now - before;
    before = now;
  }
  return {shape_, cells,
          [unrounded = *this](std::span<const double> weights) {
            return unrounded.weighted(weights).variance;
          },
          gaussian_};
}

}  // namespace gauze
