#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace gauze {

/// Discrete Fourier transforms of real sequences.
///
/// Rounding: an output is a sum over paths through log2(N) butterflies, each with relative error
/// below 16 units in the last place, so every coefficient of the forward transform is off by at
/// most `fft_rounding(N)` times the sum of absolute inputs, and every value of the inverse by at
/// most `fft_rounding(N)` times the mean of absolute coefficients.
double fft_rounding(std::size_t size);

/// Coefficients 0 ... N/2 of the sequence (N even); the others are their conjugates.
std::vector<std::complex<double>> real_fft(const std::vector<double>& values);

/// The sequence of even length `size` whose coefficients 0 ... size/2 are given.
std::vector<double> inverse_real_fft(const std::vector<std::complex<double>>& half,
                                     std::size_t size);

/// The smallest length >= `size` of the form 2^k, 3 * 2^k or 5 * 2^k, k >= 2.
std::size_t fft_size(std::size_t size);

}  // namespace gauze
