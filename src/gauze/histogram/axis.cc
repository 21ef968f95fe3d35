#include "gauze/histogram/axis.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

/// Truth values, whole numbers, days and microseconds, as they lie in tables.
std::int64_t whole(const Value& value) {
  if (const auto* x = std::get_if<bool>(&value)) return *x ? 1 : 0;
  if (const auto* x = std::get_if<Date>(&value)) return x->days;
  if (const auto* x = std::get_if<Timestamp>(&value)) return x->microseconds;
  if (const auto* x = std::get_if<std::int64_t>(&value)) return *x;
  throw Error(ErrorCode::kInvalidOption, "a value is of another type than its column");
}

double real(const Value& value) {
  if (const auto* x = std::get_if<Ratio>(&value)) return nearest_double(*x);
  if (const auto* x = std::get_if<double>(&value)) return *x;
  return static_cast<double>(whole(value));
}

/// Twice as many digits as a double has, as far as the machine keeps them.
long double wide(const Value& value) {
  const auto* exact = std::get_if<Ratio>(&value);
  if (exact == nullptr) return real(value);
  const double near = nearest_double(*exact);
  return static_cast<long double>(near) + nearest_double(Ratio(*exact - Ratio(near)));
}

Value of_type(Type type, std::int64_t whole) {
  if (type == Type::kBoolean) return whole != 0;
  if (type == Type::kDate) return Date{whole};
  if (type == Type::kTimestamp) return Timestamp{whole};
  return whole;
}

std::string shortly(const Value& value) {
  const auto* x = std::get_if<double>(&value);
  if (x == nullptr) return to_text(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", *x);
  return text;
}

}  // namespace

bool Axis::counts_whole() const {
  return type() != Type::kDecimal && type() != Type::kDouble;
}

Axis::Axis(const ColumnSchema& column, std::uint32_t cells, std::uint32_t most) : column_(column) {
  const Domain& domain = column_.domain;
  const std::string about = "column '" + column_.name + "': ";
  if (domain.categories) {
    cells_ = static_cast<std::uint32_t>(domain.categories->size());
    if (cells != 0 && cells != cells_)
      throw Error(ErrorCode::kInvalidOption, "cells: " + about + "has one cell for each of its " +
                                                 std::to_string(cells_) +
                                                 " categories; leave it out");
    return;
  }
  if (cells == 0 && domain.bins.size() >= 2) {
    bins_ = true;
    cells_ = static_cast<std::uint32_t>(domain.bins.size() - 1);
    return;
  }
  const bool boolean = type() == Type::kBoolean;
  if (!boolean && (!domain.lower || type() == Type::kText))
    throw Error(ErrorCode::kMissingKnowledge,
                about +
                    "the schema has neither range nor categories; add \"lower\": ..., "
                    "\"upper\": ..., or \"categories\": [...]");
  if (counts_whole()) {
    first_ = boolean ? 0 : whole(*domain.lower);
    const std::int64_t last = boolean ? 1 : whole(*domain.upper);
    // At most 2^64 - 1 values: the schema's whole ranges are narrower than all 64 bits.
    values_ = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first_) + 1;
    if (values_ == 0) values_ = UINT64_MAX;
    cells_ =
        cells != 0 ? cells : static_cast<std::uint32_t>(std::min<std::uint64_t>(values_, most));
    if (cells_ > values_)
      throw Error(ErrorCode::kInvalidOption, "cells: " + about + "has only " +
                                                 std::to_string(values_) +
                                                 " values; ask for at most so many cells");
  } else {
    low_ = wide(*domain.lower);
    high_ = wide(*domain.upper);
    cells_ = cells != 0 ? cells : most;
    doubt_ = static_cast<double>((std::fabs(low_) / 2 + std::fabs(high_) / 2) /
                                 (high_ / 2 - low_ / 2) * cells_ * 0x1p-49L);
  }
  if (cells_ > 1u << 31)
    throw Error(ErrorCode::kInvalidOption, "cells: " + about + "can have at most 2^31");
}

bool Axis::is_before(const Value& a, const Value& b) const {
  return counts_whole() ? whole(a) < whole(b) : real(a) < real(b);
}

int Axis::side(const Value& value) const {
  if (!is_ordered() || type() == Type::kBoolean) return 0;
  const Domain& domain = column_.domain;
  if (is_before(value, bins_ ? domain.bins.front() : *domain.lower)) return -1;
  return is_before(bins_ ? domain.bins.back() : *domain.upper, value) ? 1 : 0;
}

std::uint32_t Axis::index(const Value& value) const {
  if (std::holds_alternative<std::monostate>(value)) return kNoCell;
  if (!is_ordered()) {
    const auto& all = *column_.domain.categories;
    const auto found = std::find(all.begin(), all.end(), value);
    return found == all.end() ? kNoCell : static_cast<std::uint32_t>(found - all.begin());
  }
  if (bins_) {
    const auto& edges = column_.domain.bins;
    const auto after =
        std::upper_bound(edges.begin() + 1, edges.end() - 1, value,
                         [&](const Value& a, const Value& b) { return is_before(a, b); });
    return static_cast<std::uint32_t>(after - edges.begin() - 1);
  }
  if (counts_whole()) {
    const std::int64_t x = whole(value);
    if (x <= first_) return 0;
    const std::uint64_t offset = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(first_);
    if (offset >= values_) return cells_ - 1;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>(Wide{offset} * cells_ / values_);
  }
  const double x = real(value);
  const auto low = static_cast<double>(low_), high = static_cast<double>(high_);
  const double place = (x / 2 - low / 2) / (high / 2 - low / 2) * cells_;
  if (!(place > 0)) return 0;
  auto cell = static_cast<std::uint32_t>(std::min(place, double(cells_ - 1)));
  // Beside an edge the edge decides, as it is printed.
  if (place - cell <= doubt_ && cell > 0 && x < real_edge(cell)) return cell - 1;
  if (cell + 1 - place <= doubt_ && cell + 1 < cells_ && x >= real_edge(cell + 1)) return cell + 1;
  return cell;
}

std::vector<std::uint32_t> Axis::indices(const Column& values) const {
  std::vector<std::uint32_t> result(values.size());
  if (!values.codes().empty()) {
    std::vector<std::uint32_t> of_code;
    for (const std::string_view text : values.dictionary())
      of_code.push_back(index(Value(std::string(text))));
    for (std::size_t row = 0; row < values.size(); ++row)
      result[row] =
          values.is_null(row) ? kNoCell : of_code[static_cast<std::size_t>(values.codes()[row])];
    return result;
  }
  // Whole numbers and reals go straight from the column's buffer; the rest value by value.
  const bool direct = is_ordered() && !bins_;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (values.is_null(row))
      result[row] = kNoCell;
    else if (direct && !values.integers().empty())
      result[row] = index(of_type(type(), values.integers()[row]));
    else if (direct && !values.reals().empty())
      result[row] = index(values.reals()[row]);
    else
      result[row] = index(values.value(row));
  }
  return result;
}

Value Axis::edge(std::uint32_t cell) const {
  if (bins_) return column_.domain.bins[cell];
  if (counts_whole()) {
    // The smallest offset with offset * cells / values >= cell.
    __extension__ using Wide = unsigned __int128;
    const Wide offset = (Wide{cell} * values_ + cells_ - 1) / cells_;
    return of_type(type() == Type::kBoolean ? Type::kInteger : type(),
                   static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) +
                                             static_cast<std::uint64_t>(offset)));
  }
  return real_edge(cell);
}

double Axis::real_edge(std::uint32_t cell) const {
  return static_cast<double>((low_ * (cells_ - cell) + high_ * cell) / cells_);
}

std::string Axis::label(std::uint32_t begin, std::uint32_t end) const {
  if (!is_ordered()) {
    const std::string first = to_text(category(begin));
    return end - begin == 1 ? first : first + " to " + to_text(category(end - 1));
  }
  if (type() == Type::kBoolean)
    return end - begin == cells_ ? "any" : begin == 0 ? "false" : "true";
  const Value from = edge(begin);
  if (!bins_ && counts_whole() && type() != Type::kTimestamp) {
    const Value last = of_type(type(), whole(edge(end)) - 1);
    return from == last ? to_text(from) : to_text(from) + " to " + to_text(last);
  }
  return shortly(from) + " to " + (end == cells_ ? "" : "below ") + shortly(edge(end));
}

}  // namespace gauze
