#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gauze/audit/confidence.h"
#include "gauze/audit/divergence.h"
#include "gauze/random/bit_source.h"

namespace gauze::testing {

using audit::hockey_stick;
using audit::max_log_ratio;
using audit::probability_at_least;
using audit::probability_at_most;
using audit::renyi_divergence;

/// Calls `visit` on every data set of up to `size` whole values from 0 to `upper`, sorted, the empty
/// one included.
void for_all_data(int size, int upper,
                  const std::function<void(const std::vector<double>&)>& visit);

struct AuditOptions {
  std::uint64_t trials = 200'000;  ///< of each sampler
  std::uint64_t seed = 1;
  double delta = 0;
  double failure = 1e-6;  ///< probability that the result exceeds the true epsilon
};

/// A lower bound for the epsilon that separates two samplers, at `delta`. Half of the draws choose
/// the telling event in each direction (an interval or a single value), the other half bound its
/// probability, so the bound holds however the event was found.
double audited_epsilon(const std::function<double(BitSource&)>& first,
                       const std::function<double(BitSource&)>& second,
                       const AuditOptions& options = {});

}  // namespace gauze::testing
