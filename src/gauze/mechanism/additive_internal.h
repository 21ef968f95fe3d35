#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/noise/additive.h"
#include "gauze/numeric/lattice.h"
#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze::internal {

/// What all runs of a mechanism state alike. Noise is drawn in less time than this is computed.
struct Terms {
  Event event;
  Accuracy accuracy;
};

/// One noise draw of any size, at the price of a 64-bit draw.
Integer draw_exactly(const AdditiveNoise& noise, BitSource& bits);
/// The same when its 64-bit form has been drawn already.
Integer exactly(std::int64_t draw, const AdditiveNoise& noise, BitSource& bits);

/// value + noise, saturated at the ends of the 64-bit range after the exact addition.
std::int64_t noised(std::int64_t value, const AdditiveNoise& noise, BitSource& bits);
std::vector<std::int64_t> noised(std::span<const std::int64_t> values, const AdditiveNoise& noise,
                                 BitSource& bits);

/// Laplace or Gaussian noise on real numbers: rounds to a public lattice, noises there. The noise
/// is made larger by exactly the factor by which rounding makes the sensitivity larger, so that
/// sensitivity / scale is what the caller asked for.
class LatticeNoise {
 public:
  static LatticeNoise laplace(const Ratio& l1_sensitivity, const Ratio& scale,
                              std::uint64_t dimension = 1);
  static LatticeNoise gaussian(const Ratio& l2_sensitivity, const Ratio& sigma,
                               std::uint64_t dimension = 1);

  const Lattice& lattice() const { return lattice_; }
  const Integer& sensitivity_in_steps() const { return sensitivity_; }
  const Ratio& scale_in_steps() const { return scale_; }
  events::DiscreteLaplace laplace_event() const { return {scale_, Ratio(sensitivity_)}; }

  /// Value rounded to the lattice, plus noise, in steps.
  Integer add(double value, BitSource& bits) const;
  Integer add(const Ratio& value, BitSource& bits) const;

  /// |result - value| <= radius(beta) for one coordinate, except with probability beta. Rounded up.
  double laplace_radius(double beta) const;
  double gaussian_radius(double beta) const;

 private:
  LatticeNoise(Lattice lattice, Integer sensitivity, Ratio scale, AdditiveNoise noise);

  Lattice lattice_;
  Integer sensitivity_;
  Ratio scale_;
  std::shared_ptr<const AdditiveNoise> noise_;
};

/// Throws `kInvalidInput` when a vector has another length than `dimension` says.
void check_dimension(std::size_t length, std::uint64_t dimension);

/// Each value plus noise, as doubles; `dimension` is how many there must be.
std::vector<double> noised(std::span<const double> values, std::uint64_t dimension,
                           const LatticeNoise& noise, BitSource& bits);

/// Throws `kInvalidOption` unless 0 < confidence < 1; returns 1 - confidence.
double failure_probability(double confidence);

/// The double above the product of two non-negative ones.
double times_up(double a, double b);

}  // namespace gauze::internal
