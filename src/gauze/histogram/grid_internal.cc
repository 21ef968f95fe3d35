#include "gauze/histogram/grid_internal.h"

#include <algorithm>

namespace gauze::internal {

std::vector<std::uint32_t> grid_parts(const Box& box, double rows, double rate, double coarseness,
                                      double most) {
  const double weight = std::max(rows, 0.0) * rate / coarseness;
  std::vector<std::uint32_t> parts(box.begin.size(), 0);
  std::size_t open = parts.size();
  double kept = 1;  // cells along the axes that keep all of theirs
  while (open > 0) {
    const double axes = static_cast<double>(open);
    const double balanced = std::pow(weight / std::sqrt(kept), 2 / (2 + axes));
    const double each = std::max(1.0, std::min(balanced, std::pow(most / kept, 1 / axes)));
    const std::size_t before = open;
    for (std::size_t axis = 0; axis < parts.size(); ++axis) {
      const std::uint32_t extent = box.end[axis] - box.begin[axis];
      if (parts[axis] != 0 || extent > each) continue;
      parts[axis] = extent;
      kept *= extent;
      --open;
    }
    if (open < before) continue;
    for (std::uint32_t& part : parts)
      if (part == 0) part = static_cast<std::uint32_t>(std::lround(each));
    break;
  }
  return parts;
}

std::size_t counting_threads(std::size_t rows, std::size_t cells) {
  constexpr std::size_t kFewRows = 1 << 17;
  if (rows < kFewRows || rows < cells) return 1;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
}

Measured measured_rows(const Points& points, const Shape& shape, const CountNoise& noise,
                       Context& context) {
  std::int64_t total = static_cast<std::int64_t>(points.rows(shape));
  if (!points.weights.empty()) {
    total = 0;
    for (const std::int64_t weight : points.weights) total = saturated_sum(total, weight);
  }
  return {double(noise.run(std::span(&total, 1), context).front()), noise.variance()};
}

BoxTree::BoxTree(const Box& root) : nodes(1), levels{0, 1}, axes_(root.begin.size()) {
  bounds.insert(bounds.end(), root.begin.begin(), root.begin.end());
  bounds.insert(bounds.end(), root.end.begin(), root.end.end());
  nodes.front().variance = HUGE_VAL;
}

Box BoxTree::box(std::size_t node) const {
  return {{begin(node).begin(), begin(node).end()}, {end(node).begin(), end(node).end()}};
}

void BoxTree::split(std::size_t node, const Grid& grid) {
  const std::size_t children = grid.parts.cells();
  nodes[node].first_child = static_cast<std::uint32_t>(nodes.size());
  nodes[node].children = static_cast<std::uint32_t>(children);
  nodes.resize(nodes.size() + children, {0, 0, 0, HUGE_VAL});
  std::vector<std::uint32_t> at(axes_, 0);
  for (std::size_t child = 0; child < children; ++child) {
    for (std::size_t axis = 0; axis < axes_; ++axis) bounds.push_back(grid.line(axis, at[axis]));
    for (std::size_t axis = 0; axis < axes_; ++axis)
      bounds.push_back(grid.line(axis, at[axis] + 1));
    for (std::size_t axis = axes_; axis-- > 0;) {
      if (++at[axis] < grid.parts.extents[axis]) break;
      at[axis] = 0;
    }
  }
}

void BoxTree::cut(std::size_t node, std::size_t axis, std::uint32_t line) {
  const Box own = box(node);
  nodes[node].first_child = static_cast<std::uint32_t>(nodes.size());
  nodes[node].children = 2;
  for (const bool second : {false, true}) {
    Box child = own;
    (second ? child.begin : child.end)[axis] = line;
    bounds.insert(bounds.end(), child.begin.begin(), child.begin.end());
    bounds.insert(bounds.end(), child.end.begin(), child.end.end());
    nodes.push_back({0, 0, 0, HUGE_VAL});
  }
}

GridTree grid_tree(const Grid& grid, std::uint32_t branching) {
  GridTree result{BoxTree(Box::whole(grid.parts)), {}};
  BoxTree& tree = result.tree;
  // In numbers of grid cells first, where all nodes of a level come down to one cell together.
  const auto largest = *std::max_element(grid.parts.extents.begin(), grid.parts.extents.end());
  for (std::uint64_t reach = 1; reach < largest; reach *= branching) {
    for (std::size_t node = tree.levels.end()[-2]; node < tree.levels.back(); ++node) {
      Grid children{tree.box(node), {}};
      for (std::size_t axis = 0; axis < tree.axes(); ++axis)
        children.parts.extents.push_back(std::min(branching, children.extent(axis)));
      tree.split(node, children);
    }
    tree.levels.push_back(tree.nodes.size());
  }
  for (std::size_t node = tree.levels.end()[-2]; node < tree.levels.back(); ++node) {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < tree.axes(); ++axis)
      cell = cell * grid.parts.extents[axis] + tree.begin(node)[axis];
    result.cells.push_back(cell);
  }
  for (std::size_t i = 0; i < tree.bounds.size(); ++i)
    tree.bounds[i] = grid.line(i % tree.axes(), tree.bounds[i]);
  return result;
}

}  // namespace gauze::internal
