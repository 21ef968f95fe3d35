#include "gauze/histogram/auto_histogram.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/adaptive_hierarchy.h"
#include "gauze/histogram/cells_by_rows.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/pruned_hierarchy.h"
#include "gauze/histogram/rare_noise.h"

namespace gauze {
namespace {

/// More cells than this are not counted one by one.
constexpr std::uint64_t kMostCells = 1u << 22;

/// From so many cells on the noise of all of them together hides a number of rows that is worth a look.
constexpr std::uint64_t kManyCells = 2048;

/// The largest number of cells for which no hierarchy beats a flat histogram at ranges (Qardaji, Yang
/// and Li 2013).
std::uint64_t flat_up_to(std::size_t axes) {
  return axes == 1 ? 45 : axes == 2 ? 4096 : 1'700'000;
}

/// Whether the noise of a cell is hardly ever anything but 0: with probability tanh(2.5) = 0.987 or more.
/// Shares of such a budget are worth far less than it.
bool is_loud(const AutoHistogram::Options& options) {
  return options.epsilon.get() >= 5 * Ratio(options.rows_per_unit.get());
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

CellsByRows cells_of(const AutoHistogram::Options& options) {
  return CellsByRows({.shape = options.shape,
                      .epsilon = options.epsilon,
                      .rows_per_unit = options.rows_per_unit,
                      .expected_rows = options.expected_rows});
}

AdaptiveHierarchy adaptive_of(const AutoHistogram::Options& options) {
  return AdaptiveHierarchy({.shape = options.shape,
                            .epsilon = options.epsilon,
                            .rows_per_unit = options.rows_per_unit,
                            .expected_rows = options.expected_rows});
}

/// A flat histogram, without delta with what is likely to be noise taken out afterwards.
Release<RangeHistogram> loud(const AutoHistogram::Options& options, const Points& points,
                             Context& context) {
  const FlatHistogram flat = flat_of(options);
  const std::vector<std::int64_t> counts = counts_of(options.shape, points);
  if (options.delta > 0) return flat.run(counts, context);
  const CountNoise noise = CountNoise::laplace(options.epsilon, options.rows_per_unit);
  const std::vector<std::int64_t> noisy = noise.run(counts, context);
  return {RangeHistogram(options.shape,
                         without_rare_noise(options.shape, {noisy.begin(), noisy.end()},
                                            std::exp(-noise.rate()), options.aim),
                         noise.variance(), false),
          flat.accuracy(), flat.event()};
}

}  // namespace

AutoHistogram::Method AutoHistogram::method() const {
  const Shape& shape = options_.shape;
  if (shape.cells() > kMostCells) return Method::kGrid;
  if (shape.cells() <= 8 || is_loud(options_)) return Method::kFlat;
  if (options_.aim == HistogramAim::kCells && options_.delta == 0 && shape.cells() >= kManyCells)
    return Method::kCellsByRows;
  const bool few = shape.cells() <= flat_up_to(shape.axes());
  const bool grows =
      options_.delta == 0 && shape.axes() > 1;  // and finds out whether cells are full
  if (options_.aim == HistogramAim::kCells || (few && !grows)) return Method::kCells;
  return Method::kLevels;
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
    case Method::kCellsByRows:
      event_ = cells_of(options_).event();
      break;
    case Method::kGrid:
      event_ = grid_of(options_).event();
      break;
    case Method::kLevels:
      event_ = options_.delta > 0 ? pruned_of(options_, HistogramAim::kRanges).event()
                                  : adaptive_of(options_).event();
  }
}

Accuracy AutoHistogram::accuracy(double confidence) const {
  switch (method()) {
    case Method::kFlat:
      return flat_of(options_).accuracy(confidence);
    case Method::kCells:
      return pruned_of(options_, HistogramAim::kCells).accuracy(confidence);
    case Method::kCellsByRows:
      return cells_of(options_).accuracy(confidence);
    case Method::kGrid:
      return grid_of(options_).accuracy(confidence);
    default:
      return options_.delta > 0 ? pruned_of(options_, HistogramAim::kRanges).accuracy(confidence)
                                : adaptive_of(options_).accuracy(confidence);
  }
}

Release<RangeHistogram> AutoHistogram::run(const Points& points, Context& context) const {
  check_points(options_.shape, points);
  const auto noted = [](Release<RangeHistogram> released, const char* note) {
    released.value.set_note(note);
    return released;
  };
  switch (method()) {
    case Method::kFlat:
      if (is_loud(options_))
        return noted(
            loud(options_, points, context),
            options_.delta == 0
                ? "flat: hardly any cell gets noise at so large an epsilon, and what looks "
                  "like it was taken out"
                : "flat: hardly any cell gets noise at so large an epsilon");
      return noted(flat_of(options_).run(counts_of(options_.shape, points), context),
                   "flat: so few cells need no more than noise on each");
    case Method::kCells:
      return noted(
          pruned_of(options_, HistogramAim::kCells).run(counts_of(options_.shape, points), context),
          "noise on every cell, then even neighbours merged: best for single cells and for few");
    case Method::kCellsByRows:
      return noted(
          cells_of(options_).run(counts_of(options_.shape, points), context),
          "noise on every cell, then even neighbours merged: best for single cells, unless there "
          "are so few rows that blocks are");
    case Method::kGrid:
      return noted(grid_of(options_).run(points, context),
                   "adaptive grid: there are more cells than could be counted one by one");
    default:
      break;
  }
  const std::vector<std::int64_t> counts = counts_of(options_.shape, points);
  if (options_.delta == 0) {
    return noted(adaptive_of(options_).run(counts, context),
                 "adaptive hierarchy: blocks are parted as long as they are full for the noise");
  }
  return noted(pruned_of(options_, HistogramAim::kRanges).run(counts, context),
               "pruned hierarchy: long ranges add few blocks, and even blocks are not cut");
}

}  // namespace gauze
