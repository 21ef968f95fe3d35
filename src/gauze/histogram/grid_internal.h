#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "gauze/histogram/cells.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/tree.h"

namespace gauze::internal {

/// Of `extent` cells parted into `parts` <= extent runs whose lengths differ by at most one: where run
/// `part` begins, and which run holds a cell.
constexpr std::uint32_t line(std::uint32_t extent, std::uint32_t parts, std::uint32_t part) {
  return static_cast<std::uint32_t>(std::uint64_t{part} * extent / parts);
}
constexpr std::uint32_t part_of(std::uint32_t extent, std::uint32_t parts, std::uint32_t cell) {
  return static_cast<std::uint32_t>(((std::uint64_t{cell} + 1) * parts - 1) / extent);
}

/// A box of cells parted along each axis.
struct Grid {
  Box box;
  Shape parts;  ///< along each axis at least 1 and at most the cells of the box

  static Grid over(const Shape& shape, Shape parts) {
    return {Box::whole(shape), std::move(parts)};
  }
  std::uint32_t extent(std::size_t axis) const { return box.end[axis] - box.begin[axis]; }
  std::uint32_t line(std::size_t axis, std::uint32_t part) const {
    return box.begin[axis] + internal::line(extent(axis), parts.extents[axis], part);
  }
  /// The grid cell of a point inside the box, numbered with the last axis fastest.
  std::size_t cell_of(const std::uint32_t* point) const {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < parts.axes(); ++axis) {
      cell = cell * parts.extents[axis] +
             part_of(extent(axis), parts.extents[axis], point[axis] - box.begin[axis]);
    }
    return cell;
  }
};

/// Calls visit(cell, coordinates) for every cell of a box in a shape.
template <class Visit>
void for_cells(const Shape& shape, const Box& box, const Visit& visit) {
  std::vector<std::uint32_t> at = box.begin;
  for (double left = box.volume(); left > 0; --left) {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      cell = cell * shape.extents[axis] + at[axis];
    visit(cell, at);
    for (std::size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < box.end[axis]) break;
      at[axis] = box.begin[axis];
    }
  }
}

/// How many parts along each axis balance the two errors of a grid with `rows` rows in `box` and noise of
/// this rate: (rows * rate / coarseness)^(2 / (2 + axes)). An axis with fewer cells than that keeps
/// all of its cells, and the others share what is left; at most `most` grid cells. Argument: uniform_grid.md
std::vector<std::uint32_t> grid_parts(const Box& box, double rows, double rate, double coarseness,
                                      double most);

constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;  // of counts, which are not negative
}

/// How many threads count `rows` rows in `cells` cells: one unless that is worth its memory.
std::size_t counting_threads(std::size_t rows, std::size_t cells);

/// Counts rows by cell; `locate` finds the cell of a point's coordinates. All processors take part.
template <class Locate>
std::vector<std::int64_t> count_rows(const Points& points, const Shape& shape, std::size_t cells,
                                     const Locate& locate) {
  const std::size_t rows = points.rows(shape);
  const std::size_t threads = counting_threads(rows, cells);
  std::vector<std::vector<std::int64_t>> counts(threads, std::vector<std::int64_t>(cells, 0));
  const auto count = [&](std::size_t thread) {
    std::int64_t* const mine = counts[thread].data();
    const std::uint32_t* const coordinates = points.coordinates.data();
    for (std::size_t row = rows * thread / threads; row < rows * (thread + 1) / threads; ++row) {
      std::int64_t& cell = mine[locate(coordinates + row * shape.axes())];
      cell = saturated_sum(cell, points.weight(row));
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(count, thread);
    count(0);
  }
  for (std::size_t thread = 1; thread < threads; ++thread)
    for (std::size_t cell = 0; cell < cells; ++cell)
      counts[0][cell] = saturated_sum(counts[0][cell], counts[thread][cell]);
  return std::move(counts.front());
}

/// A count that was released, for a node of a tree.
struct Measured {
  double count = 0;
  double variance = HUGE_VAL;

  void set(TreeNode& node) const { node.estimate = count, node.variance = variance; }
};
/// Measures the number of rows; charges the meter.
Measured measured_rows(const Points& points, const Shape& shape, const CountNoise& noise,
                       Context& context);

/// A tree of boxes under construction: nodes without measurements, a box for each, and the levels.
struct BoxTree {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> bounds;  ///< as `RangeHistogram` wants them
  std::vector<std::size_t> levels;    ///< where each level begins, and the number of nodes

  explicit BoxTree(const Box& root);

  std::size_t axes() const { return axes_; }
  std::span<const std::uint32_t> begin(std::size_t node) const {
    return std::span(bounds).subspan(node * 2 * axes_, axes_);
  }
  std::span<const std::uint32_t> end(std::size_t node) const {
    return std::span(bounds).subspan(node * 2 * axes_ + axes_, axes_);
  }
  Box box(std::size_t node) const;
  /// Parts a node, the children in the order of the grid's cells.
  void split(std::size_t node, const Grid& grid);
  /// Cuts a node in two along one axis; `line` begins the second child.
  void cut(std::size_t node, std::size_t axis, std::uint32_t line);

 private:
  std::size_t axes_;
};

/// The cells of a grid under a tree in which every node has up to `branching` children along each axis,
/// and the grid cell of each node of the last level. A node that is down to one grid cell above the
/// last level has itself as its only child.
struct GridTree {
  BoxTree tree;
  std::vector<std::size_t> cells;
};
GridTree grid_tree(const Grid& grid, std::uint32_t branching);

}  // namespace gauze::internal
