#include "gauze/histogram/pruned_hierarchy.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/halving.h"
#include "gauze/histogram/halving_tree.h"

namespace gauze {
namespace {

std::vector<Ratio> weights_of(const PrunedHierarchy::Options& options) {
  if (!options.level_weights.empty()) return options.level_weights;
  if (options.aim == HistogramAim::kCells) return {0, 1};
  return range_level_weights(options.shape);
}

std::vector<Ratio> without_zeros(std::vector<Ratio> weights) {
  std::erase(weights, Ratio(0));
  return weights;
}

}  // namespace

std::vector<Ratio> range_level_weights(const Shape& shape) {
  // Blocks 16 times as large along an axis, 32 times in the plane: measured on public arrays.
  const std::uint32_t step = shape.axes() == 1 ? 4 : 5;
  const std::size_t levels =
      std::max<std::size_t>(1, (halving_depths(shape).most + step / 2) / step);
  std::vector<Ratio> weights(levels + 1, 1);
  weights[0] = shape.axes() == 1 ? Ratio(3, 8) : Ratio(0);
  return weights;
}

PrunedHierarchy::PrunedHierarchy(Options options) : options_(std::move(options)) {
  check_dense(options_.shape);
  require(options_.shape->cells() <= 1u << 24, "shape: must have at most 2^24 cells");
  require(options_.split_price >= 0 && std::isfinite(options_.split_price),
          "split_price: must be 0 or more");
  options_.level_weights = weights_of(options_);
  const std::vector<Ratio>& weights = options_.level_weights;
  require(
      weights.size() >= 2 && weights.size() <= 65 && weights.back() > 0,
      "level_weights: must be the share of the total, then of 1 to 64 levels, the last above 0");
  for (const Ratio& weight : weights) require(weight >= 0, "level_weights: must not be negative");
  noises_ = split_budget({options_.epsilon, options_.delta, options_.rows_per_unit},
                         without_zeros(weights));
}

Accuracy PrunedHierarchy::accuracy(double confidence) const {
  const CountNoise& cells = noises_.back();
  return {noise_half_width(cells.variance(), confidence, cells.is_gaussian()), confidence,
          "the noise of each cell before pruning"};
}

Release<RangeHistogram> PrunedHierarchy::run(std::span<const std::int64_t> counts,
                                             Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  HalvingTree tree(options_.shape, counts);
  const std::size_t levels = options_.level_weights.size() - 1;
  auto noise = noises_.begin();
  std::size_t above = 0;
  for (std::size_t level = 0; level <= levels; ++level) {
    if (options_.level_weights[level] == 0) continue;
    tree.measure({level, levels, above}, *noise++, steps.context());
    above = level;
  }
  return {tree.fitted(options_.split_price, noises_.back().is_gaussian()), accuracy(), event()};
}

}  // namespace gauze
