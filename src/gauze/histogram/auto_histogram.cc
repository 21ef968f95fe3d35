#include "gauze/histogram/auto_histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/adaptive_hierarchy.h"
#include "gauze/histogram/cells_by_rows.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/hierarchical.h"
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

/// Of epsilon, for a look at the number of rows where that decides about a declared workload.
const Ratio kLook(1, 32);
/// A strategy that is better from so few rows for a unit of noise on needs no look.
constexpr double kNotWorthALook = 50;
/// Tables of longer axes are not searched for a strategy.
constexpr std::uint32_t kLongestSearched = 512;

/// Tables whose strategy has more than this of the error of a flat histogram sum few cells, and are as sparse as these;
/// where there are many cells, most are empty.
double few_summed(const Shape& shape) {
  return shape.cells() < kManyCells ? 0.5 : 0.4;
}

/// Whether all questions are about tables of some of the axes.
bool is_about_tables(const Workload& workload) {
  using Kind = AxisWorkload::Kind;
  const auto& products = workload.products();
  return std::all_of(products.begin(), products.end(), [](const Workload::Product& product) {
    return std::all_of(product.axes.begin(), product.axes.end(), [](const AxisWorkload& axis) {
      return axis.kind() == Kind::kIdentity || axis.kind() == Kind::kTotal;
    });
  });
}

/// Whether a strategy for the workload is found in a moment.
bool is_searched(const Workload& workload) {
  const Shape shape = workload.shape();
  if (shape.cells() > kMostCells) return false;
  if (!is_about_tables(workload)) {
    const auto parts = parts_told_apart(workload);
    return parts && parts->sizes.size() <= WorkloadParts::kMost;
  }
  return *std::max_element(shape.extents.begin(), shape.extents.end()) <= kLongestSearched;
}

/// A unit of noise: that of one count with the whole budget.
double noise_rate(const AutoHistogram::Options& options) {
  return CountNoise::laplace(options.epsilon, options.rows_per_unit).rate();
}

/// From how many rows for a unit of noise on the adaptive hierarchy errs as much as this, in units of noise, on
/// average over ranges. Measured on public arrays it errs by 1.3 rows^(1/5) and by a half of that on some, 1.9 rows^(1/5)
/// in the plane.
double rows_of_error(double error, std::size_t axes) {
  return std::pow(error / (axes == 1 ? 1.15 : 1.9), 5);
}

/// With all cells full it errs by 0.85 times as much as a hierarchy whose error is known.
double most_error(const AutoHistogram::Options& options) {
  return 0.85 * std::sqrt(HierarchicalHistogram({.shape = options.shape,
                                                 .epsilon = options.epsilon,
                                                 .rows_per_unit = options.rows_per_unit})
                              .average_variance());
}

std::string decimal(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", number);
  return text.data();
}

/// What decided, all of it public.
std::string facts(const AutoHistogram::Options& options) {
  const std::uint64_t rows = options.rows_per_unit;
  return " (" + std::to_string(options.shape->cells()) + " cells, epsilon " +
         decimal(round_down(options.epsilon)) +
         (rows == 1 ? "" : " for " + std::to_string(rows) + " rows of a unit") + ", " +
         (options.workload                      ? "declared questions"
          : options.aim == HistogramAim::kCells ? "cells"
                                                : "ranges") +
         (options.expected_rows == 0
              ? ""
              : ", " + std::to_string(options.expected_rows) + " rows expected") +
         ")";
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

void AutoHistogram::declare() {
  const Shape& shape = options_.shape;
  const Workload& workload = *options_.workload;
  require(workload.shape() == shape, "workload: must be about the axes of the shape");
  const bool tables = is_about_tables(workload);
  if (tables) options_.aim = HistogramAim::kCells;
  if (!is_searched(workload)) return;
  HdmmHistogram found({.shape = shape,
                       .epsilon = options_.epsilon,
                       .rows_per_unit = options_.rows_per_unit,
                       .delta = options_.delta,
                       .workload = workload});
  const CountNoise cell = split_budget({options_.epsilon, options_.delta, options_.rows_per_unit},
                                       std::vector<Ratio>{1})
                              .front();
  const double flat = std::sqrt(Strategy::identity(shape).total_variance(workload) /
                                workload.queries() * cell.variance());
  const double error = std::sqrt(found.average_variance());
  if (error >= (tables ? few_summed(shape) * flat : flat)) return;
  if (tables || is_loud(options_)) {
    declared_ = std::move(found);
    return;
  }
  if (error >= most_error(options_)) return;
  const double enough = rows_of_error(error * noise_rate(options_), shape.axes());
  const double expected = static_cast<double>(options_.expected_rows) * noise_rate(options_);
  if (options_.expected_rows != 0 && expected < enough) return;
  const bool looks = options_.expected_rows == 0 && options_.delta == 0 && enough > kNotWorthALook;
  enough_rows_ = looks ? enough : 0;
  declared_ = looks ? found.with(Ratio(options_.epsilon.get() * (1 - kLook))) : std::move(found);
}

AutoHistogram::AutoHistogram(Options options) : options_(std::move(options)) {
  check_shape(options_.shape);
  check_budget({options_.epsilon, options_.delta, options_.rows_per_unit});
  if (options_.workload) declare();
  if (declared_) {
    event_ = enough_rows_ == 0 ? declared_->event()
                               : Event{events::Pure{options_.epsilon}, Relation::kAddRemove};
    return;
  }
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
  if (declared_) {
    Accuracy accuracy = declared_->accuracy(confidence);
    if (enough_rows_ > 0) accuracy.of += ", where there are enough rows";
    return accuracy;
  }
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

// Whatever the look shows, all of epsilon is charged, and what follows costs what the look has left.
Release<RangeHistogram> AutoHistogram::by_rows(const Points& points, Context& context) const {
  const std::vector<std::int64_t> counts = counts_of(options_.shape, points);
  const std::string taken = "strategy for the declared questions";
  if (enough_rows_ == 0) {
    auto released = declared_->run(counts, context);
    released.value.set_note(taken + ", and for no others: better than what is good at any" +
                            facts(options_));
    return released;
  }
  context.meter.charge(event_);
  const CountNoise look =
      CountNoise::laplace(Ratio(options_.epsilon.get() * kLook), options_.rows_per_unit);
  const std::int64_t rows =
      std::accumulate(counts.begin(), counts.end(), std::int64_t{0}, saturating_add);
  Meter paid_look(look.event());
  Context looking{paid_look, context.bits};
  const std::int64_t noisy = look.run(std::span(&rows, 1), looking).front();
  const std::string seen = "about " + std::to_string(noisy) + " rows by a paid look";
  Options rest = options_;
  rest.epsilon = Ratio(options_.epsilon.get() * (1 - kLook));
  rest.workload.reset();
  const bool many = static_cast<double>(noisy) * noise_rate(options_) >= enough_rows_;
  const auto with_rest = [&](const auto& method, const auto& input) {
    Meter paid(method.event());
    Context left{paid, context.bits};
    return Release<RangeHistogram>{method.run(input, left).value, accuracy(), event_};
  };
  auto released = many ? with_rest(*declared_, std::span<const std::int64_t>(counts))
                       : with_rest(AutoHistogram(std::move(rest)), points);
  released.value.set_note(
      many ? taken + ", and for no others: there are " + seen + ", enough for it" + facts(options_)
           : released.value.note() + "; " + seen + " are too few for a " + taken);
  return released;
}

Release<RangeHistogram> AutoHistogram::run(const Points& points, Context& context) const {
  check_points(options_.shape, points);
  if (declared_) return by_rows(points, context);
  const auto noted = [&](Release<RangeHistogram> released, const std::string& note) {
    const std::string& more = released.value.note();
    released.value.set_note(note + (more.empty() ? "" : ", " + more) + facts(options_));
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
