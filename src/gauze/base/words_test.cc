#include "gauze/base/words.h"

#include <gtest/gtest.h>

namespace gauze {
namespace {

TEST(Words, OnlyANearWordIsOffered) {
  EXPECT_EQ(did_you_mean("medain", {"mean", "median", "mode"}), "; did you mean 'median'?");
  EXPECT_EQ(did_you_mean("ag", {"ward", "age"}), "; did you mean 'age'?");
  EXPECT_EQ(did_you_mean("COSTS", {"ward", "cost"}), "; did you mean 'cost'?");
  EXPECT_EQ(did_you_mean("epsilon", {"version", "sql"}), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

TEST(Words, NamesCompareWithoutTheCaseOfAsciiLetters) {
  EXPECT_TRUE(same_name("Patient_ID", "patient_id"));
  EXPECT_FALSE(same_name("age", "ages"));
  EXPECT_FALSE(same_name("[", "{"));
}

}  // namespace
}  // namespace gauze
