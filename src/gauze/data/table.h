#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/data/value.h"

namespace gauze {

class Source;

/// Values of one type, some of them null; immutable, cheap to copy. Values lie where they were made: in
/// vectors given here, or in the buffers of whoever exported them (arrow.h).
///
/// Booleans (0, 1), integers, dates (days) and timestamps (microseconds) are `integers()`; decimals and
/// doubles are `reals()`; texts are `codes()` into a `dictionary()`. What stands in the place of a null
/// means nothing.
class Column {
 public:
  Column() = default;

  /// `valid` holds one byte per row, 0 for null; empty when nothing is null. Each throws
  /// `kInvalidInput` when lengths, types or codes do not fit.
  static Column of_integers(Type type, std::vector<std::int64_t> values,
                            const std::vector<std::uint8_t>& valid = {});
  static Column of_reals(Type type, std::vector<double> values,
                         const std::vector<std::uint8_t>& valid = {});
  static Column of_texts(std::vector<std::int32_t> codes,
                         const std::vector<std::string>& dictionary,
                         const std::vector<std::uint8_t>& valid = {});
  /// The dictionary is made of the values, in order of appearance.
  static Column of_texts(const std::vector<std::string_view>& values,
                         const std::vector<std::uint8_t>& valid = {});
  /// Values of `type` or null.
  static Column of_values(Type type, const std::vector<Value>& values);

  Type type() const { return type_; }
  std::size_t size() const { return size_; }
  bool is_null(std::size_t row) const {
    return !bits_.empty() && (bits_[row / 8] >> (row % 8) & 1) == 0;
  }
  bool has_nulls() const { return !bits_.empty(); }
  std::span<const std::int64_t> integers() const { return integers_; }
  std::span<const double> reals() const { return reals_; }
  std::span<const std::int32_t> codes() const { return codes_; }
  std::span<const std::string_view> dictionary() const { return dictionary_; }
  std::string_view text(std::size_t row) const {
    return dictionary_[static_cast<std::size_t>(codes_[row])];
  }
  Value value(std::size_t row) const;

  /// The given rows, in that order; of a dictionary only what they use.
  Column take(std::span<const std::size_t> rows) const;

 private:
  friend class ArrowImporter;
  friend class ArrowExporter;

  Type type_ = Type::kInteger;
  std::size_t size_ = 0;
  std::span<const std::int64_t> integers_;
  std::span<const double> reals_;
  std::span<const std::int32_t> codes_;
  std::span<const std::string_view> dictionary_;
  std::span<const std::uint8_t>
      bits_;  // Arrow's validity: bit i of the whole, least first; empty: no null
  std::shared_ptr<const void> owner_;  // of everything the spans show
};

/// Columns of equal length, with names that SQL tells apart.
class Table {
 public:
  Table() = default;
  /// Throws `kInvalidInput` when lengths differ or a name comes twice.
  Table(std::vector<std::string> names, std::vector<Column> columns);

  std::size_t rows() const { return columns_.empty() ? 0 : columns_.front().size(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Column>& columns() const { return columns_; }
  /// Throws `kUnknownName`, naming the nearest.
  const Column& column(std::string_view name) const;

  Table take(std::span<const std::size_t> rows) const;

 private:
  std::vector<std::string> names_;
  std::vector<Column> columns_;
};

/// Throws `kUnknownName` where `read_table` would for want of a column, from schema and catalogue
/// alone.
void expect_columns(Source& source, const TableSchema& schema,
                    const std::vector<std::string>& columns);

/// The named columns of a table as its schema promises them: converted, clamped, mapped
/// (normalise.h). All declared columns when none is named. The order of rows means nothing.
/// `progress` hears how far it is, 1 at the end, and may throw to cancel. Throws `kUnknownName` and
/// what the source throws.
Table read_table(Source& source, const TableSchema& schema,
                 const std::vector<std::string>& columns = {},
                 const std::function<void(double done)>& progress = {});

/// Whether `write_table` can tell a format from the path: a name, then .csv, .json or .parquet.
bool is_table_name(std::string_view path);

/// Writes .csv, .json or .parquet, under another name first, so that a reader sees all or nothing.
/// Throws `kInvalidOption` for other endings and `kIo`, leaving nothing behind.
void write_table(const Table& table, const std::string& path);

}  // namespace gauze
