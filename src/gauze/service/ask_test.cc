#include "gauze/service/ask.h"

#include <gmock/gmock.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gauze/engine/release.h"
#include "gauze/service/answer_file.h"
#include "gauze/service/json.h"
#include "gauze/service/report.h"
#include "gauze/service/workspace.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::service {
namespace {

using gauze::testing::SeededBits;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// What an algorithm of these tests saw, and what it is to do.
struct Script {
  int reads = 0, draws = 0;
  std::function<void()> reading = [] {};
  std::function<void()> drawing = [] {};
  std::function<void()> checking = [] {};
};

Answer counts() {
  return {{{"ward", Type::kText, true}, {"n", Type::kInteger, false}},
          {{{std::string("<day>"), {}}, {std::int64_t{7}, 2.0}},
           {{std::string("night"), {}}, {std::int64_t{9}, 2.0}}}};
}

/// Every piece that a result can have.
Result pieces() {
  Result result;
  result.title = "wards & beds";
  result.json = {{"value", {1, INFINITY, {{"low", -INFINITY}}}}};
  result.text = "one line\nanother";
  result.table = counts();
  result.figures = {
      {"", Figure::Bars{counts()}},
      {"A map",
       Figure::Heat{"age: 0 to 9", "cost: 0 to 5", {"0", "5"}, {"0", "2"}, {1, 2, 3, 4}, 1}},
      {"A curve", Figure::Curve{"dose", "effect", {{0, 1, 0.5}, {10, 3, 0.5}}}}};
  result.artifact = {.format = "model", .version = 3, .bytes = "abc"};
  result.notes = {{"method", "by hand"}, {"error", "nothing is left out"}};
  return result;
}

Explanation plan() {
  Explanation plan;
  plan.parts = {"line one\nline two\n",
                Explanation::Table{{{"released", "noise"}, {"n", "some"}}, "lr"}};
  plan.notes = {{"noise", "as much as it takes"}};
  plan.json = {{"plan", "by hand"}, {"cost", "own"}};
  return plan;
}

Algorithm scripted(Script& script) {
  Algorithm algorithm;
  algorithm.name = "scripted";
  algorithm.options = {{"epsilon", OptionSpec::Type::kNumber, "what it costs", ""}};
  algorithm.kind = column_kind();
  algorithm.kind.writes_table = true;
  algorithm.artifact = "a model";
  algorithm.make = [&script](const Asked& asked) {
    const OptionValues values({{"epsilon", OptionSpec::Type::kNumber, "what it costs", ""}},
                              asked.options);
    Task task;
    task.event = {events::Pure{values.number("epsilon")}, Relation::kAddRemove};
    task.words = asked.schema == nullptr ? "" : "scripted " + asked.asks.dump();
    task.unit = "patient_id";
    task.notes = {{"counted", "everybody"}};
    task.explain = plan;
    task.check = [&script](Source&) -> std::vector<Note> {
      script.checking();
      return {{"read", "age is text"}};
    };
    task.read = [&script, event = task.event](const Input&, Context& reading) -> Task::Draw {
      ++script.reads;
      reading.progress(0.5, "working");
      script.reading();
      return [&script, event](Context& context) -> Release<Result> {
        context.meter.charge(event);
        ++script.draws;
        context.bits.next();
        script.drawing();
        return {pieces(), {2, 0.95, "each count"}, event};
      };
    };
    return task;
  };
  return algorithm;
}

/// A folder with a table, its schema and, if it is wanted, a ledger.
class AskTest : public ::testing::Test {
 protected:
  AskTest() : registry_({{"Scripts", {scripted(script_)}}}) {
    char name[] = "/tmp/gauze-ask-XXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream(folder_ + "/visits.csv") << "patient_id,age\n1,30\n2,40\n";
    std::ofstream(folder_ + "/clinic.schema.json")
        << R"({"version": 1, "dataset": "clinic", "tables": {"visits": {"unit": "patient_id",
           "rows_per_unit": 1, "columns": {"patient_id": {"type": "integer"},
           "age": {"type": "integer", "lower": 0, "upper": 99}}}}})";
  }
  ~AskTest() override { std::filesystem::remove_all(folder_); }

  std::string ledger_path() const { return folder_ + "/clinic.ledger"; }
  void set_budget(const Budget& budget) const {
    Ledger::create(ledger_path()).add_dataset({.dataset = "clinic", .budget = budget});
  }
  Workspace workspace() const {
    DataOptions options;
    options.data = {folder_};
    return Workspace(options);
  }
  static Question question(const char* epsilon = "1") {
    return {.algorithm = "scripted", .options = {{"epsilon", epsilon}, {"column", "age"}}};
  }
  Outcome asked(Workspace& workspace, const char* epsilon = "1", const Watch& watch = {}) {
    return ask(workspace, quote(registry_, workspace, question(epsilon)), bits_, watch);
  }
  Entry::State last_state() const { return Ledger::open(ledger_path()).history().back().state; }

  Script script_;
  Registry registry_;
  std::string folder_;
  SeededBits bits_{1};
};

TEST_F(AskTest, ReservesBeforeAnythingIsReadAndSettlesWhatIsHandedOut) {
  set_budget(Budget::pure(3));
  Workspace clinic = workspace();
  script_.reading = [&] {
    EXPECT_EQ(Ledger::open(ledger_path()).left("clinic"), Budget::pure(2));
    EXPECT_EQ(last_state(), Entry::State::kReserved);
  };
  const Outcome outcome = asked(clinic);
  EXPECT_EQ(script_.draws, 1);
  EXPECT_EQ(last_state(), Entry::State::kSettled);
  EXPECT_EQ(outcome.left, Budget::pure(2));
  EXPECT_EQ(outcome.quote.left, Budget::pure(3));
  const Entry entry = Ledger::open(ledger_path()).history().back();
  EXPECT_EQ(entry.text, R"(scripted {"column":"age"})");
  EXPECT_EQ(entry.cost, Budget::pure(1));
}

TEST_F(AskTest, ReadsNothingThatTheLedgerDoesNotPay) {
  set_budget(Budget::pure(Ratio(1, 2)));
  Workspace clinic = workspace();
  EXPECT_ERROR(asked(clinic), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(script_.reads, 0);
  EXPECT_EQ(bits_.refills(), 0u);
}

TEST_F(AskTest, RefusesBeforeAnythingIsPaid) {
  set_budget(Budget::pure(30));
  Workspace clinic = workspace();
  Question wrong = question("11");
  EXPECT_ERROR(quote(registry_, clinic, wrong), ErrorCode::kInvalidOption);
  wrong.options["accept_weak"] = true;
  EXPECT_EQ(quote(registry_, clinic, wrong).cost.epsilon, 11);
  wrong.options["colour"] = "red";
  EXPECT_ERROR(quote(registry_, clinic, wrong), ErrorCode::kUnknownName);
  wrong = question();
  wrong.options["rows_per_unit"] = 2;
  EXPECT_ERROR(quote(registry_, clinic, wrong), ErrorCode::kInvalidOption);
  wrong = question();
  wrong.options["quote_delta"] = 0;
  EXPECT_ERROR(quote(registry_, clinic, wrong), ErrorCode::kInvalidOption);
  wrong.algorithm = "scribbled";
  EXPECT_ERROR(quote(registry_, clinic, wrong), ErrorCode::kUnknownName);
  script_.checking = [] { throw Error(ErrorCode::kUnknownName, "no such column"); };
  EXPECT_ERROR(asked(clinic), ErrorCode::kUnknownName);
  EXPECT_EQ(script_.reads, 0);
  EXPECT_TRUE(Ledger::open(ledger_path()).history().empty());
}

TEST_F(AskTest, IsNotPaidTwiceWhenItWasStoppedBeforeNoiseWasDrawn) {
  set_budget(Budget::pure(3));
  Workspace clinic = workspace();
  const Watch stops{.progress = [](double, std::string_view) { throw door::Stop{SIGINT}; }};
  try {
    asked(clinic, "1", stops);
    ADD_FAILURE();
  } catch (const door::Stop& stop) {
    EXPECT_EQ(stop.what_it_costs, door::kPaysAgain);
  }
  EXPECT_EQ(last_state(), Entry::State::kInterrupted);
  EXPECT_EQ(asked(clinic).left, Budget::pure(2));
  EXPECT_EQ(Ledger::open(ledger_path()).history().size(), 1u);
}

TEST_F(AskTest, StaysPaidWhenItFailsOnceNoiseMayHaveBeenDrawn) {
  set_budget(Budget::pure(3));
  Workspace clinic = workspace();
  script_.drawing = [] { throw Error(ErrorCode::kEntropy, "no bits"); };
  try {
    asked(clinic);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), EndsWith(door::kStaysSpent));
  }
  EXPECT_EQ(last_state(), Entry::State::kReserved);
  EXPECT_EQ(clinic.left(), Budget::pure(2));
}

TEST_F(AskTest, TellsTheWatchOnceBeforeNoiseIsDrawn) {
  Workspace clinic = workspace();
  std::string heard;
  const Watch watch{.progress = [&](double, std::string_view doing) { heard += doing; },
                    .drawing =
                        [&] {
                          EXPECT_EQ(script_.draws, 0);
                          heard += " then draws";
                        }};
  asked(clinic, "1", watch);
  EXPECT_EQ(heard, "working then draws");
}

TEST_F(AskTest, IsAskedWithoutALedgerAndOfPlainValuesToo) {
  Workspace clinic = workspace();
  const Outcome outcome = asked(clinic);
  EXPECT_FALSE(outcome.left);
  EXPECT_EQ(outcome.quote.ledger, "");
  const Outcome plain = ask(Rows({"1", "2"}), quote(registry_, question()), bits_, {});
  EXPECT_EQ(plain.quote.dataset, "");
  EXPECT_EQ(script_.draws, 2);
}

TEST_F(AskTest, HasTheDigestOfTheQuestion) {
  const auto digest = [&](const char* epsilon) {
    return quote(registry_, question(epsilon)).digest;
  };
  EXPECT_EQ(digest("1"), digest("1"));
  EXPECT_NE(digest("1"), digest("2"));
  Workspace clinic = workspace();
  EXPECT_NE(digest("1"), quote(registry_, clinic, question()).digest);
}

TEST_F(AskTest, SaysWhatWasReleasedAndPaidWhereItCannotBeShown) {
  const auto message = [&](const Outcome& outcome) -> std::string {
    try {
      deliver(outcome, [] { throw Error(ErrorCode::kIo, "the disk is full"); });
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      return error.what();
    }
    return "";
  };
  Workspace free = workspace();
  EXPECT_EQ(message(asked(free)), "the disk is full; the answer was released");
  set_budget(Budget::pure(3));
  Workspace clinic = workspace();
  EXPECT_EQ(message(asked(clinic)),
            "the disk is full; the answer was released, and it is paid for");
}

TEST_F(AskTest, HasTheResultsKeysInJsonAndThoseOfEveryRelease) {
  set_budget(Budget::zcdp(3));
  Workspace clinic = workspace();
  const Json json = as_json(asked(clinic));
  EXPECT_EQ(json.at("value").dump(), R"([1,"inf",{"low":"-inf"}])");
  EXPECT_EQ(json.at("accuracy").dump(),
            R"({"half_width":2.0,"confidence":0.95,"of":"each count"})");
  EXPECT_EQ(json.at("cost").dump(), R"({"epsilon":1.0,"delta":0.0,"rho":0.5})");
  EXPECT_EQ(json.at("unit"), "patient_id");
  EXPECT_EQ(json.at("dataset"), "clinic");
  EXPECT_EQ(json.at("notes").dump(), R"(["age is text"])");
  EXPECT_EQ(json.at("left").dump(), R"({"rho":2.5,"delta":0.0})");
  EXPECT_EQ(json.at("spent").at("type"), "pure");
  EXPECT_EQ(json.at("artifact").at("version"), 3);
  const Json explained = as_json(quote(registry_, clinic, question()));
  EXPECT_EQ(explained.at("plan"), "by hand");
  EXPECT_EQ(explained.at("cost"), "own") << "a key of the result stays as it is";
  EXPECT_FALSE(explained.contains("spent"));
}

TEST_F(AskTest, HasAPageWithEveryPiece) {
  Workspace clinic = workspace();
  const std::string page = report(asked(clinic));
  for (const char* piece :
       {"wards &amp; beds", "scripted {&quot;column&quot;:&quot;age&quot;}", "ε = 1",
        "one line\nanother", "class=\"bars\"", "class=\"heat\"", "A map", "class=\"curve\"",
        "A curve", "&lt;day&gt;", "± 2", "What this means for a person",
        "Method: scripted: by hand", "Error: nothing is left out", "Counted: everybody",
        "Read: age is text", "Noise: as much as it takes", "line one\nline two", "some"})
    EXPECT_THAT(page, HasSubstr(piece));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<day>"))));
}

TEST_F(AskTest, WritesWhatTheAlgorithmMakesAndNothingElse) {
  const Algorithm& makes = registry_.find("scripted");
  const auto none = [](const std::string&) { return false; };
  const std::string csv = folder_ + "/out.csv", html = folder_ + "/out.html",
                    model = folder_ + "/out.model";
  check_files(makes, {csv, html, model}, none);
  Workspace clinic = workspace();
  EXPECT_EQ(write_files(asked(clinic), {csv, html, model}).size(), 3u);
  EXPECT_TRUE(std::filesystem::exists(model));
  for (const AnswerFiles& wrong :
       {AnswerFiles{"out.xls", "", ""}, AnswerFiles{"", "out.csv", ""}, AnswerFiles{csv, "", csv}})
    EXPECT_ERROR(check_files(makes, wrong, none), ErrorCode::kInvalidOption);
  EXPECT_ERROR(check_files(makes, {"/no/such/out.csv", "", ""}, none), ErrorCode::kIo);
  EXPECT_ERROR(check_files(makes, {csv, "", ""}, [](const std::string&) { return true; }),
               ErrorCode::kInvalidOption);
  Algorithm number = makes;
  number.kind.writes_table = false;
  number.artifact.clear();
  EXPECT_ERROR(check_files(number, {csv, "", ""}, none), ErrorCode::kInvalidOption);
  EXPECT_ERROR(check_files(number, {"", "", model}, none), ErrorCode::kInvalidOption);
}

TEST(CommonOptions, GiveWayToTheAlgorithmsOwn) {
  Algorithm algorithm;
  algorithm.kind = column_kind();
  const auto names = [&] {
    std::string all;
    for (const OptionSpec& each : common_options(algorithm)) all += each.name + " ";
    return all;
  };
  EXPECT_EQ(names(), "rows_per_unit confidence quote_delta accept_weak ");
  algorithm.options = {{"confidence", OptionSpec::Type::kNumber, "its own", "0.9"},
                       {"accept_weak", OptionSpec::Type::kFlag, "its own", "false"}};
  EXPECT_EQ(names(), "rows_per_unit quote_delta ");
  algorithm.kind = rows_kind();
  EXPECT_EQ(names(), "quote_delta ");
}

}  // namespace
}  // namespace gauze::service
