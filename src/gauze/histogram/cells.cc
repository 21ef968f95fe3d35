#include "gauze/histogram/cells.h"

#include "gauze/base/error.h"

namespace gauze {

std::uint64_t Shape::cells() const {
  std::uint64_t product = 1;
  for (const std::uint32_t extent : extents) {
    if (__builtin_mul_overflow(product, std::uint64_t{extent}, &product)) return UINT64_MAX;
  }
  return product;
}

void check_shape(const Shape& shape) {
  require(!shape.extents.empty() && shape.extents.size() <= 8, "shape: must have 1 to 8 axes");
  for (const std::uint32_t extent : shape.extents)
    require(extent >= 1 && extent <= 1u << 31, "shape: each axis must have 1 to 2^31 cells");
}

void check_dense(const Shape& shape) {
  check_shape(shape);
  require(shape.cells() <= 1u << 28,
          "shape: must have at most 2^28 cells to count each; use fewer cells, or sparse_histogram "
          "or a "
          "method for points");
}

Box Box::whole(const Shape& shape) {
  return {std::vector<std::uint32_t>(shape.axes(), 0), shape.extents};
}

double Box::volume() const {
  double product = 1;
  for (std::size_t axis = 0; axis < begin.size(); ++axis) product *= end[axis] - begin[axis];
  return product;
}

std::vector<double> box_weights(const Shape& shape, const Box& box) {
  std::vector<double> weights = {1.0};
  for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
    std::vector<double> next;
    next.reserve(weights.size() * shape.extents[axis]);
    for (const double weight : weights)
      for (std::uint32_t i = 0; i < shape.extents[axis]; ++i)
        next.push_back(i >= box.begin[axis] && i < box.end[axis] ? weight : 0.0);
    weights = std::move(next);
  }
  return weights;
}

Points points_of(const Shape& shape, std::span<const std::int64_t> counts) {
  if (counts.size() != shape.cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  Points points;
  std::vector<std::uint32_t> at(shape.axes(), 0);
  for (const std::int64_t count : counts) {
    if (count != 0) {
      points.coordinates.insert(points.coordinates.end(), at.begin(), at.end());
      points.weights.push_back(count);
    }
    for (std::size_t axis = shape.axes(); axis-- > 0;) {
      if (++at[axis] < shape.extents[axis]) break;
      at[axis] = 0;
    }
  }
  return points;
}

std::vector<std::int64_t> counts_of(const Shape& shape, const Points& points) {
  check_dense(shape);
  std::vector<std::int64_t> counts(shape.cells(), 0);
  const std::size_t axes = shape.axes();
  for (std::size_t row = 0; row < points.rows(shape); ++row) {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < axes; ++axis)
      cell = cell * shape.extents[axis] + points.coordinates[row * axes + axis];
    if (__builtin_add_overflow(counts[cell], points.weight(row), &counts[cell]))
      counts[cell] = INT64_MAX;
  }
  return counts;
}

void check_points(const Shape& shape, const Points& points) {
  const std::size_t axes = shape.axes();
  const auto refuse = [](const char* why) { throw Error(ErrorCode::kInvalidInput, why); };
  if (points.coordinates.size() % axes != 0) refuse("points: need a coordinate for each axis");
  const std::size_t rows = points.coordinates.size() / axes;
  if (!points.weights.empty() && points.weights.size() != rows)
    refuse("points: need one weight for each row, or none at all");
  std::uint32_t outside = 0;
  for (std::size_t at = 0; at < points.coordinates.size(); at += axes)
    for (std::size_t axis = 0; axis < axes; ++axis)
      outside |= points.coordinates[at + axis] >= shape.extents[axis];
  if (outside != 0) refuse("points: a coordinate lies outside of the shape");
  for (const std::int64_t weight : points.weights)
    if (weight < 0) refuse("points: weights are counts, 0 or more");
}

}  // namespace gauze
