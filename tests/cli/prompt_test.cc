#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include "clinic.h"

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

/// The program on a terminal of its own.
class Terminal {
 public:
  explicit Terminal(const std::string& arguments) {
    winsize size{.ws_row = 40, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&file_, nullptr, nullptr, &size);
    if (child_ == 0) {
      setenv("TERM", "xterm", 1);
      setenv("LC_ALL", "C", 1);
      execl("/bin/sh", "sh", "-c", (std::string("exec " GAUZE_PROGRAM " ") + arguments).c_str(),
            nullptr);
      _exit(127);
    }
  }
  ~Terminal() {
    close(file_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) const {
    ASSERT_EQ(write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  /// Everything up to and with `text`; what there was when nothing came for 20 seconds.
  std::string until(const std::string& text) {
    std::string got;
    while (got.find(text) == std::string::npos) {
      pollfd ready{file_, POLLIN, 0};
      char buffer[4096];
      if (poll(&ready, 1, 20'000) <= 0) break;
      const ssize_t count = read(file_, buffer, sizeof buffer);
      if (count <= 0) break;
      got.append(buffer, static_cast<std::size_t>(count));
    }
    return got;
  }

  /// The exit code; a program that has not ended after 20 seconds is ended.
  int wait() {
    int status = 0;
    for (int i = 0; i < 200 && waitpid(child_, &status, WNOHANG) == 0; ++i) usleep(100'000);
    if (kill(child_, SIGKILL) == 0) waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  int file_ = -1;
  pid_t child_ = -1;
};

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
