#include "gauze/base/error.h"

#include <gtest/gtest.h>

#include <string>

#include "gauze/base/required.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

// Numbers and names are promised to be stable: this table may grow and never change.
TEST(Error, CodesKeepTheirNumbersAndNames) {
  const std::pair<int, std::string> promised[] = {{101, "invalid_option"},
                                                  {102, "unknown_name"},
                                                  {103, "invalid_input"},
                                                  {201, "unbounded_data"},
                                                  {301, "budget_exceeded"},
                                                  {302, "cannot_compose"},
                                                  {303, "unreachable"},
                                                  {401, "entropy"},
                                                  {402, "io"},
                                                  {500, "internal"},
                                                  {104, "syntax"},
                                                  {105, "unsupported"},
                                                  {202, "missing_knowledge"},
                                                  {203, "not_private"},
                                                  {403, "ledger_damaged"},
                                                  {404, "busy"},
                                                  {405, "unavailable"}};
  for (const auto& [number, expected] : promised)
    EXPECT_EQ(name(static_cast<ErrorCode>(number)), expected);
}

TEST(Error, RequireThrowsOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(require(true, "never"));
  EXPECT_ERROR(require(false, "epsilon: must be above 0"), ErrorCode::kInvalidOption);
}

TEST(Required, HoldsWhatItWasGiven) {
  const Required<std::string> text = "x";
  EXPECT_EQ(text.get(), "x");
  EXPECT_EQ(text->size(), 1u);
  const Required<double> copy = Required<double>(2);
  EXPECT_EQ(static_cast<const double&>(copy), 2.0);
}

TEST(Required, HasNoDefault) {
  EXPECT_FALSE(std::is_default_constructible_v<Required<double>>);
  EXPECT_FALSE((std::is_constructible_v<Required<double>, std::string>));
}

}  // namespace
}  // namespace gauze
