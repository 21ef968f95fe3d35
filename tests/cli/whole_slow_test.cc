#include <gmock/gmock.h>

#include "gauze/engine/families.h"
#include "markup.h"
#include "program.h"

// What starts the program many times, or reads much.

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ListAndDescribe, CoverEveryAlgorithm) {
  const auto listed = gauze_program("list --json").json().at("algorithms");
  const std::string text = gauze_program("list").out;
  ASSERT_EQ(listed.size(), gauze::built_in().algorithms().size());
  for (const auto& entry : listed) {
    const auto name = entry.at("name").get<std::string>();
    EXPECT_THAT(text, HasSubstr(name));
    const Ran described = gauze_program("describe " + name);
    EXPECT_EQ(described.exit, 0);
    for (const char* part : {"Guarantee", "Parameters", "Accuracy", "Cost", "Source"})
      EXPECT_THAT(described.out, HasSubstr(part)) << name;
    const auto json = gauze_program("describe --json " + name).json();
    EXPECT_FALSE(json.at("options").empty());
    // Questions in SQL have a command of their own.
    const std::string command = name == "sql" ? name : "release " + name;
    EXPECT_EQ(gauze_program(command + " --help").exit, 0);
  }
  EXPECT_EQ(gauze_program("describe nothing").exit, 2);
}

TEST(Tour, ReadsWellInAPipeWithoutUtf8) {
  const Folder folder;
  const Ran ran = gauze_program("tour " + folder.path("tour"), "", "LC_ALL=C");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  std::size_t from = 0;
  for (std::size_t to = 0; (to = ran.out.find('\n', from)) != std::string::npos; from = to + 1) {
    const std::string line = ran.out.substr(from, to - from);
    EXPECT_LE(line.size(), 100 + folder.path("").size()) << line;
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c < 127) << line;
  }
  EXPECT_THAT(ran.out, AllOf(HasSubstr("not_private"), HasSubstr("left"), HasSubstr("Now you")));
  EXPECT_EQ(unbalanced(slurp(folder.path("tour/cost-by-ward.html"))), "");
  // And again, over what is there.
  EXPECT_EQ(gauze_program("tour " + folder.path("tour")).exit, 0);
}

}  // namespace
