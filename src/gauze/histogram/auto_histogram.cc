#include "gauze/histogram/auto_histogram.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/priv_tree.h"
#include "gauze/histogram/pruned_hierarchy.h"
#include "gauze/histogram/uniform_grid.h"
#include "gauze/mechanism/discrete_laplace.h"

namespace gauze {
namespace {

/// More cells than this are not counted one by one.
constexpr std::uint64_t kMostCells = 1u << 22;

/// Of epsilon, for the number of rows; and for whether they are spread evenly, which shows the easier the
/// more there are.
const Ratio kCountShare(1, 32);
double test_share(double strength) {
  return std::min(1.0 / 16, 32 / strength);
}
/// By rows for each unit of noise: whether evenness is worth asking for, and whether all levels are worth
/// the same. Measured on public arrays, as are the next.
constexpr double kTestedBelow = 5000;
constexpr double kStrong = 3e4;
/// What is compared: parts of so many rows, in blocks of so many rows for each unit of noise, which
/// may differ by so much of all rows more than by chance.
constexpr double kRowsPerPart = 16;
constexpr double kRowsPerBlock = 80;
constexpr double kEvenShare = 0.25;

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

std::int64_t unevenness(std::span<const std::int64_t> counts, std::size_t part, std::size_t parts) {
  __extension__ using Wide = __int128;
  Wide sum = 0;
  std::vector<std::int64_t> sums(parts);
  for (std::size_t begin = 0; begin + part * parts <= counts.size(); begin += part * parts) {
    Wide block = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      sums[i] = 0;
      for (const std::int64_t count : counts.subspan(begin + i * part, part))
        sums[i] = saturating_add(sums[i], count);
      block += sums[i];
    }
    for (const std::int64_t each : sums) {
      const Wide surplus = Wide(each) * static_cast<std::int64_t>(parts) - block;
      sum += surplus < 0 ? -surplus : surplus;
    }
  }
  return sum > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(sum);
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
      if (options_.delta > 0) {
        event_ = pruned_of(options_, HistogramAim::kRanges).event();
      } else if (options_.expected_rows != 0) {
        event_ = {events::Pure{options_.epsilon}, Relation::kAddRemove};
      } else {
        const Ratio price(options_.epsilon.get() * kCountShare);
        event_ = {events::Composed{{CountNoise::laplace(price, options_.rows_per_unit).event(),
                                    {events::Pure{Ratio(options_.epsilon.get() - price)},
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

bool AutoHistogram::seems_even(std::span<const std::int64_t> counts, double rows,
                               const Ratio& price, Context& context) const {
  const double per_noise = static_cast<double>(options_.rows_per_unit) / round_up(options_.epsilon);
  const auto cells = static_cast<double>(counts.size());
  const auto part = static_cast<std::size_t>(
      std::clamp(std::round(kRowsPerPart * cells / rows), 1.0, std::floor(cells / 2)));
  const auto parts = static_cast<std::size_t>(
      std::clamp(std::round(kRowsPerBlock / kRowsPerPart * per_noise), 4.0, 1e6));
  const std::size_t in_block = std::min(parts, counts.size() / part);
  const Integer moved = 2 * (Integer(in_block) - 1) * options_.rows_per_unit.get();
  if (moved > INT64_MAX) return false;
  const DiscreteLaplace noise(
      {.l1_sensitivity = moved.convert_to<std::uint64_t>(), .scale = Ratio(Ratio(moved) / price)});
  const double uneven =
      static_cast<double>(noise.run(unevenness(counts, part, in_block), context).value) /
      static_cast<double>(in_block);
  // Even rows differ by chance: the mean absolute deviation of a Poisson number.
  const double counted = static_cast<double>(counts.size() / (part * in_block) * in_block);
  const double mean = rows * static_cast<double>(part) / cells;
  const double whole = std::floor(mean);
  const double by_chance =
      2 * std::exp((whole + 1) * std::log(mean) - mean - std::lgamma(whole + 1));
  return uneven - counted * by_chance < kEvenShare * rows;
}

Release<RangeHistogram> AutoHistogram::levels(const Points& points, Context& context) const {
  StepMeter steps(event_, context);
  const Shape& shape = options_.shape;
  const std::uint64_t per_unit = options_.rows_per_unit;
  const std::vector<std::int64_t> counts = counts_of(shape, points);
  Ratio left = options_.epsilon;
  auto rows = static_cast<double>(options_.expected_rows);
  if (options_.expected_rows == 0) {
    std::int64_t total = 0;
    for (const std::int64_t count : counts) total = saturating_add(total, count);
    const Ratio price(options_.epsilon.get() * kCountShare);
    const CountNoise noise = CountNoise::laplace(price, per_unit);
    rows = std::max(1.0, static_cast<double>(noise.run(std::span(&total, 1), steps.context())[0]));
    left -= price;
  }
  const double strength = signal(rows, options_);
  const auto noted = [&](RangeHistogram histogram, const char* note) {
    histogram.set_note(note);
    return Release<RangeHistogram>{std::move(histogram), accuracy(), event()};
  };
  if (shape.axes() == 1 && strength < kTestedBelow) {
    const Ratio price(options_.epsilon.get() * ratio_of_decimal(test_share(strength)));
    left -= price;
    if (seems_even(counts, rows, price, steps.context())) {
      const UniformGrid method({.shape = shape,
                                .epsilon = left,
                                .rows_per_unit = per_unit,
                                .expected_rows = static_cast<std::uint64_t>(rows)});
      return noted(method.run(points, steps.context()).value,
                   "equal boxes: few rows for the noise, spread evenly or smoothly");
    }
  }
  if (strength < few_rows(shape)) {
    const PrivTree method({.shape = shape, .epsilon = left, .rows_per_unit = per_unit});
    return noted(method.run(points, steps.context()).value,
                 "boxes halved while they seem full (PrivTree): there are few rows for the noise");
  }
  if (shape.axes() > 1 && strength < 4.0 * static_cast<double>(shape.cells())) {
    const AdaptiveGrid method({.shape = shape,
                               .epsilon = left,
                               .rows_per_unit = per_unit,
                               .expected_rows = static_cast<std::uint64_t>(rows)});
    return noted(method.run(points, steps.context()).value,
                 "adaptive grid: there are about as many rows as cells for the noise");
  }
  // Where noise hides small blocks, larger ones get more of the budget.
  const bool strong = strength >= kStrong;
  std::vector<Ratio> weights = range_level_weights(shape);
  for (std::size_t level = weights.size() - 1; level-- > 1 && !strong;)
    weights[level] = weights[level + 1] * Ratio(7, 5);
  const PrunedHierarchy method({.shape = shape,
                                .epsilon = left,
                                .rows_per_unit = per_unit,
                                .level_weights = std::move(weights)});
  return noted(method.run(counts, steps.context()).value,
               strong ? "pruned hierarchy: ranges add few blocks, even blocks are not cut"
                      : "pruned hierarchy, more of the budget on large blocks: there are few "
                        "rows for the noise");
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
  if (options_.delta == 0) return levels(points, context);
  return noted(
      pruned_of(options_, HistogramAim::kRanges).run(counts_of(options_.shape, points), context),
      "pruned hierarchy: long ranges add few blocks, and even blocks are not cut");
}

}  // namespace gauze
