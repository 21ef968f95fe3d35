#include "gauze/numeric/lattice.h"

#include <algorithm>
#include <cmath>

#include "gauze/numeric/exact_sum.h"

namespace gauze {

int floor_log2(const Ratio& value) {
  const Integer top = numerator(value);
  const Integer bottom = denominator(value);
  const int guess = static_cast<int>(msb(top)) - static_cast<int>(msb(bottom));
  return power_of_two(guess) <= value ? guess : guess - 1;
}

Integer ceil_sqrt(std::uint64_t value) {
  const Integer square = value;
  const Integer root = sqrt(square);
  return root * root == square ? root : Integer(root + 1);
}

Lattice Lattice::within(const Ratio& size) {
  return Lattice(floor_log2(size));
}

Lattice Lattice::for_noise(const Ratio& scale, int scale_bits, const Ratio& sensitivity,
                           const Integer& rounding_steps) {
  const Ratio by_scale = scale * power_of_two(-scale_bits);
  const Ratio by_sensitivity = sensitivity * power_of_two(-16) / Ratio(rounding_steps);
  return within(std::min(by_scale, by_sensitivity));
}

Integer Lattice::nearest(const Ratio& x) const {
  return floor(Ratio(x / step() + Ratio(1, 2)));
}

std::optional<std::int64_t> Lattice::nearest_small(double x) const {
  const double scaled = std::ldexp(x, -exponent_);
  // Exact while nothing under- or overflows: a power of two only changes the exponent.
  if (std::abs(scaled) < 0x1p52 && (std::abs(scaled) > 0x1p-900 || x == 0)) {
    const double below = std::floor(scaled);
    return static_cast<std::int64_t>(scaled - below >= 0.5 ? below + 1 : below);
  }
  return std::nullopt;
}

Integer Lattice::nearest(double x) const {
  const auto small = nearest_small(x);
  return small ? Integer(*small) : nearest(ratio_of_bits(x, "value"));
}

double Lattice::value(const Integer& steps) const {
  if (abs(steps) <= INT64_MAX && exponent_ > -1000 && exponent_ < 900) {
    return std::ldexp(static_cast<double>(steps.convert_to<std::int64_t>()), exponent_);
  }
  return nearest_double(point(steps));
}

Integer Lattice::l1_steps(const Ratio& sensitivity, std::uint64_t dimension) const {
  return ceil(Ratio(sensitivity / step())) + Integer(dimension) - 1;
}

Integer Lattice::l2_steps(const Ratio& sensitivity, std::uint64_t dimension) const {
  const Integer scalar = ceil(Ratio(sensitivity / step()));
  return dimension == 1 ? scalar : Integer(scalar + ceil_sqrt(dimension));
}

}  // namespace gauze
