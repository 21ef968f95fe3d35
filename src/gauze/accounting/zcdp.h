#pragma once

#include "gauze/numeric/ratio.h"

namespace gauze {

/// What rho-zero-concentrated DP means in terms of (epsilon, delta): the best Renyi order is found
/// and the bound at that order is evaluated with 256 bits and rounded up, so the result is never
/// below the true value and within two ulp of the infimum. Argument: zcdp.md

/// Smallest delta at epsilon >= 0, at most 1.
double zcdp_delta(const Ratio& rho, double epsilon);

/// Smallest epsilon at 0 <= delta < 1, never negative; infinity at delta = 0 unless rho = 0.
double zcdp_epsilon(const Ratio& rho, double delta);

}  // namespace gauze
