#include "gauze/numeric/fft.h"

#include <cmath>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <unsupported/Eigen/FFT>
#pragma GCC diagnostic pop

#include "gauze/base/error.h"

namespace gauze {

struct RealFft::Tables {
  Eigen::FFT<double> fft;
};

RealFft::RealFft(std::size_t size) : size_(size), tables_(std::make_unique<Tables>()) {
  if (size < 4 || size % 2 != 0) throw Error(ErrorCode::kInternal, "FFT of an odd length");
  tables_->fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
}
RealFft::RealFft(RealFft&&) noexcept = default;
RealFft& RealFft::operator=(RealFft&&) noexcept = default;
RealFft::~RealFft() = default;

double RealFft::rounding() const {
  return 16 * 0x1p-53 * std::log2(static_cast<double>(size_));
}

std::vector<std::complex<double>> RealFft::forward(const std::vector<double>& values) {
  std::vector<std::complex<double>> half;
  tables_->fft.fwd(half, values);
  return half;
}

std::vector<double> RealFft::inverse(const std::vector<std::complex<double>>& half) {
  // The Hartley transform is its own inverse, so the forward tables serve: with
  // h_k = Re Y_k - Im Y_k the sequence is the Hartley transform of h over the length.
  std::vector<double> values(size_);
  const double scale = 1 / static_cast<double>(size_);
  values[0] = half[0].real() * scale;
  values[size_ / 2] = half[size_ / 2].real() * scale;
  for (std::size_t k = 1; k < size_ / 2; ++k) {
    values[k] = (half[k].real() - half[k].imag()) * scale;
    values[size_ - k] = (half[k].real() + half[k].imag()) * scale;
  }
  const std::vector<std::complex<double>> again = forward(values);
  values[0] = again[0].real();
  values[size_ / 2] = again[size_ / 2].real();
  for (std::size_t n = 1; n < size_ / 2; ++n) {
    values[n] = again[n].real() - again[n].imag();
    values[size_ - n] = again[n].real() + again[n].imag();
  }
  return values;
}

std::size_t fft_size(std::size_t size) {
  std::size_t best = 0;
  for (const std::size_t factor : {1u, 3u, 5u}) {
    std::size_t candidate = 4 * factor;
    while (candidate < size) candidate *= 2;
    if (best == 0 || candidate < best) best = candidate;
  }
  return best;
}

}  // namespace gauze
