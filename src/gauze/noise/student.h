#pragma once

#include <cstdint>

#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// Student's law on all integers: P(x) proportional to (1 + x^2 / (degrees scale^2))^(-(degrees+1)/2),
/// exactly. One degree of freedom is the Cauchy law. Tails fall like a power, so draws have any
/// size and there is no 64-bit form. Expected O(1) tries per draw, whatever the scale.
/// Argument: student.md
class StudentNoise {
 public:
  /// `scale` > 0; `degrees` odd, from 1 to 15. Throws `kInvalidOption`.
  StudentNoise(const Ratio& scale, unsigned degrees);

  Integer draw(BitSource& bits) const;

 private:
  Ratio spread_;      // degrees scale^2
  double estimate_;   // of it
  unsigned degrees_;  //
  unsigned bits_;     // of the core: 4^bits >= spread
};

}  // namespace gauze
