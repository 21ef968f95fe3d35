#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "gauze/data/source.h"

namespace gauze {

/// What one value adds to a `StepSum`.
class StepRounding {
 public:
  explicit StepRounding(const StepSum& sum)
      : lower_(sum.lower),
        upper_(sum.upper),
        for_null_(sum.for_null.value_or(std::nan(""))),
        anchor_(std::ldexp(1.5, 52 + sum.exponent)),
        anchor_bits_(std::bit_cast<std::int64_t>(anchor_)) {}

  /// Calls `add` with the steps of `x`; of NaN, which stands for null as well, with those of its
  /// substitute or not at all.
  template <class Add>
  void operator()(double x, Add add) const {
    if (std::isnan(x)) {
      if (std::isnan(for_null_)) return;
      x = for_null_;
    }
    x = x < lower_ ? lower_ : x;
    x = x > upper_ ? upper_ : x;
    add(std::bit_cast<std::int64_t>(x + anchor_) - anchor_bits_);
  }

 private:
  double lower_, upper_, for_null_;
  // Adding this makes the last bit of a double worth one step, so that the sum is rounded to steps,
  // and its bits count them from those of this.
  double anchor_;
  std::int64_t anchor_bits_;
};

}  // namespace gauze
