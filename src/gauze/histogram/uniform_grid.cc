#include "gauze/histogram/uniform_grid.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/grid_internal.h"

namespace gauze {
namespace {

/// Rather more boxes, all of the same number of cells, than boxes of two sizes; if there may be so many.
std::vector<std::uint32_t> of_whole_cells(const Shape& shape, std::vector<std::uint32_t> parts,
                                          std::uint64_t most) {
  std::vector<std::uint32_t> finer;
  double boxes = 1;
  for (std::size_t axis = 0; axis < parts.size(); ++axis) {
    const std::uint32_t width = shape.extents[axis] / parts[axis];
    finer.push_back((shape.extents[axis] + width - 1) / width);
    boxes *= finer.back();
  }
  return boxes <= static_cast<double>(most) ? finer : parts;
}

}  // namespace

UniformGrid::UniformGrid(Options options) : options_(std::move(options)) {
  check_shape(options_.shape);
  require(options_.count_share > 0 && options_.count_share < 1,
          "count_share must lie strictly between 0 and 1");
  require(options_.coarseness > 0, "coarseness must be positive; 10 suits most data");
  require(options_.max_boxes >= 1 && options_.max_boxes <= 1u << 28,
          "max_boxes must be from 1 to 2^28");
  require(std::pow(options_.parts, double(options_.shape->axes())) <= double(options_.max_boxes),
          "parts: gives more than max_boxes boxes");
  std::vector<Ratio> weights = {options_.count_share, 1 - options_.count_share};
  if (!pays_for_rows()) weights = {1};
  noises_ = split_budget({options_.epsilon, options_.delta, options_.rows_per_unit}, weights);
}

Accuracy UniformGrid::accuracy(double confidence) const {
  return {noise_half_width(noise().variance(), confidence, noise().is_gaussian()), confidence,
          "each box of the grid"};
}

Release<RangeHistogram> UniformGrid::run(const Points& points, Context& context) const {
  const Shape& shape = options_.shape;
  check_points(shape, points);
  StepMeter steps(event(), context);

  internal::Measured rows{double(options_.expected_rows)};
  if (pays_for_rows())
    rows = internal::measured_rows(points, shape, noises_.front(), steps.context());
  std::vector<std::uint32_t> parts;
  for (const std::uint32_t extent : shape.extents)
    parts.push_back(std::min(options_.parts, extent));
  if (options_.parts == 0) {
    parts = internal::grid_parts(Box::whole(shape), rows.count, noise().rate(),
                                 round_up(options_.coarseness), double(options_.max_boxes));
    parts = of_whole_cells(shape, std::move(parts), options_.max_boxes);
  }

  const auto grid = internal::Grid::over(shape, {parts});
  const auto counts =
      internal::count_rows(points, shape, grid.parts.cells(),
                           [&](const std::uint32_t* point) { return grid.cell_of(point); });
  const auto noisy = noise().run(counts, steps.context());
  auto [tree, cells] = internal::grid_tree(grid, 4);
  rows.set(tree.nodes.front());
  const std::size_t first = tree.nodes.size() - cells.size();
  for (std::size_t i = 0; i < cells.size(); ++i)
    internal::Measured{double(noisy[cells[i]]), noise().variance()}.set(tree.nodes[first + i]);
  fit(tree.nodes);
  return {
      RangeHistogram(shape, std::move(tree.nodes), std::move(tree.bounds), noise().is_gaussian()),
      accuracy(), event()};
}

}  // namespace gauze
