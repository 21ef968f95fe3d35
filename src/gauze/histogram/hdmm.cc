#include "gauze/histogram/hdmm.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/histogram/strategy_optimiser.h"

namespace gauze {

// Laplace and Gaussian noise want different strategies; each is priced with the noise that it then gets.
HdmmHistogram::Chosen HdmmHistogram::choose(const Options& options) {
  const Shape& shape = options.shape;
  check_dense(shape);
  check_budget({options.epsilon, options.delta, options.rows_per_unit});
  require(*std::max_element(shape.extents.begin(), shape.extents.end()) <= 1u << 14,
          "shape: must have at most 2^14 cells along an axis; hierarchies take more");
  const Workload workload = options.workload ? *options.workload : Workload::all_ranges(shape);
  require(workload.shape() == shape, "workload: must be about the axes of the shape");
  const auto priced = [&](NoiseNorm noise) {
    const Strategy strategy = optimised_strategy(workload, noise);
    MatrixMechanism mechanism({.shape = shape,
                               .epsilon = options.epsilon,
                               .rows_per_unit = options.rows_per_unit,
                               .strategy = strategy,
                               .delta = options.delta});
    const double total = strategy.total_variance(workload) * mechanism.noise_variance();
    return Chosen{strategy, std::move(mechanism), total / workload.queries()};
  };
  Chosen best = priced(NoiseNorm::kLaplace);
  if (options.delta == 0) return best;
  Chosen other = priced(NoiseNorm::kGaussian);
  return other.average_variance < best.average_variance ? other : best;
}

HdmmHistogram::HdmmHistogram(Options options) : HdmmHistogram(choose(options)) {}

HdmmHistogram::HdmmHistogram(Chosen chosen)
    : strategy_(std::move(chosen.strategy)),
      mechanism_(std::move(chosen.mechanism)),
      average_variance_(chosen.average_variance) {}

}  // namespace gauze
