#pragma once

#include <cstdint>
#include <span>

namespace gauze::noise_internal {

/// Turns approximate weights into a proposal distribution that is known exactly: integers that sum
/// to 2^64.
///
/// `weights` are finite and not negative, each within a factor 1 +- 2^-38 of a true weight; at
/// least one is positive. Every positive weight gets at least one unit, a zero gets none. Returns
/// kappa such that kappa * 2^64 * (true weight i) <= out[i] for all i: so `kappa 2^64 w_i / out[i]`
/// is a probability, and accepting proposal i with it leaves i with probability proportional to
/// w_i, exactly.
double quantise(std::span<const double> weights, std::span<std::uint64_t> out);

}  // namespace gauze::noise_internal
