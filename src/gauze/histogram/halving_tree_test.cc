#include "gauze/histogram/halving_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using Blocks = std::vector<std::size_t>;

void measure(HalvingTree& tree, const Blocks& blocks, const Ratio& epsilon, BitSource& bits) {
  const CountNoise noise = CountNoise::laplace(epsilon, 1);
  Meter meter(noise.event());
  Context context{meter, bits};
  tree.measure(blocks, noise, context);
}

// By hand: five cells are halved into 2 and 3, these into 1 and 1, 1 and 2.
TEST(HalvingTree, FindsTheBlocksBelowABlock) {
  const std::vector<std::int64_t> counts(5, 1);
  const HalvingTree tree(Shape{{5}}, counts);
  EXPECT_EQ(tree.depth(), 3u);
  EXPECT_EQ(tree.below(0, 0), Blocks{0});
  EXPECT_EQ(tree.below(0, 1).size(), 2u);
  EXPECT_EQ(tree.below(0, 2).size(), 4u);
  const Blocks cells = tree.below(0, 3);
  EXPECT_EQ(cells.size(), 5u);
  EXPECT_TRUE(
      std::all_of(cells.begin(), cells.end(), [&](auto cell) { return tree.is_cell(cell); }));
  EXPECT_EQ(tree.below(0, 9), cells);
}

// By hand: 8 x 2 cells are halved into 4 x 2 and these into 4 x 1, whose means are these.
TEST(HalvingTree, HalvesTheAxisOfWhichABlockHasMost) {
  testing::SeededBits bits(3);
  HalvingTree tree(Shape{{8, 2}},
                   std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const Blocks blocks = tree.below(0, 2);
  for (const std::size_t block : blocks) tree.close(block);
  measure(tree, blocks, 1000, bits);
  EXPECT_EQ(tree.fitted(0, false).cells(),
            (std::vector<double>{3, 4, 3, 4, 3, 4, 3, 4, 11, 12, 11, 12, 11, 12, 11, 12}));
}

// Noise of variance 2 a / (1 - a)^2, a = e^-epsilon, weighed by inverse variances.
TEST(HalvingTree, KnowsABlockThatWasMeasuredTwiceByBoth) {
  testing::SeededBits bits(1);
  HalvingTree tree(Shape{{1}}, std::vector<std::int64_t>{1'000'000});
  const auto variance = [](double epsilon) {
    const double a = std::exp(-epsilon);
    return 2 * a / ((1 - a) * (1 - a));
  };
  measure(tree, {0}, Ratio(1, 1000), bits);
  const double first = tree.estimate(0);
  measure(tree, {0}, 1000, bits);  // so that the second is the count itself
  EXPECT_NE(first, 1e6);
  EXPECT_DOUBLE_EQ(tree.estimate(0), 1e6);
  HalvingTree other(Shape{{1}}, std::vector<std::int64_t>{0});
  measure(other, {0}, 1, bits);
  measure(other, {0}, 2, bits);
  EXPECT_NEAR(other.fitted(0, false).total().variance, 1 / (1 / variance(1) + 1 / variance(2)),
              1e-9);
}

TEST(HalvingTree, SpreadsAClosedBlockEvenly) {
  testing::SeededBits bits(2);
  HalvingTree tree(Shape{{8}}, std::vector<std::int64_t>{80, 0, 0, 0, 1, 2, 3, 4});
  const Blocks halves = tree.below(0, 1);
  const Blocks cells = tree.below(halves[1], 2);
  tree.close(halves[0]);
  measure(tree, {halves[0]}, 1000, bits);
  measure(tree, cells, 1000, bits);
  EXPECT_EQ(tree.fitted(0, false).cells(), (std::vector<double>{20, 20, 20, 20, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace gauze
