#include "gauze/mechanism/selection_choice.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(SelectionChoice, TakesTheExponentialFamilyWhereAllCandidatesAreKnown) {
  EXPECT_EQ(choose_selection({.wanted = 50}).algorithm, "top_k");
  EXPECT_EQ(choose_selection({.wanted = 1}).algorithm, "permute_and_flip");
  EXPECT_EQ(choose_selection({.wanted = 50, .has_threshold = true}).algorithm, "top_k");
  EXPECT_EQ(choose_selection({.wanted = 50, .has_threshold = true, .fill_up = false}).algorithm,
            "retraversal");
}

TEST(SelectionChoice, TakesTheSparseVectorForStreams) {
  EXPECT_EQ(choose_selection({.wanted = 3, .all_known = false, .has_threshold = true}).algorithm,
            "sparse_vector");
  EXPECT_EQ(choose_selection({.all_known = false, .has_threshold = true}).algorithm,
            "above_threshold");
  EXPECT_ERROR(choose_selection({.all_known = false}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(choose_selection({.wanted = 0}), ErrorCode::kInvalidOption);
}

TEST(SelectionChoice, HalvesTheNoiseOnlyWhereAPersonMovesAllScoresTheSameWay) {
  EXPECT_TRUE(choose_selection({.same_way = true}).monotone);
  EXPECT_FALSE(choose_selection({.same_way = false}).monotone);
  EXPECT_FALSE(choose_selection({.same_way = true, .relation = Relation::kReplace}).monotone);
  EXPECT_FALSE(choose_selection({.wanted = 2}).reason.empty());
}

}  // namespace
}  // namespace gauze
