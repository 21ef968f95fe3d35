#include "gauze/histogram/buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/hierarchical.h"

namespace gauze {

Event BucketMeasurement::event() const {
  return {events::Pure{epsilon}, Relation::kAddRemove};
}

// A fitted total is at least as good as its own measurement, which has the share of one level.
Accuracy BucketMeasurement::accuracy(std::uint64_t buckets, double confidence) const {
  const auto levels =
      aim == HistogramAim::kCells ? 1u : std::max<std::uint64_t>(1, std::bit_width(buckets - 1));
  const CountNoise noise = CountNoise::laplace(Ratio(epsilon / levels), rows_per_unit);
  return {noise_half_width(noise.variance(), confidence, false), confidence,
          "noise of each bucket"};
}

RangeHistogram BucketMeasurement::run(std::span<const std::int64_t> counts,
                                      std::span<const std::uint32_t> begins,
                                      Context& context) const {
  const auto buckets = static_cast<std::uint32_t>(begins.size() - 1);
  std::vector<std::int64_t> totals(buckets);
  for (std::uint32_t i = 0; i < buckets; ++i)
    for (std::uint32_t cell = begins[i]; cell < begins[i + 1]; ++cell)
      totals[i] = saturating_add(totals[i], counts[cell]);
  const HierarchicalHistogram measured(
      {.shape = Shape{{buckets}},
       .epsilon = epsilon,
       .rows_per_unit = rows_per_unit,
       .branching = aim == HistogramAim::kRanges ? 0 : std::max(2u, buckets)});
  StepMeter steps(event(), context);
  return measured.run(totals, steps.context()).value.stretched(begins);
}

}  // namespace gauze
