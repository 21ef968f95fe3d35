#include "gauze/histogram/buckets.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <bit>
#include <cmath>

#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/hierarchical.h"
#include "gauze/histogram/strategy_optimiser.h"

namespace gauze {
namespace {

/// Ranges of cells as questions about buckets that are even inside: as many as there are buckets, with
/// the same Gram matrix.
AxisWorkload questions_about(std::span<const std::uint32_t> begins, const CellRanges& ranges) {
  const auto buckets = static_cast<Eigen::Index>(begins.size() - 1);
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(buckets, buckets);
  Eigen::VectorXd weights(buckets);
  for (const auto& [begin, end] : ranges) {
    for (Eigen::Index i = 0; i < buckets; ++i) {
      const std::uint32_t from = begins[static_cast<std::size_t>(i)];
      const std::uint32_t to = begins[static_cast<std::size_t>(i) + 1];
      const double inside = double(std::min(end, to)) - double(std::max(begin, from));
      weights[i] = std::max(0.0, inside) / double(to - from);
    }
    gram.selfadjointView<Eigen::Lower>().rankUpdate(weights);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(gram);
  DenseMatrix rows{begins.size() - 1, begins.size() - 1, {}};
  for (Eigen::Index i = 0; i < buckets; ++i)
    for (Eigen::Index j = 0; j < buckets; ++j)
      rows.values.push_back(std::sqrt(std::max(0.0, solved.eigenvalues()[i])) *
                            solved.eigenvectors()(j, i));
  return AxisWorkload::matrix(std::move(rows));
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
