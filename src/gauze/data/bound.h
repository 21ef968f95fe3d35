#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gauze/base/required.h"
#include "gauze/data/schema.h"
#include "gauze/data/table.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// What no privacy unit and no value of a bounded table exceeds.
struct TableBounds {
  Required<std::string>
      unit;  ///< the column that says whose a row is; "": every row is another unit
  Required<std::uint64_t> rows_per_unit;        ///< >= 1; 1 when every row is another unit
  Required<std::vector<ColumnSchema>> columns;  ///< those that are kept, with their domains
};

/// From the schema of a private table whose unit is a row or a column. Throws `kUnboundedData` for
/// others: public rows need no bounds, and rows owned through another table need a join first.
TableBounds bounds_of(const TableSchema& schema);

/// A table in which no privacy unit holds more than `bounds().rows_per_unit` rows, every number
/// lies in its column's range, is not NaN, and every category in its column's domain. Only `bound`
/// makes one, so holding it is the proof. Columns stand in the order of `bounds().columns`;
/// dictionaries are the declared categories where there are any.
class BoundedTable {
 public:
  const Table& rows() const { return rows_; }
  /// The number of the unit that each row belongs to; empty where every row is another unit.
  std::span<const std::uint32_t> units() const { return units_; }
  const TableBounds& bounds() const { return bounds_; }

 private:
  friend BoundedTable bound(const Table& rows, TableBounds bounds, BitSource& bits);
  BoundedTable(Table rows, std::vector<std::uint32_t> units, TableBounds bounds)
      : rows_(std::move(rows)), units_(std::move(units)), bounds_(std::move(bounds)) {}

  Table rows_;
  std::vector<std::uint32_t> units_;
  TableBounds bounds_;
};

/// Clips, maps and drops until the bounds hold. Of a unit with too many rows every set of
/// `rows_per_unit` is equally likely; a row without a unit is dropped. Adding or removing a unit
/// changes at most `rows_per_unit` rows. Time and memory O(rows). Argument: bound.md. Throws
/// `kInvalidOption`, and `kUnknownName` and `kInvalidInput` when names or types are not those of
/// the bounds; none of them depends on rows.
BoundedTable bound(const Table& rows, TableBounds bounds, BitSource& bits);

}  // namespace gauze
