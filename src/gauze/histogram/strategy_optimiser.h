#pragma once

#include <cstdint>

#include "gauze/histogram/strategy.h"

namespace gauze {

/// The norm of a strategy that noise has to grow with.
enum class NoiseNorm : std::uint8_t { kLaplace, kGaussian };

/// The variance, summed over all questions, at noise for one row and epsilon 1 (a scale of l1_norm), or at
/// noise of sigma = l2_norm: what strategies are compared by.
double expected_variance(const Strategy& strategy, const Workload& workload, NoiseNorm noise);

/// A strategy that answers the workload with little variance: a local optimum among products of
/// p-identity strategies, and among marginals where there are several axes; never worse than measuring
/// every cell. Depends on the workload alone. Argument: hdmm.md
Strategy optimised_strategy(const Workload& workload, NoiseNorm noise);

}  // namespace gauze
