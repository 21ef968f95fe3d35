#include "gauze/histogram/fourier.h"

#include <algorithm>
#include <bit>
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
/// vector that goes up and down. Entries have the symmetries of cosine and sine exactly.
class WholeBasis {
 public:
  struct Entry {
    std::int64_t cosine, sine;
  };

  WholeBasis(std::uint32_t cells, int bits) : exponent_(exponent_of(cells, bits)), turn_(cells) {
    const long double height = std::ldexp(std::sqrt(2.0L / cells), exponent_);
    const auto rounded = [&](std::uint32_t i) {
      const long double angle = 2 * std::numbers::pi_v<long double> * i / cells;
      return Entry{std::llround(height * std::cos(angle)), std::llround(height * std::sin(angle))};
    };
    const std::uint32_t half = cells / 2;
    for (std::uint32_t i = 0; i <= half && i < cells; ++i) {
      const bool second = cells % 2 == 0 && 2 * i > half;
      const Entry entry =
          second ? Entry{-turn_[half - i].cosine, turn_[half - i].sine} : rounded(i);
      turn_[i] = entry;
      if (i > 0) turn_[cells - i] = {entry.cosine, -entry.sine};
    }
    constant_ = std::llround(std::ldexp(std::sqrt(1.0L / cells), exponent_));
  }

  int exponent() const { return exponent_; }
  double unit() const { return std::ldexp(1, -exponent_); }
  std::uint32_t cells() const { return static_cast<std::uint32_t>(turn_.size()); }
  std::int64_t constant() const { return constant_; }
  const Entry& entry(std::uint64_t at) const { return turn_[at % turn_.size()]; }

  /// Calls visit(i, entry) for i = 1 to `count`, entry that of frequency or place `step` times i.
  template <class Visit>
  void for_turns(std::uint64_t step, std::size_t count, Visit visit) const {
    const std::size_t all = turn_.size();
    step %= all;
    std::size_t at = 0;
    for (std::size_t i = 1; i <= count; ++i) {
      at += step;
      if (at >= all) at -= all;
      visit(i, turn_[at]);
    }
  }

 private:
  int exponent_;
  std::int64_t constant_;
  std::vector<Entry> turn_;
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

/// Frequencies above 0 that have a cosine and a sine.
std::uint32_t pairs_of(std::uint32_t frequencies, std::uint32_t cells) {
  return std::min(frequencies, (cells - 1) / 2);
}

/// The odd multiples of frequency `stride` = cells / m, up to the last that is kept, of m values whose second half
/// is minus the first and is left out (m even), or all multiples of it (m odd): by the symmetries of
/// sine and cosine a quarter or half of the products. Adds to the constant's, cosine's and sine's sums.
template <class Sum>
void add_waves(std::span<const Sum> values, std::uint64_t m, std::uint32_t frequencies,
               const WholeBasis& basis, std::vector<Sum>& sums) {
  const std::uint64_t stride = basis.cells() / m;
  const bool odd_only = m % 2 == 0;
  const std::size_t mirror = values.size();  // place i meets mirror - i
  const std::size_t folds = (mirror - 1) / 2;
  std::vector<Sum> cosines(folds + 1);
  std::vector<Sum> sines(folds + 1);
  for (std::size_t i = 1; i <= folds; ++i) {
    const Sum& near = values[i];
    const Sum& far = values[mirror - i];
    cosines[i] = odd_only ? near - far : near + far;
    sines[i] = odd_only ? near + far : near - far;
  }
  const bool middle = mirror % 2 == 0;
  const std::uint32_t pairs = pairs_of(frequencies, basis.cells());
  for (std::uint64_t f = stride; f <= pairs; f += odd_only ? 2 * stride : stride) {
    Sum cosine = values[0] * static_cast<Sum>(basis.entry(0).cosine);
    Sum sine = 0;
    basis.for_turns(f, folds, [&](std::size_t i, const WholeBasis::Entry& entry) {
      cosine += cosines[i] * static_cast<Sum>(entry.cosine);
      sine += sines[i] * static_cast<Sum>(entry.sine);
    });
    if (middle) {
      const WholeBasis::Entry& entry = basis.entry(f * (mirror / 2));
      cosine += values[mirror / 2] * static_cast<Sum>(entry.cosine);
      sine += values[mirror / 2] * static_cast<Sum>(entry.sine);
    }
    sums[2 * f - 1] += cosine;
    sums[2 * f] += sine;
  }
}

/// Of the constant, then cosine and sine of each frequency, in units of the basis. Frequencies that are even see
/// the sum of both halves only, and odd ones the difference; so again for the sum.
template <class Sum>
std::vector<Sum> coefficients_of(std::vector<Sum> values, std::uint32_t frequencies,
                                 const WholeBasis& basis) {
  const std::uint32_t cells = basis.cells();
  std::vector<Sum> sums(kept_of(frequencies, cells), Sum{0});
  if (frequencies > pairs_of(frequencies, cells)) {
    for (std::uint32_t i = 0; i < cells; ++i) sums.back() += i % 2 == 0 ? values[i] : -values[i];
    sums.back() *= static_cast<Sum>(basis.constant());
  }
  for (; values.size() > 1 && values.size() % 2 == 0;) {
    const std::size_t half = values.size() / 2;
    std::vector<Sum> difference(half);
    for (std::size_t i = 0; i < half; ++i) {
      difference[i] = values[i] - values[i + half];
      values[i] += values[i + half];
    }
    add_waves<Sum>(difference, 2 * half, frequencies, basis, sums);
    values.resize(half);
  }
  if (values.size() > 1) add_waves<Sum>(values, values.size(), frequencies, basis, sums);
  for (const Sum& value : values) sums[0] += value;
  sums[0] *= static_cast<Sum>(basis.constant());
  return sums;
}

/// The cells that have these coefficients: the transpose of `coefficients_of`, the shortest halves first.
std::vector<double> cells_with(std::span<const std::int64_t> coefficients,
                               std::uint32_t frequencies, const WholeBasis& basis) {
  const std::uint32_t cells = basis.cells();
  const std::uint32_t pairs = pairs_of(frequencies, cells);
  const double unit = basis.unit() * basis.unit();
  const auto coefficient = [&](std::uint64_t index) {
    return static_cast<double>(coefficients[index]) * unit;
  };
  const auto constant = static_cast<double>(basis.constant());
  const std::uint32_t core = cells >> std::countr_zero(cells);
  std::vector<double> values(core, coefficient(0) * constant);
  for (std::uint64_t m = core; m <= cells; m *= 2) {
    const bool odd_only = m % 2 == 0;
    const std::uint64_t stride = cells / m;
    const std::size_t mirror = odd_only ? m / 2 : m;
    std::vector<double> cosines(mirror / 2 + 1, 0.0);
    std::vector<double> sines(mirror / 2 + 1, 0.0);
    for (std::uint64_t f = stride; f <= pairs; f += odd_only ? 2 * stride : stride) {
      const double cosine = coefficient(2 * f - 1);
      const double sine = coefficient(2 * f);
      cosines[0] += cosine * static_cast<double>(basis.entry(0).cosine);
      basis.for_turns(f, mirror / 2, [&](std::size_t i, const WholeBasis::Entry& entry) {
        cosines[i] += cosine * static_cast<double>(entry.cosine);
        sines[i] += sine * static_cast<double>(entry.sine);
      });
    }
    std::vector<double> waves(mirror);
    for (std::size_t i = 0; i < mirror; ++i) {
      const std::size_t at = std::min(i, mirror - i);
      const double sign = odd_only ? -1 : 1;
      waves[i] = i == at ? cosines[at] + sines[at] : sign * (cosines[at] - sines[at]);
    }
    values.resize(m);
    for (std::size_t i = 0; i < mirror; ++i) {
      if (odd_only) values[i + mirror] = values[i] - waves[i];
      values[i] += waves[i];
    }
  }
  if (frequencies > pairs)
    for (std::uint32_t i = 0; i < cells; ++i)
      values[i] += (i % 2 == 0 ? constant : -constant) * coefficient(coefficients.size() - 1);
  return values;
}

/// How far one row moves the coefficients in sum. Places that are opposite or mirrored move them alike, and
/// where all are kept those that have the same divisors in common with the cells.
std::uint64_t l1_sensitivity(std::uint32_t frequencies, const WholeBasis& basis) {
  const std::uint32_t cells = basis.cells();
  const std::uint32_t pairs = pairs_of(frequencies, cells);
  const bool all = frequencies == cells / 2;
  const std::int64_t constants = basis.constant() * (frequencies > pairs ? 2 : 1);
  std::int64_t most = 0;
  for (std::uint32_t i = 0; i <= cells / (cells % 2 == 0 ? 4 : 2); ++i) {
    if (all && i > 0 && cells % i != 0) continue;
    std::int64_t moved = constants;
    basis.for_turns(i, pairs, [&](std::size_t, const WholeBasis::Entry& entry) {
      moved += std::abs(entry.cosine) + std::abs(entry.sine);
    });
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
  const WholeBasis basis(static_cast<std::uint32_t>(weights.size()), kMeasuredBits);
  const std::vector<double> sums =
      coefficients_of<double>({weights.begin(), weights.end()}, frequencies, basis);
  return std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0) * basis.unit() *
         basis.unit();
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
  std::vector<Wide> limited;
  Integer squares = 0;
  for (const std::int64_t count : counts) {
    const std::int64_t here = std::clamp<std::int64_t>(count, 0, most_in_cell);
    limited.push_back(here);
    squares += Integer(here) * here;
  }
  const WholeBasis basis(cells(), kChoiceBits);
  const std::vector<Wide> kept =
      coefficients_of(std::move(limited), options_.most_frequencies, basis);
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
  for (const Wide sum :
       coefficients_of(std::vector<Wide>(counts.begin(), counts.end()), frequencies, basis))
    exact.push_back(saturated(sum));
  const std::uint64_t sensitivity = l1_sensitivity(frequencies, basis);
  const std::uint64_t moved = sensitivity * options_.rows_per_unit.get();
  const DiscreteLaplace noise(
      {.l1_sensitivity = moved, .scale = Ratio(moved) / measuring_epsilon()});
  const std::vector<std::int64_t> noisy = noise.run(exact, context).value;

  const std::vector<double> estimates = cells_with(noisy, frequencies, basis);
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
