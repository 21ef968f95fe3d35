#include "gauze/histogram/cell_condition.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "gauze/base/error.h"
#include "gauze/sql/parse.h"

namespace gauze {
namespace {

using Truths = std::vector<bool>;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::kInvalidOption, "where: " + why);
}
[[noreturn]] void unsupported() {
  throw Error(ErrorCode::kUnsupported,
              "where: a condition compares a column with a value (= <> < <= > >=, BETWEEN, IN), "
              "joined by AND, OR, NOT; dates stand in quotes: day < '2024-03-01'");
}

bool is_whole(const Axis& axis) {
  return axis.type() != Type::kDouble && axis.type() != Type::kDecimal;
}

/// A place on an ordered axis. 64 bits are exact in it.
long double place(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return static_cast<long double>(*whole);
  if (const auto* ratio = std::get_if<Ratio>(&value)) return ratio->convert_to<long double>();
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* date = std::get_if<Date>(&value)) return static_cast<long double>(date->days);
  if (const auto* time = std::get_if<Timestamp>(&value))
    return static_cast<long double>(time->microseconds);
  unsupported();
}

/// The value of a constant, of the type of the axis' column.
Value constant(const Expression& written, const Axis& axis) {
  if (written.kind == Expression::Kind::kCall && written.arguments.size() == 1) {
    const Value inner = constant(written.arguments[0], axis);
    if (written.function.starts_with("to_")) return inner;
    if (written.function == "negate") {
      if (const auto* whole = std::get_if<std::int64_t>(&inner)) return -*whole;
      if (const auto* ratio = std::get_if<Ratio>(&inner)) return Ratio(-*ratio);
      if (const auto* real = std::get_if<double>(&inner)) return -*real;
    }
  }
  if (written.kind != Expression::Kind::kLiteral) unsupported();
  const bool number = axis.type() == Type::kInteger || !is_whole(axis);
  const auto* text = std::get_if<std::string>(&written.literal);
  if (text != nullptr && axis.type() == Type::kDate) return parse_date(*text);
  if (text != nullptr && axis.type() == Type::kTimestamp) return parse_timestamp(*text);
  const bool fits = axis.type() == Type::kText      ? text != nullptr
                    : axis.type() == Type::kBoolean ? std::holds_alternative<bool>(written.literal)
                    : number ? text == nullptr && !std::holds_alternative<bool>(written.literal) &&
                                   !std::holds_alternative<std::monostate>(written.literal)
                             : false;
  if (!fits)
    refuse("column '" + axis.column() + "' is of type " + std::string(name(axis.type())) +
           " and is compared with something else");
  return written.literal;
}

/// The cells whose values all lie below the limit, or up to it; refuses a limit inside of a cell. In whole
/// numbers "up to" is below the next. Reals know edges as well as doubles do.
Truths below(const Axis& axis, const Value& limit, bool included) {
  const std::uint32_t cells = axis.cells();
  const bool whole = is_whole(axis);
  // The last cell of reals and of bins includes its end.
  const bool closed = axis.type() != Type::kBoolean && axis.side(axis.edge(cells)) == 0;
  const long double near = whole ? 0 : 1e-12L * (place(axis.edge(cells)) - place(axis.edge(0)));
  long double at = place(limit);
  if (whole) at = included ? std::floor(at) + 1 : std::ceil(at);
  Truths result(cells, false);
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    const long double from = place(axis.edge(cell));
    long double to = place(axis.edge(cell + 1));
    if (to <= from) to = 0x1p63L;  // after the last of 64 bits
    if (closed && whole && cell + 1 == cells) to += 1;
    const bool at_end = std::abs(at - to) <= near;
    const bool all = at > to + near || (at_end && (included || whole || cell + 1 < cells));
    // A real at the edge itself lies in the cell that begins there.
    const bool none = at < from - near || (std::abs(at - from) <= near && (whole || !included));
    if (!all && !none)
      refuse("column '" + axis.column() + "' is compared with a value inside of a cell, " +
             axis.label(cell, cell + 1) +
             (whole ? "; compare with the end of a cell, or have more --cells"
                    : "; compare by < or >= with where a cell begins, or have more --cells"));
    result[cell] = all;
  }
  return result;
}

Truths equal(const Axis& axis, const Value& value) {
  Truths result(axis.cells(), false);
  if (!axis.is_ordered()) {
    const std::uint32_t cell = axis.index(value);
    if (cell == Axis::kNoCell)
      refuse("'" + to_text(value).substr(0, 100) + "' is no category of '" + axis.column() + "'");
    result[cell] = true;
    return result;
  }
  if (!is_whole(axis))
    refuse("column '" + axis.column() + "' holds real numbers; compare by < and >=");
  const Truths before = below(axis, value, false);
  const Truths until = below(axis, value, true);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = until[i] && !before[i];
  return result;
}

Truths negated(Truths truths) {
  truths.flip();
  return truths;
}

/// A condition on the cells of several axes: true or false by the cell's place on each.
using Condition = std::function<bool(const std::vector<std::uint32_t>&)>;

Condition on_axis(std::size_t axis, Truths truths) {
  return [axis, truths = std::move(truths)](const auto& cell) { return truths[cell[axis]]; };
}

Truths compared(const Axis& axis, const std::string& by, const Value& value) {
  if (by == "=") return equal(axis, value);
  if (by == "<>") return negated(equal(axis, value));
  if (!axis.is_ordered()) refuse("the categories of '" + axis.column() + "' have no order");
  if (by == "<") return below(axis, value, false);
  if (by == "<=") return below(axis, value, true);
  if (by == ">") return negated(below(axis, value, true));
  if (by == ">=") return negated(below(axis, value, false));
  unsupported();
}

Condition comparison(const std::vector<Axis>& axes, const Expression& written) {
  const auto& sides = written.arguments;
  const bool turned = sides.size() == 2 && sides[0].kind != Expression::Kind::kColumn;
  const Expression& column = sides[turned ? 1 : 0];
  if (column.kind != Expression::Kind::kColumn || sides.size() < 2) unsupported();
  const Axis& axis = axes[column.column];
  if (written.function == "in") {
    Truths any(axis.cells(), false);
    for (std::size_t i = 1; i < sides.size(); ++i) {
      const Truths each = equal(axis, constant(sides[i], axis));
      std::transform(any.begin(), any.end(), each.begin(), any.begin(), std::logical_or<>());
    }
    return on_axis(column.column, std::move(any));
  }
  std::string by = written.function;
  if (turned && by[0] == '<' && by != "<>")
    by[0] = '>';
  else if (turned && by[0] == '>')
    by[0] = '<';
  return on_axis(column.column, compared(axis, by, constant(sides[turned ? 0 : 1], axis)));
}

Condition condition_of(const std::vector<Axis>& axes, const Expression& written) {
  if (written.kind == Expression::Kind::kColumn && axes[written.column].type() == Type::kBoolean)
    return on_axis(written.column, equal(axes[written.column], true));
  if (written.kind != Expression::Kind::kCall) unsupported();
  const std::string& name = written.function;
  if (name != "and" && name != "or" && name != "not") return comparison(axes, written);
  std::vector<Condition> parts;
  for (const Expression& each : written.arguments) parts.push_back(condition_of(axes, each));
  if (name == "not") return [part = parts[0]](const auto& cell) { return !part(cell); };
  return [parts, all = name == "and"](const auto& cell) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Condition& part) { return part(cell) != all; }) != all;
  };
}

}  // namespace

std::vector<double> cells_where(const std::vector<Axis>& axes, std::string_view condition) {
  std::vector<std::string> names;
  double cells = 1;
  for (const Axis& axis : axes) {
    names.push_back(axis.column());
    cells *= axis.cells();
  }
  if (cells > 0x1p24) refuse("is for at most 2^24 cells; have fewer with --cells");
  const Condition holds = condition_of(axes, parse_condition(condition, names));
  std::vector<double> weights(static_cast<std::size_t>(cells));
  std::vector<std::uint32_t> place_of(axes.size(), 0);
  for (double& weight : weights) {
    weight = holds(place_of) ? 1 : 0;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      if (++place_of[axis] < axes[axis].cells()) break;
      place_of[axis] = 0;
    }
  }
  return weights;
}

}  // namespace gauze
