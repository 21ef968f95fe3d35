#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gauze/histogram/cells.h"
#include "gauze/marginal/factor.h"

namespace gauze {

/// Rows as numbers: which value of each column's public list a row has.
struct CodedRows {
  Shape domain;                                     ///< how many values each column has
  std::vector<std::vector<std::uint32_t>> columns;  ///< one code below its extent for each row

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  /// How many rows there are in each cell of a table over some columns.
  std::vector<std::int64_t> counts(const Clique& clique) const { return counts_in_order(clique); }
  /// With any columns in any order, the last one fastest.
  std::vector<std::int64_t> counts_in_order(const std::vector<std::uint32_t>& order) const;
  /// The same with other codes for some columns: `to[column][code]`, each below its extent.
  CodedRows mapped(const std::vector<std::vector<std::uint32_t>>& to, const Shape& onto) const;
  bool operator==(const CodedRows&) const = default;
};

/// Throws `kInvalidInput` unless there is a column for each extent, columns are of equal length and codes
/// are below their extents. What an encoding makes fits, so that this tells nothing about rows.
void check_rows(const CodedRows& rows);

}  // namespace gauze
