#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gauze/histogram/grid_internal.h"

namespace gauze::internal {

/// Rows that a tree sorts into its boxes, in place: every box is a stretch of them.
class PointRows {
 public:
  struct Stretch {
    std::size_t begin, end;
  };

  PointRows(const Points& points, const Shape& shape)
      : axes_(shape.axes()), coordinates_(points.coordinates), weights_(points.weights) {}

  Stretch all() const { return {0, coordinates_.size() / axes_}; }
  std::uint32_t at(std::size_t row, std::size_t axis) const {
    return coordinates_[row * axes_ + axis];
  }
  std::int64_t weight(std::size_t row) const { return weights_.empty() ? 1 : weights_[row]; }

  /// How many rows, saturated.
  std::int64_t count(Stretch rows) const {
    if (weights_.empty()) return static_cast<std::int64_t>(rows.end - rows.begin);
    std::int64_t sum = 0;
    for (std::size_t row = rows.begin; row < rows.end; ++row)
      sum = saturated_sum(sum, weights_[row]);
    return sum;
  }

  /// Moves the rows below `line` along an axis before the others; returns where those begin.
  std::size_t part(Stretch rows, std::size_t axis, std::uint32_t line) {
    std::size_t begin = rows.begin;
    std::size_t end = rows.end;
    while (begin < end) {
      if (at(begin, axis) < line) {
        ++begin;
      } else if (at(end - 1, axis) >= line) {
        --end;
      } else {
        swap_rows(begin++, --end);
      }
    }
    return begin;
  }

 private:
  void swap_rows(std::size_t one, std::size_t other) {
    for (std::size_t axis = 0; axis < axes_; ++axis)
      std::swap(coordinates_[one * axes_ + axis], coordinates_[other * axes_ + axis]);
    if (!weights_.empty()) std::swap(weights_[one], weights_[other]);
  }

  std::size_t axes_;
  std::vector<std::uint32_t> coordinates_;
  std::vector<std::int64_t> weights_;
};

}  // namespace gauze::internal
