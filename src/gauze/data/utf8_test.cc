#include <gtest/gtest.h>

#include <string>

#include "gauze/data/utf8_internal.h"

namespace gauze::internal {
namespace {

// Alone, the second byte of a character is none, wherever it stands; together with the first it is
// one.
TEST(TextBytes, AreAllLookedAt) {
  for (std::size_t size = 0; size <= 40; ++size) {
    EXPECT_TRUE(is_utf8(std::string(size, 'x'))) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = '\x80';
      EXPECT_FALSE(is_utf8(text)) << size << ' ' << at;
      if (at == 0) continue;
      text[at - 1] = '\xc3';
      EXPECT_TRUE(is_utf8(text)) << size << ' ' << at;
    }
  }
}

}  // namespace
}  // namespace gauze::internal
