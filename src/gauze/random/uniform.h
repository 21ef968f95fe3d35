#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

#include "gauze/numeric/interval.h"
#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// A uniform integer in [0, bound), exactly; bound >= 1.
std::uint64_t uniform_below(BitSource& bits, std::uint64_t bound);
Integer uniform_below(BitSource& bits, const Integer& bound);

/// `count` fair bits as an integer in [0, 2^count).
Integer uniform_bits(BitSource& bits, unsigned count);

/// A uniform real number in [0, 1) of which only as many bits are drawn as somebody needs to see.
/// Comparing it with a real threshold t is true with probability exactly t, whatever t is: the
/// comparison looks at more bits, and at t with more precision, until the answer is certain.
class LazyUniform {
 public:
  explicit LazyUniform(BitSource& bits) : bits_(bits), head_(bits.next()) {}
  /// Continues a uniform whose first 64 bits are `head`.
  LazyUniform(BitSource& bits, std::uint64_t head) : bits_(bits), head_(head) {}

  /// The first 64 bits, the most significant first.
  std::uint64_t head() const { return head_; }

  /// U < t, for the t in [0, 1] of which `threshold(bits)` returns an interval that shrinks as
  /// `bits` grows.
  template <std::invocable<unsigned> Threshold>
  bool below(Threshold&& threshold) {
    Integer prefix = head_;
    for (unsigned precision = 64;; precision *= 2) {
      const Interval t = threshold(precision + 32);
      const Interval scaled =
          t * Interval(power_of_two(static_cast<int>(precision)), precision + 32);
      if ((Interval(Integer(prefix + 1), precision + 32) - scaled).upper() <= 0) return true;
      if ((scaled - Interval(prefix, precision + 32)).upper() <= 0) return false;
      prefix = (prefix << precision) + uniform_bits(bits_, precision);
    }
  }

  /// The same with a fast answer: `estimate` is within a factor 1 +- 2^-40 of t, or both are below
  /// 2^-100. Only when the first 64 bits cannot tell is `threshold` called.
  template <std::invocable<unsigned> Threshold>
  bool below(double estimate, Threshold&& threshold) {
    constexpr double kSlack = 0x1p-39;  // the estimate's error and the rounding below
    // 53 bits convert exactly and, being signed, without the branch on the top bit that would let
    // the time depend on the value.
    const double seen = static_cast<double>(static_cast<std::int64_t>(head_ >> 11));
    const double scaled = estimate * 0x1p53;
    if (seen + 1 < scaled * (1 - kSlack)) return true;
    if (seen > scaled * (1 + kSlack)) return false;
    return below(std::forward<Threshold>(threshold));
  }

 private:
  BitSource& bits_;
  std::uint64_t head_;
};

/// True with probability exactly `p`, 0 <= p <= 1.
bool bernoulli(BitSource& bits, const Ratio& p);

/// True with probability exactly e^-x, x >= 0.
bool bernoulli_exp(BitSource& bits, const Ratio& x);

/// Puts `items` into uniformly random order.
template <class T>
void shuffle(BitSource& bits, std::span<T> items) {
  for (std::size_t left = items.size(); left > 1; --left) {
    using std::swap;
    swap(items[left - 1], items[uniform_below(bits, left)]);
  }
}

}  // namespace gauze
