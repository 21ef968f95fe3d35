#include "gauze/histogram/adaptive_grid.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/grid_internal.h"

namespace gauze {
namespace {

using internal::Grid;
using internal::Measured;

/// The fine grids of all boxes of the coarse one, side by side: this is read for every point.
struct FineGrids {
  struct Axis {
    std::uint32_t begin, extent, parts;
  };
  std::vector<Axis> axes;          // of the first coarse box, of the second, ...
  std::vector<std::size_t> first;  // where the boxes of each grid begin

  void set(std::size_t coarse, const Grid& grid, std::size_t first_box) {
    for (std::size_t axis = 0; axis < grid.parts.axes(); ++axis) {
      axes[coarse * grid.parts.axes() + axis] = {grid.box.begin[axis], grid.extent(axis),
                                                 grid.parts.extents[axis]};
    }
    first[coarse] = first_box;
  }
  std::size_t box_of(std::size_t coarse, const std::uint32_t* point) const {
    const std::size_t count = axes.size() / first.size();
    std::size_t box = 0;
    for (std::size_t axis = 0; axis < count; ++axis) {
      const Axis& own = axes[coarse * count + axis];
      box = box * own.parts + internal::part_of(own.extent, own.parts, point[axis] - own.begin);
    }
    return first[coarse] + box;
  }
};

}  // namespace

AdaptiveGrid::AdaptiveGrid(Options options) : options_(std::move(options)) {
  check_shape(options_.shape);
  require(options_.count_share > 0 && options_.count_share < 1,
          "count_share must lie strictly between 0 and 1");
  require(options_.coarse_share > 0 && options_.coarse_share < 1,
          "coarse_share must lie strictly between 0 and 1");
  require(options_.coarseness > 0 && options_.fine_coarseness > 0,
          "coarseness and fine_coarseness must be positive; 10 and 3 suit most data");
  require(options_.max_boxes >= 1 && options_.max_boxes <= 1u << 28,
          "max_boxes must be from 1 to 2^28");
  const Ratio rest = options_.expected_rows == 0 ? Ratio(1 - options_.count_share) : Ratio(1);
  std::vector<Ratio> weights = {rest * options_.coarse_share, rest * (1 - options_.coarse_share)};
  if (options_.expected_rows == 0) weights.insert(weights.begin(), options_.count_share);
  noises_ = split_budget({options_.epsilon, options_.delta, options_.rows_per_unit}, weights);
}

Accuracy AdaptiveGrid::accuracy(double confidence) const {
  return {noise_half_width(fine().variance(), confidence, fine().is_gaussian()), confidence,
          "each of the smallest boxes"};
}

/// A quarter of the parts of a uniform grid, but 100 boxes or more (10 parts in the plane): the fine
/// grids do the rest.
Shape AdaptiveGrid::coarse_parts(double rows) const {
  const Box whole = Box::whole(options_.shape);
  const double most = static_cast<double>(options_.max_boxes);
  std::vector<std::uint32_t> parts = internal::grid_parts(
      whole, rows, coarse().rate() + fine().rate(), round_up(options_.coarseness), most);
  const double axes = static_cast<double>(parts.size());
  const double least = std::floor(std::pow(std::min(100.0, most), 1 / axes) + 1e-9);
  for (std::size_t axis = 0; axis < parts.size(); ++axis) {
    const double wanted = std::max(least, std::round(parts[axis] / 4.0));
    parts[axis] = std::min(whole.end[axis], static_cast<std::uint32_t>(wanted));
  }
  return {parts};
}

Shape AdaptiveGrid::fine_parts(const Box& box, double rows, std::size_t boxes) const {
  return {internal::grid_parts(box, rows, fine().rate(), round_up(options_.fine_coarseness),
                               double(options_.max_boxes) / double(boxes))};
}

// Qardaji, Yang and Li (2013). The surplus of a coarse box is divided among its fine ones, which the
// book prints without the divisor; `fit` does it for any variances, also where there is one fine box.
Release<RangeHistogram> AdaptiveGrid::run(const Points& points, Context& context) const {
  const Shape& shape = options_.shape;
  check_points(shape, points);
  StepMeter steps(event(), context);

  Measured rows{double(options_.expected_rows)};
  if (options_.expected_rows == 0)
    rows = internal::measured_rows(points, shape, noises_.front(), steps.context());
  const Grid grid = Grid::over(shape, coarse_parts(rows.count));
  const auto coarse_noisy = coarse().run(
      internal::count_rows(points, shape, grid.parts.cells(),
                           [&](const std::uint32_t* point) { return grid.cell_of(point); }),
      steps.context());

  auto [tree, cells] = internal::grid_tree(grid, 4);
  rows.set(tree.nodes.front());
  FineGrids fine_grids{std::vector<FineGrids::Axis>(cells.size() * shape.axes()),
                       std::vector<std::size_t>(cells.size())};
  const std::size_t first_coarse = tree.nodes.size() - cells.size();
  const std::size_t first_fine = tree.nodes.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t node = first_coarse + i;
    const Measured count{double(coarse_noisy[cells[i]]), coarse().variance()};
    count.set(tree.nodes[node]);
    const Grid own{tree.box(node), fine_parts(tree.box(node), count.count, cells.size())};
    fine_grids.set(cells[i], own, tree.nodes.size() - first_fine);
    tree.split(node, own);
  }

  const auto locate = [&](const std::uint32_t* point) {
    return fine_grids.box_of(grid.cell_of(point), point);
  };
  const auto fine_noisy = fine().run(
      internal::count_rows(points, shape, tree.nodes.size() - first_fine, locate), steps.context());
  for (std::size_t i = 0; i < fine_noisy.size(); ++i)
    Measured{double(fine_noisy[i]), fine().variance()}.set(tree.nodes[first_fine + i]);
  fit(tree.nodes);
  return {
      RangeHistogram(shape, std::move(tree.nodes), std::move(tree.bounds), fine().is_gaussian()),
      accuracy(), event()};
}

}  // namespace gauze
