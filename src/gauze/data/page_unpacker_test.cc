#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "gauze/data/pack_test_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::internal::parquet {
namespace {

using testing::kPackings;
using testing::Packing;

/// Nothing where it is refused. Both are exactly as long as they are, so that whatever is read or written beyond is found out.
std::optional<std::string> unpacked(PageUnpacker& unpacker, Codec codec, const std::string& packed,
                                    std::size_t size) {
  const auto in = std::make_unique<std::uint8_t[]>(packed.size());
  const auto out = std::make_unique<std::uint8_t[]>(size);
  std::copy(packed.begin(), packed.end(), in.get());
  try {
    unpacker.unpack(codec, {in.get(), packed.size()}, {out.get(), size});
  } catch (const Unreadable&) {
    return std::nullopt;
  }
  return std::string(out.get(), out.get() + size);
}

std::string packed_by(const Packing& packing, const std::string& bytes) {
  return packing.pack ? packing.pack(bytes) : bytes;
}

/// Pieces that came before, and others.
std::string some_bytes(std::size_t size) {
  testing::SeededBits bits(5);
  std::string bytes;
  while (bytes.size() < size) {
    const std::string piece = "piece " + std::to_string(uniform_below(bits, 300));
    bytes += piece + static_cast<char>(uniform_below(bits, 256));
  }
  bytes.resize(size);
  return bytes;
}

TEST(PageUnpacker, UnpacksWhatWasPacked) {
  PageUnpacker unpacker;
  for (const std::size_t size : {0, 1, 7, 1000, 300'000}) {
    const std::string bytes = some_bytes(size);
    for (const Packing& packing : kPackings)
      EXPECT_EQ(unpacked(unpacker, packing.codec, packed_by(packing, bytes), size), bytes)
          << packing.name << ' ' << size;
  }
}

// A page is as long as its header says and is all that is there; what was refused leaves nothing behind for the next.
TEST(PageUnpacker, TakesTheWholeAndNothingElse) {
  PageUnpacker unpacker;
  const std::string bytes = some_bytes(3000);
  for (const Packing& packing : kPackings) {
    const std::string packed = packed_by(packing, bytes);
    const auto is_unpacked = [&](const std::string& from, std::size_t size) {
      return unpacked(unpacker, packing.codec, from, size).has_value();
    };
    EXPECT_FALSE(is_unpacked(packed, bytes.size() - 1)) << packing.name;
    EXPECT_FALSE(is_unpacked(packed, bytes.size() + 1)) << packing.name;
    EXPECT_FALSE(is_unpacked(packed, 0)) << packing.name;
    EXPECT_FALSE(is_unpacked(packed + '\0', bytes.size())) << packing.name;
    EXPECT_FALSE(is_unpacked(packed + packed, bytes.size())) << packing.name;
    EXPECT_FALSE(is_unpacked("", bytes.size())) << packing.name;
    for (std::size_t cut = 1; cut < packed.size(); cut += 7)
      EXPECT_FALSE(is_unpacked(packed.substr(0, packed.size() - cut), bytes.size()))
          << packing.name << ' ' << cut;
    EXPECT_TRUE(is_unpacked(packed, bytes.size())) << packing.name;
  }
}

TEST(PageUnpacker, SurvivesAnyDamage) {
  PageUnpacker unpacker;
  const std::string bytes = some_bytes(700);
  for (const Packing& packing : kPackings) {
    const std::string packed = packed_by(packing, bytes);
    for (std::size_t at = 0; at < packed.size(); ++at) {
      for (const int flip : {1, 16, 128, 255}) {
        std::string bad = packed;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        unpacked(unpacker, packing.codec, bad, bytes.size());
      }
    }
    EXPECT_EQ(unpacked(unpacker, packing.codec, packed, bytes.size()), bytes) << packing.name;
  }
}

// The library joins frames, passes over what is to be skipped, and reads formats from before the first version; the engine's does not
// know the last.
TEST(PageUnpacker, TakesOneFrameOfZstandard) {
  PageUnpacker unpacker;
  const std::string frame = testing::packed_zstandard("one frame");
  const std::string skipped("\x50\x2a\x4d\x18\x02\0\0\0??", 10);
  const auto is_unpacked = [&](const std::string& packed, std::size_t size) {
    return unpacked(unpacker, Codec::kZstandard, packed, size).has_value();
  };
  EXPECT_TRUE(is_unpacked(frame, 9));
  EXPECT_FALSE(is_unpacked(frame + frame, 18));
  EXPECT_FALSE(is_unpacked(skipped + frame, 9));
  EXPECT_FALSE(is_unpacked(frame + skipped, 9));
  EXPECT_FALSE(is_unpacked(skipped, 0));
}

// What packs best of all is within what may come of a page's bytes.
TEST(PageUnpacker, KnowsHowMuchMayComeOfAByte) {
  const std::string bytes(std::size_t{1} << 24, '\0');
  for (const Packing& packing : kPackings) {
    if (packing.codec == Codec::kSnappy) continue;  // of which the test makes literals alone
    const std::size_t packed = packed_by(packing, bytes).size();
    EXPECT_LE(bytes.size() / PageUnpacker::most_growth(packing.codec), packed) << packing.name;
    EXPECT_GE(bytes.size() / PageUnpacker::most_growth(packing.codec) * 2, packed) << packing.name;
  }
}

TEST(PageUnpacker, RefusesWhatItDoesNotKnow) {
  PageUnpacker unpacker;
  for (const std::int64_t codec : {-1, 3, 4, 5, 8, 1 << 20}) {
    EXPECT_FALSE(unpacked(unpacker, Codec{codec}, "", 0)) << codec;
    EXPECT_THROW(PageUnpacker::most_growth(Codec{codec}), Unreadable) << codec;
  }
}

}  // namespace
}  // namespace gauze::internal::parquet
