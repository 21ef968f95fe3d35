#include <gmock/gmock.h>

#include "clinic.h"
#include "terminal.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SqlScript, RunsOneStatementPerSemicolon) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Ran ran = gauze_program("sql --epsilon 1 --json" + clinic.data(),
                                "-- how many; really\nSELECT COUNT(*) AS n\nFROM visits;\n"
                                "SELECT COUNT(*) AS m FROM visits WHERE ward = 'a;b'");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\"n\""), HasSubstr("\"m\"")));
}

TEST(SqlScript, StringsOfEveryKindHoldSemicolons) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 9");
  for (const char* text : {"$$a;b$$", "$t_1$a;$$;b$t_1$", "E'\\';'", "e'a'';\\\\;'", "'\\'"}) {
    const Ran ran =
        gauze_program("sql --epsilon 0.5 --json" + clinic.data(),
                      "SELECT COUNT(*) AS n FROM visits WHERE ward = " + std::string(text) +
                          "; SELECT COUNT(*) AS m FROM visits");
    ASSERT_EQ(ran.exit, 0) << text << ran.err;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2) << text << ran.out;
  }
  // What is not finished is asked, and refused, not passed over.
  EXPECT_EQ(gauze_program("sql --epsilon 0.5" + clinic.data(), "$$a;b").exit, 2);
}

TEST(SqlScript, StopsAtTheFirstError) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Ran ran = gauze_program("sql --epsilon 1" + clinic.data(),
                                "SELECT COUNT(*) AS first FROM visits; SELECT * FROM visits; "
                                "SELECT COUNT(*) AS third FROM visits;");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("first"), Not(HasSubstr("third"))));
}

TEST(SqlScript, TakesBackslashCommands) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Ran ran =
      gauze_program("sql" + clinic.data(),
                    "\\help\n\\schema visits\n\\epsilon 0.5\nSELECT COUNT(*) FROM visits;\n"
                    "\\budget\n\\quit\nSELECT * FROM visits;",
                    "LC_ALL=C");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("semicolon"), HasSubstr("0 to 120"), HasSubstr("epsilon = 2.5")));
  EXPECT_EQ(gauze_program("sql" + clinic.data(), "SELECT COUNT(*) FROM visits;").exit, 2)
      << "nobody said what it may cost";
  EXPECT_EQ(gauze_program("sql" + clinic.data(), "\\hlep\n").exit, 2);
}

TEST(SqlScript, KeepsTheOptionsItWasStartedWith) {
  const Clinic clinic;
  const Ran ran = gauze_program(
      "sql --groups-per-unit 1 --rows-per-group 1 --delta 1e-7 --json" + clinic.data(),
      "\\epsilon 0.1\nEXPLAIN SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis;\n");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto plan = nlohmann::json::parse(ran.out.substr(ran.out.find('{')));
  EXPECT_NEAR(plan.at("cost").at("delta").get<double>(), 1e-7, 1e-15);
  EXPECT_EQ(plan.at("bounds").at("groups_per_unit"), 1);
  EXPECT_EQ(plan.at("bounds").at("rows_per_group"), 1);
  EXPECT_EQ(plan.at("cost").at("epsilon"), 0.1);
  EXPECT_EQ(gauze_program("sql --memory lots" + clinic.data(), "\\budget\n").exit, 2);
  // Whoever wants an explanation must not be charged for an answer.
  EXPECT_EQ(
      gauze_program("sql --epsilon 1 --explain" + clinic.data(), "SELECT COUNT(*) FROM visits;")
          .exit,
      2);
}

TEST(SqlScript, TakesHelpAndQuitWithoutABackslash) {
  const Clinic clinic;
  for (const char* leave : {"quit", "exit", "QUIT;", "\\exit"}) {
    const Ran ran = gauze_program("sql --epsilon 1" + clinic.data(),
                                  std::string("help;\n") + leave + "\nSELECT * FROM visits;");
    EXPECT_EQ(ran.exit, 0) << leave << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("semicolon")) << leave;
  }
  // Inside a question they are words of it.
  EXPECT_EQ(
      gauze_program("sql --epsilon 1" + clinic.data(), "SELECT COUNT(*) AS\nquit\nFROM visits;")
          .exit,
      0);
}

TEST(SqlPrompt, ShowsTheBudgetAnswersTeachesAndLeaves) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  Terminal terminal("sql --epsilon 1" + clinic.data());
  EXPECT_THAT(terminal.until("left)> "), HasSubstr("epsilon = 3"));
  terminal.type("SELECT COUNT(*) AS n\n");
  EXPECT_THAT(terminal.until(". "), HasSubstr(". "));
  terminal.type("FROM visits;\n");
  EXPECT_THAT(terminal.until("left)> "), AllOf(HasSubstr("+-"), HasSubstr("epsilon = 2")));
  terminal.type("SELECT * FROM visits;\n");
  EXPECT_THAT(terminal.until("left)> "), AllOf(HasSubstr("not_private"), HasSubstr("epsilon = 2")));
  terminal.type("SELECT COUNT(\n");
  terminal.until(". ");
  terminal.type("\x03");  // Ctrl-C: the line is gone, the conversation is not
  EXPECT_THAT(terminal.until("left)> "), HasSubstr("left)> "));
  terminal.type("\\quit\n");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST(SqlPrompt, TakesCommandsInsideAQuestionAndSaysHowToGiveItUp) {
  const Clinic clinic;
  Terminal terminal("sql --epsilon 1" + clinic.data());
  terminal.until("> ");
  terminal.type("SELECT COUNT(*) AS n\n");
  EXPECT_THAT(terminal.until(". "), HasSubstr("Ctrl-C"));
  terminal.type("\\epsilon 2\n");
  EXPECT_THAT(terminal.until(". "), HasSubstr("epsilon = 2"));
  terminal.type("\\epsilom 2\n");
  EXPECT_THAT(terminal.until(". "), HasSubstr("did you mean"));
  terminal.type("FROM visits;\n");
  EXPECT_THAT(terminal.until("> "), AllOf(HasSubstr("+-"), HasSubstr("epsilon = 2")));
  terminal.type("\\quit\n");
  EXPECT_EQ(terminal.wait(), 0);
}

// Before the prompt, while the terminal still waits for whole lines, and after it.
TEST(SqlPrompt, LeavesAtCtrlDWheneverItIsPressed) {
  const Clinic clinic;
  for (const bool early : {true, false}) {
    Terminal terminal("sql --epsilon 1" + clinic.data());
    if (!early) terminal.until("> ");
    terminal.type("\x04");
    EXPECT_EQ(terminal.wait(), 0) << early;
  }
}

TEST(SqlPrompt, RemembersWhatWasAsked) {
  const Clinic clinic;
  setenv("XDG_STATE_HOME", clinic.path("state").c_str(), 1);
  Terminal terminal("sql --epsilon 1" + clinic.data());
  terminal.until("> ");
  terminal.type("\\budget\n");
  terminal.until("> ");
  terminal.type("\\quit\n");
  EXPECT_EQ(terminal.wait(), 0);
  unsetenv("XDG_STATE_HOME");
  EXPECT_THAT(slurp(clinic.path("state/gauze/history")), HasSubstr("budget"));
}

}  // namespace
