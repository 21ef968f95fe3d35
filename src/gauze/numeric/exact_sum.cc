#include "gauze/numeric/exact_sum.h"

#include <bit>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr std::uint32_t kAddsPerCarry = 1u << 28;  // each adds less than 2^33 to a limb
constexpr std::uint64_t kLow = 0xffffffffu;

}  // namespace

ExactSum::ExactSum(std::span<const double> values) {
  for (const double value : values) add(value);
}

void ExactSum::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<unsigned>((bits >> 52) & 0x7ff);
  if (exponent == 0x7ff) {
    throw Error(ErrorCode::kInvalidInput, "a sum needs finite numbers; bound the data first");
  }
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
  const unsigned position = exponent == 0 ? 0 : exponent - 1;  // in units of 2^-1074
  const unsigned shift = position % kLimbBits;
  const std::uint64_t low = (mantissa & kLow) << shift;
  const std::uint64_t high = (mantissa >> 32) << shift;
  const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  std::int64_t* limb = &limbs_[position / kLimbBits];
  limb[0] += sign * static_cast<std::int64_t>(low & kLow);
  limb[1] += sign * static_cast<std::int64_t>((low >> 32) + (high & kLow));
  limb[2] += sign * static_cast<std::int64_t>(high >> 32);
  if (++since_carry_ == kAddsPerCarry) carry();
}

void ExactSum::add(const ExactSum& other) {
  ExactSum carried = other;
  carried.carry();
  carry();
  for (std::size_t i = 0; i < kLimbs; ++i) limbs_[i] += carried.limbs_[i];
  since_carry_ = 1;
}

void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    limbs_[i + 1] += limbs_[i] >> kLimbBits;  // rounds down, so every lower limb becomes >= 0
    limbs_[i] &= static_cast<std::int64_t>(kLow);
  }
  since_carry_ = 0;
}

Ratio ExactSum::value() const {
  ExactSum carried = *this;
  carried.carry();
  Integer total = 0;
  for (std::size_t i = kLimbs; i-- > 0;) total = (total << kLimbBits) + carried.limbs_[i];
  return Ratio(total) * power_of_two(-1074);
}

double ExactSum::rounded() const {
  return nearest_double(value());
}

double nearest_double(const Ratio& value) {
  const double below = round_down(value);
  const double above = round_up(value);
  if (below == above) return below;
  if (std::isinf(above) || std::isinf(below)) {
    // Halfway between the largest double and 2^1024.
    static const Ratio kOverflow = power_of_two(1024) - power_of_two(970);
    if (abs(value) >= kOverflow) return value > 0 ? INFINITY : -INFINITY;
    return value > 0 ? below : above;
  }
  const Ratio to_below = value - ratio_of_bits(below);
  const Ratio to_above = ratio_of_bits(above) - value;
  if (to_below != to_above) return to_below < to_above ? below : above;
  return (std::bit_cast<std::uint64_t>(below) & 1) == 0 ? below : above;
}

}  // namespace gauze
