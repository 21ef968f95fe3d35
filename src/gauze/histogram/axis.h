#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/data/table.h"

namespace gauze {

/// One axis of a histogram: how the values of a column become cells, by the schema alone.
///
/// A column with categories has one cell for each, in their order. Other columns are cut along their
/// range: at their declared bins, or into cells of equal width, of which none is empty of values.
/// Argument: axis.md
class Axis {
 public:
  static constexpr std::uint32_t kNoCell = UINT32_MAX;

  /// `cells` 0 chooses: categories, else declared bins, else one cell for each whole number, day or
  /// truth value where there are at most `most`, else `most`. Throws `kInvalidOption` when there are
  /// fewer values than cells or categories and another number, and `kMissingKnowledge` for a column
  /// with neither range nor categories.
  explicit Axis(const ColumnSchema& column, std::uint32_t cells = 0, std::uint32_t most = 4096);

  const std::string& column() const { return column_.name; }
  Type type() const { return column_.domain.type; }
  std::uint32_t cells() const { return cells_; }
  bool is_ordered() const { return !column_.domain.categories; }

  /// The cell of each value, `kNoCell` for null: those rows are not counted. What lies beyond the
  /// declared range or the outer bins is in the nearest cell.
  std::vector<std::uint32_t> indices(const Column& values) const;
  /// Of a value of the column's type or, for decimals and doubles, of any number.
  std::uint32_t index(const Value& value) const;

  /// -1 for a value below the declared range or the outer bins of an ordered axis, 1 above, 0 inside.
  int side(const Value& value) const;

  /// The smallest value of a cell; of `cells()`, where the last one ends. Ordered axes only.
  Value edge(std::uint32_t cell) const;
  /// The category, or the range from the first value of `begin` to the last of `end` - 1, as text.
  std::string label(std::uint32_t begin, std::uint32_t end) const;
  /// The category of a cell.
  const Value& category(std::uint32_t cell) const { return (*column_.domain.categories)[cell]; }

 private:
  bool counts_whole() const;
  double real_edge(std::uint32_t cell) const;
  bool is_before(const Value& a, const Value& b) const;

  ColumnSchema column_;
  std::uint32_t cells_ = 0;
  bool bins_ = false;
  // The range of an axis of equal cells: whole values from first_ on, or reals.
  std::int64_t first_ = 0;
  std::uint64_t values_ = 0;
  long double low_ = 0, high_ = 0;
  double doubt_ = 0;  // how far rounding may move a value's place, in cells
};

}  // namespace gauze
