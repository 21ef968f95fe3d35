#include "gauze/histogram/sparse.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "gauze/accounting/accountant.h"
#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/mechanism/discrete_accuracy.h"

namespace gauze {
namespace {

using Rule = ThresholdHistogram::Rule;

std::uint64_t rows_per_cell(const ThresholdHistogram::Options& options) {
  return options.rows_per_cell == 0 ? options.rows_per_unit.get() : options.rows_per_cell;
}

/// The smallest threshold that a unit's rows reach in cells of its own with probability at most `delta`.
/// c rows in a cell reach it with P(X >= T - c), and there are at most rows/c such cells: it suffices that
/// P(X >= T - c) <= delta c / rows for every c. `reach(p)` is the smallest a with P(X >= a) <= p.
template <class Reach>
std::int64_t smallest_threshold(const ThresholdHistogram::Options& options, double delta,
                                Reach reach) {
  const auto rows = static_cast<double>(options.rows_per_unit.get());
  double threshold = 0;
  for (std::uint64_t c = 1; c <= rows_per_cell(options);) {
    // Several c at once: the probability of the first, the rows of the last.
    const std::uint64_t last = std::min(rows_per_cell(options), c + c / 16);
    const double probability = delta * static_cast<double>(c) / rows * (1 - 1e-12);
    threshold = std::max(threshold, static_cast<double>(last) + reach(probability));
    c = last + 1;
  }
  require(threshold < 0x1p62, "epsilon and delta: too small to name any cell");
  return static_cast<std::int64_t>(threshold);
}

Event with_names(const Event& noise, const Ratio& delta) {
  const Event names{events::Approximate{0, delta}, Relation::kAddRemove};
  return {events::Composed{{noise, names}}, Relation::kAddRemove};
}

Rule laplace_rule(const ThresholdHistogram::Options& options) {
  const CountNoise noise = CountNoise::laplace(options.epsilon, options.rows_per_unit);
  const Ratio scale{Ratio(options.rows_per_unit.get()) / options.epsilon.get()};
  const auto reach = [&](double p) {
    return discrete_laplace_radius(scale, std::min(2 * p, 0.999)) + 1;
  };
  return {DiscreteLaplace({.l1_sensitivity = options.rows_per_unit.get(), .scale = scale}),
          noise.variance(), smallest_threshold(options, round_down(options.delta), reach),
          with_names(noise.event(), options.delta)};
}

/// sqrt(rows_per_unit * rows_per_cell), rounded up.
Ratio l2_sensitivity(const ThresholdHistogram::Options& options) {
  const Integer square = Integer(options.rows_per_unit.get()) * rows_per_cell(options);
  const Integer root = sqrt(square);
  if (root * root == square) return Ratio(root);
  const Integer fine = sqrt(Integer(square << 40)) + 1;
  return Ratio(fine, Integer(1) << 20);
}

/// With this part of delta for names and the rest for noise. Nothing when no noise suffices.
std::optional<Rule> gaussian_rule(const ThresholdHistogram::Options& options, const Ratio& share) {
  const double epsilon = round_down(options.epsilon);
  const double delta = round_down(options.delta);
  const Ratio for_names{options.delta.get() * share};
  const Ratio moved = l2_sensitivity(options);
  const double about =
      gaussian_sigma(epsilon, round_down(Ratio(options.delta.get() - for_names))) * round_up(moved);
  for (double more = 1e-6; more < 1; more *= 2) {
    const double sigma = about * (1 + more);
    const DiscreteGaussian noise({.l2_sensitivity = moved,
                                  .sigma = ratio_of_decimal(sigma),
                                  .moved = options.rows_per_unit});
    const Event event = with_names(noise.event(), for_names);
    if (epsilon_at({event}, delta).epsilon > epsilon) continue;
    const auto reach = [&](double p) {
      return discrete_gaussian_radius(ratio_of_decimal(sigma), std::min(2 * p, 0.999)) + 1;
    };
    return Rule{noise, sigma * sigma * (1 + 1e-12),
                smallest_threshold(options, round_down(for_names), reach), event};
  }
  return {};
}

std::optional<Rule> gaussian_rule(const ThresholdHistogram::Options& options) {
  std::optional<Rule> best;
  for (const Ratio& share : {Ratio(1, 2), Ratio(3, 4), Ratio(7, 8), Ratio(15, 16)}) {
    auto rule = gaussian_rule(options, share);
    if (rule && (!best || rule->threshold < best->threshold)) best = std::move(rule);
  }
  return best;
}

Rule rule_of(const ThresholdHistogram::Options& options) {
  check_shape(options.shape);
  require(options.shape->cells() <= std::uint64_t{1} << 63,
          "shape: must have at most 2^63 cells; make them larger");
  check_budget({options.epsilon, options.delta, options.rows_per_unit});
  require(options.delta.get() > 0,
          "delta must be positive: naming cells that hold rows is never certain to be private");
  require(options.rows_per_cell <= options.rows_per_unit.get(),
          "rows_per_cell must be at most rows_per_unit, or 0 for as many");
  if (options.noise == ThresholdNoise::kLaplace) return laplace_rule(options);
  auto gaussian = gaussian_rule(options);
  if (options.noise == ThresholdNoise::kGaussian) {
    require(gaussian.has_value(), "epsilon and delta: no Gaussian noise reaches them");
    return *gaussian;
  }
  Rule laplace = laplace_rule(options);
  return gaussian && gaussian->threshold < laplace.threshold ? *gaussian : laplace;
}

/// The cells that hold rows, each once.
Points occupied(const Shape& shape, const Points& points) {
  const std::size_t axes = shape.axes();
  std::vector<std::pair<std::uint64_t, std::int64_t>>
      rows;  // the cell's number, the last axis fastest
  for (std::size_t row = 0; row < points.rows(shape); ++row) {
    std::uint64_t index = 0;
    for (std::size_t axis = 0; axis < axes; ++axis)
      index = index * shape.extents[axis] + points.coordinates[row * axes + axis];
    if (points.weight(row) > 0) rows.emplace_back(index, points.weight(row));
  }
  std::sort(rows.begin(), rows.end());
  Points cells;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row > 0 && rows[row].first == rows[row - 1].first) {
      cells.weights.back() = saturating_add(cells.weights.back(), rows[row].second);
      continue;
    }
    cells.coordinates.resize(cells.coordinates.size() + axes);
    std::uint64_t rest = rows[row].first;
    for (std::size_t axis = axes; axis-- > 0; rest /= shape.extents[axis])
      cells.coordinates[cells.coordinates.size() - axes + axis] =
          static_cast<std::uint32_t>(rest % shape.extents[axis]);
    cells.weights.push_back(rows[row].second);
  }
  return cells;
}

/// A tree of boxes in which every named cell is a leaf: named cells are halved until each is alone, then
/// its surroundings are cut away. At most four nodes for each named cell and axis.
class NamedCells {
 public:
  NamedCells(const Shape& shape, const Points& cells, double variance)
      : shape_(shape), cells_(cells), variance_(variance), order_(cells.weights.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    add(Box::whole(shape), order_);
    for (std::size_t node = 0; node < nodes_.size(); ++node) split(node);
  }

  RangeHistogram histogram(bool gaussian) && {
    return {shape_, std::move(nodes_), std::move(bounds_), gaussian};
  }

 private:
  using Cells = std::span<std::size_t>;

  std::uint32_t at(std::size_t cell, std::size_t axis) const {
    return cells_.coordinates[cell * shape_.axes() + axis];
  }

  void add(const Box& box, Cells inside) {
    TreeNode node;
    for (const std::size_t cell : inside)
      node.estimate += static_cast<double>(cells_.weights[cell]);
    node.variance = variance_ * static_cast<double>(inside.size());
    nodes_.push_back(node);
    bounds_.insert(bounds_.end(), box.begin.begin(), box.begin.end());
    bounds_.insert(bounds_.end(), box.end.begin(), box.end.end());
    inside_.push_back(inside);
  }

  Box box_of(std::size_t node) const {
    const auto own = std::span(bounds_).subspan(node * 2 * shape_.axes(), 2 * shape_.axes());
    const auto middle = own.begin() + static_cast<std::ptrdiff_t>(shape_.axes());
    return {{own.begin(), middle}, {middle, own.end()}};
  }

  void split(std::size_t node) {
    const Cells inside = inside_[node];
    if (inside.empty()) return;
    const Box box = box_of(node);
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    if (inside.size() > 1)
      halve(box, inside);
    else
      cut_away(box, inside);
    nodes_[node].first_child = first;
    nodes_[node].children = static_cast<std::uint32_t>(nodes_.size()) - first;
  }

  /// Along the axis on which the cells are spread most, so that some lie on either side.
  void halve(Box box, Cells inside) {
    std::size_t axis = 0;
    std::uint32_t widest = 0, lowest = 0;
    for (std::size_t i = 0; i < shape_.axes(); ++i) {
      const auto [low, high] = std::minmax_element(
          inside.begin(), inside.end(), [&](auto a, auto b) { return at(a, i) < at(b, i); });
      if (at(*high, i) - at(*low, i) <= widest) continue;
      axis = i;
      lowest = at(*low, i);
      widest = at(*high, i) - lowest;
    }
    const auto middle = inside.begin() + static_cast<std::ptrdiff_t>(inside.size() / 2);
    std::nth_element(inside.begin(), middle, inside.end(),
                     [&](auto a, auto b) { return at(a, axis) < at(b, axis); });
    const std::uint32_t where = std::max(at(*middle, axis), lowest + 1);
    const auto cut = std::partition(inside.begin(), inside.end(),
                                    [&](auto cell) { return at(cell, axis) < where; });
    const std::uint32_t end = std::exchange(box.end[axis], where);
    add(box, {inside.begin(), cut});
    box.begin[axis] = std::exchange(box.end[axis], end);
    add(box, {cut, inside.end()});
  }

  void cut_away(Box box, Cells alone) {
    for (std::size_t axis = 0; axis < shape_.axes(); ++axis) {
      const std::uint32_t cell = at(alone.front(), axis);
      const std::uint32_t begin = box.begin[axis], end = box.end[axis];
      if (end - begin == 1) continue;
      const auto part = [&](std::uint32_t from, std::uint32_t to, Cells cells) {
        box.begin[axis] = from;
        box.end[axis] = to;
        if (from < to) add(box, cells);
      };
      part(begin, cell, {});
      part(cell, cell + 1, alone);
      part(cell + 1, end, {});
      return;
    }
  }

  const Shape& shape_;
  const Points& cells_;
  double variance_;
  std::vector<std::size_t> order_;
  std::vector<TreeNode> nodes_;
  std::vector<std::uint32_t> bounds_;
  std::vector<Cells> inside_;
};

}  // namespace

ThresholdHistogram::ThresholdHistogram(Options options)
    : options_(std::move(options)), rule_(rule_of(options_)) {}

// A cell that is named is off by its noise. One that is not has fewer rows than threshold - noise.
Accuracy ThresholdHistogram::accuracy(double confidence) const {
  const double noise = std::visit(
      [&](const auto& each) { return each.accuracy(confidence).half_width; }, rule_.noise);
  return {static_cast<double>(rule_.threshold) + noise, confidence,
          "each cell, absent ones read as 0"};
}

Release<RangeHistogram> ThresholdHistogram::run(const Points& points, Context& context) const {
  check_points(options_.shape, points);
  StepMeter steps(event(), context);
  const Points cells = occupied(options_.shape, points);
  const std::vector<std::int64_t> noisy =
      std::visit([&](const auto& noise) { return noise.run(cells.weights, steps.context()).value; },
                 rule_.noise);
  const std::size_t axes = options_.shape->axes();
  Points named;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    if (noisy[i] < rule_.threshold) continue;
    const auto cell = std::span(cells.coordinates).subspan(i * axes, axes);
    named.coordinates.insert(named.coordinates.end(), cell.begin(), cell.end());
    named.weights.push_back(noisy[i]);
  }
  RangeHistogram histogram =
      NamedCells(options_.shape, named, rule_.variance).histogram(is_gaussian());
  histogram.set_note("cells whose noisy count reaches " + std::to_string(rule_.threshold) +
                     " are named; rows of all others are missing");
  return {std::move(histogram), accuracy(), event()};
}

}  // namespace gauze
