#include "gauze/histogram/empty_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/histogram/count_noise.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using NoisyBlocks = std::vector<BlockCount>;

/// NoisyBlocks with these many rows, each with Laplace noise of the same epsilon.
NoisyBlocks noisy_blocks(const std::vector<std::int64_t>& rows, BitSource& bits) {
  const CountNoise noise = CountNoise::laplace(Ratio(1, 10), 1);
  Meter meter(noise.event());
  Context context{meter, bits};
  NoisyBlocks blocks;
  for (const std::int64_t count : noise.run(rows, context))
    blocks.push_back({static_cast<double>(count), noise.variance()});
  return blocks;
}

double squared_errors(const NoisyBlocks& blocks, const std::vector<std::int64_t>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    sum += std::pow(blocks[i].estimate - static_cast<double>(rows[i]), 2);
  return sum;
}

// 500 blocks, 10 of them with far more rows than noise: the empty ones lose nearly all of their noise, the full
// ones keep their counts. 20 releases: of some 200 * 490 of squared noise each 1/20 would be left if one
// block in a hundred were taken for full.
TEST(EmptyBlocks, EmptyBlocksLoseTheirNoiseAndFullOnesStay) {
  std::vector<std::int64_t> rows(500, 0);
  for (std::size_t i = 0; i < 10; ++i) rows[i * 50 + 3] = 2000;
  testing::SeededBits bits(1);
  double before = 0;
  double after = 0;
  for (int release = 0; release < 20; ++release) {
    NoisyBlocks blocks = noisy_blocks(rows, bits);
    const NoisyBlocks measured = blocks;
    clear_empty(blocks, blocks.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] == 0) continue;
      EXPECT_EQ(blocks[i].estimate, measured[i].estimate);
      EXPECT_EQ(blocks[i].variance, measured[i].variance);
    }
    before += squared_errors(measured, rows);
    after += squared_errors(blocks, rows);
  }
  EXPECT_LT(10 * after, before);
}

// 5 rows in each of 500 blocks are a third of the noise of a block, but together 8 standard deviations:
// cleared, all 2,500 rows would be lost.
TEST(EmptyBlocks, RowsThatShowOnlyTogetherAreKept) {
  const std::vector<std::int64_t> rows(500, 5);
  testing::SeededBits bits(2);
  NoisyBlocks blocks = noisy_blocks(rows, bits);
  const NoisyBlocks measured = blocks;
  clear_empty(blocks, blocks.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(blocks[i].estimate, measured[i].estimate);
}

// By the signs of noise, which are even: what is cleared has no bias. 40 releases of 500 blocks; the sum has at
// most the noise of before, sqrt(200 * 500 / 40) = 50 rows on average.
TEST(EmptyBlocks, TheSumOfEmptyBlocksHasNoBias) {
  const std::vector<std::int64_t> rows(500, 0);
  testing::SeededBits bits(3);
  double sum = 0;
  for (int release = 0; release < 40; ++release) {
    NoisyBlocks blocks = noisy_blocks(rows, bits);
    clear_empty(blocks, blocks.size());
    for (const BlockCount& block : blocks) sum += block.estimate / 40;
  }
  EXPECT_LT(std::abs(sum), 4 * 50);
}

TEST(EmptyBlocks, TakesNoBlocksOneAndTheLargestCounts) {
  NoisyBlocks none;
  clear_empty(none, 1);
  NoisyBlocks one = {{3, 200}};
  clear_empty(one, 1);
  EXPECT_EQ(one[0].estimate, 3);
  NoisyBlocks huge = {{9e18, 1e-9}, {-9e18, 1e-9}, {0, 1e-9}, {0, 1e300}};
  clear_empty(huge, 4);
  EXPECT_EQ(huge[0].estimate, 9e18);
  EXPECT_EQ(huge[1].estimate, -9e18);
  for (const BlockCount& block : huge) EXPECT_GT(block.variance, 0);
}

}  // namespace
}  // namespace gauze
