#include "gauze/marginal/junction_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gauze/random/uniform.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

/// Whether each column's nodes hang together: exactly one of them lacks the column in its separator.
void expect_tree(const JunctionTree& tree, const Shape& domain,
                 const std::vector<Clique>& cliques) {
  const auto& nodes = tree.nodes();
  for (std::uint32_t column = 0; column < domain.axes(); ++column) {
    int tops = 0;
    for (const auto& node : nodes)
      tops += contains(node.clique, {column}) && !contains(node.separator, {column});
    EXPECT_EQ(tops, 1) << "column " << column;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0) {
      EXPECT_EQ(nodes[i].parent, JunctionTree::kNone);
    } else {
      ASSERT_LT(nodes[i].parent, i);
      EXPECT_EQ(nodes[i].separator, common(nodes[i].clique, nodes[nodes[i].parent].clique));
    }
    for (std::size_t j = 0; j < nodes.size(); ++j)
      EXPECT_TRUE(i == j || !contains(nodes[i].clique, nodes[j].clique));
  }
  for (const Clique& clique : cliques) {
    const std::size_t holder = tree.holder(clique);
    ASSERT_NE(holder, JunctionTree::kNone);
    EXPECT_TRUE(contains(nodes[holder].clique, clique));
  }
}

TEST(JunctionTree, OfATreeHasItsEdges) {
  const Shape domain{{2, 3, 4, 5}};
  const std::vector<Clique> edges = {{0, 1}, {1, 2}, {1, 3}};
  const JunctionTree tree(domain, edges);
  expect_tree(tree, domain, edges);
  EXPECT_EQ(tree.nodes().size(), 3u);
  EXPECT_EQ(tree.cells(), 6u + 12 + 15);
  EXPECT_EQ(tree.holder({0, 2}), JunctionTree::kNone);
}

TEST(JunctionTree, OfACircleIsTriangulated) {
  const Shape domain{{2, 2, 2, 2}};
  const std::vector<Clique> circle = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  const JunctionTree tree(domain, circle);
  expect_tree(tree, domain, circle);
  EXPECT_EQ(tree.nodes().size(), 2u);
  EXPECT_EQ(tree.cells(), 16u);
}

TEST(JunctionTree, EliminatesSmallSetsFirst) {
  // A circle of two large and two small columns: the chord joins the small ones.
  const Shape domain{{100, 2, 100, 2}};
  const JunctionTree tree(domain, std::vector<Clique>{{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  EXPECT_EQ(tree.cells(), 2u * 100 * 2 * 2);
}

TEST(JunctionTree, HoldsEveryColumnAlsoThoseOfNoClique) {
  const Shape domain{{2, 3, 4}};
  expect_tree(JunctionTree(domain, {}), domain, {{0}, {1}, {2}});
  const std::vector<Clique> one = {{0, 2}};
  expect_tree(JunctionTree(domain, one), domain, {{0, 2}, {1}});
  EXPECT_EQ(JunctionTree(Shape{}, {}).nodes().size(), 1u);
}

TEST(JunctionTree, HasTheRunningIntersectionForAnyCliques) {
  SeededBits bits(1);
  for (int run = 0; run < 200; ++run) {
    Shape domain;
    const std::uint64_t columns = 1 + uniform_below(bits, 9);
    for (std::uint64_t i = 0; i < columns; ++i)
      domain.extents.push_back(static_cast<std::uint32_t>(1 + uniform_below(bits, 5)));
    std::vector<Clique> cliques;
    for (std::uint64_t i = uniform_below(bits, 12); i-- > 0;) {
      std::set<std::uint32_t> some;
      for (std::uint64_t k = 1 + uniform_below(bits, 3); k-- > 0;)
        some.insert(static_cast<std::uint32_t>(uniform_below(bits, columns)));
      cliques.emplace_back(some.begin(), some.end());
    }
    expect_tree(JunctionTree(domain, cliques), domain, cliques);
  }
}

TEST(JunctionTree, KnowsSizesThatNoMachineHolds) {
  const Shape domain{std::vector<std::uint32_t>(40, 1000)};
  Clique all(40);
  for (std::uint32_t i = 0; i < 40; ++i) all[i] = i;
  EXPECT_EQ(JunctionTree(domain, std::vector<Clique>{all}).cells(), UINT64_MAX);
}

TEST(JunctionTree, RefusesColumnsThatAreNotThere) {
  EXPECT_ERROR(JunctionTree(Shape{{2, 2}}, std::vector<Clique>{{2}}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(JunctionTree(Shape{{2, 2}}, std::vector<Clique>{{1, 0}}), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
