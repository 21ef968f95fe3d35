#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "../cli/clinic.h"
#include "../cli/markup.h"
#include "gauze/service/artifact.h"
#include "gauze/testing/matchers.h"

// A family that nobody but its own folder knows is found wherever the others are.
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kOnAges = "release toy_counts --epsilon 1 --column age --cells 4";
const std::string kOnValues =
    "release toy_counts --epsilon 1 --lower 0 --upper 8 --cells 2 --relation add_remove ";

double left(const Clinic& clinic) {
  const Ran shown = gauze_program("ledger show --json " + clinic.path("clinic.ledger"));
  return shown.json().at("accounts").at(0).at("left").at("epsilon");
}

std::string states(const Clinic& clinic) {
  std::string all;
  const auto history =
      gauze_program("ledger history --json " + clinic.path("clinic.ledger")).json();
  for (const auto& entry : history) all += entry.at("state").get<std::string>() + " ";
  return all;
}

TEST(AFamily, StandsUnderItsHeadingInTheList) {
  const std::string text = gauze_program("list").out;
  const std::size_t heading = text.find("\nToys\n");
  ASSERT_NE(heading, std::string::npos) << text;
  EXPECT_NE(text.find("toy_counts", heading), std::string::npos);
  const auto json = gauze_program("list --json").json();
  for (const auto& each : json.at("algorithms"))
    EXPECT_EQ(each.at("family") == "Toys", each.at("name").get<std::string>().starts_with("toy_"));
}

TEST(AFamily, IsDescribedFromItsEntry) {
  EXPECT_THAT(gauze_program("describe toy_counts").out,
              AllOf(HasSubstr("with a curve"), HasSubstr("cells  (whole number, default 4)"),
                    HasSubstr("column  (text"), HasSubstr("Made up for a test."),
                    HasSubstr("gauze release toy_counts --epsilon 1")))
      << "options, what its kind of input asks, who found it, an example";
  const auto json = gauze_program("describe --json toy_counts").json();
  EXPECT_EQ(json.at("asks").at(0).at("name"), "column");
  EXPECT_THAT(gauze_program("release toy_counts --help").out,
              AllOf(HasSubstr("--cells"), HasSubstr("--column"), HasSubstr("--artifact"),
                    HasSubstr("--checkpoint"), HasSubstr("--quote-delta")));
  EXPECT_THAT(gauze_program("describe toy_count").err, HasSubstr("toy_counts"));
}

// Noise beyond 40 at epsilon 1 has probability e^-40.
TEST(AFamily, AnswersFromAPipe) {
  const Ran ran = gauze_program(kOnValues + "--json -", "1\n2\n7\nx\n");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto json = ran.json();
  ASSERT_EQ(json.at("value").size(), 2u);
  EXPECT_NEAR(json.at("value")[0].get<double>(), 3, 40);
  EXPECT_EQ(json.at("cost").at("epsilon"), 1.0);
  EXPECT_EQ(json.at("unit"), "person");
  EXPECT_EQ(json.at("artifact").at("format"), "toy");
  EXPECT_EQ(json.at("spent").at("type"), "pure");
  EXPECT_GT(json.at("accuracy").at("half_width"), 0);
  const Ran text = gauze_program(kOnValues + "-", "1\n2\n7\n", "LC_ALL=C");
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("from"), HasSubstr("Shares"), HasSubstr("share below"),
                              HasSubstr("method     counts with geometric noise"),
                              HasSubstr("epsilon = 1 for one person"), HasSubstr("nobody keeps")));
}

TEST(AFamily, AnswersFromATableAndIsPaidFromTheLedger) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Ran ran = gauze_program(kOnAges + " --json" + clinic.data());
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("unit"), "patient_id");
  EXPECT_EQ(ran.json().at("dataset"), "clinic");
  EXPECT_EQ(ran.json().at("left").at("epsilon"), 2.0);
  double people = 0;
  const auto json = ran.json();
  for (const auto& count : json.at("value")) people += count.get<double>();
  EXPECT_NEAR(people, Clinic::kPatients, 160) << "one row of each";
  EXPECT_EQ(states(clinic), "settled ");
  EXPECT_EQ(gauze_program(kOnAges + " --epsilon 5" + clinic.data()).exit, 2);
  const Ran dear = gauze_program("release toy_counts --epsilon 2.5 --column age" + clinic.data());
  EXPECT_EQ(dear.exit, 3) << dear.err;
  EXPECT_EQ(left(clinic), 2.0);
  EXPECT_EQ(gauze_program("release toy_counts --epsilon 1 --column nobody" + clinic.data()).exit,
            2);
  EXPECT_EQ(gauze_program("release toy_counts --epsilon 11 --column age" + clinic.data()).exit, 2);
  EXPECT_EQ(left(clinic), 2.0);
}

TEST(AFamily, WritesItsTableItsPageAndItsArtifact) {
  const Clinic clinic;
  const Folder out;
  const Ran ran = gauze_program(kOnAges + clinic.data() + "-o " + out.path("t.csv") + " --report " +
                                out.path("t.html") + " --artifact " + out.path("t.toy"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  for (const char* file : {"t.csv", "t.html", "t.toy"})
    EXPECT_THAT(ran.out, HasSubstr("written    " + out.path(file)));
  EXPECT_THAT(out.read("t.csv"), ::testing::StartsWith("from,n,n_half_width\n"));
  const std::string page = out.read("t.html");
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_THAT(page, AllOf(HasSubstr("a toy"), HasSubstr("class=\"curve\""),
                          HasSubstr("class=\"bars\""), HasSubstr("<table>"),
                          HasSubstr("Method: toy_counts: counts with geometric noise"),
                          HasSubstr("Counted: one row of each patient_id"), HasSubstr("ε = 1"),
                          HasSubstr("What this means for a person"),
                          HasSubstr("&quot;column&quot;:&quot;age&quot;")));
  EXPECT_EQ(
      nlohmann::json::parse(gauze::service::read_artifact(out.path("t.toy"), "toy", 2)).size(), 4u);
  for (const char* file : {" -o /no/such/t.csv", " --artifact /no/such/t.toy"})
    EXPECT_EQ(gauze_program(kOnAges + clinic.data() + file).exit, 5) << file;
  EXPECT_EQ(gauze_program(kOnAges + clinic.data() + "--artifact " + clinic.path("visits.csv")).exit,
            2);
}

TEST(AFamily, RunsFromAJob) {
  const Clinic clinic;
  const Folder out;
  const std::string job =
      out.write("job.json", R"({"algorithm": "toy_counts", "options": {"epsilon": 1, "cells": 3},
        "column": "age", "data": ")" +
                                clinic.path("") + R"(", "output": ")" + out.path("t.json") +
                                R"(", "report": ")" + out.path("t.html") + R"(", "artifact": ")" +
                                out.path("t.toy") + R"("})");
  const Ran ran = gauze_program("run --json " + job);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("value").size(), 3u);
  for (const char* file : {"t.json", "t.html", "t.toy"})
    EXPECT_TRUE(std::filesystem::exists(out.path(file))) << file;
  const std::string end = R"(, "data": ")" + clinic.path("") + "\"}";
  for (const char* wrong : {R"("options": {"epsilon": 1, "cell": 3}, "column": "age")",
                            R"("options": {"epsilon": 1}, "columns": ["age"])",
                            R"("options": {"epsilon": 1, "cells": 0}, "column": "age")"})
    EXPECT_EQ(
        gauze_program("run -", R"({"algorithm": "toy_counts", )" + std::string(wrong) + end).exit,
        2)
        << wrong;
}

TEST(AFamily, IsAuditedAndItsLyingTwinIsCaught) {
  const std::string options = " --epsilon 1 --lower 0 --upper 1 --cells 2 --runs 200000";
  EXPECT_EQ(gauze_program("audit toy_counts" + options).exit, 0);
  const Ran caught = gauze_program("audit toy_liar" + options);
  EXPECT_EQ(caught.exit, 6) << caught.out;
}

/// The program in the background.
class Running {
 public:
  Running(const std::string& arguments, const std::string& err,
          const std::string& out = "/dev/null") {
    child_ = fork();
    if (child_ == 0) {
      execl("/bin/sh", "sh", "-c",
            ("exec " GAUZE_PROGRAM " " + arguments + " >" + out + " 2>" + err).c_str(), nullptr);
      _exit(127);
    }
  }
  ~Running() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void send(int signal) const { kill(child_, signal); }
  /// Until something has happened, or the program has ended, which fails the test.
  void wait_until(const std::function<bool()>& happened) const {
    siginfo_t ended{};
    while (!happened()) {
      waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
      ASSERT_EQ(ended.si_pid, 0) << "the program has ended";
      usleep(1000);
    }
  }
  /// However long it takes.
  int wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  pid_t child_ = -1;
};

TEST(AFamily, IsStoppedAndGoesOnWithoutBeingPaidTwice) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Folder out;
  const std::string held = kOnAges + clinic.data() + "--json --steps 5 --hold " + out.path("go") +
                           " --checkpoint " + out.path("kept");
  Running first(held, out.path("err"));
  first.wait_until([&] { return std::filesystem::exists(out.path("go.waits")); });
  EXPECT_EQ(states(clinic), "reserved ");
  first.send(SIGINT);
  EXPECT_EQ(first.wait(), 130);
  EXPECT_THAT(out.read("err"), AllOf(HasSubstr("stopped"), HasSubstr("without paying again")));
  EXPECT_EQ(states(clinic), "interrupted ");
  EXPECT_EQ(left(clinic), 2.0);

  // Another question is refused before it is paid.
  const Ran other = gauze_program("release toy_counts --epsilon 1 --column age --cells 3" +
                                  clinic.data() + "--checkpoint " + out.path("kept"));
  EXPECT_EQ(other.exit, 2) << other.out;
  EXPECT_THAT(other.err, HasSubstr("checkpoint"));
  EXPECT_EQ(left(clinic), 2.0);

  out.write("go", "");
  const std::string text = held.substr(0, held.find("--json")) + held.substr(held.find("--steps"));
  const Ran again = gauze_program(text);
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("prepared   went on behind step 4"));
  EXPECT_EQ(left(clinic), 2.0) << "paid once";
  EXPECT_EQ(states(clinic), "settled ");
  EXPECT_FALSE(std::filesystem::exists(out.path("kept"))) << "nothing is left to go on with";
}

/// A release that waits when it is about to draw noise, and what it prints.
struct Drawing {
  Clinic clinic;
  Folder out;
  std::unique_ptr<Running> program;

  Drawing() {
    clinic.set_budget("--epsilon 2");
    program = std::make_unique<Running>(kOnAges + clinic.data() + "--hold-noise " + out.path("go"),
                                        out.path("err"), out.path("out"));
    program->wait_until([&] { return std::filesystem::exists(out.path("go.waits")); });
    EXPECT_EQ(states(clinic), "reserved ");
  }
  void until_said(const std::string& text) const {
    program->wait_until([&] { return out.read("err").find(text) != std::string::npos; });
  }
};

// What a signal would end is paid for.
TEST(AFamily, IsHandedOutAfterASignalOnceNoiseIsDrawn) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Drawing drawing;
    drawing.program->send(signal);
    drawing.until_said("paid for");
    drawing.out.write("go", "");
    EXPECT_EQ(drawing.program->wait(), 0) << signal;
    EXPECT_THAT(drawing.out.read("out"), AllOf(HasSubstr("counted"), HasSubstr("Shares")));
    EXPECT_EQ(states(drawing.clinic), "settled ") << signal;
  }
}

TEST(AFamily, SaysWhatStaysChargedWhenTwoSignalsEndIt) {
  const Drawing drawing;
  drawing.program->send(SIGTERM);
  drawing.until_said("another signal");
  drawing.program->send(SIGTERM);
  EXPECT_EQ(drawing.program->wait(), 128 + SIGTERM);
  EXPECT_THAT(drawing.out.read("err"),
              AllOf(HasSubstr("may have been drawn"), HasSubstr("stays charged")));
  EXPECT_EQ(states(drawing.clinic), "reserved ");
}

TEST(AFamily, ADamagedCheckpointIsRefusedBeforeAnythingIsPaid) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Folder out;
  for (const char* text : {"", "4", "{\"gauze\": \"checkpoint\"}\n4"}) {
    const std::string file = out.write("kept", text);
    const Ran ran = gauze_program(kOnAges + clinic.data() + "--checkpoint " + file);
    EXPECT_EQ(ran.exit, 2) << text << ran.out;
  }
  EXPECT_EQ(left(clinic), 3.0);
}

TEST(AnArtifact, OfAnotherVersionCutShortOrForgedIsRefused) {
  const Folder out;
  const std::string file = out.path("t.toy");
  ASSERT_EQ(gauze_program(kOnValues + "--artifact " + file + " -", "1\n2\n").exit, 0);
  using gauze::ErrorCode;
  using gauze::service::read_artifact;
  EXPECT_EQ(nlohmann::json::parse(read_artifact(file, "toy", 2)).size(), 2u);
  EXPECT_ERROR(read_artifact(file, "toy", 1), ErrorCode::kInvalidInput);
  EXPECT_ERROR(read_artifact(file, "model", 2), ErrorCode::kInvalidInput);
  EXPECT_ERROR(read_artifact(out.path("none"), "toy", 2), ErrorCode::kIo);
  const std::string whole = slurp(file);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    out.write("t.toy", whole.substr(0, length));
    EXPECT_ERROR(read_artifact(file, "toy", 2), ErrorCode::kInvalidInput);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string forged = whole;
    forged[at] = static_cast<char>(forged[at] ^ 1);
    out.write("t.toy", forged);
    EXPECT_ERROR(read_artifact(file, "toy", 2), ErrorCode::kInvalidInput);
  }
  out.write("t.toy", whole + "x");
  EXPECT_ERROR(read_artifact(file, "toy", 2), ErrorCode::kInvalidInput);
}

}  // namespace
