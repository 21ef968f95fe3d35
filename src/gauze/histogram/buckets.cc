#include "gauze/histogram/buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/hierarchical.h"
#include "gauze/histogram/strategy_optimiser.h"

namespace gauze {
namespace {

/// Ranges of cells as questions about buckets that are even inside.
AxisWorkload questions_about(std::span<const std::uint32_t> begins, const CellRanges& ranges) {
  const std::size_t buckets = begins.size() - 1;
  DenseMatrix gram{buckets, buckets, std::vector<double>(buckets * buckets, 0.0)};
  std::vector<double> weights(buckets);
  for (const auto& [begin, end] : ranges) {
    for (std::size_t i = 0; i < buckets; ++i) {
      const double inside =
          double(std::min(end, begins[i + 1])) - double(std::max(begin, begins[i]));
      weights[i] = std::max(0.0, inside) / double(begins[i + 1] - begins[i]);
    }
    for (std::size_t i = 0; i < buckets; ++i)
      for (std::size_t j = 0; j < buckets; ++j) gram.at(i, j) += weights[i] * weights[j];
  }
  return AxisWorkload::with_gram(gram);
}

}  // namespace

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

// Only if no bucket is worse than promised, however little is asked of it.
std::optional<MatrixMechanism> BucketMeasurement::searched(
    std::span<const std::uint32_t> begins) const {
  const std::size_t buckets = begins.size() - 1;
  if (asked.empty() || buckets < 2 || buckets > kMostSearched) return {};
  const Workload workload({{1.0, {questions_about(begins, asked)}}});
  MatrixMechanism found({.shape = workload.shape(),
                         .epsilon = epsilon,
                         .rows_per_unit = rows_per_unit,
                         .strategy = optimised_strategy(workload, NoiseNorm::kLaplace)});
  if (found.accuracy().half_width > accuracy(buckets, 0.95).half_width) return {};
  return found;
}

RangeHistogram BucketMeasurement::run(std::span<const std::int64_t> counts,
                                      std::span<const std::uint32_t> begins,
                                      const std::optional<MatrixMechanism>& found,
                                      Context& context) const {
  const auto buckets = static_cast<std::uint32_t>(begins.size() - 1);
  std::vector<std::int64_t> totals(buckets);
  for (std::uint32_t i = 0; i < buckets; ++i)
    for (std::uint32_t cell = begins[i]; cell < begins[i + 1]; ++cell)
      totals[i] = saturating_add(totals[i], counts[cell]);
  StepMeter steps(event(), context);
  if (found) return found->run(totals, steps.context()).value.stretched(begins);
  const HierarchicalHistogram measured(
      {.shape = Shape{{buckets}},
       .epsilon = epsilon,
       .rows_per_unit = rows_per_unit,
       .branching = aim == HistogramAim::kRanges ? 0 : std::max(2u, buckets)});
  return measured.run(totals, steps.context()).value.stretched(begins);
}

}  // namespace gauze
