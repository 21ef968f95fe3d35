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
  require(options.asked.empty() || options.shape->axes() == 1,
          "asked: ranges are for one axis; say nothing of them where there are more");
  for (const auto& [begin, end] : options.asked)
    require(begin < end && end <= options.shape->cells(),
            "asked: ranges must begin before they end, inside of the axis");
  return options;
}

/// Where ranges begin or end, and the ends of the axis, in order; none without ranges.
std::vector<std::uint32_t> edges_of(const CellRanges& ranges, const Shape& shape) {
  if (ranges.empty()) return {};
  std::vector<std::uint32_t> edges = {0, shape.extents[0]};
  for (const auto& [begin, end] : ranges) edges.insert(edges.end(), {begin, end});
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Where blocks begin, and the end of the last. Where there are edges, neighbours with none inside or
/// between them are one block: nothing that is asked tells them apart.
std::vector<std::uint32_t> begins_of(const BlockTree& tree, std::uint32_t cells,
                                     std::span<const std::uint32_t> edges) {
  std::vector<std::uint32_t> begins = {cells};
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].children == 0) begins.push_back(tree.bounds[2 * i]);
  std::sort(begins.begin(), begins.end());
  if (edges.empty()) return begins;
  std::vector<std::uint32_t> kept = {0};
  for (std::size_t i = 1; i + 1 < begins.size(); ++i) {
    const auto next = std::upper_bound(edges.begin(), edges.end(), kept.back());
    if (next != edges.end() && *next < begins[i + 1]) kept.push_back(begins[i]);
  }
  kept.push_back(cells);
  return kept;
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
                  .rows_per_unit = options_.rows_per_unit}),
      edges_(edges_of(options_.asked, options_.shape)) {
  if (!finds_blocks()) for_parts_ = measurement().searched(edges_);
}

// What lies between edges is never told apart. Where that makes few parts, all of the budget is for
// them, and nothing is spread that anybody will see.
bool DawaHistogram::finds_blocks() const {
  return edges_.empty() || edges_.size() - 1 > BucketMeasurement::kMostSearched;
}

Event DawaHistogram::event() const {
  if (!finds_blocks()) return measurement().event();
  return {events::Composed{{partition_.event(), measurement().event()}}, Relation::kAddRemove};
}

BucketMeasurement DawaHistogram::measurement() const {
  const Ratio share = finds_blocks() ? Ratio(1 - options_.partition_share) : Ratio(1);
  return {options_.epsilon.get() * share, options_.rows_per_unit,
          along_axis() ? options_.aim : HistogramAim::kCells, options_.asked};
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
  if (!along_axis())
    return {in_boxes(partition_.run(counts, steps.context()).value, counts, steps.context()),
            accuracy(), event()};
  if (!finds_blocks())
    return {measurement().run(counts, edges_, for_parts_, steps.context()), accuracy(), event()};
  const BlockTree tree = partition_.run(counts, steps.context()).value;
  const auto cells = static_cast<std::uint32_t>(counts.size());
  return {measurement().run(counts, begins_of(tree, cells, edges_), steps.context()), accuracy(),
          event()};
}

}  // namespace gauze
