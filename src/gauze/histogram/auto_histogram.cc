#include "gauze/histogram/auto_histogram.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/priv_tree.h"
#include "gauze/histogram/pruned_hierarchy.h"

namespace gauze {
namespace {

/// More cells than this are not counted one by one.
constexpr std::uint64_t kMostCells = 1u << 22;

/// The largest number of cells for which no hierarchy beats a flat histogram at ranges (Qardaji, Yang
/// and Li 2013).
std::uint64_t flat_up_to(std::size_t axes) {
  return axes == 1 ? 45 : axes == 2 ? 4096 : 1'700'000;
}

AdaptiveGrid grid_of(const AutoHistogram::Options& options) {
  return AdaptiveGrid({.shape = options.shape,
                       .epsilon = options.epsilon,
                       .rows_per_unit = options.rows_per_unit,
                       .delta = options.delta,
                       .expected_rows = options.expected_rows});
}

FlatHistogram flat_of(const AutoHistogram::Options& options) {
  return FlatHistogram({.shape = options.shape,
                        .epsilon = options.epsilon,
                        .rows_per_unit = options.rows_per_unit,
                        .delta = options.delta});
}

PrunedHierarchy pruned_of(const AutoHistogram::Options& options, HistogramAim aim) {
  return PrunedHierarchy({.shape = options.shape,
                          .epsilon = options.epsilon,
                          .rows_per_unit = options.rows_per_unit,
                          .delta = options.delta,
                          .aim = aim});
}

/// How many rows there are for each unit of noise.
double signal(double rows, const AutoHistogram::Options& options) {
  return rows * round_down(options.epsilon) / static_cast<double>(options.rows_per_unit);
}

/// Below so many rows for each unit of noise, boxes that adapt beat blocks that are counted everywhere:
/// measured on public arrays.
double few_rows(const Shape& shape) {
  return shape.axes() == 1 ? 300 : 0.3 * static_cast<double>(shape.cells());
}

}  // namespace

AutoHistogram::Method AutoHistogram::method() const {
  const Shape& shape = options_.shape;
  if (shape.cells() > kMostCells) return Method::kGrid;
  if (shape.cells() <= 8) return Method::kFlat;
  if (options_.aim == HistogramAim::kCells || shape.cells() <= flat_up_to(shape.axes()))
    return Method::kCells;
  return Method::kLevels;
}

Ratio AutoHistogram::total_share() const {
  if (options_.expected_rows != 0 || options_.delta > 0) return 0;
  return Ratio(1, 8);
}

AutoHistogram::AutoHistogram(Options options) : options_(std::move(options)) {
  check_shape(options_.shape);
  check_budget({options_.epsilon, options_.delta, options_.rows_per_unit});
  switch (method()) {
    case Method::kFlat:
      event_ = flat_of(options_).event();
      break;
    case Method::kCells:
      event_ = pruned_of(options_, HistogramAim::kCells).event();
      break;
    case Method::kGrid:
      event_ = grid_of(options_).event();
      break;
    case Method::kLevels:
      if (options_.delta > 0 || options_.expected_rows != 0) {
        event_ = pruned_of(options_, HistogramAim::kRanges).event();
      } else {
        const Ratio share = total_share();
        event_ = {events::Composed{{CountNoise::laplace(Ratio(options_.epsilon.get() * share),
                                                        options_.rows_per_unit)
                                        .event(),
                                    {events::Pure{Ratio(options_.epsilon.get() * (1 - share))},
                                     Relation::kAddRemove}}},
                  Relation::kAddRemove};
      }
  }
}

Accuracy AutoHistogram::accuracy(double confidence) const {
  switch (method()) {
    case Method::kFlat:
      return flat_of(options_).accuracy(confidence);
    case Method::kCells:
      return pruned_of(options_, HistogramAim::kCells).accuracy(confidence);
    case Method::kGrid:
      return grid_of(options_).accuracy(confidence);
    default:
      return pruned_of(options_, HistogramAim::kRanges).accuracy(confidence);
  }
}

Release<RangeHistogram> AutoHistogram::levels(const Points& points, Context& context) const {
  StepMeter steps(event_, context);
  const Ratio share = total_share();
  const Ratio rest(options_.epsilon.get() * (1 - share));
  const CountNoise whole =
      CountNoise::laplace(Ratio(options_.epsilon.get() * share), options_.rows_per_unit);
  const std::vector<std::int64_t> counts = counts_of(options_.shape, points);
  std::int64_t total = 0;
  for (const std::int64_t count : counts)
    if (__builtin_add_overflow(total, count, &total)) total = INT64_MAX;
  const auto noisy = static_cast<double>(whole.run(std::span(&total, 1), steps.context()).front());
  const double rows = std::max(1.0, noisy);
  const double strength = signal(rows, options_);
  if (strength < few_rows(options_.shape)) {
    RangeHistogram histogram =
        PrivTree(
            {.shape = options_.shape, .epsilon = rest, .rows_per_unit = options_.rows_per_unit})
            .run(points, steps.context())
            .value;
    histogram.set_note(
        "boxes halved while they seem full (PrivTree): there are few rows for the noise");
    return {std::move(histogram), accuracy(), event()};
  }
  if (options_.shape->axes() > 1 && strength < 4.0 * static_cast<double>(options_.shape->cells())) {
    Options grid = options_;
    grid.epsilon = rest;
    grid.expected_rows = static_cast<std::uint64_t>(rows);
    RangeHistogram histogram = grid_of(grid).run(points, steps.context()).value;
    histogram.set_note("adaptive grid: there are about as many rows as cells for the noise");
    return {std::move(histogram), accuracy(), event()};
  }
  HalvingTree tree(options_.shape, counts);
  tree.set_total(noisy, whole.variance());
  const std::size_t levels = range_level_weights(options_.shape).size() - 1;
  // Where noise hides small blocks, larger ones get more of the budget.
  const bool strong = strength >= 3e4;
  std::vector<Ratio> weights(levels, 1);
  for (std::size_t level = levels - 1; level-- > 0;)
    weights[level] = strong ? Ratio(1) : Ratio(weights[level + 1] * Ratio(7, 5));
  const auto noises = split_budget({rest, 0, options_.rows_per_unit}, weights);
  for (std::size_t level = 1; level <= levels; ++level)
    tree.measure(level, levels, noises[level - 1], steps.context());
  RangeHistogram histogram = tree.fitted(split_price(options_.shape, HistogramAim::kRanges), false);
  histogram.set_note(strong ? "pruned hierarchy: ranges add few blocks, even blocks are not cut"
                            : "pruned hierarchy, more of the budget on large blocks: there are few "
                              "rows for the noise");
  return {std::move(histogram), accuracy(), event()};
}

Release<RangeHistogram> AutoHistogram::run(const Points& points, Context& context) const {
  check_points(options_.shape, points);
  const auto noted = [](Release<RangeHistogram> released, const char* note) {
    released.value.set_note(note);
    return released;
  };
  switch (method()) {
    case Method::kFlat:
      return noted(flat_of(options_).run(counts_of(options_.shape, points), context),
                   "flat: so few cells need no more than noise on each");
    case Method::kCells:
      return noted(
          pruned_of(options_, HistogramAim::kCells).run(counts_of(options_.shape, points), context),
          "noise on every cell, then even neighbours merged: best for single cells and for few");
    case Method::kGrid:
      return noted(grid_of(options_).run(points, context),
                   "adaptive grid: there are more cells than could be counted one by one");
    default:
      break;
  }
  if (options_.delta == 0 && options_.expected_rows == 0) return levels(points, context);
  return noted(
      pruned_of(options_, HistogramAim::kRanges).run(counts_of(options_.shape, points), context),
      "pruned hierarchy: long ranges add few blocks, and even blocks are not cut");
}

}  // namespace gauze
