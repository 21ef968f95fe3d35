#include "gauze/histogram/hdmm.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/histogram/strategy_optimiser.h"

namespace gauze {
namespace {

/// How much of each part these weights on cells are.
std::vector<double> on_parts(const WorkloadParts& parts, std::span<const double> weights) {
  std::vector<double> sums(parts.sizes.size(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) sums[parts.part_of_cell[i]] += weights[i];
  for (std::size_t part = 0; part < sums.size(); ++part) sums[part] /= parts.sizes[part];
  return sums;
}

/// A histogram of parts, each spread evenly over its cells.
RangeHistogram spread(const Shape& shape, const std::shared_ptr<const WorkloadParts>& parts,
                      RangeHistogram histogram, bool gaussian) {
  const auto number = static_cast<std::uint32_t>(parts->sizes.size());
  std::vector<double> of_cell(number);
  std::vector<double> variances(number);
  for (std::uint32_t part = 0; part < number; ++part) {
    const RangeEstimate total = histogram.range({{part}, {part + 1}});
    of_cell[part] = total.value / parts->sizes[part];
    variances[part] = total.variance / parts->sizes[part] / parts->sizes[part];
  }
  std::vector<double> cells;
  cells.reserve(parts->part_of_cell.size());
  for (const std::uint32_t part : parts->part_of_cell) cells.push_back(of_cell[part]);
  const auto variance = [parts, histogram = std::move(histogram)](std::span<const double> weights) {
    return histogram.weighted(on_parts(*parts, weights)).variance;
  };
  const auto box_variance = [shape, parts, variance, variances](const Box& box) {
    if (box.volume() == 1) {
      std::size_t cell = 0;
      for (std::size_t axis = 0; axis < shape.axes(); ++axis)
        cell = cell * shape.extents[axis] + box.begin[axis];
      return variances[parts->part_of_cell[cell]];
    }
    return variance(box_weights(shape, box));
  };
  return {shape, cells, variance, gaussian, box_variance};
}

}  // namespace

// Laplace and Gaussian noise want different strategies; each is priced with the noise that it then gets.
HdmmHistogram::Chosen HdmmHistogram::choose(const Options& options) {
  const Shape& shape = options.shape;
  check_dense(shape);
  check_budget({options.epsilon, options.delta, options.rows_per_unit});
  const Workload workload = options.workload ? *options.workload : Workload::all_ranges(shape);
  require(workload.shape() == shape, "workload: must be about the axes of the shape");
  const std::optional<WorkloadParts> parts = parts_told_apart(workload);
  const Workload& searched = parts ? parts->workload : workload;
  const Shape measured = searched.shape();
  require(*std::max_element(measured.extents.begin(), measured.extents.end()) <= 1u << 14,
          "shape: must have at most 2^14 cells along an axis; hierarchies take more");
  const auto priced = [&](NoiseNorm noise) {
    const Strategy strategy = optimised_strategy(searched, noise);
    MatrixMechanism mechanism({.shape = measured,
                               .epsilon = options.epsilon,
                               .rows_per_unit = options.rows_per_unit,
                               .strategy = strategy,
                               .delta = options.delta});
    const double total = strategy.total_variance(searched) * mechanism.noise_variance();
    return Chosen{strategy, std::move(mechanism), total / workload.queries(), parts};
  };
  Chosen best = priced(NoiseNorm::kLaplace);
  if (options.delta == 0) return best;
  Chosen other = priced(NoiseNorm::kGaussian);
  return other.average_variance < best.average_variance ? other : best;
}

HdmmHistogram::HdmmHistogram(Options options) : HdmmHistogram(options, choose(options)) {}

HdmmHistogram::HdmmHistogram(const Options& options, Chosen chosen)
    : shape_(options.shape),
      rows_per_unit_(options.rows_per_unit),
      strategy_(std::move(chosen.strategy)),
      mechanism_(std::move(chosen.mechanism)),
      average_variance_(chosen.average_variance),
      parts_(chosen.parts ? std::make_shared<const WorkloadParts>(*std::move(chosen.parts))
                          : nullptr) {}

HdmmHistogram HdmmHistogram::with(const Ratio& epsilon) const {
  require(!mechanism_.is_gaussian(), "delta: another share of the budget needs another search");
  HdmmHistogram other = *this;
  other.mechanism_ = MatrixMechanism({.shape = strategy_.shape(),
                                      .epsilon = epsilon,
                                      .rows_per_unit = rows_per_unit_,
                                      .strategy = strategy_});
  other.average_variance_ *= other.mechanism_.noise_variance() / mechanism_.noise_variance();
  return other;
}

Accuracy HdmmHistogram::accuracy(double confidence) const {
  Accuracy accuracy = mechanism_.accuracy(confidence);
  if (parts_) accuracy.of = "each part that the questions tell apart";
  return accuracy;
}

Release<RangeHistogram> HdmmHistogram::run(std::span<const std::int64_t> counts,
                                           Context& context) const {
  if (!parts_) return mechanism_.run(counts, context);
  if (counts.size() != shape_.cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  std::vector<std::int64_t> totals(parts_->sizes.size(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::int64_t& total = totals[parts_->part_of_cell[i]];
    total = saturating_add(total, counts[i]);
  }
  auto released = mechanism_.run(totals, context);
  return {spread(shape_, parts_, std::move(released.value), mechanism_.is_gaussian()), accuracy(),
          event()};
}

}  // namespace gauze
