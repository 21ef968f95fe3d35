#include "gauze/data/bound.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "gauze/base/error.h"
#include "gauze/data/normalise.h"
#include "gauze/random/subsample.h"

namespace gauze {
namespace {

/// The rows of each unit, units in order of appearance; rows of nobody are left out.
std::vector<std::vector<std::size_t>> rows_by_unit(const Column& unit) {
  std::vector<std::vector<std::size_t>> rows;
  std::unordered_map<std::int64_t, std::size_t> seen;
  for (std::size_t row = 0; row < unit.size(); ++row) {
    if (unit.is_null(row)) continue;
    const std::int64_t id = unit.type() == Type::kText ? unit.codes()[row] : unit.integers()[row];
    const auto [at, added] = seen.emplace(id, rows.size());
    if (added) rows.emplace_back();
    rows[at->second].push_back(row);
  }
  return rows;
}

/// Two entries of a dictionary may hold the same text, and then they are one unit.
Column with_distinct_codes(const Column& texts) {
  std::vector<std::string_view> values(texts.size());
  std::vector<std::uint8_t> valid(texts.size(), 1);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    valid[row] = texts.is_null(row) ? 0 : 1;
    if (valid[row]) values[row] = texts.text(row);
  }
  return Column::of_texts(values, valid);
}

struct OwnedRow {
  std::size_t row;
  std::uint32_t unit;
};

std::vector<OwnedRow> chosen_rows(const Table& table, const TableBounds& bounds, BitSource& bits) {
  std::vector<OwnedRow> chosen;
  if (bounds.unit.get().empty()) {
    for (std::size_t row = 0; row < table.rows(); ++row) chosen.push_back({row, 0});
    return chosen;
  }
  const Column& column = table.column(bounds.unit.get());
  const Column unit = column.type() == Type::kText ? with_distinct_codes(column) : column;
  std::uint32_t owner = 0;
  for (const auto& rows : rows_by_unit(unit)) {
    if (rows.size() <= bounds.rows_per_unit) {
      for (const std::size_t row : rows) chosen.push_back({row, owner});
    } else {
      for (const std::uint64_t i : fixed_size_subsample(bits, rows.size(), bounds.rows_per_unit))
        chosen.push_back({rows[i], owner});
    }
    ++owner;
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const OwnedRow& a, const OwnedRow& b) { return a.row < b.row; });
  return chosen;
}

double real_of(const Value& value) {
  return nearest_double(exact(value));
}

std::int64_t integer_of(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
  if (const auto* date = std::get_if<Date>(&value)) return date->days;
  if (const auto* time = std::get_if<Timestamp>(&value)) return time->microseconds;
  return std::get<std::int64_t>(value);
}

/// Values after clipping, with the marks of those that are not null.
template <class T>
struct Clipped {
  std::vector<T> values;
  std::vector<std::uint8_t> valid;
};

/// Into the range or the categories; nulls as the schema wants them. `there` says whether a value
/// is one at all.
template <class T, class Read, class There>
Clipped<T> clip(const Column& column, const Domain& domain, std::span<const T> from, Read read,
                There there, T lower, T upper) {
  std::vector<T> categories;
  if (domain.categories)
    for (const Value& each : *domain.categories) categories.push_back(read(each));
  std::sort(categories.begin(), categories.end());
  const T substitute = std::clamp(read(null_substitute(domain)), lower, upper);
  Clipped<T> result{std::vector<T>(from.size()), std::vector<std::uint8_t>(from.size(), 1)};
  for (std::size_t row = 0; row < from.size(); ++row) {
    bool valid = !column.is_null(row) && there(from[row]);
    T value = valid ? std::clamp(from[row], lower, upper) : T{};
    if (valid && domain.categories &&
        !std::binary_search(categories.begin(), categories.end(), value)) {
      valid = domain.fallback.has_value();
      if (valid) value = read(*domain.fallback);
    }
    result.values[row] = valid ? value : substitute;
    result.valid[row] = valid || !domain.nullable ? 1 : 0;
  }
  return result;
}

Column clip_integers(const Column& column, const Domain& domain) {
  auto clipped = clip<std::int64_t>(
      column, domain, column.integers(), integer_of, [](std::int64_t) { return true; },
      domain.lower ? integer_of(*domain.lower) : INT64_MIN,
      domain.upper ? integer_of(*domain.upper) : INT64_MAX);
  return Column::of_integers(domain.type, std::move(clipped.values), clipped.valid);
}

Column clip_reals(const Column& column, const Domain& domain) {
  std::vector<double> converted;
  if (column.type() == Type::kInteger)
    for (const std::int64_t value : column.integers())
      converted.push_back(static_cast<double>(value));
  const auto from = converted.empty() ? column.reals() : std::span<const double>(converted);
  auto clipped = clip<double>(
      column, domain, from, real_of, [](double x) { return !std::isnan(x); },
      domain.lower ? round_up(exact(*domain.lower)) : -HUGE_VAL,
      domain.upper ? round_down(exact(*domain.upper)) : HUGE_VAL);
  return Column::of_reals(domain.type, std::move(clipped.values), clipped.valid);
}

/// Codes into the declared categories, or into the texts that are there.
Column clip_texts(const Column& column, const Domain& domain) {
  std::vector<std::string> dictionary;
  std::unordered_map<std::string_view, std::int32_t> code;
  if (domain.categories) {
    for (const Value& each : *domain.categories) dictionary.push_back(std::get<std::string>(each));
  } else {
    dictionary.assign(column.dictionary().begin(), column.dictionary().end());
  }
  const std::string substitute = to_text(null_substitute(domain));
  if (!domain.categories && !domain.nullable) dictionary.push_back(substitute);
  for (const std::string& each : dictionary)
    code.emplace(each, static_cast<std::int32_t>(code.size()));
  std::vector<std::string> distinct(code.size());
  for (const auto& [text, at] : code) distinct[static_cast<std::size_t>(at)] = text;
  std::vector<std::int32_t> codes(column.size());
  std::vector<std::uint8_t> valid(column.size(), 1);
  for (std::size_t row = 0; row < column.size(); ++row) {
    auto at = column.is_null(row) ? code.end() : code.find(column.text(row));
    if (at == code.end() && !column.is_null(row) && domain.fallback)
      at = code.find(std::get<std::string>(*domain.fallback));
    if (at == code.end() && !domain.nullable) at = code.find(substitute);
    valid[row] = at == code.end() ? 0 : 1;
    if (valid[row]) codes[row] = at->second;
  }
  return Column::of_texts(std::move(codes), distinct, valid);
}

Column clip(const Column& column, const ColumnSchema& schema) {
  const Domain& domain = schema.domain;
  const bool reals = domain.type == Type::kDouble || domain.type == Type::kDecimal;
  const bool fits = reals ? is_numeric(column.type()) : column.type() == domain.type;
  if (!fits)
    throw Error(ErrorCode::kInvalidInput,
                "column '" + schema.name + "' holds " + std::string(name(column.type())) +
                    ", its schema says " + std::string(name(domain.type)));
  if (reals) return clip_reals(column, domain);
  return domain.type == Type::kText ? clip_texts(column, domain) : clip_integers(column, domain);
}

}  // namespace

TableBounds bounds_of(const TableSchema& schema) {
  if (schema.unit.kind == UnitSchema::Kind::kRow) return {std::string(), 1u, schema.columns};
  if (schema.unit.kind != UnitSchema::Kind::kColumn)
    throw Error(ErrorCode::kUnboundedData,
                "the rows of table '" + schema.name +
                    "' have no unit of their own; ask in SQL, or use a table with a unit column");
  return {schema.unit.column, schema.rows_per_unit, schema.columns};
}

BoundedTable bound(const Table& rows, TableBounds bounds, BitSource& bits) {
  require(bounds.rows_per_unit >= 1, "rows_per_unit must be 1 or more");
  require(!bounds.unit.get().empty() || bounds.rows_per_unit == 1,
          "rows_per_unit must be 1 when every row is another unit");
  if (!bounds.unit.get().empty()) {
    const Type type = rows.column(bounds.unit.get()).type();
    if (type != Type::kInteger && type != Type::kText)
      throw Error(ErrorCode::kInvalidInput, "the unit column must hold integers or texts");
  }
  std::vector<std::string> names;
  for (const ColumnSchema& each : bounds.columns.get()) {
    rows.column(each.name);
    names.push_back(each.name);
  }
  std::vector<std::size_t> chosen;
  std::vector<std::uint32_t> units;
  for (const OwnedRow& each : chosen_rows(rows, bounds, bits)) {
    chosen.push_back(each.row);
    if (!bounds.unit.get().empty()) units.push_back(each.unit);
  }
  std::vector<Column> columns;
  for (const ColumnSchema& each : bounds.columns.get())
    columns.push_back(clip(rows.column(each.name).take(chosen), each));
  return BoundedTable(Table(std::move(names), std::move(columns)), std::move(units),
                      std::move(bounds));
}

}  // namespace gauze
