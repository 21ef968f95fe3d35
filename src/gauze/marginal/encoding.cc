#include "gauze/marginal/encoding.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

std::int64_t whole(const Value& value) {
  if (const auto* x = std::get_if<Date>(&value)) return x->days;
  if (const auto* x = std::get_if<Timestamp>(&value)) return x->microseconds;
  return std::get<std::int64_t>(value);
}

Value of_type(Type type, std::int64_t whole) {
  if (type == Type::kDate) return Date{whole};
  if (type == Type::kTimestamp) return Timestamp{whole};
  return whole;
}

double real(const Value& value) {
  if (const auto* x = std::get_if<Ratio>(&value)) return nearest_double(*x);
  if (const auto* x = std::get_if<std::int64_t>(&value)) return static_cast<double>(*x);
  return std::get<double>(value);
}

/// Whole values from `first` on, before `end` or, if it is the last cell, up to it.
std::int64_t whole_between(std::int64_t first, std::int64_t end, bool with_end, BitSource& bits) {
  const std::uint64_t count =
      static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(first) + (with_end ? 1 : 0);
  const std::uint64_t offset = count == 0 ? bits.next() : uniform_below(bits, count);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + offset);
}

/// A number of [low, high) with few digits, or of [low, high] if the interval is so narrow that none is.
double real_between(double low, double high, BitSource& bits) {
  const double u = static_cast<double>(bits.next() >> 11) * 0x1p-53;
  const double drawn = low * (1 - u) + high * u;
  const double digits = std::ceil(3 - std::log10(high / 2 - low / 2) - std::log10(2.0));
  double shown = drawn;
  if (digits >= 0 && digits <= 15) {
    const double power = std::pow(10, digits);
    shown = std::nearbyint(drawn * power) / power;
  } else if (digits < 0 && digits >= -15) {
    const double power = std::pow(10, -digits);
    shown = std::nearbyint(drawn / power) * power;
  }
  if (shown >= low && shown < high) return shown;
  return drawn >= low && drawn < high ? drawn : low;
}

}  // namespace

ColumnEncoding::ColumnEncoding(const ColumnSchema& column, std::uint32_t bins)
    : column_(column), axis_(column, 0, std::max(bins, 1u)), nulls_(column.domain.nullable) {
  require(bins >= 1 && bins <= 1u << 20, "bins: must be from 1 to 2^20");
}

const char* ColumnEncoding::by() const {
  const Domain& domain = column_.domain;
  if (domain.categories) return "categories";
  if (domain.bins.size() >= 2) return "bins";
  if (type() == Type::kDouble || type() == Type::kDecimal) return "equal";
  if (type() == Type::kBoolean) return "values";
  const auto values = static_cast<std::uint64_t>(whole(*domain.upper)) -
                      static_cast<std::uint64_t>(whole(*domain.lower));
  return values == axis_.cells() - 1 ? "values" : "equal";
}

std::string ColumnEncoding::label(std::uint32_t code) const {
  return code < axis_.cells() ? axis_.label(code, code + 1) : "null";
}

std::vector<std::uint32_t> ColumnEncoding::encoded(const Column& values) const {
  std::vector<std::uint32_t> codes = axis_.indices(values);
  const std::uint32_t null = nulls_ ? axis_.cells() : 0;
  for (std::uint32_t& code : codes) code = code == Axis::kNoCell ? null : code;
  return codes;
}

Value ColumnEncoding::decoded(std::uint32_t code, BitSource& bits) const {
  require(code < cells(), "code: must be below the number of cells of its column");
  if (code == axis_.cells()) return {};
  return inside(code, bits);
}

Value ColumnEncoding::inside(std::uint32_t cell, BitSource& bits) const {
  if (!axis_.is_ordered()) return axis_.category(cell);
  if (type() == Type::kBoolean) {
    // Of a single cell for both values either may be drawn.
    return axis_.cells() == 1 ? (bits.next() & 1) != 0 : cell == 1;
  }
  const Value low = axis_.edge(cell), high = axis_.edge(cell + 1);
  const bool bins = column_.domain.bins.size() >= 2;
  if (type() == Type::kDecimal || type() == Type::kDouble)
    return real_between(real(low), real(high), bits);
  return of_type(type(),
                 whole_between(whole(low), whole(high), bins && cell + 1 == axis_.cells(), bits));
}

Shape Encoding::domain() const {
  Shape shape;
  for (const ColumnEncoding& column : columns) shape.extents.push_back(column.cells());
  return shape;
}

CodedRows Encoding::encoded(const Table& table) const {
  CodedRows rows{domain(), {}};
  for (std::size_t i = 0; i < columns.size(); ++i)
    rows.columns.push_back(columns[i].encoded(table.columns()[i]));
  return rows;
}

}  // namespace gauze
