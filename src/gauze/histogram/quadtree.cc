#include "gauze/histogram/quadtree.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/grid_internal.h"

namespace gauze {

// Cormode, Procopiuc, Srivastava, Shen and Yu (2012), for any branching and number of axes.
std::vector<Ratio> geometric_shares(std::size_t levels, std::uint32_t branching, std::size_t axes) {
  std::vector<Ratio> shares;
  Ratio sum = 0;
  for (std::size_t level = 0; level < levels; ++level) {
    shares.push_back(
        ratio_of_decimal(std::pow(branching, double(level) * (static_cast<double>(axes) - 1) / 3)));
    sum += shares.back();
  }
  for (Ratio& share : shares) share /= sum;
  return shares;
}

Quadtree::Quadtree(Options options) : options_(std::move(options)) {
  check_shape(options_.shape);
  require(options_.count_share > 0 && options_.count_share < 1,
          "count_share must lie strictly between 0 and 1");
  require(options_.branching >= 2 && options_.branching <= 1024,
          "branching must be from 2 to 1024");
  require(options_.height <= 31, "height must be at most 31, or 0 for one that fits the rows");
  require(options_.coarseness > 0, "coarseness must be positive; 10 suits most data");
  require(options_.max_boxes >= 1 && options_.max_boxes <= 1u << 28,
          "max_boxes must be from 1 to 2^28");
  require(options_.delta == 0 || !pays_for_rows(),
          "delta: Gaussian noise needs a tree of known height; give height or expected_rows");
  const double boxes = static_cast<double>(options_.max_boxes);
  require(options_.height == 0 || Box::whole(parts(options_.height)).volume() <= boxes,
          "height: gives more than max_boxes boxes");
  noises_ = noises(options_.height > 0          ? parts(options_.height)
                   : options_.expected_rows > 0 ? parts_for(double(options_.expected_rows))
                                                : parts(31));
}

HistogramBudget Quadtree::budget() const {
  const Ratio rest = pays_for_rows() ? Ratio(1 - options_.count_share) : Ratio(1);
  return {Ratio(rest * Ratio(options_.epsilon)), options_.delta, options_.rows_per_unit};
}

Shape Quadtree::parts(double height) const {
  Shape result = options_.shape;
  const double each = std::pow(options_.branching, height);
  for (std::uint32_t& extent : result.extents)
    if (extent > each) extent = static_cast<std::uint32_t>(each);
  return result;
}

Shape Quadtree::parts_for(double rows) const {
  const double most = static_cast<double>(options_.max_boxes);
  const double rate = CountNoise::laplace(budget().epsilon, options_.rows_per_unit).rate();
  const auto wanted = internal::grid_parts(Box::whole(options_.shape), rows, rate,
                                           round_up(options_.coarseness), most);
  const double largest = *std::max_element(wanted.begin(), wanted.end());
  double height = 0;
  while (std::pow(options_.branching, height) < largest &&
         Box::whole(parts(height + 1)).volume() <= most)
    ++height;
  return parts(height);
}

std::vector<CountNoise> Quadtree::noises(const Shape& parts) const {
  const auto largest = *std::max_element(parts.extents.begin(), parts.extents.end());
  std::size_t levels = 1;
  for (std::uint64_t reach = 1; reach < largest; reach *= options_.branching) ++levels;
  return split_budget(budget(),
                      geometric_shares(levels, options_.branching, options_.shape->axes()));
}

Event Quadtree::event() const {
  if (pays_for_rows()) return {events::Pure{options_.epsilon}, Relation::kAddRemove};
  return composed(noises_);
}

// The last level gets the smallest share in the highest tree.
Accuracy Quadtree::accuracy(double confidence) const {
  const CountNoise& last = noises_.back();
  return {noise_half_width(last.variance(), confidence, last.is_gaussian()), confidence,
          "each of the smallest boxes"};
}

Release<RangeHistogram> Quadtree::run(const Points& points, Context& context) const {
  const Shape& shape = options_.shape;
  check_points(shape, points);
  StepMeter steps(event(), context);

  double rows = double(options_.expected_rows);
  if (pays_for_rows()) {
    const auto noise = CountNoise::laplace(Ratio(options_.count_share * Ratio(options_.epsilon)),
                                           options_.rows_per_unit);
    rows = internal::measured_rows(points, shape, noise, steps.context()).count;
  }
  const auto grid =
      internal::Grid::over(shape, options_.height > 0 ? parts(options_.height) : parts_for(rows));
  const std::vector<CountNoise> noises = pays_for_rows() ? this->noises(grid.parts) : noises_;

  auto [tree, cells] = internal::grid_tree(grid, options_.branching);
  const auto cell_counts = internal::count_rows(
      points, shape, cells.size(), [&](const std::uint32_t* point) { return grid.cell_of(point); });
  std::vector<std::int64_t> counts(tree.nodes.size(), 0);
  const std::size_t first = tree.nodes.size() - cells.size();
  for (std::size_t i = 0; i < cells.size(); ++i) counts[first + i] = cell_counts[cells[i]];
  for (std::size_t node = first; node-- > 0;)
    for (std::uint32_t child = 0; child < tree.nodes[node].children; ++child)
      counts[node] =
          internal::saturated_sum(counts[node], counts[tree.nodes[node].first_child + child]);

  for (std::size_t level = 0; level < noises.size(); ++level) {
    const std::size_t begin = tree.levels[level];
    const auto noisy = noises[level].run(
        std::span(counts).subspan(begin, tree.levels[level + 1] - begin), steps.context());
    for (std::size_t i = 0; i < noisy.size(); ++i)
      internal::Measured{double(noisy[i]), noises[level].variance()}.set(tree.nodes[begin + i]);
  }
  fit(tree.nodes);
  return {RangeHistogram(shape, std::move(tree.nodes), std::move(tree.bounds),
                         noises.front().is_gaussian()),
          accuracy(), event()};
}

}  // namespace gauze
