#include "gauze/data/table.h"

#include <algorithm>
#include <unordered_map>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/normalise.h"
#include "gauze/data/source.h"

namespace gauze {
namespace {

[[noreturn]] void reject(const char* message) {
  throw Error(ErrorCode::kInvalidInput, message);
}

bool holds_integers(Type type) {
  return type == Type::kBoolean || type == Type::kInteger || type == Type::kDate ||
         type == Type::kTimestamp;
}

/// One bit per row; empty when all are valid.
std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& valid, std::size_t rows) {
  if (valid.empty()) return {};
  if (valid.size() != rows) reject("a column needs one mark of validity for each row");
  std::vector<std::uint8_t> bits((rows + 7) / 8);
  bool nulls = false;
  for (std::size_t i = 0; i < rows; ++i) {
    nulls |= valid[i] == 0;
    if (valid[i]) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1u << (i % 8));
  }
  return nulls ? bits : std::vector<std::uint8_t>();
}

/// What a column made here points to.
struct Storage {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::int32_t> codes;
  std::vector<std::string> texts;
  std::vector<std::string_view> dictionary;
  std::vector<std::uint8_t> bits;
};

}  // namespace

Column Column::of_integers(Type type, std::vector<std::int64_t> values,
                           const std::vector<std::uint8_t>& valid) {
  if (!holds_integers(type)) reject("a column of this type does not hold integers");
  auto storage = std::make_shared<Storage>();
  storage->bits = packed(valid, values.size());
  storage->integers = std::move(values);
  Column column;
  column.type_ = type;
  column.size_ = storage->integers.size();
  column.integers_ = storage->integers;
  column.bits_ = storage->bits;
  column.owner_ = std::move(storage);
  return column;
}

Column Column::of_reals(Type type, std::vector<double> values,
                        const std::vector<std::uint8_t>& valid) {
  if (type != Type::kDouble && type != Type::kDecimal)
    reject("a column of this type does not hold real numbers");
  auto storage = std::make_shared<Storage>();
  storage->bits = packed(valid, values.size());
  storage->reals = std::move(values);
  Column column;
  column.type_ = type;
  column.size_ = storage->reals.size();
  column.reals_ = storage->reals;
  column.bits_ = storage->bits;
  column.owner_ = std::move(storage);
  return column;
}

Column Column::of_texts(std::vector<std::int32_t> codes, const std::vector<std::string>& dictionary,
                        const std::vector<std::uint8_t>& valid) {
  auto storage = std::make_shared<Storage>();
  storage->bits = packed(valid, codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const bool null = !valid.empty() && !valid[i];
    if (!null && (codes[i] < 0 || static_cast<std::size_t>(codes[i]) >= dictionary.size()))
      reject("a text's code lies outside its dictionary");
  }
  storage->codes = std::move(codes);
  storage->texts = dictionary;
  storage->dictionary.assign(storage->texts.begin(), storage->texts.end());
  Column column;
  column.type_ = Type::kText;
  column.size_ = storage->codes.size();
  column.codes_ = storage->codes;
  column.dictionary_ = storage->dictionary;
  column.bits_ = storage->bits;
  column.owner_ = std::move(storage);
  return column;
}

Column Column::of_texts(const std::vector<std::string_view>& values,
                        const std::vector<std::uint8_t>& valid) {
  std::unordered_map<std::string_view, std::int32_t> seen;
  std::vector<std::string> dictionary;
  std::vector<std::int32_t> codes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!valid.empty() && !valid[i]) continue;
    const auto [at, added] = seen.emplace(values[i], static_cast<std::int32_t>(dictionary.size()));
    if (added) dictionary.emplace_back(values[i]);
    codes[i] = at->second;
  }
  return of_texts(std::move(codes), dictionary, valid);
}

Column Column::of_values(Type type, const std::vector<Value>& values) {
  std::vector<std::uint8_t> valid(values.size(), 1);
  std::vector<std::int64_t> integers(values.size());
  std::vector<double> reals(values.size());
  std::vector<std::string_view> texts(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    if (std::holds_alternative<std::monostate>(value))
      valid[i] = 0;
    else if (const auto* boolean = std::get_if<bool>(&value))
      integers[i] = *boolean;
    else if (const auto* integer = std::get_if<std::int64_t>(&value))
      integers[i] = *integer, reals[i] = static_cast<double>(*integer);
    else if (const auto* date = std::get_if<Date>(&value))
      integers[i] = date->days;
    else if (const auto* time = std::get_if<Timestamp>(&value))
      integers[i] = time->microseconds;
    else if (const auto* ratio = std::get_if<Ratio>(&value))
      reals[i] = nearest_double(*ratio);
    else if (const auto* real = std::get_if<double>(&value))
      reals[i] = *real;
    else
      texts[i] = std::get<std::string>(value);
  }
  if (type == Type::kText) return of_texts(texts, valid);
  return holds_integers(type) ? of_integers(type, std::move(integers), valid)
                              : of_reals(type, std::move(reals), valid);
}

Value Column::value(std::size_t row) const {
  if (is_null(row)) return {};
  switch (type_) {
    case Type::kBoolean:
      return integers_[row] != 0;
    case Type::kInteger:
      return integers_[row];
    case Type::kDate:
      return Date{integers_[row]};
    case Type::kTimestamp:
      return Timestamp{integers_[row]};
    case Type::kDecimal:
    case Type::kDouble:
      return reals_[row];
    case Type::kText:
      return std::string(text(row));
  }
  return {};
}

Column Column::take(std::span<const std::size_t> rows) const {
  std::vector<std::uint8_t> valid;
  if (has_nulls())
    for (const std::size_t row : rows) valid.push_back(is_null(row) ? 0 : 1);
  if (type_ == Type::kText) {
    std::vector<std::string_view> texts;
    for (const std::size_t row : rows)
      texts.push_back(is_null(row) ? std::string_view() : text(row));
    return of_texts(texts, valid);
  }
  if (holds_integers(type_)) {
    std::vector<std::int64_t> values;
    for (const std::size_t row : rows) values.push_back(integers_[row]);
    return of_integers(type_, std::move(values), valid);
  }
  std::vector<double> values;
  for (const std::size_t row : rows) values.push_back(reals_[row]);
  return of_reals(type_, std::move(values), valid);
}

Table::Table(std::vector<std::string> names, std::vector<Column> columns)
    : names_(std::move(names)), columns_(std::move(columns)) {
  if (names_.size() != columns_.size()) reject("a table needs a name for each column");
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (columns_[i].size() != columns_[0].size()) reject("the columns of a table differ in length");
    for (std::size_t j = 0; j < i; ++j)
      if (same_name(names_[i], names_[j])) reject("two columns of a table have the same name");
  }
}

const Column& Table::column(std::string_view name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (same_name(names_[i], name)) return columns_[i];
  throw Error(ErrorCode::kUnknownName, "the table has no column '" +
                                           std::string(name.substr(0, 60)) + "'" +
                                           did_you_mean(name, names_));
}

Table Table::take(std::span<const std::size_t> rows) const {
  std::vector<Column> taken;
  for (const Column& each : columns_) taken.push_back(each.take(rows));
  return Table(names_, std::move(taken));
}

namespace {

/// A column that grows batch by batch.
struct Growing {
  Type type;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::int32_t> codes;
  std::vector<std::string> dictionary;
  std::unordered_map<std::string, std::int32_t> seen;
  std::vector<std::uint8_t> valid;
  bool nulls = false;

  void append(const BatchColumn& column, std::size_t rows) {
    integers.insert(integers.end(), column.integers.begin(), column.integers.end());
    reals.insert(reals.end(), column.reals.begin(), column.reals.end());
    for (const std::string_view text : column.texts) {
      const auto [at, added] =
          seen.emplace(std::string(text), static_cast<std::int32_t>(dictionary.size()));
      if (added) dictionary.emplace_back(text);
      codes.push_back(at->second);
    }
    nulls |= !column.valid.empty();
    if (column.valid.empty())
      valid.resize(valid.size() + rows, 1);
    else
      valid.insert(valid.end(), column.valid.begin(), column.valid.end());
  }
  Column finish() {
    if (!nulls) valid.clear();
    if (type == Type::kText) return Column::of_texts(std::move(codes), dictionary, valid);
    if (holds_integers(type)) return Column::of_integers(type, std::move(integers), valid);
    return Column::of_reals(type, std::move(reals), valid);
  }
};

/// One column of the SELECT: normalised, and cast to what a batch carries. Ids are never moved: two
/// people would become one unit.
std::string carried(const Dialect& dialect, const ColumnSchema& column,
                    const std::vector<ColumnInfo>& infos, const TableSchema& table) {
  std::vector<std::string> names;
  for (const ColumnInfo& info : infos) {
    if (!same_name(info.name, column.name)) {
      names.push_back(info.name);
      continue;
    }
    const std::string raw = dialect.identifier(info.name);
    if (same_name(table.unit.column, column.name)) return identified(dialect, column, info, raw);
    const std::string value = normalised(dialect, column, info, raw);
    return holds_integers(column.domain.type)
               ? dialect.convert(value, column.domain.type, Type::kInteger)
               : value;
  }
  throw Error(ErrorCode::kUnknownName, "the data of table '" + table.name + "' has no column '" +
                                           column.name + "'" + did_you_mean(column.name, names));
}

/// The SELECT of these columns, and their types.
struct Selected {
  std::string sql;
  std::vector<Type> types;
};

Selected selected(Source& source, const TableSchema& schema,
                  const std::vector<std::string>& names) {
  const auto infos = source.columns(schema.name);
  Selected result;
  for (const std::string& name : names) {
    const ColumnSchema* column = schema.find(name);
    if (!column)
      throw Error(ErrorCode::kUnknownName, "the schema of table '" + schema.name +
                                               "' has no column '" + name.substr(0, 60) + "'");
    result.sql +=
        (result.sql.empty() ? "SELECT " : ", ") + carried(source.dialect(), *column, infos, schema);
    result.types.push_back(column->domain.type);
  }
  result.sql += " FROM " + source.table_sql(schema.name);
  return result;
}

}  // namespace

void expect_columns(Source& source, const TableSchema& schema,
                    const std::vector<std::string>& columns) {
  selected(source, schema, columns);
}

Table read_table(Source& source, const TableSchema& schema, const std::vector<std::string>& columns,
                 const std::function<void(double done)>& progress) {
  std::vector<std::string> names = columns;
  if (names.empty())
    for (const ColumnSchema& each : schema.columns) names.push_back(each.name);
  const Selected select = selected(source, schema, names);
  std::vector<Growing> growing = read_mended([&] {
    std::vector<Growing> read(select.types.size());
    for (std::size_t i = 0; i < select.types.size(); ++i) read[i].type = select.types[i];
    const auto stream = source.execute(select.sql);
    for (Batch batch; stream->next(batch);) {
      for (std::size_t i = 0; i < read.size(); ++i) read[i].append(batch.columns[i], batch.rows);
      if (progress) progress(stream->progress());
    }
    return read;
  });
  if (progress) progress(1);
  std::vector<Column> finished;
  for (Growing& each : growing) finished.push_back(each.finish());
  return Table(std::move(names), std::move(finished));
}

}  // namespace gauze
