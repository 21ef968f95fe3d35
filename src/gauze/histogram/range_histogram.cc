#include "gauze/histogram/range_histogram.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/numeric/infinity.h"

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

void check_inside(const Shape& shape, const Box& box) {
  require(box.begin.size() == shape.axes() && box.end.size() == shape.axes(),
          "range: must have a begin and an end for each axis");
  for (std::size_t axis = 0; axis < shape.axes(); ++axis)
    require(box.begin[axis] <= box.end[axis] && box.end[axis] <= shape.extents[axis],
            "range: must lie inside the histogram, its begin not after its end");
}

/// Whole numbers whose running sums are those of `values`, rounded: every range stays within one of what
/// it was.
void round_running_sums(std::span<double> values) {
  double running = 0;
  double before = 0;
  for (double& value : values) {
    running += value;
    const double now = std::round(running);
    value = now - before;
    before = now;
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
  add_child_variances();
}

RangeHistogram::RangeHistogram(Shape shape, std::span<const double> cells, Variance variance,
                               bool gaussian, BoxVariance box_variance)
    : RangeHistogram(std::move(shape), cells, 1.0, gaussian) {
  variance_ = std::move(variance);
  box_variance_ = std::move(box_variance);
}

RangeHistogram::RangeHistogram(Shape shape, std::span<const double> cells, double variance,
                               bool gaussian)
    : shape_(std::move(shape)), gaussian_(gaussian) {
  check_dense(shape_);
  if (cells.size() != shape_.cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one value for each cell of the shape");
  // One level for each axis, of which only the cells were measured: a range visits few nodes.
  const Box whole = Box::whole(shape_);
  std::size_t level = 1;
  std::size_t below = cells.size();
  std::size_t end = 1;
  for (std::size_t axis = 0; axis <= shape_.axes(); ++axis) {
    const std::uint32_t children = axis < shape_.axes() ? shape_.extents[axis] : 0;
    Box box = whole;
    for (std::size_t fixed = 0; fixed < axis; ++fixed) box.end[fixed] = 1;
    for (std::size_t i = 0; i < level; ++i) {
      TreeNode node{static_cast<std::uint32_t>(end + i * children), children, 0,
                    variance * static_cast<double>(below)};
      if (children == 0) node = {0, 0, cells[i], variance};
      nodes_.push_back(node);
      bounds_.insert(bounds_.end(), box.begin.begin(), box.begin.end());
      bounds_.insert(bounds_.end(), box.end.begin(), box.end.end());
      for (std::size_t fixed = axis; fixed-- > 0;) {
        ++box.begin[fixed];
        if (++box.end[fixed] <= shape_.extents[fixed]) break;
        box.begin[fixed] = 0;
        box.end[fixed] = 1;
      }
    }
    level *= children;
    end += level;
    if (children != 0) below /= children;
  }
  sum_upwards();
  add_child_variances();
}

void RangeHistogram::sum_upwards() {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    TreeNode& node = nodes_[i];
    if (node.children == 0) continue;
    node.estimate = 0;
    for (std::uint32_t c = 0; c < node.children; ++c)
      node.estimate += nodes_[node.first_child + c].estimate;
  }
}

void RangeHistogram::add_child_variances() {
  child_variances_.assign(nodes_.size(), 0.0);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (std::uint32_t c = 0; c < nodes_[i].children; ++c)
      child_variances_[i] += nodes_[nodes_[i].first_child + c].variance;
}

std::size_t RangeHistogram::leaves() const {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.children == 0; }));
}

/// Children share what the parent knows by their variances, and what they differ by is independent
/// of it: child = (s / S) parent + e, with Cov(e) = diag(s) - s s' / S.
class RangeHistogram::Joined {
 public:
  void add(const Part& child, double variance) {
    sum_.value += child.value;
    sum_.variance += child.variance;
    mixed_ += child.weight * variance;
    squares_ += child.weight * child.weight * variance;
  }
  /// `variance` is that of all children together.
  Part result(double variance) const {
    Part result = sum_;
    if (variance > 0) {
      result.weight = mixed_ / variance;
      result.variance += std::max(0.0, squares_ - mixed_ * result.weight);
    }
    return result;
  }

 private:
  Part sum_;
  double mixed_ = 0, squares_ = 0;
};

/// Where the children that overlap a box begin: on one axis they stand in order.
std::uint32_t RangeHistogram::first_inside(const TreeNode& node, const Box& box) const {
  if (shape_.axes() != 1) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = node.children;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (bounds(node.first_child + middle)[1] <= box.begin[0])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
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
  Joined joined;
  for (std::uint32_t i = first_inside(node, box); i < node.children; ++i) {
    const std::size_t child = node.first_child + i;
    if (shape_.axes() == 1 && bounds(child)[0] >= box.end[0]) break;
    joined.add(part(child, box), nodes_[child].variance);
  }
  return joined.result(child_variances_[index]);
}

RangeEstimate RangeHistogram::estimate(const Part& root, double largest_weight,
                                       double confidence) const {
  const double variance = root.weight * root.weight * nodes_.front().variance + root.variance;
  // Where nothing was measured nothing is known.
  const bool measured = variance > 0 || largest_weight == 0;
  return {root.value, variance,
          measured ? noise_half_width(variance, confidence, gaussian_, largest_weight) : kInfinity};
}

std::vector<double> RangeHistogram::weights(const Box& box) const {
  std::vector<double> weights(shape_.cells(), 0.0);
  for_cells(shape_, box.begin, box.end, [&](std::size_t cell) { weights[cell] = 1; });
  return weights;
}

double RangeHistogram::box_variance(const Box& box) const {
  return box_variance_ ? box_variance_(box) : variance_(weights(box));
}

double RangeHistogram::count(const Box& box) const {
  check_inside(shape_, box);
  return part(0, box).value;
}

RangeEstimate RangeHistogram::range(const Box& box, double confidence) const {
  check_inside(shape_, box);
  Part root = part(0, box);
  if (variance_) root = {root.value, 0, box_variance(box)};
  return estimate(root, 1, confidence);
}

RangeEstimate RangeHistogram::weighted(std::span<const double> weights, double confidence) const {
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
      Joined joined;
      for (std::uint32_t c = node.first_child; c < node.first_child + node.children; ++c)
        joined.add(parts[c], nodes_[c].variance);
      parts[i] = joined.result(child_variances_[i]);
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
  if (shape_.axes() != 1 || begins.size() != shape_.cells() + 1 || begins[0] != 0 ||
      std::adjacent_find(begins.begin(), begins.end(), std::greater_equal<>()) != begins.end())
    throw Error(ErrorCode::kInvalidInput,
                "begins: must rise from 0, one more than there are cells");
  RangeHistogram result = *this;
  result.shape_.extents = {begins.back()};
  for (std::uint32_t& bound : result.bounds_) bound = begins[bound];
  if (!variance_) return result;
  result.box_variance_ = {};
  result.variance_ = [variance = variance_, at = std::vector(begins.begin(), begins.end())](
                         std::span<const double> cell_weights) {
    std::vector<double> means(at.size() - 1);
    for (std::size_t i = 0; i < means.size(); ++i) {
      const auto own = cell_weights.subspan(at[i], at[i + 1] - at[i]);
      means[i] = std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(own.size());
    }
    return variance(means);
  };
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

/// Upwards from each leaf: as in `Joined`, where it is the only part of each of its ancestors.
std::vector<RangeHistogram::Leaf> RangeHistogram::partition() const {
  std::vector<std::size_t> parents(nodes_.size(), 0);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (std::uint32_t c = 0; c < nodes_[i].children; ++c) parents[nodes_[i].first_child + c] = i;
  std::vector<Leaf> leaves;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].children != 0) continue;
    const auto own = bounds(i);
    Box box{{own.begin(), own.begin() + std::ptrdiff_t(shape_.axes())},
            {own.begin() + std::ptrdiff_t(shape_.axes()), own.end()}};
    Part lifted{nodes_[i].estimate, 1, 0};
    for (std::size_t node = i; node != 0; node = parents[node]) {
      Joined joined;
      joined.add(lifted, nodes_[node].variance);
      lifted = joined.result(child_variances_[parents[node]]);
    }
    if (variance_) lifted = {lifted.value, 0, box_variance(box)};
    const double variance = estimate(lifted, 1, 0.95).variance;
    leaves.push_back({std::move(box), nodes_[i].estimate, variance});
  }
  return leaves;
}

void RangeHistogram::set_leaves(std::span<const double> values) {
  std::size_t leaf = 0;
  for (TreeNode& node : nodes_)
    if (node.children == 0) node.estimate = values[leaf++];
  sum_upwards();
}

std::vector<double> RangeHistogram::leaf_values() const {
  std::vector<double> values;
  for (const TreeNode& node : nodes_)
    if (node.children == 0) values.push_back(node.estimate);
  return values;
}

RangeHistogram RangeHistogram::non_negative() const {
  RangeHistogram result = *this;
  result.set_leaves(nearest_non_negative(leaf_values(), nodes_.front().estimate));
  return result;
}

RangeHistogram RangeHistogram::whole() const {
  std::vector<double> cells = non_negative().cells();
  round_running_sums(cells);
  const auto unrounded = std::make_shared<const RangeHistogram>(*this);
  RangeHistogram result(
      shape_, cells,
      [unrounded](std::span<const double> weights) {
        return unrounded->weighted(weights).variance;
      },
      gaussian_, [unrounded](const Box& box) { return unrounded->range(box).variance; });
  result.set_note(note_);
  return result;
}

RangeHistogram RangeHistogram::whole_leaves() const {
  RangeHistogram result = non_negative();
  std::vector<double> values = result.leaf_values();
  round_running_sums(values);
  result.set_leaves(values);
  return result;
}

}  // namespace gauze
