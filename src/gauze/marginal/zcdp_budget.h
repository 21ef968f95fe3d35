#pragma once

#include <cstdint>

#include "gauze/numeric/ratio.h"

namespace gauze {

// Prices of measurements in zero-concentrated DP: decimals of nine digits, each rounded so that the promise
// holds exactly. Argument: zcdp_budget.md

/// About the largest rho for which rho-zCDP implies (epsilon, delta)-DP. Throws `kInvalidOption` unless
/// epsilon > 0 and 0 < delta < 1.
Ratio rho_for(const Ratio& epsilon, const Ratio& delta);

/// About the smallest sigma with l2_sensitivity^2 / (2 sigma^2) <= rho. Both are > 0.
Ratio sigma_for(const Ratio& rho, std::uint64_t l2_sensitivity);

/// About the largest epsilon for which a choice by the exponential mechanism costs at most rho:
/// epsilon^2 / 8 <= rho.
Ratio choice_epsilon_for(const Ratio& rho);

}  // namespace gauze
