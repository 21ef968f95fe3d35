#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gauze/random/bit_source.h"

namespace gauze::internal {

/// A bijection of 64 bits in which every input bit moves every output bit (Stafford 2011, "mix 13").
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The number that `mix` makes this one of.
constexpr std::uint64_t unmixed(std::uint64_t x) {
  x = (x ^ (x >> 31) ^ (x >> 62)) * 0x319642b2d24d8ec3u;
  x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089u;
  return x ^ (x >> 30) ^ (x >> 60);
}

/// What an odd number has to be multiplied by to get 1: each step doubles the bits that are right, of which x itself has three.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t result = odd;
  for (int bits = 3; bits < 64; bits *= 2) result *= 2 - odd * result;
  return result;
}

/// Hashes under a secret key that lives as long as one query: nobody who chooses rows can choose how
/// they fall. Privacy never depends on how good the hashes are, only fairness does
/// (bounded_aggregate.md).
class KeyedHash {
 public:
  using Wide = std::array<std::uint64_t, 2>;

  explicit KeyedHash(BitSource& bits);
  explicit KeyedHash(const std::array<std::uint64_t, 4>& key)
      : key_(key), unit_inverse_(inverse(key[0] | 1)), group_inverse_(inverse(key[2] | 1)) {}

  /// Bijections, as the factors are odd: different integers never collide.
  std::uint64_t unit(std::uint64_t x) const { return mix(x * (key_[0] | 1) + key_[1]); }
  std::uint64_t group(std::uint64_t x) const { return mix(x * (key_[2] | 1) + key_[3]); }
  /// The integer that has this hash as a unit.
  std::uint64_t integer_of(std::uint64_t unit) const {
    return (unmixed(unit) - key_[1]) * unit_inverse_;
  }
  /// By which the groups of a unit compete: for each unit a bijection of what `group` or `short_text` make of them.
  static std::uint64_t order(std::uint64_t unit, std::uint64_t tag) { return mix(unit + tag); }
  /// What `group` made the tag of, in that order.
  std::uint64_t group_of(std::uint64_t unit, std::uint64_t order) const {
    return (unmixed(unmixed(order) - unit) - key_[3]) * group_inverse_;
  }

  /// The same of so many integers, side by side, by the widest instructions that the machine has.
  void units(const std::int64_t* numbers, std::size_t count, std::uint64_t* units) const;
  void groups(const std::int64_t* numbers, std::size_t count, std::uint64_t* tags) const;
  /// Makes orders of tags.
  static void orders(const std::uint64_t* units, std::size_t count, std::uint64_t* tags);

  /// SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012).
  Wide text(std::string_view text) const;

  /// The first half of `text`, for group keys and values.
  std::uint64_t short_text(std::string_view x) const { return text(x)[0]; }

 private:
  std::array<std::uint64_t, 4> key_;
  std::uint64_t unit_inverse_, group_inverse_;
};

}  // namespace gauze::internal
