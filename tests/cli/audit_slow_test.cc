// Audits of programs that take many processes.
#include <gmock/gmock.h>

#include "program.h"

namespace {

using ::testing::HasSubstr;

constexpr int kViolationFound = 6;

std::string example(const std::string& name) {
  return "--program '" GAUZE_EXAMPLES "/" + name + "'";
}

bool has_python() {
  return std::system("python3 -c pass >/dev/null 2>&1") == 0;
}

/// A program in shell, by its body.
std::string script(const Folder& folder, const std::string& body) {
  const std::string path = folder.write("mechanism.sh", "#!/bin/sh\n" + body);
  return "--program 'sh " + path + "' --epsilon 1 ";
}

const char* const kNoise = "od -An -N1 -tu1 /dev/urandom";

TEST(AuditProgramSlow, FindsTheMistakesInPython) {
  if (!has_python()) GTEST_SKIP() << "there is no python3 on this machine";
  const std::string options = " --epsilon 1 --upper 10 --runs 40000 --json";
  const Folder folder;
  folder.write("a", "5\n");
  folder.write("b", "5\n10\n");
  const std::string pair =
      " --data " + folder.path("a") + " --neighbour " + folder.path("b") + options;
  const Ran sound = gauze_program("audit " + example("sum.py") + pair + " --confidence 0.999999");
  EXPECT_EQ(sound.exit, 0) << sound.out << sound.err;
  const Ran range = gauze_program("audit " + example("sum_forgotten_range.py") + pair);
  EXPECT_EQ(range.exit, kViolationFound) << range.err;
  EXPECT_GT(range.json().at("epsilon_at_least"), 4);
  folder.write("a", "");
  folder.write("b", "10\n");
  const Ran doubles = gauze_program("audit " + example("sum_doubles.py") + pair);
  EXPECT_EQ(doubles.exit, kViolationFound) << doubles.err;
  EXPECT_THAT(doubles.json().at("event").get<std::string>(), HasSubstr("last binary digit"));
}

TEST(AuditProgramSlow, FindsAnExitCodeThatTells) {
  const Folder folder;
  const Ran ran = gauze_program(
      "audit " +
      script(folder,
             std::string("test -s \"$1\" || exit 3\nfor i in $(seq $2); do ") + kNoise + "; done") +
      "--runs 1000 --json");
  EXPECT_EQ(ran.exit, kViolationFound) << ran.out << ran.err;
  EXPECT_THAT(ran.json().at("event").get<std::string>(), HasSubstr("exit code"));
}

TEST(AuditProgramSlow, FindsAnErrorMessageThatTells) {
  const Folder folder;
  folder.write("a", "1\n");
  folder.write("b", "1\nx\n");
  const Ran ran = gauze_program(
      "audit " +
      script(folder,
             std::string("grep -q x \"$1\" && echo 'bad row' >&2\nfor i in $(seq $2); do ") +
                 kNoise + "; done") +
      "--runs 1000 --json --data " + folder.path("a") + " --neighbour " + folder.path("b"));
  EXPECT_EQ(ran.exit, kViolationFound) << ran.out << ran.err;
  EXPECT_THAT(ran.json().at("event").get<std::string>(), HasSubstr("exit code"));
}

// Processes that print their number: no two do the same, and that tells nothing.
TEST(AuditProgramSlow, LooksAtTheOutputsOfProcessesThatPrintTheirNumber) {
  const Folder folder;
  folder.write("nobody", "");
  folder.write("somebody", "1\n");
  const auto numbered = [&](const std::string& example) {
    return "audit " +
           script(folder,
                  "echo \"started $$\" >&2\nsh " GAUZE_EXAMPLES "/" + example + " \"$1\" \"$2\"") +
           "--runs 1000 --confidence 0.99999 --data " + folder.path("nobody") + " --neighbour " +
           folder.path("somebody");
  };
  const Ran sound = gauze_program(numbered("count.sh"));
  EXPECT_EQ(sound.exit, 0) << sound.out << sound.err;
  const Ran broken = gauze_program(numbered("count_empty.sh"));
  EXPECT_EQ(broken.exit, kViolationFound) << broken.out << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("differ from process to process"));
}

TEST(AuditProgramSlow, RunsOneProcessPerRunWhereTheProgramKnowsNoMore) {
  const Folder folder;
  folder.write("a", "1\n");
  folder.write("b", "1\n2\n");
  const std::string pair =
      "--runs 1000 --json --data " + folder.path("a") + " --neighbour " + folder.path("b");
  const Ran ran = gauze_program("audit " + script(folder, "wc -l < \"$1\"") + pair);
  EXPECT_EQ(ran.exit, kViolationFound) << ran.err;
  EXPECT_THAT(ran.json().at("notes").dump(), HasSubstr("process of its own"));
}

}  // namespace
