#include "gauze/base/on_threads.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

namespace gauze::internal {
namespace {

TEST(OnThreads, SortsAsOneThreadDoes) {
  for (const std::size_t size : {0u, 1u, 40'000u, 300'001u}) {
    std::vector<std::uint32_t> numbers(size);
    std::uint32_t x = 1;
    for (std::uint32_t& number : numbers) number = x = x * 1'664'525u + 1'013'904'223u;
    std::vector<std::uint32_t> expected = numbers;
    std::sort(expected.begin(), expected.end(), std::greater<>());
    for (const unsigned threads : {1u, 2u, 5u}) {
      std::vector<std::uint32_t> sorted = numbers;
      sort_on_threads(threads, sorted.begin(), sorted.end(), std::greater<>());
      EXPECT_EQ(sorted, expected) << size << " on " << threads;
    }
  }
}

}  // namespace
}  // namespace gauze::internal
