#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze {

class AdditiveNoise;
namespace noise_internal {
struct Shape;
struct Inspection;
Inspection inspect(const AdditiveNoise& noise);
AdditiveNoise make_additive(const Shape& shape);
}  // namespace noise_internal

/// Whether a draw may take a short cut that depends on its value.
enum class Timing : std::uint8_t {
  kFast,     ///< the usual choice
  kUniform,  ///< every draw does the same work, whatever its value: for answers whose timing
             ///< strangers can measure
};

/// Integer noise with P(x) proportional to e^(-linear |x| - quadratic x^2), exactly, for rational
/// parameters of any size.
///
/// Exactness  the distribution is the stated one, not an approximation: a table of exactly known
/// proposal probabilities
///            is corrected by a comparison that is resolved with big numbers when 64 bits cannot
///            decide it.
/// Time       a few nanoseconds per draw, whatever the scale; about 20 microseconds to build.
/// Argument   additive.md
class AdditiveNoise {
 public:
  /// e^(-|x|/scale) on all integers; scale > 0.
  static AdditiveNoise discrete_laplace(const Ratio& scale, Timing timing = Timing::kFast);
  /// e^(-x^2/(2 sigma^2)) on all integers; sigma_squared > 0.
  static AdditiveNoise discrete_gaussian(const Ratio& sigma_squared, Timing timing = Timing::kFast);
  /// e^(-x/scale) on 0, 1, 2, ...; scale > 0.
  static AdditiveNoise geometric(const Ratio& scale, Timing timing = Timing::kFast);

  AdditiveNoise(AdditiveNoise&&) noexcept;
  AdditiveNoise& operator=(AdditiveNoise&&) noexcept;
  ~AdditiveNoise();

  /// One draw; a value outside 64 bits becomes the nearest end of the range. That happens for scales
  /// beyond 2^55 or so. Noise that is to be added to data must not be saturated before the addition:
  /// when a draw is an end of the range, `draw_integer` until one lies beyond it.
  std::int64_t draw(BitSource& bits) const;

  /// One draw of any size.
  Integer draw_integer(BitSource& bits) const;

  /// One draw per element.
  void fill(std::span<std::int64_t> out, BitSource& bits) const;

 private:
  struct Table;
  explicit AdditiveNoise(std::unique_ptr<const Table> table);
  friend noise_internal::Inspection noise_internal::inspect(const AdditiveNoise& noise);
  friend AdditiveNoise noise_internal::make_additive(const noise_internal::Shape& shape);
  std::unique_ptr<const Table> table_;
};

}  // namespace gauze
