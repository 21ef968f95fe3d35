#include "gauze/histogram/kd_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "gauze/base/error.h"
#include "gauze/histogram/point_rows_internal.h"
#include "gauze/histogram/quadtree.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {
namespace {

using internal::BoxTree;
using internal::Grid;
using internal::Measured;
using internal::PointRows;

constexpr std::uint32_t kLines = 64;    // at most so many cuts of one axis are compared
constexpr std::size_t kMaxHeight = 31;  // axes have at most 2^31 cells
constexpr std::size_t kGuidedDepth = 64;

struct Cut {
  std::size_t axis;
  std::uint32_t line;
};

/// The axes a box can be cut along, beginning with `turn`.
std::vector<std::size_t> open_axes(const Box& box, std::size_t turn) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < box.begin.size(); ++i) {
    const std::size_t axis = (turn + i) % box.begin.size();
    if (box.end[axis] - box.begin[axis] >= 2) axes.push_back(axis);
  }
  return axes;
}

/// Minus the distance of the rows on both sides of a cut. A row moves one of the two by one, also where
/// they saturate, and whole numbers below 2^52 are exact.
double balance(std::int64_t before, std::int64_t after) {
  constexpr std::int64_t kFar = std::int64_t{1} << 52;
  return -double(std::min(kFar, std::abs(before - after)));
}

/// All lines of an axis with the balance of a cut there.
void add_cuts(const PointRows& rows, PointRows::Stretch stretch, const Box& box, std::size_t axis,
              std::vector<Cut>& cuts, std::vector<double>& scores) {
  const std::uint32_t extent = box.end[axis] - box.begin[axis];
  const std::uint32_t parts = std::min(extent, kLines);
  std::vector<std::int64_t> before(parts + 1, 0);
  for (std::size_t row = stretch.begin; row < stretch.end; ++row) {
    const auto part = internal::part_of(extent, parts, rows.at(row, axis) - box.begin[axis]);
    before[part + 1] = internal::saturated_sum(before[part + 1], rows.weight(row));
  }
  std::vector<std::int64_t> after(parts + 1, 0);
  for (std::uint32_t part = parts; part-- > 0;)
    after[part] = internal::saturated_sum(after[part + 1], before[part + 1]);
  for (std::uint32_t part = 1; part < parts; ++part) {
    before[part] = internal::saturated_sum(before[part], before[part - 1]);
    cuts.push_back({axis, box.begin[axis] + internal::line(extent, parts, part)});
    scores.push_back(balance(before[part], after[part]));
  }
}

/// A cut among those of the axes, chosen by balance; charges the meter.
Cut balancing_cut(const PointRows& rows, PointRows::Stretch stretch, const Box& box,
                  std::span<const std::size_t> axes, const ExponentialMechanism& chooser,
                  Context& context) {
  std::vector<Cut> cuts;
  std::vector<double> scores;
  for (const std::size_t axis : axes) add_cuts(rows, stretch, box, axis, cuts, scores);
  return cuts[chooser.run(scores, context).value];
}

/// The cut that lowers the squared deviations from even spreading most, if it lowers them by more than
/// the noise of the grid would make the best of so many cuts seem to.
std::optional<Cut> evening_cut(const Shape& parts, std::span<const double> counts, const Box& box,
                               double variance) {
  const double cells = box.volume();
  double candidates = 1;
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis)
    candidates += box.end[axis] - box.begin[axis] - 1;
  double best = 2 * variance * (1 + std::log(candidates));
  std::optional<Cut> found;
  for (const std::size_t axis : open_axes(box, 0)) {
    std::vector<double> sums(box.end[axis] - box.begin[axis], 0.0);
    internal::for_cells(parts, box, [&](std::size_t cell, const auto& at) {
      sums[at[axis] - box.begin[axis]] += counts[cell];
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    double before = 0;
    for (std::uint32_t i = 1; i < sums.size(); ++i) {
      before += sums[i - 1];
      const double share = double(i) / double(sums.size());
      // Between the halves: cells * share (1 - share) * (difference of densities)^2.
      const double off = before - share * total;
      const double gain = off * off / (cells * share * (1 - share));
      if (gain <= best) continue;
      best = gain;
      found = {axis, box.begin[axis] + i};
    }
  }
  return found;
}

}  // namespace

KdTree::KdTree(Options options) : options_(std::move(options)) {
  check_shape(options_.shape);
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
  require(options_.count_share > 0 && options_.count_share < 1,
          "count_share must lie strictly between 0 and 1");
  require(options_.structure_share >= 0 && options_.structure_share < 1,
          "structure_share must lie in [0, 1); 0 suits most data");
  if (options_.structure_share == 0)
    options_.structure_share = options_.split == KdSplit::kGuided ? Ratio(1, 2) : Ratio(3, 10);
  require(options_.coarseness > 0, "coarseness must be positive; 10 suits most data");
  require(options_.max_boxes >= 1 && options_.max_boxes <= 1u << 28,
          "max_boxes must be from 1 to 2^28");
  require(options_.height <= kMaxHeight,
          "height must be at most 31, or 0 for one that fits the rows");
  require(std::exp2(double(options_.height) * double(options_.shape->axes())) <=
              double(options_.max_boxes),
          "height: gives more than max_boxes boxes");
}

KdTree::Shares KdTree::shares() const {
  const Ratio epsilon = options_.epsilon;
  const Ratio rows = pays_for_rows() ? Ratio(options_.count_share * epsilon) : Ratio(0);
  const Ratio structure = (epsilon - rows) * options_.structure_share;
  return {rows, structure, epsilon - rows - structure};
}

/// Boxes as many as a uniform grid would have.
std::uint32_t KdTree::height_for(double rows) const {
  const Box whole = Box::whole(options_.shape);
  const double rate = CountNoise::laplace(shares().counts, options_.rows_per_unit).rate();
  double boxes = 1;
  for (const std::uint32_t parts : internal::grid_parts(
           whole, rows, rate, round_up(options_.coarseness), double(options_.max_boxes)))
    boxes *= parts;
  const double axes = static_cast<double>(options_.shape->axes());
  const double height = std::min(std::ceil(std::log2(boxes) / axes),
                                 std::floor(std::log2(double(options_.max_boxes)) / axes));
  return static_cast<std::uint32_t>(std::clamp(height, 0.0, double(kMaxHeight)));
}

std::vector<CountNoise> KdTree::noises(std::uint32_t height) const {
  return split_budget({shares().counts, 0, options_.rows_per_unit},
                      geometric_shares(height + 1, 2, options_.shape->axes()));
}

// The last level gets the smallest share in the highest tree.
Accuracy KdTree::accuracy(double confidence) const {
  std::uint32_t height = options_.height;
  if (height == 0) {
    const double most = std::log2(double(options_.max_boxes)) / double(options_.shape->axes());
    height = std::min<std::uint32_t>(kMaxHeight, static_cast<std::uint32_t>(most));
  }
  if (options_.split == KdSplit::kGuided) height = 0;
  const double variance = noises(height).back().variance();
  return {noise_half_width(variance, confidence, false), confidence, "each of the smallest boxes"};
}

Release<RangeHistogram> KdTree::run(const Points& points, Context& context) const {
  check_points(options_.shape, points);
  StepMeter steps(event(), context);
  double rows = double(options_.expected_rows);
  if (pays_for_rows()) {
    const auto noise = CountNoise::laplace(shares().rows, options_.rows_per_unit);
    rows = internal::measured_rows(points, options_.shape, noise, steps.context()).count;
  }
  const std::uint32_t height = options_.height > 0 ? options_.height : height_for(rows);
  return {options_.split == KdSplit::kGuided ? guided(points, rows, steps.context())
                                             : cut(points, height, steps.context()),
          accuracy(), event()};
}

// Cormode, Procopiuc, Srivastava, Shen and Yu (2012); Qardaji and Li (2012).
RangeHistogram KdTree::cut(const Points& points, std::uint32_t height, Context& context) const {
  const Shape& shape = options_.shape;
  const std::uint32_t axes = static_cast<std::uint32_t>(shape.axes());
  const std::uint32_t levels =
      options_.private_levels == 0 ? height : std::min(options_.private_levels, height);
  const ExponentialMechanism chooser(
      {.epsilon = Ratio(shares().structure / std::max(1u, levels * axes)),
       .sensitivity = Ratio(std::uint64_t{options_.rows_per_unit})});
  PointRows rows(points, shape);
  BoxTree tree(Box::whole(shape));
  std::vector<PointRows::Stretch> stretches = {rows.all()};
  for (std::uint32_t round = 0; round < height * axes; ++round) {
    const std::uint32_t level = round / axes;
    const bool chosen = options_.private_first ? level < levels : level >= height - levels;
    if (chosen) context.meter.charge(chooser.event());  // all boxes of a round together
    for (std::size_t node = tree.levels.end()[-2]; node < tree.levels.back(); ++node) {
      const Box box = tree.box(node);
      const PointRows::Stretch own = stretches[node];
      const std::vector<std::size_t> open = open_axes(box, round % axes);
      if (open.empty()) {
        tree.split(node, Grid{box, {std::vector<std::uint32_t>(axes, 1)}});
        stretches.push_back(own);
        continue;
      }
      Cut best{open.front(), std::midpoint(box.begin[open.front()], box.end[open.front()])};
      if (chosen) {
        const auto looked_at =
            std::span(open).first(options_.split == KdSplit::kMedian ? 1 : open.size());
        Meter paid(chooser.event());
        Context choosing{paid, context.bits};
        best = balancing_cut(rows, own, box, looked_at, chooser, choosing);
      }
      const std::size_t middle = rows.part(own, best.axis, best.line);
      stretches.push_back({own.begin, middle});
      stretches.push_back({middle, own.end});
      tree.cut(node, best.axis, best.line);
    }
    tree.levels.push_back(tree.nodes.size());
  }

  const std::vector<CountNoise> noises = this->noises(height);
  for (std::uint32_t level = 0; level <= height; ++level) {
    const std::size_t begin = tree.levels[level * axes];
    std::vector<std::int64_t> counts;
    for (std::size_t node = begin; node < tree.levels[level * axes + 1]; ++node)
      counts.push_back(rows.count(stretches[node]));
    const auto noisy = noises[level].run(counts, context);
    for (std::size_t i = 0; i < noisy.size(); ++i)
      Measured{double(noisy[i]), noises[level].variance()}.set(tree.nodes[begin + i]);
  }
  fit(tree.nodes);
  return {shape, std::move(tree.nodes), std::move(tree.bounds), false};
}

// Xiao, Xiong and Yuan (2010). The counts of the grid are for the cuts only: those they led to are not
// independent of them.
RangeHistogram KdTree::guided(const Points& points, double rows, Context& context) const {
  const Shape& shape = options_.shape;
  const auto guide = CountNoise::laplace(shares().structure, options_.rows_per_unit);
  const auto leaf = CountNoise::laplace(shares().counts, options_.rows_per_unit);
  const Grid grid = Grid::over(
      shape, {internal::grid_parts(Box::whole(shape), rows, guide.rate(),
                                   round_up(options_.coarseness), double(options_.max_boxes))});
  const auto counts =
      internal::count_rows(points, shape, grid.parts.cells(),
                           [&](const std::uint32_t* point) { return grid.cell_of(point); });
  const auto noisy = guide.run(counts, context);
  const std::vector<double> guides(noisy.begin(), noisy.end());

  BoxTree tree(Box::whole(grid.parts));  // in numbers of grid cells
  for (std::size_t depth = 0; depth < kGuidedDepth; ++depth) {
    for (std::size_t node = tree.levels.end()[-2]; node < tree.levels.back(); ++node) {
      const auto found = evening_cut(grid.parts, guides, tree.box(node), guide.variance());
      if (found) tree.cut(node, found->axis, found->line);
    }
    if (tree.nodes.size() == tree.levels.back()) break;
    tree.levels.push_back(tree.nodes.size());
  }

  std::vector<std::size_t> leaves;
  std::vector<std::int64_t> leaf_counts;
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    if (tree.nodes[node].children > 0) continue;
    leaves.push_back(node);
    leaf_counts.push_back(0);
    internal::for_cells(grid.parts, tree.box(node), [&](std::size_t cell, const auto&) {
      leaf_counts.back() = internal::saturated_sum(leaf_counts.back(), counts[cell]);
    });
  }
  const auto measured = leaf.run(leaf_counts, context);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    Measured{double(measured[i]), leaf.variance()}.set(tree.nodes[leaves[i]]);
  for (std::size_t i = 0; i < tree.bounds.size(); ++i)
    tree.bounds[i] = grid.line(i % shape.axes(), tree.bounds[i]);
  fit(tree.nodes);
  return {shape, std::move(tree.nodes), std::move(tree.bounds), false};
}

}  // namespace gauze
