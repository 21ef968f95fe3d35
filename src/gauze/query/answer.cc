#include "gauze/query/answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gauze/numeric/infinity.h"
#include "gauze/sql/evaluate.h"

namespace gauze {
namespace {

using Function = Aggregate::Function;
constexpr double kBeta = 0.05;

/// A number and an interval around it.
struct Span {
  double value, low, high;

  /// Where all of the interval lies beyond an end, it is one of the few that miss: it keeps its length, and looks no more certain.
  Span clamped(double least, double most) const {
    const double beyond = high < least ? least - value : low > most ? most - value : 0;
    return {std::clamp(value, least, most), std::clamp(low + beyond, least, most),
            std::clamp(high + beyond, least, most)};
  }
};

Span operator+(const Span& a, double b) {
  return {a.value + b, a.low + b, a.high + b};
}
Span operator-(const Span& a, const Span& b) {
  return {a.value - b.value, a.low - b.high, a.high - b.low};
}

/// The hull of f over the four corners, for f monotone in each argument.
template <class F>
Span corners(const Span& a, const Span& b, F f) {
  const auto [low, high] =
      std::minmax({f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)});
  return {f(a.value, b.value), low, high};
}
Span operator*(const Span& a, const Span& b) {
  return corners(a, b, [](double x, double y) { return x * y; });
}
/// b is positive.
Span operator/(const Span& a, const Span& b) {
  return corners(a, b, [](double x, double y) { return x / y; });
}
Span square(const Span& a) {
  const double low = a.low * a.low;
  const double high = a.high * a.high;
  return {a.value * a.value, a.low <= 0 && a.high >= 0 ? 0 : std::min(low, high),
          std::max(low, high)};
}
Span root(const Span& a) {
  return {std::sqrt(a.value), std::sqrt(a.low), std::sqrt(a.high)};
}

double middle(const CellSpec& cell) {
  return std::ldexp(static_cast<double>(cell.lower + (cell.upper - cell.lower) / 2), cell.exponent);
}
double reach(const CellSpec& cell) {
  const std::int64_t centre = cell.lower + (cell.upper - cell.lower) / 2;
  return std::ldexp(static_cast<double>(std::max(cell.upper - centre, centre - cell.lower)),
                    cell.exponent);
}
double width(const CellSpec& cell) {
  return std::ldexp(static_cast<double>(cell.upper) - static_cast<double>(cell.lower),
                    cell.exponent);
}
/// Of the range, without what rounding may add.
double least(const CellSpec& cell) {
  return std::ldexp(static_cast<double>(cell.lower + cell.margin), cell.exponent);
}
double most(const CellSpec& cell) {
  return std::ldexp(static_cast<double>(cell.upper - cell.margin), cell.exponent);
}

/// Released numbers of one group as real numbers.
class Numbers {
 public:
  Numbers(const Formula& f, const MeasurementDesign& d, const ReleasedGroups& r, std::size_t group,
          const std::vector<double>& radii)
      : f_(f), d_(d), r_(r), group_(group), radii_(radii) {}

  Span real(std::size_t i) const {
    const int exponent = d_.measurements[i].exponent;
    const double x = std::ldexp(static_cast<double>(r_.numbers[i][group_]), exponent);
    const double radius = std::ldexp(radii_[i], exponent);
    return {x, x - radius, x + radius};
  }

  /// A count is a whole number and not negative: both bring the released one nearer to the true one.
  Span count(double least = 0) const {
    const Span x = real(*f_.count);
    const double value = std::max(least, std::round(x.value));
    const double radius = std::floor(x.high - x.value + 0.5);
    return {value, std::max(least, value - radius), value + radius};
  }

  /// sum / n, of rows that each lie within `bound`.
  Span mean(std::size_t sum, double bound, double least) const {
    return (real(sum) / count(std::max(1.0, least))).clamped(-bound, bound);
  }

  Span variance(std::size_t sum, std::size_t squares, std::int64_t offset, const CellSpec& cell,
                double least) const {
    const double h = reach(cell);
    const Span first = mean(sum, h, least);
    const double centre = std::ldexp(static_cast<double>(offset), 2 * cell.exponent);
    const Span second = (real(squares) / count(std::max(1.0, least)) + centre).clamped(0, h * h);
    return (second - square(first)).clamped(0, width(cell) * width(cell) / 4);
  }

  Span covariance(double least) const {
    const double hx = reach(f_.cell);
    const double hy = reach(f_.cell2);
    const double most = width(f_.cell) * width(f_.cell2) / 4;
    return (mean(*f_.product, hx * hy, least) -
            mean(*f_.sum, hx, least) * mean(*f_.sum2, hy, least))
        .clamped(-most, most);
  }

  /// n / (n - 1), which turns a variance of all into that of a sample of at least two.
  Span correction() const {
    const Span n = count(2);
    return {n.value / (n.value - 1), n.high / (n.high - 1), n.low / (n.low - 1)};
  }

 private:
  const Formula& f_;
  const MeasurementDesign& d_;
  const ReleasedGroups& r_;
  std::size_t group_;
  const std::vector<double>& radii_;
};

Span sum_span(const Formula& f, const Numbers& numbers) {
  Span s = numbers.real(*f.sum);
  if (f.count) {
    const double centre = middle(f.cell);
    const Span n = numbers.count();
    const Span shift = n * Span{centre, centre, centre};
    s = {s.value + shift.value, s.low + shift.low, s.high + shift.high};
  }
  // Nearer to the truth without leaving the side on which every sum lies.
  if (least(f.cell) >= 0 && s.value < 0) s = s + -s.value;
  if (most(f.cell) <= 0 && s.value > 0) s = s + -s.value;
  return s;
}

Span average(const Formula& f, const Numbers& numbers) {
  const double a = least(f.cell), b = most(f.cell);
  const Span s = (numbers.mean(*f.sum, reach(f.cell), 1) + middle(f.cell)).clamped(a, b);
  // Where it may be anything the middle errs least.
  return s.low <= a && s.high >= b ? Span{a + (b - a) / 2, a, b} : s;
}

Span correlation(const Formula& f, const Numbers& numbers) {
  const Span x = numbers.variance(*f.sum, *f.square, f.offset, f.cell, 2);
  const Span y = numbers.variance(*f.sum2, *f.square2, f.offset2, f.cell2, 2);
  const Span scale = root(x * y);
  const Span covariance = numbers.covariance(2);
  if (scale.value <= 0) return {0, -1, 1};
  if (scale.low <= 0) {
    return Span{covariance.value / scale.value, -1, 1}.clamped(-1, 1);
  }
  return (covariance / scale).clamped(-1, 1);
}

Span aggregate_span(const Formula& f, const Numbers& numbers) {
  switch (f.function) {
    case Function::kSum:
      return sum_span(f, numbers);
    case Function::kAverage:
      return average(f, numbers);
    case Function::kVariancePopulation:
      return numbers.variance(*f.sum, *f.square, f.offset, f.cell, 1);
    case Function::kVarianceSample:
      return numbers.variance(*f.sum, *f.square, f.offset, f.cell, 2) * numbers.correction();
    case Function::kStddevPopulation:
      return root(numbers.variance(*f.sum, *f.square, f.offset, f.cell, 1));
    case Function::kStddevSample:
      return root(numbers.variance(*f.sum, *f.square, f.offset, f.cell, 2) * numbers.correction());
    case Function::kCovariancePopulation:
      return numbers.covariance(1);
    case Function::kCovarianceSample:
      return numbers.covariance(2) * numbers.correction();
    case Function::kCorrelation:
      return correlation(f, numbers);
    default:
      return numbers.count();
  }
}

bool is_count(Function function) {
  return function <= Function::kCountUnits;
}

/// Inputs [keys..., aggregates...] an expression reads.
void inputs_of(const Expression& expression, std::set<std::size_t>& inputs) {
  if (expression.kind == Expression::Kind::kColumn) inputs.insert(expression.column);
  for (const Expression& argument : expression.arguments) inputs_of(argument, inputs);
}

/// The aggregates and measurements an expression needs.
struct Needs {
  std::vector<std::size_t> aggregates;
  std::set<std::size_t> sums, quantiles;
  std::size_t intervals = 0;  // that must all hold at once: one per sum and per quantile

  double beta() const { return kBeta / static_cast<double>(std::max<std::size_t>(1, intervals)); }
};

Needs needs_of(const Expression& expression, const Plan& plan, const MeasurementDesign& design) {
  Needs needs;
  std::set<std::size_t> inputs;
  inputs_of(expression, inputs);
  for (const std::size_t input : inputs) {
    if (input < plan.keys.size()) continue;
    needs.aggregates.push_back(input - plan.keys.size());
    const Formula& formula = design.formulas[needs.aggregates.back()];
    if (formula.quantile) {
      needs.quantiles.insert(*formula.quantile);
      ++needs.intervals;
    } else {
      for (const std::size_t part : formula.parts()) needs.sums.insert(part);
    }
  }
  needs.intervals += needs.sums.size();
  return needs;
}

/// Which aggregates an expression needs, and how far each measurement may be off so that all of them
/// together are with 95 %.
struct Reading {
  const Expression* expression;
  std::vector<std::size_t> aggregates;
  std::vector<double> radii;
  bool has_quantile;
};

class Assembler {
 public:
  Assembler(const Plan& plan, const MeasurementDesign& design, const ReleasedGroups& released)
      : plan_(plan), d_(design), r_(released) {}

  Answer assemble() {
    Answer answer;
    std::vector<Reading> columns;
    for (const OutputColumn& output : plan_.outputs) {
      answer.columns.push_back({output.name, output.type, output.is_key});
      columns.push_back(reading(output.expression));
    }
    std::optional<Reading> having;
    if (plan_.having) having = reading(*plan_.having);
    std::vector<Reading> order;
    for (const OrderBy& by : plan_.order_by) order.push_back(reading(by.expression));

    std::vector<Sorted> rows;
    for (std::size_t g = 0; g < r_.keys.size(); ++g) {
      if (having && value_of(*having, g).value != Value(true)) continue;
      Sorted row;
      for (const Reading& by : order) row.by.push_back(value_of(by, g).value);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        row.cells.push_back(cell(plan_.outputs[i], columns[i], value_of(columns[i], g)));
      }
      rows.push_back(std::move(row));
    }
    sort(rows);
    const std::size_t from = std::min<std::uint64_t>(rows.size(), plan_.offset.value_or(0));
    const std::size_t count =
        std::min<std::uint64_t>(rows.size() - from, plan_.limit.value_or(UINT64_MAX));
    for (std::size_t i = from; i < from + count; ++i) {
      answer.rows.push_back(std::move(rows[i].cells));
    }
    return answer;
  }

 private:
  struct Sorted {
    std::vector<Value> by;
    std::vector<Answer::Cell> cells;
  };

  Reading reading(const Expression& expression) {
    const Needs needs = needs_of(expression, plan_, d_);
    Reading result{&expression, needs.aggregates,
                   std::vector<double>(d_.measurements.size(), kInfinity),
                   !needs.quantiles.empty()};
    for (const std::size_t part : needs.sums) {
      result.radii[part] = cached_radius(part, needs.beta());
    }
    return result;
  }

  double cached_radius(std::size_t part, double beta) {
    const auto [it, fresh] = radii_.try_emplace({part, beta}, 0);
    if (fresh) it->second = radius(d_.measurements[part], beta);
    return it->second;
  }

  Estimate value_of(const Reading& reading, std::size_t group) const {
    std::vector<Estimate> inputs(plan_.keys.size() + plan_.aggregates.size());
    for (std::size_t k = 0; k < plan_.keys.size(); ++k) inputs[k] = certain(r_.keys[group][k]);
    for (const std::size_t a : reading.aggregates) {
      Estimate& input = inputs[plan_.keys.size() + a];
      input = estimate(d_.formulas[a], d_, r_, group, reading.radii);
      if (const auto& arguments = plan_.aggregates[a].arguments; d_.formulas[a].quantile)
        input.value = in_kind(plan_.values[arguments[0]].type, std::get<double>(input.value));
    }
    if (reading.expression->kind == Expression::Kind::kColumn) {
      return inputs[reading.expression->column];
    }
    return evaluate(*reading.expression, inputs);
  }

  /// Dates and times are released as days and microseconds.
  static Value in_kind(Type type, double value) {
    return type == Type::kDate || type == Type::kTimestamp ? typed(type, value, value) : value;
  }

  static Answer::Cell cell(const OutputColumn& output, const Reading& reading, const Estimate& e) {
    const auto number = number_of(e.value);
    if (output.is_key || !number || std::holds_alternative<bool>(e.value))
      return {e.value, std::nullopt};
    const double value = *number;
    double half = std::max(value - e.lower, e.upper - value);
    // Around the whole number that is shown, half a step from the value or less. What is made of counts and sums of whole numbers
    // is whole without noise, and two whole numbers are a whole number apart; a quantile may lie between two.
    if (output.type == Type::kInteger && fits(value))
      half = reading.has_quantile ? half + std::abs(std::round(value) - value)
                                  : std::floor(half + 0.5);
    // At an end of 64 bits the answer is no longer near the value, and what may be null is near to none.
    const bool near = !e.unsettled && (output.type == Type::kDouble || fits(value));
    return {typed(output.type, value, e.value), near && !std::isnan(half) ? half : kInfinity};
  }

  static bool fits(double value) { return std::abs(value) < 0x1p63; }

  static Value typed(Type type, double value, const Value& exact) {
    const auto whole = [&] {
      if (const auto* already = std::get_if<std::int64_t>(&exact)) return *already;
      if (fits(value)) return static_cast<std::int64_t>(std::round(value));
      return value < 0 ? INT64_MIN : INT64_MAX;
    };
    switch (type) {
      case Type::kInteger:
        return whole();
      case Type::kDate:
        return Date{whole()};
      case Type::kTimestamp:
        return Timestamp{whole()};
      default:
        return value;
    }
  }

  void sort(std::vector<Sorted>& rows) const {
    if (plan_.order_by.empty()) return;
    std::stable_sort(rows.begin(), rows.end(), [&](const Sorted& a, const Sorted& b) {
      for (std::size_t i = 0; i < plan_.order_by.size(); ++i) {
        const OrderBy& by = plan_.order_by[i];
        const bool null_a = std::holds_alternative<std::monostate>(a.by[i]);
        const bool null_b = std::holds_alternative<std::monostate>(b.by[i]);
        if (null_a != null_b) return null_a == by.nulls_first;
        if (null_a) continue;
        if (sorts_before(a.by[i], b.by[i])) return !by.descending;
        if (sorts_before(b.by[i], a.by[i])) return by.descending;
      }
      return false;
    });
  }

  const Plan& plan_;
  const MeasurementDesign& d_;
  const ReleasedGroups& r_;
  std::map<std::pair<std::size_t, double>, double> radii_;
};

}  // namespace

Estimate estimate(const Formula& f, const MeasurementDesign& design, const ReleasedGroups& released,
                  std::size_t group, const std::vector<double>& radii) {
  if (f.quantile) {
    const std::size_t count = design.measurements[*f.quantile].probabilities.size();
    const BracketedQuantile& q = released.quantiles[*f.quantile][group * count + f.probability];
    return {q.value, q.lower, q.upper};
  }
  const Span s = aggregate_span(f, Numbers(f, design, released, group, radii));
  if (is_count(f.function) && std::abs(s.value) < 0x1p62) {
    return {static_cast<std::int64_t>(s.value), s.value - (s.high - s.value), s.high};
  }
  return {s.value, s.low, s.high};
}

double quantile_confidence(const Plan& plan, const MeasurementDesign& design,
                           std::size_t measurement) {
  double beta = kBeta;
  for (const OutputColumn& output : plan.outputs) {
    const Needs needs = needs_of(output.expression, plan, design);
    if (needs.quantiles.contains(measurement)) beta = std::min(beta, needs.beta());
  }
  return 1 - beta;
}

ReleasedGroups assumed_group(const Plan& plan, const MeasurementDesign& design,
                             std::uint64_t rows) {
  const auto n = static_cast<double>(rows);
  ReleasedGroups group{
      .keys = {std::vector<Value>(plan.keys.size())}, .numbers = {}, .quantiles = {}};
  for (const Measurement& m : design.measurements) {
    group.numbers.push_back({0});  // centred sums and products are
    group.quantiles.emplace_back(m.probabilities.size(),
                                 BracketedQuantile{0, -kInfinity, kInfinity});
  }
  const auto assume = [&](const std::optional<std::size_t>& part, double value) {
    if (!part) return;
    const double steps = std::round(std::ldexp(value, -design.measurements[*part].exponent));
    group.numbers[*part][0] = static_cast<std::int64_t>(std::clamp(steps, -0x1p62, 0x1p62));
  };
  const auto squares = [&](const CellSpec& cell, std::int64_t offset) {
    const double spread = width(cell) / 4;
    return n * (spread * spread - std::ldexp(static_cast<double>(offset), 2 * cell.exponent));
  };
  for (const Formula& f : design.formulas) {
    assume(f.count, n);
    assume(f.square, squares(f.cell, f.offset));
    assume(f.square2, squares(f.cell2, f.offset2));
    if (f.function == Function::kSum && !f.count) assume(f.sum, n * middle(f.cell));
  }
  return group;
}

Answer make_answer(const Plan& plan, const MeasurementDesign& design,
                   const ReleasedGroups& released) {
  return Assembler(plan, design, released).assemble();
}

}  // namespace gauze
