#include "gauze/histogram/priv_tree.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/point_rows_internal.h"

namespace gauze {
namespace {

using internal::BoxTree;
using internal::Grid;
using internal::PointRows;

PrivTree::Options checked(PrivTree::Options options) {
  check_shape(options.shape);
  check_budget({options.epsilon, 0, options.rows_per_unit});
  require(options.structure_share > 0 && options.structure_share < 1,
          "structure_share must lie strictly between 0 and 1");
  require(options.axes_per_split >= 1 && options.axes_per_split <= 8,
          "axes_per_split must be from 1 to 8");
  options.axes_per_split =
      std::min(options.axes_per_split, static_cast<std::uint32_t>(options.shape->axes()));
  return options;
}

/// Noise of scale rows_per_unit (2 b - 1) / ((b - 1) epsilon) for b children.
CountNoise decision_noise(const PrivTree::Options& options) {
  const Ratio children = 1u << options.axes_per_split;
  return CountNoise::laplace(
      Ratio(options.structure_share * Ratio(options.epsilon) * (children - 1) / (2 * children - 1)),
      options.rows_per_unit);
}

/// The halves of a box along the axes whose turn it is; an axis that cannot be halved is passed over.
Grid halves(const Box& box, std::size_t turn, std::size_t axes_per_split) {
  const std::size_t axes = box.begin.size();
  Grid grid{box, {std::vector<std::uint32_t>(axes, 1)}};
  for (std::size_t i = 0, split = 0; i < axes && split < axes_per_split; ++i) {
    const std::size_t axis = (turn + i) % axes;
    if (grid.extent(axis) < 2) continue;
    grid.parts.extents[axis] = 2;
    ++split;
  }
  return grid;
}

/// The stretches of the children, in the order of the grid's cells: the last axis fastest.
void part_rows(PointRows& rows, PointRows::Stretch all, const Grid& grid,
               std::vector<PointRows::Stretch>& out) {
  std::vector<PointRows::Stretch> parts = {all};
  for (std::size_t axis = 0; axis < grid.parts.axes(); ++axis) {
    if (grid.parts.extents[axis] < 2) continue;
    std::vector<PointRows::Stretch> finer;
    for (const PointRows::Stretch& part : parts) {
      const std::size_t middle = rows.part(part, axis, grid.line(axis, 1));
      finer.push_back({part.begin, middle});
      finer.push_back({middle, part.end});
    }
    parts = std::move(finer);
  }
  out.insert(out.end(), parts.begin(), parts.end());
}

}  // namespace

PrivTree::PrivTree(Options options)
    : options_(checked(std::move(options))),
      decision_(decision_noise(options_)),
      leaf_(CountNoise::laplace(Ratio((1 - options_.structure_share) * Ratio(options_.epsilon)),
                                options_.rows_per_unit)) {
  const double decay =
      std::ceil(options_.axes_per_split * std::log(2.0) / decision_.rate() * (1 + 1e-12));
  require(decay < 0x1p50, "epsilon: is too small for these rows_per_unit; take more than 2^-16");
  decay_ = static_cast<std::int64_t>(decay);
}

Accuracy PrivTree::accuracy(double confidence) const {
  return {noise_half_width(leaf_.variance(), confidence, false), confidence,
          "each of the smallest boxes"};
}

// Zhang, Xiao and Xie (2016), algorithm 2, on integers.
Release<RangeHistogram> PrivTree::run(const Points& points, Context& context) const {
  const Shape& shape = options_.shape;
  check_points(shape, points);
  StepMeter steps(event(), context);
  steps.context().meter.charge(
      {events::Pure{Ratio(options_.structure_share * Ratio(options_.epsilon))},
       Relation::kAddRemove});  // all decisions together

  PointRows rows(points, shape);
  BoxTree tree(Box::whole(shape));
  std::vector<PointRows::Stretch> stretches = {rows.all()};
  std::vector<std::size_t> level = {0};  // boxes that may be parted
  for (std::uint32_t depth = 0;
       !level.empty() && (options_.max_depth == 0 || depth < options_.max_depth); ++depth) {
    std::erase_if(level, [&](std::size_t node) { return tree.box(node).volume() < 2; });
    std::vector<std::int64_t> biased;
    for (const std::size_t node : level)
      biased.push_back(std::max(rows.count(stretches[node]) - depth * decay_, -decay_));
    Meter decisions(decision_.event());
    Context deciding{decisions, context.bits};
    const auto noisy = decision_.run(biased, deciding);

    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (noisy[i] <= 0) continue;
      const Grid grid =
          halves(tree.box(level[i]), depth * options_.axes_per_split, options_.axes_per_split);
      for (std::size_t child = 0; child < grid.parts.cells(); ++child)
        next.push_back(tree.nodes.size() + child);
      tree.split(level[i], grid);
      part_rows(rows, stretches[level[i]], grid, stretches);
    }
    level = std::move(next);
  }

  std::vector<std::size_t> leaves;
  std::vector<std::int64_t> counts;
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    if (tree.nodes[node].children > 0) continue;
    leaves.push_back(node);
    counts.push_back(rows.count(stretches[node]));
  }
  const auto noisy = leaf_.run(counts, steps.context());
  for (std::size_t i = 0; i < leaves.size(); ++i)
    internal::Measured{double(noisy[i]), leaf_.variance()}.set(tree.nodes[leaves[i]]);
  fit(tree.nodes);
  return {RangeHistogram(shape, std::move(tree.nodes), std::move(tree.bounds), false), accuracy(),
          event()};
}

}  // namespace gauze
