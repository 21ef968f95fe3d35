#include "gauze/histogram/structure_first.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {
namespace {

/// Squared errors of merged cells, as whole numbers.
class SquaredErrors {
 public:
  SquaredErrors(std::span<const std::int64_t> counts, std::uint64_t limit)
      : sums_(counts.size() + 1), squares_(counts.size() + 1) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto count = std::clamp(counts[i], std::int64_t{0}, static_cast<std::int64_t>(limit));
      sums_[i + 1] = sums_[i] + count;
      squares_[i + 1] = squares_[i] + count * count;
    }
  }

  /// Sum of (count - mean)^2 over the cells from begin to end, rounded down.
  std::int64_t of(std::size_t begin, std::size_t end) const {
    const std::int64_t sum = sums_[end] - sums_[begin];
    const auto cells = static_cast<std::int64_t>(end - begin);
    return squares_[end] - squares_[begin] - (sum * sum + cells - 1) / cells;
  }

 private:
  std::vector<std::int64_t> sums_;
  std::vector<std::int64_t> squares_;
};

/// The least cost of cutting the cells before each position into buckets.
std::vector<std::int64_t> least_costs(const SquaredErrors& errors, std::size_t cells,
                                      std::int64_t price) {
  std::vector<std::int64_t> least(cells + 1, INT64_MAX);
  least[0] = 0;
  for (std::size_t end = 1; end <= cells; ++end)
    for (std::size_t begin = end; begin-- > 0;)
      least[end] = std::min(least[end], least[begin] + errors.of(begin, end) + price);
  return least;
}

}  // namespace

StructureFirstHistogram::StructureFirstHistogram(Options options) : options_(std::move(options)) {
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
  check_dense(options_.shape);
  require(options_.shape->axes() == 1 && options_.shape->cells() <= 1u << 14,
          "shape: must have one axis of at most 2^14 cells; use dawa for more");
  require(options_.partition_share > 0 && options_.partition_share < 1,
          "partition_share must lie strictly between 0 and 1");
  const auto cells = static_cast<std::uint32_t>(options_.shape->cells());
  const Ratio limit = options_.count_limit.get();
  require(
      limit >= 1 && limit * limit * cells <= power_of_two(51) && limit * cells <= power_of_two(31),
      "count_limit: must be at least 1 and at most 2^31/cells and sqrt(2^51/cells)");
  if (options_.buckets == 0) options_.buckets = std::clamp(cells / 10, 1u, 16u);
  require(options_.buckets <= cells, "buckets: must not be more than there are cells");
}

Event StructureFirstHistogram::choice_event() const {
  const Ratio each = options_.epsilon.get() * options_.partition_share / (options_.buckets - 1);
  return {events::Exponential{each}, Relation::kAddRemove, options_.buckets - 1};
}

Event StructureFirstHistogram::event() const {
  if (options_.buckets == 1) return measurement().event();
  return {events::Composed{{choice_event(), measurement().event()}}, Relation::kAddRemove};
}

BucketMeasurement StructureFirstHistogram::measurement() const {
  const Ratio share = options_.buckets == 1 ? Ratio(0) : options_.partition_share;
  return {options_.epsilon.get() * (1 - share), options_.rows_per_unit};
}

Accuracy StructureFirstHistogram::accuracy(double confidence) const {
  return measurement().accuracy(options_.buckets, confidence);
}

std::vector<std::uint32_t> StructureFirstHistogram::find_buckets(
    std::span<const std::int64_t> counts, Context& context) const {
  std::vector<std::uint32_t> begins = {static_cast<std::uint32_t>(counts.size())};
  if (options_.buckets > 1) {
    const SquaredErrors errors(counts, options_.count_limit);
    // What one bucket more costs in noise, twice its variance; public.
    const CountNoise noise = CountNoise::laplace(measurement().epsilon, options_.rows_per_unit);
    const auto price = static_cast<std::int64_t>(std::min(2 * noise.variance(), 0x1p35));
    const auto least = least_costs(errors, counts.size(), price);
    const ExponentialMechanism choose(
        {.epsilon = std::get<events::Exponential>(choice_event().kind).epsilon,
         .sensitivity = Ratio(2 * Ratio(options_.count_limit.get()) + 1) *
                        Ratio(options_.rows_per_unit.get())});
    while (begins.back() > 0 && begins.size() < options_.buckets) {
      const std::size_t end = begins.back();
      std::vector<double> scores(end);
      for (std::size_t begin = 0; begin < end; ++begin)
        scores[begin] = -static_cast<double>(least[begin] + errors.of(begin, end));
      begins.push_back(static_cast<std::uint32_t>(choose.run(scores, context).value));
    }
  }
  if (begins.back() > 0) begins.push_back(0);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

Release<RangeHistogram> StructureFirstHistogram::run(std::span<const std::int64_t> counts,
                                                     Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  const auto begins = find_buckets(counts, steps.context());
  return {measurement().run(counts, begins, steps.context()), accuracy(), event()};
}

}  // namespace gauze
