#include "gauze/histogram/dawa.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"

namespace gauze {
namespace {

DawaHistogram::Options checked(DawaHistogram::Options options) {
  check_budget({options.epsilon, 0, options.rows_per_unit});
  require(options.partition_share > 0 && options.partition_share < 1,
          "partition_share must lie strictly between 0 and 1");
  return options;
}

std::vector<std::uint32_t> begins_of(const BlockTree& tree, std::size_t cells) {
  std::vector<std::uint32_t> begins = {static_cast<std::uint32_t>(cells)};
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].children == 0) begins.push_back(tree.bounds[2 * i]);
  std::sort(begins.begin(), begins.end());
  return begins;
}

/// How many rows lie in the box.
std::int64_t rows_in(const Shape& shape, const Box& box, std::span<const std::int64_t> counts) {
  std::int64_t sum = 0;
  std::vector<std::uint32_t> at = box.begin;
  for (std::size_t axis = 0; axis < at.size();) {
    std::size_t cell = 0;
    for (std::size_t i = 0; i < at.size(); ++i) cell = cell * shape.extents[i] + at[i];
    sum = saturating_add(sum, counts[cell]);
    for (axis = 0; axis < at.size(); ++axis) {
      if (++at[axis] < box.end[axis]) break;
      at[axis] = box.begin[axis];
    }
  }
  return sum;
}

}  // namespace

DawaHistogram::DawaHistogram(Options options)
    : options_(checked(std::move(options))),
      partition_({.shape = options_.shape,
                  .epsilon = Ratio(options_.epsilon.get() * options_.partition_share),
                  .rows_per_unit = options_.rows_per_unit}) {}

Event DawaHistogram::event() const {
  return {events::Composed{{partition_.event(), measurement().event()}}, Relation::kAddRemove};
}

BucketMeasurement DawaHistogram::measurement() const {
  return {options_.epsilon.get() * (1 - options_.partition_share), options_.rows_per_unit,
          along_axis() ? options_.aim : HistogramAim::kCells};
}

Accuracy DawaHistogram::accuracy(double confidence) const {
  return measurement().accuracy(options_.shape->cells(), confidence);
}

RangeHistogram DawaHistogram::in_boxes(BlockTree tree, std::span<const std::int64_t> counts,
                                       Context& context) const {
  const Shape& shape = options_.shape;
  std::vector<std::int64_t> totals;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].children == 0)
      totals.push_back(rows_in(shape, tree.box(i, shape.axes()), counts));
  const CountNoise noise = CountNoise::laplace(measurement().epsilon, options_.rows_per_unit);
  const std::vector<std::int64_t> noisy = noise.run(totals, context);
  std::size_t leaf = 0;
  for (TreeNode& node : tree.nodes) {
    const bool inner = node.children != 0;
    node.estimate = inner ? 0 : static_cast<double>(noisy[leaf++]);
    node.variance = inner ? std::numeric_limits<double>::infinity() : noise.variance();
  }
  fit(tree.nodes);
  return {shape, std::move(tree.nodes), std::move(tree.bounds), false};
}

Release<RangeHistogram> DawaHistogram::run(std::span<const std::int64_t> counts,
                                           Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  BlockTree tree = partition_.run(counts, steps.context()).value;
  RangeHistogram histogram =
      along_axis() ? measurement().run(counts, begins_of(tree, counts.size()), steps.context())
                   : in_boxes(std::move(tree), counts, steps.context());
  return {std::move(histogram), accuracy(), event()};
}

}  // namespace gauze
