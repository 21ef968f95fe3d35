#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace gauze::testing {

/// The p-value below which a test of a sampler fails: a right one does for one seed in 10^9, and seeds
/// are fixed.
inline constexpr double kSignificance = 1e-9;

/// p-value of Pearson's chi-square test that `observed` counts come from `probabilities` (same
/// length, sum 1 up to rounding). Neighbouring cells are merged until each expects at least 20. A
/// test that asserts p > 1e-9 fails for a right sampler once in 10^9 seeds.
double chi_square_p(std::span<const std::uint64_t> observed, std::span<const double> probabilities);

/// Draws `count` integers and tests them against `mass` on [low, high]; everything outside is one
/// cell on each side, with the mass that is missing split by `mass_below` (what lies under `low`).
double chi_square_p(const std::function<std::int64_t()>& draw, std::uint64_t count,
                    std::int64_t low, std::int64_t high,
                    const std::function<double(std::int64_t)>& mass, double mass_below);

/// Pearson's correlation.
double correlation(std::span<const double> x, std::span<const double> y);

}  // namespace gauze::testing
