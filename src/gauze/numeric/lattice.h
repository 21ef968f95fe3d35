#pragma once

#include <cstdint>
#include <optional>

#include "gauze/numeric/ratio.h"

namespace gauze {

/// The multiples of 2^exponent. Real answers are rounded to a lattice that depends on public
/// parameters alone and get integer noise there, so that neither the noise nor the last bits of the
/// result depend on the answer's magnitude.
///
/// Rounding is floor(x/step + 1/2): values at most n steps apart are at most n steps apart after
/// it. What a vector's sensitivity becomes is `l1_steps` and `l2_steps`. Argument: lattice.md
class Lattice {
 public:
  explicit Lattice(int exponent) : exponent_(exponent) {}

  /// The coarsest lattice whose step is at most `size` > 0.
  static Lattice within(const Ratio& size);

  /// The lattice for noise of this scale on data of this sensitivity: its step is at most
  /// scale/2^scale_bits, and `rounding_steps` of them, which rounding may add to the sensitivity,
  /// are at most one part in 2^16 of it.
  static Lattice for_noise(const Ratio& scale, int scale_bits, const Ratio& sensitivity,
                           const Integer& rounding_steps);

  int exponent() const { return exponent_; }
  Ratio step() const { return power_of_two(exponent_); }

  /// floor(x/step + 1/2). Throws `kInvalidInput` on NaN and infinity.
  Integer nearest(double x) const;
  Integer nearest(const Ratio& x) const;
  /// The same in 64 bits, where that is quickly found: for finite x and fewer than 2^52 steps.
  std::optional<std::int64_t> nearest_small(double x) const;

  /// steps * 2^exponent, exactly, and as the nearest double.
  Ratio point(const Integer& steps) const { return Ratio(steps) * step(); }
  double value(const Integer& steps) const;

  /// How many steps the rounded vector can move, in l1 and in l2 norm, when the real one moves by
  /// `sensitivity` in that norm.
  Integer l1_steps(const Ratio& sensitivity, std::uint64_t dimension = 1) const;
  Integer l2_steps(const Ratio& sensitivity, std::uint64_t dimension = 1) const;

  bool operator==(const Lattice&) const = default;

 private:
  int exponent_;
};

/// Largest integer k with 2^k <= value; value > 0.
int floor_log2(const Ratio& value);

/// Smallest integer whose square is at least `value`.
Integer ceil_sqrt(std::uint64_t value);

}  // namespace gauze
