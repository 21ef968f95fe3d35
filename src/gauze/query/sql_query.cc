#include "gauze/query/sql_query.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "gauze/base/error.h"
#include "gauze/base/on_threads.h"
#include "gauze/mechanism/quantile_interval.h"
#include "gauze/query/answer.h"
#include "gauze/query/measurement.h"
#include "gauze/query/sql_query_internal.h"

namespace gauze {
namespace {

using internal::GroupIndex;
using internal::GroupTruth;
using Kind = Measurement::Kind;
using Noise = Measurement::Noise;

constexpr double kConfidence = 0.95;

/// Four digits, and in full what people would write in full.
std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  if (std::abs(value) >= 1e4 && std::abs(value) < 1e12)
    std::snprintf(text, sizeof text, "%.0f", std::strtod(text, nullptr));
  return text;
}

/// In the unit of the value, not of the lattice.
double in_units(const Measurement& m, double steps) {
  return std::ldexp(steps, m.exponent);
}

std::string contribution_text(const Measurement& m, const Bounds& b) {
  const auto count = [](std::uint64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::string text = count(b.groups_per_unit, "group") + " per unit";
  if (m.per_unit) return text;
  text += ", " + count(b.rows_per_group, "row") + " in each";
  if (Integer(b.groups_per_unit) * b.rows_per_group > b.rows_per_unit) {
    text += ", " + count(b.rows_per_unit, "row") + " in all";
  }
  return text;
}

MeasurementInfo info_of(const Measurement& m, const MeasurementDesign& d) {
  MeasurementInfo info{m.of,         "",
                       "",           short_text(100 * round_up(m.weight)) + " %",
                       std::nullopt, event_of(m, d.bounds)};
  if (m.noise == Noise::kChoice) {
    info.noise = "exponential mechanism, epsilon " + short_text(round_up(m.scale)) + " per row";
    info.sensitivity = contribution_text(m, d.bounds);
    return info;
  }
  const bool laplace = m.noise == Noise::kLaplace;
  info.noise = (laplace ? "discrete Laplace, scale " : "discrete Gaussian, sigma ") +
               short_text(in_units(m, round_up(m.scale)));
  info.sensitivity = (laplace ? "l1 " : "l2 ") + short_text(in_units(m, round_up(m.sensitivity))) +
                     ": " + contribution_text(m, d.bounds);
  info.half_width = in_units(m, radius(m, 1 - kConfidence));
  return info;
}

Event whole_event(const MeasurementDesign& design) {
  std::vector<Event> events = design.events();
  // All keys of a public domain and nothing else: the answer does not depend on rows.
  if (events.empty()) return {events::Pure{0}, Relation::kAddRemove};
  return {events::Composed{std::move(events)}, Relation::kAddRemove};
}

/// Whether every value is a candidate of its quantiles: whole numbers, one apart.
bool is_on_grid(const ValueColumn& column) {
  return column.integral && denominator(*column.lower) == 1 &&
         *column.upper - *column.lower < power_of_two(40);
}

const ValueColumn& column_of(const Measurement& m, const MeasurementDesign& design,
                             const Plan& plan) {
  return plan.values[design.cells[design.samples[m.source].cell].value];
}

/// The mechanism that every group runs by itself; `scale` is the epsilon of one record.
QuantileInterval quantile_of(std::size_t i, const MeasurementDesign& design, const Plan& plan) {
  const Measurement& m = design.measurements[i];
  const ValueColumn& column = column_of(m, design, plan);
  const Ratio upper = *column.upper > *column.lower
                          ? *column.upper
                          : Ratio(*column.lower + power_of_two(m.exponent));
  return QuantileInterval({.lower = *column.lower,
                           .upper = upper,
                           .epsilon = m.scale,
                           .relation = Relation::kAddRemove,
                           .probabilities = m.probabilities,
                           .granularity = is_on_grid(column) ? 1 : 0,
                           .confidence = quantile_confidence(plan, design, i)});
}

}  // namespace

struct SqlQuery::Parts {
  Options options;
  MeasurementDesign design;
  std::vector<MeasurementInfo> infos;
  std::vector<std::optional<QuantileInterval>> quantiles;  // one per measurement

  explicit Parts(Options o)
      : options(std::move(o)),
        design(design_measurements(options.plan, options.epsilon, options.delta)) {
    if (design.key_selection) {
      const Accuracy needed = design.key_selection->accuracy(kConfidence);
      infos.push_back({"keys", "private selection",
                       std::to_string(design.bounds.groups_per_unit) + " keys per unit; one of " +
                           short_text(needed.half_width) + " units is named with 95 %",
                       short_text(100 * round_up(design.key_weight)) + " %", std::nullopt,
                       design.key_selection->event()});
    }
    for (std::size_t i = 0; i < design.measurements.size(); ++i) {
      infos.push_back(info_of(design.measurements[i], design));
      quantiles.emplace_back();
      if (design.measurements[i].kind != Kind::kQuantile) continue;
      quantiles.back() = quantile_of(i, design, options.plan);
      infos.back().rank_error = quantiles.back()->accuracy(kConfidence).half_width;
    }
  }

  /// The groups to release, in the order of answers. Private keys are put into that order first, so that
  /// nothing depends on the order in which rows came.
  std::vector<std::uint32_t> choose_groups(GroupTruth& truth, const GroupIndex& index,
                                           Context& context) const {
    const unsigned threads = internal::thread_count(options.threads);
    const std::vector<std::uint32_t> order = index.in_order(threads);
    if (!design.key_selection) return order;
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    UnitKeys& units = truth.totals.unit_keys;
    const auto rank_and_sort = [&](std::size_t begin, std::size_t end) {
      for (std::size_t u = begin; u < end; ++u) {
        const std::span own(units.keys.data() + units.offsets[u],
                            units.offsets[u + 1] - units.offsets[u]);
        for (std::uint32_t& key : own) key = rank[key];
        std::sort(own.begin(), own.end());
      }
    };
    const std::size_t count = units.offsets.empty() ? 0 : units.offsets.size() - 1;
    internal::on_shares(threads, count, rank_and_sort);
    std::vector<std::uint32_t> kept = design.key_selection->run(units, context, threads).value;
    for (std::uint32_t& key : kept) key = order[key];
    return kept;
  }

  std::vector<std::int64_t> numbers(const Measurement& m, const GroupTruth& truth,
                                    std::span<const std::uint32_t> groups) const {
    std::vector<std::int64_t> result;
    result.reserve(groups.size());
    for (const std::uint32_t g : groups) {
      const WideInteger total = m.kind == Kind::kDistinct
                                    ? truth.distinct[m.source][g]
                                    : truth.totals.sums[g * truth.totals.measures + m.source];
      result.push_back(whole_number(total, m.shift));
    }
    return result;
  }

  std::vector<BracketedQuantile> choices(std::size_t i, const GroupTruth& truth,
                                         std::span<const std::uint32_t> groups,
                                         Context& context) const {
    const Measurement& m = design.measurements[i];
    // One price for all groups together: a unit is in few of them. Each group then pays from a meter
    // of its own.
    context.meter.charge(event_of(m, design.bounds));
    const GroupedValues& values = truth.totals.samples[m.source];
    std::vector<BracketedQuantile> result;
    for (const std::uint32_t g : groups) {
      const std::span own(values.values.data() + values.offsets[g],
                          values.offsets[g + 1] - values.offsets[g]);
      Meter meter(quantiles[i]->event());
      Context inner{meter, context.bits};
      const auto chosen = quantiles_of(i, own, inner);
      result.insert(result.end(), chosen.begin(), chosen.end());
    }
    return result;
  }

  /// Of one group's values, in steps of the cell. Those on the grid need no margin for rounding.
  std::vector<BracketedQuantile> quantiles_of(std::size_t i, std::span<const std::int64_t> steps,
                                              Context& context) const {
    const Measurement& m = design.measurements[i];
    const ValueColumn& column = column_of(m, design, options.plan);
    if (m.exponent == 0 && is_on_grid(column)) {
      const auto lower = numerator(*column.lower).convert_to<std::int64_t>();
      std::vector<GridCount> counts;
      for (const std::int64_t step : steps) counts.push_back({step - lower, 1});
      return quantiles[i]->run(std::span<const GridCount>(counts), context).value;
    }
    std::vector<double> values;
    for (const std::int64_t step : steps)
      values.push_back(std::ldexp(static_cast<double>(step), m.exponent));
    return quantiles[i]->run(std::span<const double>(values), context).value;
  }
};

SqlQuery::SqlQuery(Options options) : parts_(std::make_shared<const Parts>(std::move(options))) {}

Event SqlQuery::event() const {
  return whole_event(parts_->design);
}

const std::vector<MeasurementInfo>& SqlQuery::measurements() const {
  return parts_->infos;
}

std::vector<std::optional<double>> SqlQuery::expected_half_widths(std::uint64_t rows) const {
  Plan plan = parts_->options.plan;
  plan.having.reset();
  plan.order_by.clear();
  plan.limit.reset();
  plan.offset.reset();
  const MeasurementDesign& design = parts_->design;
  const Answer answer = make_answer(plan, design, assumed_group(plan, design, rows));
  std::vector<std::optional<double>> result;
  for (const Answer::Cell& cell : answer.rows.at(0)) result.push_back(cell.half_width);
  return result;
}

std::string SqlQuery::reason() const {
  return parts_->design.reason;
}

const Plan& SqlQuery::plan() const {
  return parts_->options.plan;
}

Release<Answer> SqlQuery::run(Source& source, Context& context) const {
  const Parts& p = *parts_;
  const Plan& plan = p.options.plan;
  // The whole price must be there before a row is read; each mechanism then charges its part.
  Meter(context.meter).charge(event());

  internal::Progress progress;
  if (context.watch != nullptr && context.watch->progress)
    progress = [&context](double done) { context.progress(done); };
  std::optional<GroupIndex> index;
  GroupTruth truth = read_mended([&] {
    index.emplace(plan);
    return plan.unit_is_row
               ? internal::read_sums(p.options, p.design, source, *index, progress)
               : internal::read_units(p.options, p.design, source, *index, context.bits, progress);
  });
  context.begins_to_draw();

  const std::vector<std::uint32_t> groups = p.choose_groups(truth, *index, context);
  ReleasedGroups released;
  for (const std::uint32_t g : groups) released.keys.push_back(index->key(g));
  for (std::size_t i = 0; i < p.design.measurements.size(); ++i) {
    const Measurement& m = p.design.measurements[i];
    released.numbers.emplace_back();
    released.quantiles.emplace_back();
    if (m.kind == Kind::kQuantile) {
      released.quantiles[i] = p.choices(i, truth, groups, context);
    } else {
      released.numbers[i] = release_sums(m, p.numbers(m, truth, groups), context);
    }
  }
  Accuracy accuracy{0, kConfidence, "each cell has its own half width"};
  for (const MeasurementInfo& info : p.infos) {
    accuracy.half_width = std::max(accuracy.half_width, info.half_width.value_or(0));
  }
  return {make_answer(plan, p.design, released), accuracy, event()};
}

}  // namespace gauze
