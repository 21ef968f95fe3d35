#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// Vector noise on the integer lattice with P(z) proportional to e^(-|z|_2 / scale), exactly.
///
/// The density e^(-epsilon |x|/Delta) of SONG-303 and CUM-56-04 needs no approximation: restricted
/// to a lattice it is still a distribution whose ratio between two centres at lattice distance r is
/// at most e^(r/scale), because the normaliser does not depend on the centre. So pure DP holds
/// exactly once inputs are rounded to the lattice and the rounding is added to the sensitivity.
/// Argument: radial.md
class RadialNoise {
 public:
  /// `scale` in lattice steps, > 0; `dimension` >= 1.
  RadialNoise(std::uint32_t dimension, const Ratio& scale);
  RadialNoise(RadialNoise&&) noexcept;
  RadialNoise& operator=(RadialNoise&&) noexcept;
  ~RadialNoise();

  std::vector<std::int64_t> draw(BitSource& bits) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace gauze
