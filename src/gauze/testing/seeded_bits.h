#pragma once

#include "gauze/random/bit_source.h"

namespace gauze::testing {

/// Reproducible bits for tests: SplitMix64 (Steele, Lea and Flood 2014) from a seed. Not secret,
/// not for releases; this folder is the only place in the project where a seed exists.
class SeededBits final : public BitSource {
 public:
  explicit SeededBits(std::uint64_t seed)
      : state_(seed * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u) {}

  /// Words handed out through refills so far, rounded up to whole buffers: zero means nothing was
  /// drawn.
  std::uint64_t refills() const { return refills_; }

 private:
  void refill(Buffer& buffer) override {
    ++refills_;
    for (std::uint64_t& word : buffer) {
      std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t state_;
  std::uint64_t refills_ = 0;
};

}  // namespace gauze::testing
