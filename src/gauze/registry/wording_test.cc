#include "gauze/registry/wording.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/registry/answer_json.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

TEST(Wording, ANumberHasAsManyDigitsAsItsErrorLeavesMeaningTo) {
  EXPECT_EQ(value_text({1234567.891, 12.3}, Type::kDouble), "1,234,568");
  EXPECT_EQ(value_text({1.23456, 0.0123}, Type::kDouble), "1.235");
  EXPECT_EQ(value_text({-0.001, 12.0}, Type::kDouble), "0");
  EXPECT_EQ(value_text({Value(), {}}, Type::kDouble), "∅");
  EXPECT_EQ(value_text({std::string("a\x1b[2Jb"), {}}, Type::kText), "a?[2Jb");
}

TEST(Wording, AnErrorBarIsRoundedUpAndHasItsUnit) {
  EXPECT_EQ(half_width_text(12.31, Type::kDouble), "± 13");
  EXPECT_EQ(half_width_text(0.3, Type::kDouble), "± 0.30");
  EXPECT_EQ(half_width_text(2.1, Type::kDate), "± 3 days");
  EXPECT_EQ(half_width_text(7'200e6, Type::kTimestamp), "± 2 hours");
  EXPECT_EQ(half_width_text(Answer::Cell{std::string("key"), {}}), "");
  EXPECT_EQ(many(1, "row") + many(2000, "row"), "1 row2,000 rows");
}

TEST(AnswerJson, RowsHaveTheirErrorBarsBeside) {
  const Answer answer{{{"ward", Type::kText, true}, {"n", Type::kDouble, false}},
                      {{{std::string("north"), {}}, {2.5, INFINITY}}}};
  EXPECT_EQ(rows_json(answer).dump(), R"([{"ward":"north","n":2.5,"n_half_width":"inf"}])");
}

TEST(AnswerJson, NamesThatAFileCouldNotTellApartAreRefused) {
  const std::vector<Answer::Column> columns = {{"n", Type::kDouble, false},
                                               {"N_half_width", Type::kDouble, false}};
  EXPECT_ERROR(refuse_equal_names(columns), ErrorCode::kInvalidOption);
  EXPECT_NO_THROW(refuse_equal_names({{"n", Type::kDouble, false}, {"m", Type::kDouble, false}}));
}

}  // namespace
}  // namespace gauze
