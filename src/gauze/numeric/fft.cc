#include "gauze/numeric/fft.h"

#include <algorithm>
#include <cmath>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <unsupported/Eigen/FFT>
#pragma GCC diagnostic pop

namespace gauze {

double fft_rounding(std::size_t size) {
  return 16 * 0x1p-53 * std::log2(static_cast<double>(std::max<std::size_t>(size, 2)));
}

std::vector<std::complex<double>> real_fft(const std::vector<double>& values) {
  Eigen::FFT<double> fft;
  fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  std::vector<std::complex<double>> half;
  fft.fwd(half, values);
  return half;
}

std::vector<double> inverse_real_fft(const std::vector<std::complex<double>>& half,
                                     std::size_t size) {
  Eigen::FFT<double> fft;
  fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  std::vector<double> values(size);
  fft.inv(values, half, static_cast<Eigen::Index>(size));
  return values;
}

std::size_t fft_size(std::size_t size) {
  std::size_t best = 0;
  for (const std::size_t factor : {1, 3, 5}) {
    std::size_t candidate = 4 * factor;
    while (candidate < size) candidate *= 2;
    if (best == 0 || candidate < best) best = candidate;
  }
  return best;
}

}  // namespace gauze
