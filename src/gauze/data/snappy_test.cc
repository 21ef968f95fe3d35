#include <gtest/gtest.h>

#include "gauze/data/parquet_pages_internal.h"
#include "gauze/data/snappy_test_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::internal::parquet {
namespace {

using Packed = std::vector<std::uint8_t>;
using testing::plainly_unpacked;

/// The size that the bytes themselves state, as a page's header would.
std::optional<Packed> own_unpacked(const Packed& from, std::size_t size) {
  // Exactly as long as they are, so that whatever is read or written beyond is found out.
  const auto in = std::make_unique<std::uint8_t[]>(from.size());
  const auto out = std::make_unique<std::uint8_t[]>(size);
  std::copy(from.begin(), from.end(), in.get());
  try {
    unpack_snappy({in.get(), from.size()}, {out.get(), size});
  } catch (const Unreadable&) {
    return std::nullopt;
  }
  return Packed(out.get(), out.get() + size);
}

Packed with_size(std::size_t size, const Packed& pieces) {
  Packed result;
  std::size_t rest = size;
  for (; rest >= 128; rest /= 128) result.push_back(static_cast<std::uint8_t>(rest % 128 + 128));
  result.push_back(static_cast<std::uint8_t>(rest));
  result.insert(result.end(), pieces.begin(), pieces.end());
  return result;
}

/// Pieces of any kind, most of them short, that fit together, and how many bytes they become.
struct Pieces {
  Packed bytes;
  std::size_t size = 0;

  Pieces(std::size_t count, BitSource& bits) {
    const auto below = [&](std::uint64_t n) {
      return static_cast<std::size_t>(uniform_below(bits, n));
    };
    const auto add = [&](std::size_t number, std::size_t width) {
      for (; width > 0; --width, number /= 256)
        bytes.push_back(static_cast<std::uint8_t>(number % 256));
    };
    for (; count > 0; --count) {
      const std::size_t kind = size == 0 ? 0 : below(20) == 0 ? 3 : below(3);
      std::size_t length = 1 + (below(4) == 0 ? below(64) : below(12));
      if (kind == 0) {
        if (below(30) == 0) length = 1 + below(1000);
        const std::size_t width = length > 256 ? 2 : length > 60 || below(10) == 0 ? 1 : 0;
        bytes.push_back(static_cast<std::uint8_t>((width > 0 ? 59 + width : length - 1) * 4));
        add(length - 1, width);
        for (std::size_t i = 0; i < length; ++i) add(below(256), 1);
      } else {
        std::size_t offset = 1 + below(below(3) == 0 ? std::min<std::size_t>(size, 16) : size);
        if (kind == 1) {
          length = 4 + below(8);
          offset = std::min<std::size_t>(offset, 2047);
          bytes.push_back(static_cast<std::uint8_t>(offset / 256 * 32 + (length - 4) * 4 + 1));
          add(offset % 256, 1);
        } else {
          offset = kind == 2 ? std::min<std::size_t>(offset, 65535) : offset;
          bytes.push_back(static_cast<std::uint8_t>((length - 1) * 4 + kind));
          add(offset, kind == 2 ? 2 : 4);
        }
      }
      size += length;
    }
    bytes = with_size(size, bytes);
  }
};

TEST(Snappy, IsUnpackedAsItsDescriptionHasIt) {
  testing::SeededBits bits(11);
  for (std::size_t round = 0; round < 3000; ++round) {
    const Pieces pieces(round % 200 + round / 2000 * 1000, bits);
    const auto plainly = plainly_unpacked(pieces.bytes);
    ASSERT_TRUE(plainly) << round;
    EXPECT_EQ(own_unpacked(pieces.bytes, pieces.size), plainly) << round;
  }
}

// Whatever is damaged gives what the plain way gives of it, or nothing where that gives nothing.
TEST(Snappy, ThatIsDamagedIsNeverReadInPart) {
  testing::SeededBits bits(12);
  std::size_t refused = 0, read = 0;
  const auto compare = [&](const Packed& bytes, std::size_t size) {
    auto plainly = plainly_unpacked(bytes);
    if (plainly && plainly->size() != size) plainly.reset();
    EXPECT_EQ(own_unpacked(bytes, size), plainly);
    ++(plainly ? read : refused);
  };
  for (std::size_t round = 0; round < 40; ++round) {
    const Pieces pieces(round * 2, bits);
    for (std::size_t at = 0; at < pieces.bytes.size(); ++at) {
      for (const int flip : {1, 2, 4, 32, 128}) {
        Packed bad = pieces.bytes;
        bad[at] = static_cast<std::uint8_t>(bad[at] ^ flip);
        compare(bad, pieces.size);
      }
      compare(Packed(pieces.bytes.begin(), pieces.bytes.begin() + static_cast<std::ptrdiff_t>(at)),
              pieces.size);
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(read, 1000u);
}

// By hand, each once near the ends and once far from both, where the quick way is taken.
TEST(Snappy, KnowsWhatIsNotThere) {
  const Packed letters = {7 * 4, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
  const auto unpacked = [&](const Packed& piece, std::size_t size, std::size_t around) {
    Packed bytes = letters;
    for (std::size_t i = 0; i < around; ++i) bytes.insert(bytes.end(), {7 * 4 + 2, 8, 0});
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    for (std::size_t i = 0; i < around; ++i) bytes.insert(bytes.end(), {7 * 4 + 2, 8, 0});
    const std::size_t all = 8 + size + 16 * around;
    return own_unpacked(with_size(all, bytes), all).has_value();
  };
  for (const std::size_t around : {std::size_t{0}, std::size_t{100}}) {
    const auto before = static_cast<std::uint8_t>(around == 0 ? 8 : 8 + 800 % 256);
    const auto above = static_cast<std::uint8_t>(around == 0 ? 0 : 808 / 256);
    EXPECT_TRUE(unpacked({4 * 4 + 2, before, above}, 5, around));
    EXPECT_FALSE(unpacked({4 * 4 + 2, static_cast<std::uint8_t>(before + 1), above}, 5, around));
    EXPECT_FALSE(unpacked({4 * 4 + 2, 0, 0}, 5, around));           // from nowhere
    EXPECT_FALSE(unpacked({4 * 4 + 1, 0}, 8, around));              // the same in two bytes
    EXPECT_FALSE(unpacked({4 * 4 + 3, 0, 0, 0, 0}, 5, around));     // and in five
    EXPECT_FALSE(unpacked({4 * 4 + 3, 0, 0, 0, 1}, 5, around));     // from far before
    EXPECT_FALSE(unpacked({4 * 4 + 2, before, above}, 4, around));  // longer than there is room
    EXPECT_FALSE(unpacked({4 * 4 + 2, before, above}, 6, around));  // or shorter
    EXPECT_FALSE(unpacked({63 * 4, 255, 255, 255, 255}, 5, around));
  }
  EXPECT_FALSE(unpacked({4 * 4 + 2, 8}, 5, 0));     // cut off
  EXPECT_FALSE(unpacked({4 * 4, 'x', 'y'}, 5, 0));  // cut off
  EXPECT_FALSE(unpacked({61 * 4, 1}, 5, 0));        // cut off
  EXPECT_FALSE(own_unpacked({}, 0));                // no size
  EXPECT_FALSE(own_unpacked({128, 128, 128, 128, 128, 0}, 0));
  EXPECT_TRUE(own_unpacked({0}, 0));
}

}  // namespace
}  // namespace gauze::internal::parquet
