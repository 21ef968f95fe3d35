#include "gauze/query/measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gauze/base/error.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/mechanism/discrete_gaussian.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/numeric/lattice.h"

namespace gauze {
namespace {

using Function = Aggregate::Function;

// Bits of a value in steps: products of two must fit 64 bits in any engine.
constexpr int kSumBits = 40;
constexpr int kProductBits = 30;
// Where the source adds up doubles: 2^25 rows of a group fit the 53 bits that are exact.
constexpr int kPushedBits = 28;
// Bits of what a row adds to a release: 2^39 rows still fit 64 bits.
constexpr int kReleaseBits = 24;
// Powers of ten beyond which sums leave the doubles, and at either end products of two variances, which a
// correlation needs.
constexpr int kFarthestSummed = 290;
constexpr int kFarthestSquared = 75;
constexpr std::uint64_t kMostGroups = std::uint64_t{1} << 26;

bool multiplies(Function function) {
  return function >= Function::kVarianceSample && function <= Function::kCorrelation;
}

bool is_spread(Function function) {
  return function >= Function::kVarianceSample && function <= Function::kStddevPopulation;
}

Integer absolute(const Integer& x) {
  return x < 0 ? Integer(-x) : x;
}

int bit_length(const Integer& x) {
  return x <= 0 ? 0 : static_cast<int>(msb(x)) + 1;
}

/// Finds or makes cells, measures and measurements for one plan.
class Builder {
 public:
  explicit Builder(const Plan& plan) : plan_(plan) {
    d_.groups = group_count();
    Bounds bounds = plan.unit_is_row ? Bounds{1, 1, 1} : plan.bounds;
    if (d_.groups != 0) bounds.groups_per_unit = std::min(bounds.groups_per_unit, d_.groups);
    d_.bounds = tightened(bounds);
  }

  MeasurementDesign build() {
    for (const Aggregate& aggregate : plan_.aggregates) d_.formulas.push_back(formula(aggregate));
    collect_quantiles();
    set_weights();
    return std::move(d_);
  }

 private:
  std::uint64_t group_count() const {
    std::uint64_t count = 1;
    for (const KeyColumn& key : plan_.keys) {
      if (!key.domain) return 0;
      if (key.domain->size() > kMostGroups / std::max<std::uint64_t>(count, 1)) {
        throw Error(ErrorCode::kUnsupported,
                    "the answer would have more than 67,108,864 groups: group by fewer or coarser "
                    "columns, or declare fewer categories");
      }
      count *= std::max<std::size_t>(1, key.domain->size());
    }
    return count;
  }

  bool is_multiplied(std::size_t value) const {
    return std::any_of(plan_.aggregates.begin(), plan_.aggregates.end(), [&](const Aggregate& a) {
      return multiplies(a.function) &&
             std::find(a.arguments.begin(), a.arguments.end(), value) != a.arguments.end();
    });
  }

  bool is_averaged(std::size_t value) const {
    return std::any_of(plan_.aggregates.begin(), plan_.aggregates.end(), [&](const Aggregate& a) {
      return (a.function == Function::kAverage || is_spread(a.function)) && a.arguments[0] == value;
    });
  }

  std::uint32_t add_cell(const CellSpec& cell) {
    const auto found = std::find(d_.cells.begin(), d_.cells.end(), cell);
    if (found != d_.cells.end()) return static_cast<std::uint32_t>(found - d_.cells.begin());
    if (d_.cells.size() == 32) {
      throw Error(ErrorCode::kUnsupported,
                  "at most 32 different values can be aggregated at once; ask in two questions");
    }
    d_.cells.push_back(cell);
    return static_cast<std::uint32_t>(d_.cells.size() - 1);
  }

  std::uint32_t identity_cell(std::size_t value) {
    return add_cell({value, true, 0, std::numeric_limits<std::int64_t>::min(),
                     std::numeric_limits<std::int64_t>::max()});
  }

  std::uint32_t step_cell(std::size_t value) {
    const ValueColumn& column = plan_.values[value];
    if (!column.lower || !column.upper) {
      throw Error(ErrorCode::kMissingKnowledge,
                  "the range of " + column.text +
                      " is not known; add \"lower\" and \"upper\" to its columns in the schema");
    }
    const Ratio largest = std::max(abs(*column.lower), abs(*column.upper));
    const bool pushed = plan_.unit_is_row && !column.integral;
    const int bits = is_multiplied(value) ? kProductBits : pushed ? kPushedBits : kSumBits;
    int exponent = column.integral || largest == 0 ? 0 : -1000;
    if (largest > 0) exponent = std::max(exponent, floor_log2(largest) + 1 - bits);
    const Ratio step = power_of_two(exponent);
    // One step more on each side: arithmetic in doubles may leave the range by an ulp.
    const std::int64_t margin = column.integral ? 0 : 1;
    return add_cell({value, false, exponent, saturate(floor(Ratio(*column.lower / step)) - margin),
                     saturate(ceil(Ratio(*column.upper / step)) + margin), margin});
  }

  /// A cell that is null where the value is.
  std::uint32_t any_cell(std::size_t value) {
    return plan_.values[value].lower ? step_cell(value) : identity_cell(value);
  }

  std::uint32_t present(std::uint32_t cell) const {
    return plan_.values[d_.cells[cell].value].nullable ? std::uint32_t{1} << cell : 0;
  }

  std::string text(std::uint32_t cell) const { return plan_.values[d_.cells[cell].value].text; }

  static std::int64_t centre(const CellSpec& cell) {
    return cell.lower + (cell.upper - cell.lower) / 2;
  }
  static Integer reach(const CellSpec& cell) {
    return std::max<Integer>(Integer(cell.upper) - centre(cell),
                             Integer(centre(cell)) - cell.lower);
  }

  std::string centred_text(std::uint32_t cell) const {
    const CellSpec& c = d_.cells[cell];
    const Ratio middle = Ratio(Integer(centre(c))) * power_of_two(c.exponent);
    if (middle == 0) return text(cell);
    std::string result = "(";
    result += text(cell) + (middle > 0 ? " - " : " + ");
    return result + middle_text(middle > 0 ? middle : Ratio(-middle)) + ")";
  }
  static std::string middle_text(const Ratio& value) { return to_text(Value(round_up(value))); }

  std::size_t measure(const Measure& measure, const std::string& of, const Integer& row_bound,
                      int exponent) {
    const auto found = std::find(d_.measures.begin(), d_.measures.end(), measure);
    const auto index = static_cast<std::size_t>(found - d_.measures.begin());
    for (std::size_t i = 0; i < d_.measurements.size(); ++i) {
      const Measurement& m = d_.measurements[i];
      if (m.kind == Measurement::Kind::kSum && m.source == index) return i;
    }
    d_.measures.push_back(measure);
    Measurement m;
    m.of = of;
    m.source = index;
    m.shift = std::max(0, bit_length(row_bound) - kReleaseBits);
    m.exponent = exponent + m.shift;
    // A multiple of 2^shift: then rounding a total moves no further than the total's own bound.
    m.row_bound = std::max<Integer>(1, ceil(Ratio(Ratio(row_bound) / power_of_two(m.shift))))
                      .convert_to<std::uint64_t>();
    m.per_unit = measure.units;
    d_.measurements.push_back(std::move(m));
    return d_.measurements.size() - 1;
  }

  std::size_t count(std::uint32_t mask, const std::string& of) {
    return measure({mask, {}, 0, false}, mask == 0 ? "COUNT(*)" : of, 1, 0);
  }

  std::size_t centred_sum(std::uint32_t cell, std::uint32_t mask) {
    const CellSpec& c = d_.cells[cell];
    return measure({mask, {{cell, centre(c)}}, 0, false}, "sum of " + centred_text(cell), reach(c),
                   c.exponent);
  }

  std::size_t centred_square(std::uint32_t cell, std::uint32_t mask, std::int64_t& offset) {
    const CellSpec& c = d_.cells[cell];
    const Integer square = reach(c) * reach(c);
    offset = Integer(square / 2).convert_to<std::int64_t>();
    return measure({mask, {{cell, centre(c)}, {cell, centre(c)}}, offset, false},
                   "sum of " + centred_text(cell) + "^2, centred", Integer(square - offset),
                   2 * c.exponent);
  }

  std::size_t sample(std::uint32_t cell, bool distinct) {
    const Sample wanted{cell, distinct};
    const auto found = std::find(d_.samples.begin(), d_.samples.end(), wanted);
    const auto index = static_cast<std::size_t>(found - d_.samples.begin());
    if (found == d_.samples.end()) d_.samples.push_back(wanted);
    const auto kind = distinct ? Measurement::Kind::kDistinct : Measurement::Kind::kQuantile;
    for (std::size_t i = 0; i < d_.measurements.size(); ++i) {
      if (d_.measurements[i].kind == kind && d_.measurements[i].source == index) return i;
    }
    Measurement m;
    m.kind = kind;
    m.of = (distinct ? "different values of " : "quantile of ") + text(cell);
    m.source = index;
    if (!distinct) m.exponent = d_.cells[cell].exponent;
    d_.measurements.push_back(std::move(m));
    return d_.measurements.size() - 1;
  }

  Formula formula(const Aggregate& a) {
    Formula f;
    f.function = a.function;
    switch (a.function) {
      case Function::kCountRows:
        f.count = count(0, "");
        return f;
      case Function::kCount:
        f.count = count(present(any_cell(a.arguments[0])), "COUNT(" + value_text(a) + ")");
        return f;
      case Function::kCountUnits:
        // With one row per unit and group both counts are the same.
        f.count = d_.bounds.rows_per_group == 1
                      ? count(0, "")
                      : measure({0, {}, 0, true}, "COUNT(DISTINCT unit)", 1, 0);
        return f;
      case Function::kCountDistinct:
        f.count = sample(identity_cell(a.arguments[0]), true);
        return f;
      case Function::kSum:
        return sum(a, f);
      case Function::kQuantile: {
        const std::uint32_t cell = step_cell(a.arguments[0]);
        f.quantile = sample(cell, false);
        f.cell = d_.cells[cell];
        return f;
      }
      default:
        return moments(a, f);
    }
  }

  std::string value_text(const Aggregate& a) const { return plan_.values[a.arguments[0]].text; }

  Formula sum(const Aggregate& a, Formula f) {
    const std::uint32_t cell = step_cell(a.arguments[0]);
    expect_doubles(a, false);
    f.cell = d_.cells[cell];
    if (is_averaged(a.arguments[0])) {
      f.count = count(present(cell), "COUNT(" + text(cell) + ")");
      f.sum = centred_sum(cell, present(cell));
      return f;
    }
    const Integer largest = std::max(absolute(f.cell.lower), absolute(f.cell.upper));
    f.sum = measure({present(cell), {{cell, 0}}, 0, false}, "SUM(" + text(cell) + ")", largest,
                    f.cell.exponent);
    return f;
  }

  /// Answers are computed in doubles: so are sums, and with `squares` products of variances.
  void expect_doubles(const Aggregate& a, bool squares) const {
    const Ratio most = pow(Integer(10), squares ? kFarthestSquared : kFarthestSummed);
    const std::string ends = std::to_string(squares ? kFarthestSquared : kFarthestSummed);
    const std::string what = squares ? "squares" : "sums";
    for (const std::size_t value : a.arguments) {
      const ValueColumn& column = plan_.values[value];
      const Ratio largest = std::max(abs(*column.lower), abs(*column.upper));
      const std::string range = a.text + ": the range of " + column.text;
      if (largest > most)
        throw Error(ErrorCode::kUnsupported,
                    range + " reaches beyond 1e" + ends + ", where " + what +
                        " are too large to compute with; declare a narrower range in the schema, "
                        "or divide it by a constant");
      if (squares && largest > 0 && largest * most < 1)
        throw Error(ErrorCode::kUnsupported,
                    range + " lies within 1e-" + ends + " of 0, where " + what +
                        " are too small to compute with; multiply it by a constant");
    }
  }

  Formula moments(const Aggregate& a, Formula f) {
    const std::uint32_t x = step_cell(a.arguments[0]);
    f.cell = d_.cells[x];
    const bool pair = a.arguments.size() == 2;
    const std::uint32_t y = pair ? step_cell(a.arguments[1]) : x;
    expect_doubles(a, multiplies(a.function));
    f.cell2 = d_.cells[y];
    const std::uint32_t mask = present(x) | present(y);
    f.count =
        count(mask, pair ? "COUNT(" + text(x) + ", " + text(y) + ")" : "COUNT(" + text(x) + ")");
    f.sum = centred_sum(x, mask);
    if (is_spread(a.function) || a.function == Function::kCorrelation) {
      f.square = centred_square(x, mask, f.offset);
    }
    if (!pair) return f;
    f.sum2 = centred_sum(y, mask);
    if (a.function == Function::kCorrelation) f.square2 = centred_square(y, mask, f.offset2);
    f.product =
        measure({mask, {{x, centre(f.cell)}, {y, centre(f.cell2)}}, 0, false},
                "sum of " + centred_text(x) + centred_text(y),
                Integer(reach(f.cell) * reach(f.cell2)), f.cell.exponent + f.cell2.exponent);
    return f;
  }

  /// All quantiles of one value are one measurement.
  void collect_quantiles() {
    for (std::size_t i = 0; i < d_.formulas.size(); ++i) {
      if (!d_.formulas[i].quantile) continue;
      auto& all = d_.measurements[*d_.formulas[i].quantile].probabilities;
      all.push_back(plan_.aggregates[i].probability);
    }
    for (Measurement& m : d_.measurements) {
      std::sort(m.probabilities.begin(), m.probabilities.end());
      m.probabilities.erase(std::unique(m.probabilities.begin(), m.probabilities.end()),
                            m.probabilities.end());
    }
    for (std::size_t i = 0; i < d_.formulas.size(); ++i) {
      if (!d_.formulas[i].quantile) continue;
      const auto& all = d_.measurements[*d_.formulas[i].quantile].probabilities;
      d_.formulas[i].probability = static_cast<std::size_t>(
          std::find(all.begin(), all.end(), plan_.aggregates[i].probability) - all.begin());
    }
  }

  void set_weights() {
    std::vector<Ratio> weights(d_.measurements.size(), Ratio(0));
    std::vector<bool> asked(weights.size());
    for (const Formula& f : d_.formulas) {
      if (f.parts().size() != 1) continue;
      asked[f.parts()[0]] = true;
      if (f.quantile) {
        weights[f.parts()[0]] += 1;
      } else {
        weights[f.parts()[0]] = 1;
      }
    }
    for (const Formula& f : d_.formulas) {
      if (f.parts().size() == 1) continue;
      std::vector<std::size_t> open;
      for (const std::size_t part : f.parts()) {
        if (!asked[part]) open.push_back(part);
      }
      for (const std::size_t part : open) {
        const Ratio share(1, static_cast<long>(open.size()));
        // A count serves many means at once; it needs no more for that.
        weights[part] =
            part == f.count ? std::max(weights[part], share) : Ratio(weights[part] + share);
      }
    }
    Ratio total = d_.groups == 0 ? 1 : 0;
    for (const Ratio& weight : weights) total += weight;
    if (d_.groups == 0) d_.key_weight = 1 / total;
    for (std::size_t i = 0; i < weights.size(); ++i) d_.measurements[i].weight = weights[i] / total;
  }

  const Plan& plan_;
  MeasurementDesign d_;
};

}  // namespace

std::vector<std::size_t> Formula::parts() const {
  std::vector<std::size_t> result;
  for (const auto& part : {count, sum, sum2, square, square2, product, quantile}) {
    if (part && std::find(result.begin(), result.end(), *part) == result.end()) {
      result.push_back(*part);
    }
  }
  return result;
}

MeasurementDesign derive_measurements(const Plan& plan) {
  return Builder(plan).build();
}

std::int64_t whole_number(WideInteger total, int shift) {
  const WideInteger most = std::numeric_limits<std::int64_t>::max();
  const WideInteger least = std::numeric_limits<std::int64_t>::min();
  if (shift > 0) total = ((total >> (shift - 1)) + 1) >> 1;
  if (shift < 0) total = std::clamp(total, least, most) * (WideInteger{1} << -shift);
  return static_cast<std::int64_t>(std::clamp(total, least, most));
}

double radius(const Measurement& m, double beta) {
  switch (m.noise) {
    case Measurement::Noise::kLaplace:
      return discrete_laplace_radius(m.scale, beta);
    case Measurement::Noise::kGaussian:
      return discrete_gaussian_radius(m.scale, beta);
    case Measurement::Noise::kChoice:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

namespace {

DiscreteLaplace laplace_of(const Measurement& m) {
  return DiscreteLaplace(
      {.l1_sensitivity = numerator(m.sensitivity).convert_to<std::uint64_t>(), .scale = m.scale});
}

DiscreteGaussian gaussian_of(const Measurement& m) {
  return DiscreteGaussian({.l2_sensitivity = m.sensitivity, .sigma = m.scale, .moved = m.moved});
}

}  // namespace

std::vector<std::int64_t> release_sums(const Measurement& m, std::span<const std::int64_t> truth,
                                       Context& context) {
  return m.noise == Measurement::Noise::kLaplace ? laplace_of(m).run(truth, context).value
                                                 : gaussian_of(m).run(truth, context).value;
}

Event event_of(const Measurement& m, const Bounds& bounds) {
  if (m.noise == Measurement::Noise::kLaplace) return laplace_of(m).event();
  if (m.noise == Measurement::Noise::kGaussian) return gaussian_of(m).event();
  // Quantiles of c records of a unit, epsilon e per record, are a choice of bounded range c e; choices add
  // their ranges. If all of a unit's groups can be full, or it all can be in one, that is the worst
  // (measurement.md); in between only the sum of all is known to cover every case.
  const std::uint64_t choices = 3 * m.probabilities.size();  // as QuantileInterval makes them
  const Bounds b = tightened(bounds);
  const Ratio rows(Integer(b.rows_per_unit));
  const Ratio in_group(Integer(b.rows_per_group));
  const Ratio per_choice = m.scale / Ratio(Integer(choices));
  if (b.rows_per_unit == b.rows_per_group) {
    return {events::Exponential{rows * per_choice}, Relation::kAddRemove, choices};
  }
  if (Integer(b.rows_per_unit) == Integer(b.groups_per_unit) * b.rows_per_group) {
    return {events::Exponential{in_group * per_choice}, Relation::kAddRemove,
            choices * b.groups_per_unit};
  }
  return {events::Pure{rows * m.scale}, Relation::kAddRemove};
}

std::vector<Event> MeasurementDesign::events() const {
  std::vector<Event> all;
  if (key_selection) all.push_back(key_selection->event());
  for (const Measurement& m : measurements) all.push_back(event_of(m, bounds));
  return all;
}

}  // namespace gauze
