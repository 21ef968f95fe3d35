#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gauze {

/// How many cells a histogram has along each of its axes: public. Cells of a dense histogram are
/// numbered with the last axis fastest.
struct Shape {
  std::vector<std::uint32_t> extents;

  std::size_t axes() const { return extents.size(); }
  /// The number of cells, saturated at 2^64 - 1.
  std::uint64_t cells() const;
  bool operator==(const Shape&) const = default;
};

/// Throws `kInvalidOption` unless there are 1 to 8 axes, each of 1 to 2^31 cells.
void check_shape(const Shape& shape);
/// Besides, that there are few enough cells to count each: at most 2^28.
void check_dense(const Shape& shape);

/// The cells begin <= index < end along each axis.
struct Box {
  std::vector<std::uint32_t> begin, end;

  static Box whole(const Shape& shape);
  double volume() const;  ///< in cells
  bool operator==(const Box&) const = default;
};

/// One number for each cell of a dense shape: 1 in the box, 0 elsewhere.
std::vector<double> box_weights(const Shape& shape, const Box& box);

/// Rows by their cell, for domains too large to count every cell: `coordinates` holds the axes of the
/// first row, then of the second, ...; each row counts once, or `weights[row]` times where given (a
/// cell with its count). What lies outside of a shape is moved to its nearest cell by those who read it.
struct Points {
  std::vector<std::uint32_t> coordinates;
  std::vector<std::int64_t> weights = {};

  std::size_t rows(const Shape& shape) const { return coordinates.size() / shape.axes(); }
  std::int64_t weight(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }
};

/// The cells that are not empty. Throws `kInvalidInput` when there are not as many counts as cells.
Points points_of(const Shape& shape, std::span<const std::int64_t> counts);

/// How many rows lie in each cell of a dense shape, saturated at the end of 64 bits; the points are
/// inside.
std::vector<std::int64_t> counts_of(const Shape& shape, const Points& points);

/// Throws `kInvalidInput` unless coordinates lie inside and weights, where given, fit. What a source
/// reads through the door fits by construction, so that this tells nothing about rows.
void check_points(const Shape& shape, const Points& points);

}  // namespace gauze
