#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "program.h"

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExplainCommand, GivesTheNumbersAsJson) {
  const auto json = gauze_program("explain --epsilon 1 --delta 1e-6 --json").json();
  EXPECT_EQ(json.at("band"), "acceptable");
  EXPECT_NEAR(json.at("factor").get<double>(), std::exp(1.0), 1e-12);
  EXPECT_NEAR(json.at("best_guess").get<double>(), 0.731059, 1e-5);
  EXPECT_EQ(json.at("closeness").size(), 6u);
  EXPECT_EQ(json.at("reference").size(), 30u);
  EXPECT_EQ(json.at("groups").at(1).at("size"), 5);
  EXPECT_NEAR(json.at("groups").at(1).at("epsilon").get<double>(), 5, 1e-9);
}

TEST(ExplainCommand, CallsNoGuaranteeAcceptableWhoseDeltaIsLarge) {
  EXPECT_EQ(gauze_program("explain --epsilon 1 --delta 1 --json").json().at("band"), "large_delta");
  const Ran ran = gauze_program("explain --epsilon 1 --delta 0.01", "", "LC_ALL=C");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out.substr(0, ran.out.find('\n')), HasSubstr("promises little"));
  EXPECT_THAT(ran.out, HasSubstr("> delta 0.01 +"));
}

TEST(ExplainCommand, ShowsTheWholePublishedTable) {
  const std::string text = gauze_program("explain --epsilon 1", "", "LC_ALL=C").out;
  for (const char* cell : {"0.0004-0.0027", "0.1839-0.8161", "0.9728-0.9963", "0.0034-0.9966",
                           "0.0905-0.1105", "0.7475-0.7525", "0.0000-1.0000"})
    EXPECT_THAT(text, HasSubstr(cell));
}

TEST(ExplainCommand, IsPlainAsciiWhereTheTerminalIs) {
  const auto ascii = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  };
  EXPECT_TRUE(ascii(gauze_program("explain --epsilon 1 --delta 1e-6", "", "LC_ALL=C").out));
  EXPECT_FALSE(ascii(gauze_program("explain --epsilon 1", "", "LC_ALL=C.UTF-8").out));
}

TEST(ExplainCommand, SaturatesAtTheEndsOfTheRange) {
  for (const char* epsilon : {"0", "1e-308", "1e308", "745", "10"}) {
    const Ran ran = gauze_program(std::string("explain --epsilon ") + epsilon);
    EXPECT_EQ(ran.exit, 0) << epsilon;
    EXPECT_THAT(ran.out, Not(HasSubstr("nan"))) << epsilon;
    EXPECT_EQ(gauze_program(std::string("explain --json --epsilon ") + epsilon).exit, 0);
  }
  EXPECT_EQ(gauze_program("explain --epsilon 1e308 --json").json().at("factor"), "inf");
}

TEST(ExplainCommand, RefusesWhatIsNoGuarantee) {
  for (const char* options : {"", "--epsilon -1", "--epsilon nan", "--epsilon inf",
                              "--epsilon 1 --delta 2", "--epsilon 1 --delta -1"})
    EXPECT_EQ(gauze_program(std::string("explain ") + options).exit, 2) << options;
}

TEST(ExplainCommand, NeverShowsASmallerLossThanGiven) {
  const Ran ran = gauze_program("explain --epsilon 1e-400 --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_GT(ran.json().at("epsilon").get<double>(), 0);
  EXPECT_EQ(gauze_program("explain --epsilon 1e400").exit, 2);
}

}  // namespace
