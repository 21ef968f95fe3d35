#include "gauze/histogram/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/mechanism/exponential.h"
#include "gauze/numeric/fft.h"

namespace gauze {
namespace {

__extension__ typedef __int128 Wide;

/// The orthonormal real Fourier basis in whole multiples of a unit: entry i of the vectors of frequency f is
/// cosine(f i) and sine(f i).
class WholeBasis {
 public:
  explicit WholeBasis(std::uint32_t length) : length_(length), cosines_(length) {
    const double height = std::sqrt(2.0 / length) / unit(length);
    for (std::uint32_t i = 0; i < length; ++i)
      cosines_[i] = std::llround(height * std::cos(2 * std::numbers::pi * i / length));
  }

  /// So small that rounding the basis changes nothing that noise does not hide, so large that counts of 2^36
  /// rows fit.
  static double unit(std::uint32_t length) {
    return std::ldexp(1, -26 - static_cast<int>(std::ceil(std::log2(length) / 2)));
  }
  std::int64_t constant() const { return std::llround(std::sqrt(1.0 / length_) / unit(length_)); }
  std::int64_t cosine(std::uint64_t i) const { return cosines_[i % length_]; }
  // The length is a multiple of four.
  std::int64_t sine(std::uint64_t i) const { return cosines_[(i + 3 * (length_ / 4)) % length_]; }

 private:
  std::uint32_t length_;
  std::vector<std::int64_t> cosines_;
};

/// Coefficients of the constant, then cosine and sine of each frequency, exact up to saturation, and how far
/// one row moves them in sum.
struct Coefficients {
  std::vector<std::int64_t> units;
  std::uint64_t l1_sensitivity;
};

std::int64_t saturated(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

Coefficients coefficients_of(std::span<const std::int64_t> counts, std::uint32_t frequencies,
                             std::uint32_t length) {
  const WholeBasis basis(length);
  Wide rows = 0;
  for (const std::int64_t count : counts) rows += count;
  Coefficients result{{saturated(rows * basis.constant())}, 0};
  std::vector<std::int64_t> moved(counts.size(), basis.constant());
  for (std::uint32_t f = 1; f <= frequencies; ++f) {
    Wide cosine = 0;
    Wide sine = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::int64_t c = basis.cosine(f * std::uint64_t{i});
      const std::int64_t s = basis.sine(f * std::uint64_t{i});
      cosine += Wide{c} * counts[i];
      sine += Wide{s} * counts[i];
      moved[i] += std::abs(c) + std::abs(s);
    }
    result.units.push_back(saturated(cosine));
    result.units.push_back(saturated(sine));
  }
  result.l1_sensitivity = static_cast<std::uint64_t>(*std::max_element(moved.begin(), moved.end()));
  return result;
}

/// The sum of the squares of the weights' coefficients of the constant and these frequencies.
double kept_energy(std::span<const double> weights, std::uint32_t frequencies,
                   std::uint32_t length) {
  std::vector<double> padded(weights.begin(), weights.end());
  padded.resize(length);
  const auto half = RealFft(length).forward(padded);
  double energy = std::norm(half[0]) / length;
  for (std::uint32_t f = 1; f <= frequencies; ++f) energy += std::norm(half[f]) * 2 / length;
  return energy;
}

double kept_of(std::uint32_t frequencies) {
  return 2.0 * frequencies + 1;
}

}  // namespace

FourierHistogram::FourierHistogram(Options options) : options_(std::move(options)) {
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
  check_dense(options_.shape);
  require(options_.shape->axes() == 1 && options_.shape->cells() <= 1u << 20,
          "shape: must have one axis of at most 2^20 cells");
  require(options_.choice_share > 0 && options_.choice_share < 1,
          "choice_share must lie strictly between 0 and 1");
  require(options_.most_frequencies >= 1, "most_frequencies: must be at least 1");
  length_ = static_cast<std::uint32_t>(fft_size(options_.shape->cells()));
  require(options_.frequencies < length_ / 2,
          "frequencies: must be fewer than half of the cells; 0 chooses");
  options_.most_frequencies = std::min(options_.most_frequencies, length_ / 2 - 1);
  const std::uint32_t kept = chooses() ? options_.most_frequencies : options_.frequencies;
  require(kept_of(kept) * static_cast<double>(options_.rows_per_unit.get()) < 0x1p34,
          "rows_per_unit: too many for so many frequencies; keep fewer than 2^33/rows_per_unit");
}

Ratio FourierHistogram::measuring_epsilon() const {
  return chooses() ? Ratio(options_.epsilon.get() * (1 - options_.choice_share))
                   : options_.epsilon.get();
}

// The noise depends on how many frequencies were chosen, hence a pure price for it.
Event FourierHistogram::event() const {
  const Event measuring{events::Pure{measuring_epsilon()}, Relation::kAddRemove};
  if (!chooses()) return measuring;
  const Event choice{events::Exponential{options_.epsilon.get() * options_.choice_share},
                     Relation::kAddRemove};
  return {events::Composed{{choice, measuring}}, Relation::kAddRemove};
}

double FourierHistogram::noise_variance(std::uint64_t sensitivity_in_units) const {
  const double moved = static_cast<double>(sensitivity_in_units) * WholeBasis::unit(length_) *
                       static_cast<double>(options_.rows_per_unit.get());
  const double scale = moved / round_down(measuring_epsilon());
  return 2 * scale * scale * (1 + 1e-9);
}

// Squares of a cell's kept basis entries sum to kept / length.
Accuracy FourierHistogram::accuracy(double confidence) const {
  const double kept = kept_of(chooses() ? options_.most_frequencies : options_.frequencies);
  const double moved = kept / std::sqrt(length_) / WholeBasis::unit(length_) + 2 * kept;
  const double variance = noise_variance(static_cast<std::uint64_t>(moved)) * kept / length_;
  return {noise_half_width(variance, confidence, false), confidence, "noise of each cell"};
}

// The score is minus the norm of what is dropped minus that of the noise on what is kept. The transform of
// counts whose sum is at most `most` is off by 2 rounding() most in norm, which is limited to a
// 2^-13 of what a row may do.
std::uint32_t FourierHistogram::choose(std::span<const std::int64_t> counts,
                                       Context& context) const {
  RealFft fft(length_);
  const double rows = static_cast<double>(options_.rows_per_unit.get());
  const double most = rows * 0x1p-13 / (2 * fft.rounding() + 0x1p-50);
  const auto most_in_cell = static_cast<std::int64_t>(most / static_cast<double>(counts.size()));
  std::vector<double> padded(length_);
  for (std::size_t i = 0; i < counts.size(); ++i)
    padded[i] = static_cast<double>(std::clamp<std::int64_t>(counts[i], 0, most_in_cell));
  const auto half = fft.forward(padded);
  std::vector<double> scores(options_.most_frequencies + 1);
  long double dropped = std::norm(half[length_ / 2]) / length_;
  for (std::uint32_t f = length_ / 2 - 1;; --f) {
    if (f <= options_.most_frequencies) {
      const double kept = kept_of(f);
      const double noise =
          std::sqrt(2 * kept) * kept / std::sqrt(length_) * rows / round_down(measuring_epsilon());
      scores[f] = -static_cast<double>(std::sqrt(dropped)) - noise;
    }
    if (f == 0) break;
    dropped += static_cast<long double>(std::norm(half[f])) * 2 / length_;
  }
  const ExponentialMechanism mechanism(
      {.epsilon = options_.epsilon.get() * options_.choice_share,
       .sensitivity = Ratio(options_.rows_per_unit.get()) * (1 + power_of_two(-12))});
  return static_cast<std::uint32_t>(mechanism.run(scores, context).value);
}

RangeHistogram FourierHistogram::measure(std::span<const std::int64_t> counts,
                                         std::uint32_t frequencies, Context& context) const {
  const Coefficients exact = coefficients_of(counts, frequencies, length_);
  const std::uint64_t moved = exact.l1_sensitivity * options_.rows_per_unit.get();
  const DiscreteLaplace noise(
      {.l1_sensitivity = moved, .scale = Ratio(moved) / measuring_epsilon()});
  const std::vector<std::int64_t> noisy = noise.run(exact.units, context).value;

  std::vector<std::complex<double>> half(length_ / 2 + 1);
  const double unit = WholeBasis::unit(length_);
  half[0] = static_cast<double>(noisy[0]) * unit * std::sqrt(length_);
  for (std::uint32_t f = 1; f <= frequencies; ++f)
    half[f] =
        std::complex(static_cast<double>(noisy[2 * f - 1]), -static_cast<double>(noisy[2 * f])) *
        unit * std::sqrt(length_ / 2.0);
  std::vector<double> cells = RealFft(length_).inverse(half);
  cells.resize(counts.size());
  const double variance = noise_variance(exact.l1_sensitivity);
  return {options_.shape, cells,
          [variance, frequencies, length = length_](std::span<const double> weights) {
            return variance * kept_energy(weights, frequencies, length);
          },
          false};
}

Release<RangeHistogram> FourierHistogram::run(std::span<const std::int64_t> counts,
                                              Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  const std::uint32_t frequencies =
      chooses() ? choose(counts, steps.context()) : options_.frequencies;
  return {measure(counts, frequencies, steps.context()), accuracy(), event()};
}

}  // namespace gauze
