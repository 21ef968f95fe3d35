#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace gauze {

/// Discrete Fourier transforms of real sequences of one even length.
///
/// Rounding: an output is a sum over paths through log2(size) butterflies, each with relative error
/// below 16 units in the last place, so every coefficient of the forward transform is off by at
/// most `rounding()` times the sum of absolute inputs, and every value of the inverse by at most
/// `rounding()` times the mean of absolute coefficients.
/// Time O(size log size); the trigonometric tables are computed once.
class RealFft {
 public:
  explicit RealFft(std::size_t size);
  RealFft(RealFft&&) noexcept;
  RealFft& operator=(RealFft&&) noexcept;
  ~RealFft();

  std::size_t size() const { return size_; }
  double rounding() const;

  /// Coefficients 0 ... size/2; the others are their conjugates.
  std::vector<std::complex<double>> forward(const std::vector<double>& values);

  /// The sequence whose coefficients 0 ... size/2 are given.
  std::vector<double> inverse(const std::vector<std::complex<double>>& half);

 private:
  struct Tables;
  std::size_t size_;
  std::unique_ptr<Tables> tables_;
};

/// The smallest length >= `size` of the form 2^k, 3 * 2^k or 5 * 2^k, k >= 2.
std::size_t fft_size(std::size_t size);

}  // namespace gauze
