#pragma once

#include "gauze/numeric/ratio.h"

namespace gauze {

/// The exact privacy of Gaussian noise, also of any composition of Gaussian mechanisms: it depends
/// on mu_squared = sum of (l2_sensitivity / sigma)^2 alone. Evaluated with enough bits and rounded
/// up: never below the true value, above it by at most an ulp or two. Argument: gaussian.md

/// delta at any epsilon (also negative), Balle and Wang 2018, Theorem 8.
double gaussian_delta(const Ratio& mu_squared, double epsilon);

/// The same with mu in double arithmetic where that is good to 9 digits: for searches whose result is
/// checked by the exact one, which takes a thousand times as long.
double about_gaussian_delta(double mu, double epsilon);

/// Smallest epsilon >= 0 at 0 <= delta < 1; infinity at delta = 0 unless mu_squared = 0.
double gaussian_epsilon(const Ratio& mu_squared, double delta);

}  // namespace gauze
