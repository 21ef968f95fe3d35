#include "gauze/histogram/quadtree.h"

#include <gtest/gtest.h>

#include "gauze/accounting/loss.h"
#include "gauze/histogram/spatial_test_internal.h"
#include "gauze/testing/audit.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

Quadtree::Options tree_options(const Shape& shape, const Ratio& epsilon = 1) {
  return {.shape = shape, .epsilon = epsilon, .rows_per_unit = 1u};
}

TEST(Quadtree, RejectsOptionsOutsideTheirRange) {
  const auto refused = [](auto change) {
    Quadtree::Options wrong = tree_options({{8, 8}});
    change(wrong);
    EXPECT_ERROR(Quadtree(wrong), ErrorCode::kInvalidOption);
  };
  refused([](auto& o) { o.epsilon = Ratio(0); });
  refused([](auto& o) { o.delta = 1; });
  refused([](auto& o) { o.delta = Ratio(1, 1000); });  // without a height
  refused([](auto& o) { o.rows_per_unit = std::uint64_t{0}; });
  refused([](auto& o) { o.shape = Shape{}; });
  refused([](auto& o) { o.count_share = 1; });
  refused([](auto& o) { o.branching = 1; });
  refused([](auto& o) { o.height = 32; });
  refused([](auto& o) { o.coarseness = 0; });
  refused([](auto& o) { o.max_boxes = 0; });
  refused([](auto& o) { o.max_boxes = 60, o.height = 3; });
}

TEST(Quadtree, KeepsTheContract) {
  const Shape shape{{20, 20}};
  Quadtree::Options low = tree_options(shape);
  low.height = 2;
  Quadtree::Options gaussian = tree_options(shape, 4);
  gaussian.delta = Ratio(1, 1000000);
  gaussian.rows_per_unit = std::uint64_t{3};
  gaussian.expected_rows = 500;
  for (const auto& chosen : {tree_options(shape), low, gaussian})
    testing::expect_contract(Quadtree(chosen), testing::clustered(shape, 500, 1), Points{});
}

TEST(Quadtree, CostsEpsilonWithAndWithoutTheEstimateOfRows) {
  Quadtree::Options chosen = tree_options({{20, 20}}, Ratio(1, 3));
  chosen.rows_per_unit = std::uint64_t{5};
  EXPECT_EQ(pure_epsilon(Quadtree(chosen).event()), Ratio(1, 3));
  chosen.expected_rows = 100;
  EXPECT_EQ(pure_epsilon(Quadtree(chosen).event()), Ratio(1, 3));
}

TEST(Quadtree, SharesEpsilonGeometrically) {
  const std::vector<double> published = {.0643, .0811, .1021, .1287, .1621, .2043, .2574};
  const std::vector<Ratio> shares = geometric_shares(7, 2, 2);
  Ratio sum = 0;
  for (std::size_t level = 0; level < 7; ++level) {
    EXPECT_NEAR(round_up(shares[level]), published[level], 5.1e-5);
    sum += shares[level];
  }
  EXPECT_EQ(sum, 1);
  EXPECT_EQ(geometric_shares(4, 2, 1), std::vector<Ratio>(4, Ratio(1, 4)));  // a line has no border
}

TEST(Quadtree, IsAsHighAsTheRowsAllow) {
  Quadtree::Options chosen = tree_options({{512, 512}});
  chosen.coarseness = 10;
  chosen.expected_rows = 100'000;  // sqrt(10,000) = 100 parts: 128
  SeededBits bits(1);
  EXPECT_EQ(release_once(Quadtree(chosen), Points{}, bits).leaves(), 128u * 128u);
  chosen.branching = 4;
  EXPECT_EQ(release_once(Quadtree(chosen), Points{}, bits).leaves(), 256u * 256u);
  chosen.max_boxes = 5000;
  EXPECT_EQ(release_once(Quadtree(chosen), Points{}, bits).leaves(), 64u * 64u);
  chosen.height = 1;
  EXPECT_EQ(release_once(Quadtree(chosen), Points{}, bits).leaves(), 16u);
}

TEST(Quadtree, StatesTheVarianceThatItHas) {
  const Shape shape{{9, 7}};
  const Points points = testing::clustered(shape, 300, 2);
  Quadtree::Options chosen = tree_options(shape);
  chosen.height = 4;  // down to single cells
  for (const Box& box : {Box{{0, 0}, {1, 1}}, Box{{2, 1}, {8, 5}}})
    EXPECT_NEAR(testing::variance_ratio(Quadtree(chosen), points, box, 800, 3), 1, 0.4);
}

TEST(Quadtree, KeepsItsAccuracyPromise) {
  const Shape shape{{64, 64}};
  const Points points = testing::clustered(shape, 20000, 5);
  const Quadtree method(tree_options(shape, Ratio(1, 2)));
  SeededBits bits(6);
  int kept = 0;
  int all = 0;
  for (const auto& leaf : release_once(method, points, bits).partition()) {
    const double error = leaf.value - testing::rows_in(shape, points, leaf.box);
    ++all;
    kept += std::abs(error) <= method.accuracy().half_width ? 1 : 0;
  }
  // Some thousand boxes, each better than promised by the other levels.
  EXPECT_GE(kept, 0.95 * all);
}

/// What a tree over two cells would be if both levels had the whole epsilon of 1: the total and the first cell.
double unshared_quadtree(std::int64_t first, BitSource& bits) {
  const CountNoise noise = CountNoise::laplace(1, 1);
  const auto noisy = [&](std::int64_t count) {
    Meter meter(noise.event());
    Context context{meter, bits};
    return static_cast<double>(noise.run(std::vector<std::int64_t>{count}, context).front());
  };
  std::vector<TreeNode> nodes = {{1, 2, noisy(first), noise.variance()},
                                 {0, 0, noisy(first), noise.variance()},
                                 {0, 0, noisy(0), noise.variance()}};
  fit(nodes);
  return nodes[0].estimate + nodes[1].estimate;
}

TEST(Quadtree, SurvivesTheAuditThatCatchesLevelsThatDoNotShare) {
  const Shape shape{{2}};
  Quadtree::Options chosen = tree_options(shape, 1);
  chosen.height = 1;
  const auto right = [&](const Points& points) {
    return [points, method = Quadtree(chosen)](BitSource& bits) {
      const auto histogram = release_once(method, points, bits);
      return histogram.total().value + histogram.range(Box{{0}, {1}}).value;
    };
  };
  const auto twin = [](std::int64_t rows) {
    return [rows](BitSource& bits) { return unshared_quadtree(rows, bits); };
  };
  const testing::AuditOptions trials{.trials = 5000};
  const double found = testing::audited_epsilon(right({}), right({{0}}), trials);
  EXPECT_LE(found, 1);
  EXPECT_GT(found, 0.2);
  EXPECT_GT(testing::audited_epsilon(twin(0), twin(1), trials), 1);
}

TEST(Quadtree, HandlesExtremeDomainsAndData) {
  testing::expect_edge_cases([](const Shape& shape) { return Quadtree(tree_options(shape)); });
}

}  // namespace
}  // namespace gauze
