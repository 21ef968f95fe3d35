#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gauze/numeric/ratio.h"

namespace gauze {

/// The sum of any doubles, exactly: the same value in every order and every grouping, with no
/// rounding, overflow or cancellation. So adding one value x changes the sum by x and nothing else,
/// which is what the sensitivity of a sum assumes.
///
/// Capacity   2^64 summands. Time O(1) per summand; about 550 bytes.
/// Argument   exact_sum.md
class ExactSum {
 public:
  ExactSum() = default;
  explicit ExactSum(std::span<const double> values);

  /// Throws `kInvalidInput` on NaN and infinity, and leaves the sum as it was.
  void add(double value);
  void add(const ExactSum& other);

  Ratio value() const;

  /// The double nearest to the sum, ties to even; infinity beyond the largest double.
  double rounded() const;

 private:
  static constexpr int kLimbBits = 32;
  static constexpr std::size_t kLimbs = 68;  // 2^-1074 to 2^1024, and 2^64 such values above

  void carry();

  std::array<std::int64_t, kLimbs> limbs_{};  // limb i counts 2^(32 i - 1074)
  std::uint32_t since_carry_ = 0;
};

/// The double nearest to a fraction, ties to even.
double nearest_double(const Ratio& value);

}  // namespace gauze
