#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/data/table.h"
#include "gauze/histogram/axis.h"
#include "gauze/marginal/coded_rows.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// How the values of a column become codes and codes values again, by the schema alone.
///
/// The codes are the cells of an axis, in order: categories, truth values, declared bins, single whole
/// numbers and days where there are few, else equal parts of the range. Where the schema allows nulls
/// there is one more for them, the last.
///
///     const ColumnEncoding age(column, 32);
///     age.encoded(values);            // codes below age.cells()
///     age.decoded(code, bits);        // a value inside its cell, or null
///
/// Argument   encoding.md
class ColumnEncoding {
 public:
  /// `bins`: at most so many parts of a range without declared bins, >= 1. Throws `kInvalidOption`, and
  /// `kMissingKnowledge` for a column with neither range nor categories.
  explicit ColumnEncoding(const ColumnSchema& column, std::uint32_t bins = 32);

  const std::string& name() const { return column_.name; }
  Type type() const { return column_.domain.type; }
  /// With the one for nulls.
  std::uint32_t cells() const { return axis_.cells() + (nulls_ ? 1 : 0); }
  bool has_nulls() const { return nulls_; }
  /// What its cells are: "categories", "bins", "values" or "equal".
  const char* by() const;
  /// "18 to 25", "married", "null".
  std::string label(std::uint32_t code) const;

  /// Of a column as the schema promises it. A null where there can be none is the first code.
  std::vector<std::uint32_t> encoded(const Column& values) const;
  /// Drawn evenly among the values of the cell; decimals and doubles with no more digits than tell a
  /// thousand of them apart in it. Throws `kInvalidOption` for a code that is not below `cells()`.
  Value decoded(std::uint32_t code, BitSource& bits) const;

 private:
  Value inside(std::uint32_t cell, BitSource& bits) const;

  ColumnSchema column_;
  Axis axis_;
  bool nulls_;
};

/// Columns of a table, as codes and back.
struct Encoding {
  std::vector<ColumnEncoding> columns;

  Shape domain() const;
  /// The columns of the table are those of the encoding, in order.
  CodedRows encoded(const Table& table) const;
};

}  // namespace gauze
