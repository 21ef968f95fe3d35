#include "gauze/histogram/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {
namespace {

__extension__ typedef __int128 Wide;

/// Entries of the basis are whole multiples of 2^-this, which is at most 2^-bits / sqrt(cells).
int exponent_of(std::uint32_t cells, int bits) {
  return bits + static_cast<int>(std::ceil(std::log2(cells) / 2));
}

/// The orthonormal real Fourier basis of `cells` entries in whole multiples of a unit: entry i of the vectors
/// of frequency f is the cosine and the sine of f i. Half of an even number of cells is a frequency too, of one
/// vector that goes up and down.
class WholeBasis {
 public:
  WholeBasis(std::uint32_t cells, int bits) : cells_(cells), exponent_(exponent_of(cells, bits)) {
    const long double height = std::ldexp(std::sqrt(2.0L / cells), exponent_);
    for (std::uint32_t i = 0; i < cells; ++i) {
      const long double turn = 2 * std::numbers::pi_v<long double> * i / cells;
      cosines_.push_back(std::llround(height * std::cos(turn)));
      sines_.push_back(std::llround(height * std::sin(turn)));
    }
    constant_ = std::llround(std::ldexp(std::sqrt(1.0L / cells), exponent_));
  }

  int exponent() const { return exponent_; }
  double unit() const { return std::ldexp(1, -exponent_); }

  /// Calls visit(index, entry) for all vectors up to this frequency at one cell, index 0 for the constant.
  template <class Visit>
  void for_entries(std::uint32_t cell, std::uint32_t frequencies, Visit visit) const {
    visit(0, constant_);
    const std::uint32_t pairs = std::min(frequencies, (cells_ - 1) / 2);
    std::uint64_t at = 0;
    for (std::uint32_t f = 1; f <= pairs; ++f) {
      at = at + cell < cells_ ? at + cell : at + cell - cells_;
      visit(2 * f - 1, cosines_[at]);
      visit(2 * f, sines_[at]);
    }
    if (frequencies > pairs) visit(2 * pairs + 1, cell % 2 == 0 ? constant_ : -constant_);
  }

 private:
  std::uint32_t cells_;
  int exponent_;
  std::int64_t constant_;
  std::vector<std::int64_t> cosines_;
  std::vector<std::int64_t> sines_;
};

/// So small that rounding the basis changes nothing that noise does not hide, so large that counts of 2^36
/// rows fit into 64 bits.
constexpr int kMeasuredBits = 26;
/// Choosing needs no room for noise.
constexpr int kChoiceBits = 52;

double measured_unit(std::uint32_t cells) {
  return std::ldexp(1, -exponent_of(cells, kMeasuredBits));
}

/// How many numbers the constant and so many frequencies are.
std::uint32_t kept_of(std::uint32_t frequencies, std::uint32_t cells) {
  return std::min(2 * frequencies + 1, cells);
}

/// Of the constant, then cosine and sine of each frequency, in units of the basis.
std::vector<Wide> coefficients_of(std::span<const std::int64_t> counts, std::uint32_t frequencies,
                                  const WholeBasis& basis) {
  const auto cells = static_cast<std::uint32_t>(counts.size());
  std::vector<Wide> sums(kept_of(frequencies, cells), 0);
  for (std::uint32_t i = 0; i < cells; ++i) {
    if (counts[i] == 0) continue;
    basis.for_entries(i, frequencies, [&](std::size_t index, std::int64_t entry) {
      sums[index] += Wide{entry} * counts[i];
    });
  }
  return sums;
}

/// How far one row moves the coefficients in sum.
std::uint64_t l1_sensitivity(std::uint32_t cells, std::uint32_t frequencies,
                             const WholeBasis& basis) {
  std::int64_t most = 0;
  for (std::uint32_t i = 0; i < cells; ++i) {
    std::int64_t moved = 0;
    basis.for_entries(i, frequencies,
                      [&](std::size_t, std::int64_t entry) { moved += std::abs(entry); });
    most = std::max(most, moved);
  }
  return static_cast<std::uint64_t>(most);
}

std::int64_t saturated(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

Integer integer_of(Wide value) {
  return (Integer(static_cast<std::int64_t>(value >> 64)) << 64) +
         Integer(static_cast<std::uint64_t>(value));
}

/// The sum of the squares of the weights' coefficients of the constant and these frequencies.
double kept_energy(std::span<const double> weights, std::uint32_t frequencies) {
  const auto cells = static_cast<std::uint32_t>(weights.size());
  const WholeBasis basis(cells, kMeasuredBits);
  std::vector<double> sums(kept_of(frequencies, cells), 0.0);
  for (std::uint32_t i = 0; i < cells; ++i) {
    if (weights[i] == 0) continue;
    basis.for_entries(i, frequencies, [&](std::size_t index, std::int64_t entry) {
      sums[index] += static_cast<double>(entry) * basis.unit() * weights[i];
    });
  }
  return std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
}

/// The same of a range of so many cells, wherever it lies: geometric sums of e^(2 pi i f / cells).
double kept_energy_of_range(double length, std::uint32_t frequencies, std::uint32_t cells) {
  if (length == 1) return static_cast<double>(kept_of(frequencies, cells)) / cells;
  double energy = length * length;
  for (std::uint32_t f = 1; f <= frequencies; ++f) {
    const double angle = std::numbers::pi * f / cells;
    const double sum = std::sin(angle * length) / std::sin(angle);
    energy += (2 * f == cells ? 1 : 2) * sum * sum;
  }
  return energy / cells;
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
  require(options_.frequencies <= cells() / 2,
          "frequencies: must be at most half as many as there are cells; 0 chooses");
  options_.most_frequencies = std::min(options_.most_frequencies, cells() / 2);
  const double kept = kept_of(most_kept(), cells());
  require(kept * static_cast<double>(options_.rows_per_unit.get()) < 0x1p34,
          "rows_per_unit: too many for so many frequencies; keep fewer than 2^33/rows_per_unit");
  // Beyond that the scores of the choice have no digits left for the data.
  require(!chooses() || noise_norm(options_.most_frequencies) <=
                            0x1p38 * static_cast<double>(options_.rows_per_unit.get()),
          "epsilon: too small to choose among so many frequencies; raise it, or give fewer");
}

std::uint32_t FourierHistogram::most_kept() const {
  return chooses() ? options_.most_frequencies : options_.frequencies;
}

// Of z numbers, each with noise of variance 2 (r S / epsilon)^2, where S is below z / sqrt(cells).
double FourierHistogram::noise_norm(std::uint32_t frequencies) const {
  const double kept = kept_of(frequencies, cells());
  return std::sqrt(2 * kept) * kept / std::sqrt(cells()) *
         static_cast<double>(options_.rows_per_unit.get()) / round_down(measuring_epsilon());
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
  const double moved = static_cast<double>(sensitivity_in_units) * measured_unit(cells()) *
                       static_cast<double>(options_.rows_per_unit.get());
  const double scale = moved / round_down(measuring_epsilon());
  return 2 * scale * scale * (1 + 1e-9);
}

// Squares of a cell's kept basis entries sum to kept / cells.
Accuracy FourierHistogram::accuracy(double confidence) const {
  const double kept = kept_of(most_kept(), cells());
  const double moved = kept / std::sqrt(cells()) / measured_unit(cells()) + 2 * kept;
  const double variance = noise_variance(static_cast<std::uint64_t>(moved)) * kept / cells();
  return {noise_half_width(variance, confidence, false), confidence, "noise of each cell"};
}

// The score is minus the norm of what is dropped minus that of the noise on what is kept. Counts are limited
// to a norm of 2^36 rows_per_unit, so that a score is off by at most a 2^-14 of what a row may do.
std::uint32_t FourierHistogram::choose(std::span<const std::int64_t> counts,
                                       Context& context) const {
  const double rows = static_cast<double>(options_.rows_per_unit.get());
  const auto most_in_cell =
      static_cast<std::int64_t>(std::min(0x1p36 * rows / std::sqrt(cells()), 0x1p50));
  std::vector<std::int64_t> limited;
  for (const std::int64_t count : counts)
    limited.push_back(std::clamp<std::int64_t>(count, 0, most_in_cell));
  Integer squares = 0;
  for (const std::int64_t count : limited) squares += Integer(count) * count;
  const WholeBasis basis(cells(), kChoiceBits);
  const std::vector<Wide> kept = coefficients_of(limited, options_.most_frequencies, basis);
  // A 2^-40 more than the sum of squares: rounding the basis cannot make what is kept larger than that.
  Integer dropped = squares << (2 * basis.exponent());
  dropped += dropped >> 40;
  std::vector<double> scores;
  std::size_t next = 0;
  for (std::uint32_t f = 0; f <= options_.most_frequencies; ++f) {
    for (; next < kept_of(f, cells()); ++next) {
      const Integer coefficient = integer_of(kept[next]);
      dropped -= coefficient * coefficient;
    }
    const double norm = std::sqrt(dropped.convert_to<double>());
    scores.push_back(-std::ldexp(norm, -basis.exponent()) - noise_norm(f));
  }
  const ExponentialMechanism mechanism(
      {.epsilon = options_.epsilon.get() * options_.choice_share,
       .sensitivity = Ratio(options_.rows_per_unit.get()) * (1 + power_of_two(-12))});
  return static_cast<std::uint32_t>(mechanism.run(scores, context).value);
}

RangeHistogram FourierHistogram::measure(std::span<const std::int64_t> counts,
                                         std::uint32_t frequencies, Context& context) const {
  const WholeBasis basis(cells(), kMeasuredBits);
  std::vector<std::int64_t> exact;
  for (const Wide sum : coefficients_of(counts, frequencies, basis))
    exact.push_back(saturated(sum));
  const std::uint64_t sensitivity = l1_sensitivity(cells(), frequencies, basis);
  const std::uint64_t moved = sensitivity * options_.rows_per_unit.get();
  const DiscreteLaplace noise(
      {.l1_sensitivity = moved, .scale = Ratio(moved) / measuring_epsilon()});
  const std::vector<std::int64_t> noisy = noise.run(exact, context).value;

  std::vector<double> estimates(cells(), 0.0);
  for (std::uint32_t i = 0; i < cells(); ++i) {
    basis.for_entries(i, frequencies, [&](std::size_t index, std::int64_t entry) {
      estimates[i] += static_cast<double>(noisy[index]) * static_cast<double>(entry);
    });
    estimates[i] *= basis.unit() * basis.unit();
  }
  const double variance = noise_variance(sensitivity);
  RangeHistogram result(
      options_.shape, estimates,
      [variance, frequencies](std::span<const double> weights) {
        return variance * kept_energy(weights, frequencies);
      },
      false,
      [variance, frequencies, cells = cells()](const Box& box) {
        return variance * kept_energy_of_range(box.volume(), frequencies, cells);
      });
  if (frequencies < cells() / 2)
    result.set_note("the constant and the lowest " + std::to_string(frequencies) + " of " +
                    std::to_string(cells() / 2) + " frequencies; the others are dropped");
  else
    result.set_note("the constant and all frequencies");
  return result;
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
