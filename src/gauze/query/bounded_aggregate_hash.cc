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

std::array<std::uint64_t, 4> drawn(BitSource& bits) {
  std::array<std::uint64_t, 4> key;
  bits.next(key);
  return key;
}

/// to[i] = mix(from[i] * factor + summand)
struct MixNumbers {
  const std::int64_t* from;
  std::uint64_t factor, summand;
  std::uint64_t* to;
  void operator()(std::size_t i) const {
    to[i] = mix(static_cast<std::uint64_t>(from[i]) * factor + summand);
  }
};

/// to[i] = mix(from[i] + to[i])
struct MixSums {
  const std::uint64_t* from;
  std::uint64_t* to;
  void operator()(std::size_t i) const { to[i] = mix(from[i] + to[i]); }
};

#if defined(__x86_64__)
/// Products of 64 bits, eight at a time.
template <class Each>
[[gnu::target("avx512f,avx512dq")]] void wide_for(std::size_t count, Each each) {
  for (std::size_t i = 0; i < count; ++i) each(i);
}
bool has_wide() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#else
template <class Each>
void wide_for(std::size_t, Each) {}
bool has_wide() {
  return false;
}
#endif

template <class Each>
void for_all(std::size_t count, Each each) {
  static const bool wide = has_wide();
  if (wide) return wide_for(count, each);
  for (std::size_t i = 0; i < count; ++i) each(i);
}

}  // namespace

void KeyedHash::units(const std::int64_t* numbers, std::size_t count, std::uint64_t* units) const {
  for_all(count, MixNumbers{numbers, key_[0] | 1, key_[1], units});
}

void KeyedHash::groups(const std::int64_t* numbers, std::size_t count, std::uint64_t* tags) const {
  for_all(count, MixNumbers{numbers, key_[2] | 1, key_[3], tags});
}

void KeyedHash::orders(const std::uint64_t* units, std::size_t count, std::uint64_t* tags) {
  for_all(count, MixSums{units, tags});
}

KeyedHash::KeyedHash(BitSource& bits) : KeyedHash(drawn(bits)) {}

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
