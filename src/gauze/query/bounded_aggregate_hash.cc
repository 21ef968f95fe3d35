#include <bit>
#include <cstring>

#include "gauze/query/bounded_aggregate_hash_internal.h"

namespace gauze::internal {
namespace {

struct Sip {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  std::uint64_t squeeze() {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

std::uint64_t load(const char* bytes, std::size_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);  // little endian, as everywhere Gauze runs
  return word;
}

}  // namespace

KeyedHash::KeyedHash(BitSource& bits) {
  bits.next(key_);
}

KeyedHash::Wide KeyedHash::text(std::string_view text) const {
  Sip state{key_[0] ^ 0x736f6d6570736575u, key_[1] ^ 0x646f72616e646f6du ^ 0xee,
            key_[0] ^ 0x6c7967656e657261u, key_[1] ^ 0x7465646279746573u};
  const std::size_t whole = text.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) state.absorb(load(text.data() + i, 8));
  state.absorb(load(text.data() + whole, text.size() - whole) |
               static_cast<std::uint64_t>(text.size()) << 56);
  state.v2 ^= 0xee;
  const std::uint64_t first = state.squeeze();
  state.v1 ^= 0xdd;
  return {first, state.squeeze()};
}

}  // namespace gauze::internal
