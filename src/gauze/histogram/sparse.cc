#include "gauze/histogram/sparse.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

/// Cells that hold rows, by index.
std::vector<SparseHistogram::Cell> occupied(const Shape& shape, const Points& points) {
  std::vector<SparseHistogram::Cell> rows;
  const std::size_t axes = shape.axes();
  for (std::size_t row = 0; row < points.rows(shape); ++row) {
    std::uint64_t index = 0;
    for (std::size_t axis = 0; axis < axes; ++axis)
      index = index * shape.extents[axis] + points.coordinates[row * axes + axis];
    if (points.weight(row) > 0) rows.push_back({index, points.weight(row)});
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  std::vector<SparseHistogram::Cell> cells;
  for (const auto& row : rows) {
    if (cells.empty() || cells.back().index != row.index)
      cells.push_back(row);
    else
      cells.back().count = saturating_add(cells.back().count, row.count);
  }
  return cells;
}

}  // namespace

SparseHistogram::SparseHistogram(Shape shape, std::vector<Cell> cells, double variance,
                                 bool gaussian)
    : shape_(std::move(shape)),
      cells_(std::move(cells)),
      variance_(variance),
      gaussian_(gaussian) {}

std::vector<std::uint32_t> SparseHistogram::coordinates(const Cell& cell) const {
  std::vector<std::uint32_t> result(shape_.axes());
  std::uint64_t rest = cell.index;
  for (std::size_t axis = shape_.axes(); axis-- > 0;) {
    result[axis] = static_cast<std::uint32_t>(rest % shape_.extents[axis]);
    rest /= shape_.extents[axis];
  }
  return result;
}

RangeEstimate SparseHistogram::range(const Box& box, double confidence) const {
  require(box.begin.size() == shape_.axes() && box.end.size() == shape_.axes(),
          "range: must have a begin and an end for each axis");
  for (std::size_t axis = 0; axis < shape_.axes(); ++axis)
    require(box.begin[axis] <= box.end[axis] && box.end[axis] <= shape_.extents[axis],
            "range: must lie inside the histogram, its begin not after its end");
  std::uint64_t slice = 1;  // cells for each step along the first axis
  for (std::size_t axis = 1; axis < shape_.axes(); ++axis) slice *= shape_.extents[axis];
  const auto at = [&](std::uint64_t index) {
    return std::lower_bound(cells_.begin(), cells_.end(), index,
                            [](const Cell& cell, std::uint64_t i) { return cell.index < i; });
  };
  double sum = 0;
  double named = 0;
  const auto end = at(box.end[0] * slice);
  for (auto cell = at(box.begin[0] * slice); cell < end; ++cell) {
    const auto where = coordinates(*cell);
    bool inside = true;
    for (std::size_t axis = 0; axis < shape_.axes(); ++axis)
      inside = inside && where[axis] >= box.begin[axis] && where[axis] < box.end[axis];
    if (!inside) continue;
    sum += static_cast<double>(cell->count);
    named += 1;
  }
  const double variance = named * variance_;
  return {sum, variance, noise_half_width(variance, confidence, gaussian_)};
}

ThresholdHistogram::ThresholdHistogram(Options options)
    : options_(std::move(options)), rule_(rule_of(options_)) {}

// A cell that is named is off by its noise. One that is not has fewer rows than threshold - noise.
Accuracy ThresholdHistogram::accuracy(double confidence) const {
  const double noise = std::visit(
      [&](const auto& each) { return each.accuracy(confidence).half_width; }, rule_.noise);
  return {static_cast<double>(rule_.threshold) + noise, confidence,
          "each cell, absent ones read as 0"};
}

Release<SparseHistogram> ThresholdHistogram::run(const Points& points, Context& context) const {
  check_points(options_.shape, points);
  StepMeter steps(event(), context);
  std::vector<SparseHistogram::Cell> cells = occupied(options_.shape, points);
  std::vector<std::int64_t> counts;
  counts.reserve(cells.size());
  for (const auto& cell : cells) counts.push_back(cell.count);
  const std::vector<std::int64_t> noisy = std::visit(
      [&](const auto& noise) { return noise.run(counts, steps.context()).value; }, rule_.noise);
  std::vector<SparseHistogram::Cell> named;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (noisy[i] >= rule_.threshold) named.push_back({cells[i].index, noisy[i]});
  return {SparseHistogram(options_.shape, std::move(named), rule_.variance, is_gaussian()),
          accuracy(), event()};
}

}  // namespace gauze
