#include "gauze/base/words.h"

#include <gtest/gtest.h>

namespace gauze {
namespace {

TEST(Words, TheNearestIsTheOneWithTheFewestEdits) {
  EXPECT_EQ(nearest_word("medain", {"mean", "median", "mode"}), "median");
  EXPECT_EQ(nearest_word("x", {}), "");
}

TEST(Words, NamesCompareWithoutTheCaseOfAsciiLetters) {
  EXPECT_TRUE(same_name("Patient_ID", "patient_id"));
  EXPECT_FALSE(same_name("age", "ages"));
  EXPECT_FALSE(same_name("[", "{"));
}

}  // namespace
}  // namespace gauze
