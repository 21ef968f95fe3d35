#pragma once

#include "gauze/numeric/ratio.h"

namespace gauze {

/// Tails of integer noise, for accuracy promises and for choosing a scale by the accuracy wanted.
/// Argument: discrete_accuracy.md

/// The smallest integer r (possibly one more) with P(|X| > r) <= beta for discrete Laplace noise;
/// 0 < beta < 1.
double discrete_laplace_radius(const Ratio& scale, double beta);

/// The same for discrete Gaussian noise.
double discrete_gaussian_radius(const Ratio& sigma, double beta);

/// The largest scale (sigma) at which P(|X| >= accuracy) <= alpha; accuracy >= 1 is a whole number,
/// 0 < alpha < 1. Throws `kInvalidOption`.
double discrete_laplace_scale_for(double accuracy, double alpha);
double discrete_gaussian_sigma_for(double accuracy, double alpha);

/// The smallest whole number a with P(|X| >= a) <= alpha.
double discrete_laplace_accuracy(double scale, double alpha);
double discrete_gaussian_accuracy(double sigma, double alpha);

}  // namespace gauze
