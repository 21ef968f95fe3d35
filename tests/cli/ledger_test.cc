#include "gauze/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "clinic.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

gauze::Event pure(const char* epsilon) {
  return {gauze::events::Pure{gauze::parse_ratio(epsilon)}, gauze::Relation::kAddRemove};
}

/// A ledger as the program makes it, with two questions asked by ada.
std::string asked_ledger(const Folder& folder) {
  const std::string path = folder.path("people.ledger");
  const Ran ran =
      gauze_program("ledger init " + path + " --dataset people --epsilon 3 --delta 1e-6 --json");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  gauze::Ledger ledger = gauze::Ledger::open(path);
  ledger.settle(
      ledger.reserve({.dataset = "people", .analyst = "ada", .text = "SELECT 1"}, pure("1/3")));
  ledger.reserve({.dataset = "people", .analyst = "ada", .text = "evil \x1b[2J\nline"},
                 pure("0.5"));
  return path;
}

TEST(LedgerCommand, InitsShowsAndNeverOverwrites) {
  const Folder folder;
  const std::string path = folder.path("people.ledger");
  const std::string init = "ledger init " + path + " --dataset people --epsilon 3 --delta 1e-6";
  const Ran ran = gauze_program(init, "", "LC_ALL=C.UTF-8");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("ε 3, δ 1e-06"));
  const std::string before = slurp(path);
  const Ran again = gauze_program(init);
  EXPECT_EQ(again.exit, 2);
  EXPECT_THAT(again.err, HasSubstr("gauze ledger add"));
  EXPECT_EQ(slurp(path), before);
}

TEST(LedgerCommand, ShowsWhatIsSpentAndLeftExactlyAsJson) {
  const Folder folder;
  const std::string path = asked_ledger(folder);
  const Ran ran = gauze_program("ledger show --json " + path);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto account = ran.json().at("accounts").at(0);
  EXPECT_EQ(account.at("budget"), nlohmann::json({{"epsilon", 3}, {"delta", 1e-6}}));
  EXPECT_EQ(account.at("spent"), nlohmann::json({{"epsilon", "5/6"}, {"delta", 0}}));
  EXPECT_EQ(account.at("left"), nlohmann::json({{"epsilon", "13/6"}, {"delta", 1e-6}}));
  EXPECT_EQ(ran.json().at("records"), 5);
}

TEST(LedgerCommand, RoundsWhatIsSpentUpAndWhatIsLeftDown) {
  const Folder folder;
  const Ran ran = gauze_program("ledger show " + asked_ledger(folder), "", "LC_ALL=C");
  EXPECT_THAT(ran.out, HasSubstr("epsilon 0.833334"));
  EXPECT_THAT(ran.out, HasSubstr("epsilon 2.16666"));
  EXPECT_THAT(ran.out, HasSubstr("28 %"));
  EXPECT_TRUE(std::all_of(ran.out.begin(), ran.out.end(), [](char c) { return (c & 0x80) == 0; }));
}

TEST(LedgerCommand, PrintsAHistoryThatCannotSteerTheTerminal) {
  const Folder folder;
  const std::string path = asked_ledger(folder);
  const Ran ran = gauze_program("ledger history " + path);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("settled"));
  EXPECT_THAT(ran.out, HasSubstr("reserved"));
  EXPECT_THAT(ran.out, HasSubstr("SELECT 1"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 3);
  const auto json = gauze_program("ledger history --json " + path).json();
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json.at(0).at("cost").at("epsilon"), "1/3");
  EXPECT_EQ(json.at(1).at("text"), "evil \x1b[2J\nline");
  EXPECT_EQ(gauze_program("ledger history --dataset cats " + path).exit, 2);
}

TEST(LedgerCommand, ExportsOneObjectPerLine) {
  const Folder folder;
  const Ran ran = gauze_program("ledger export " + asked_ledger(folder));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  std::istringstream lines(ran.out);
  std::string previous(64, '0');
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto record = nlohmann::json::parse(line);
    EXPECT_EQ(record.at("previous"), previous);
    previous = record.at("hash");
  }
  EXPECT_EQ(count, 5);
}

TEST(LedgerCommand, VerifiesAndRemembersAHeadThatWasNotedDown) {
  const Folder folder;
  const std::string path = asked_ledger(folder);
  const Ran ran = gauze_program("ledger verify --json " + path);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string head = ran.json().at("head");
  EXPECT_EQ(gauze_program("ledger verify --head " + head + " " + path).exit, 0);
  const Ran other = gauze_program("ledger verify --head " + std::string(64, 'a') + " " + path);
  EXPECT_EQ(other.exit, 5);
  EXPECT_THAT(other.err, HasSubstr("ledger_damaged"));
}

TEST(LedgerCommand, GivesShares) {
  const Folder folder;
  const std::string path = asked_ledger(folder);
  const std::string share = "ledger share " + path + " --dataset people --analyst ada ";
  EXPECT_EQ(gauze_program(share + "--rho 1").exit, 2);  // another currency
  const Ran ran = gauze_program(share + "--epsilon 1 --delta 1e-7 --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("accounts").at(1).at("left").at("epsilon"), "1/6");
  EXPECT_EQ(
      gauze_program("ledger share " + path + " --dataset cats --analyst ada --epsilon 1").exit, 2);
}

TEST(LedgerCommand, AShareHasNoMoreLeftThanTheWhole) {
  const Folder folder;
  const std::string path = folder.path("people.ledger");
  ASSERT_EQ(gauze_program("ledger init " + path + " --dataset people --epsilon 1").exit, 0);
  const std::string share = "ledger share " + path + " --dataset people --analyst ada --epsilon 4";
  EXPECT_EQ(gauze_program(share + " --json").json().at("accounts").at(1).at("left").at("epsilon"),
            1);
  EXPECT_THAT(gauze_program(share, "", "LC_ALL=C").out,
              HasSubstr("epsilon 4  epsilon 0  epsilon 1"));
}

TEST(LedgerCommand, SaysThatTheFolderOfANewOneIsMissing) {
  const Folder folder;
  const Ran ran =
      gauze_program("ledger init " + folder.path("x/y/z.ledger") + " --dataset people --epsilon 1");
  EXPECT_EQ(ran.exit, 5);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("does not exist"), Not(HasSubstr("ledger init"))));
}

TEST(LedgerCommand, DismissesQuestionsThatFailed) {
  const Folder folder;
  const std::string path = folder.path("failed.ledger");
  {
    gauze::Ledger ledger = gauze::Ledger::create(path, {{"people", gauze::Budget::pure(1)}});
    for (int i = 0; i < 10; ++i) {
      ledger.interrupt(
          ledger.reserve({.dataset = "people", .text = std::to_string(i)}, pure("0.01")));
    }
  }
  EXPECT_THAT(gauze_program("ledger show " + path).out,
              HasSubstr("about 'people' ended without an answer 10 times"));
  EXPECT_EQ(
      gauze_program("ledger show --json " + path).json().at("accounts").at(0).at("unanswered"), 10);
  const Ran ran = gauze_program("ledger dismiss " + path + " --dataset people");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("10 failures no longer count"));
  EXPECT_THAT(gauze_program("ledger show " + path).out, Not(HasSubstr("without an answer")));
  EXPECT_EQ(gauze_program("ledger verify " + path).exit, 0);
  EXPECT_EQ(gauze_program("ledger dismiss " + path).exit, 2);
  EXPECT_EQ(gauze_program("ledger dismiss " + path + " --dataset cats").exit, 2);
}

/// Whether the question is refused, or paid by the steward's ledger.
bool is_not_free(const Clinic& clinic, const std::string& options) {
  const auto spent = [&] {
    return gauze_program("ledger show --json " + clinic.path("clinic.ledger"))
        .json()
        .at("accounts")
        .at(0)
        .at("spent")
        .at("epsilon")
        .get<double>();
  };
  const double before = spent();
  const Ran ran = gauze_program("sql 'SELECT COUNT(*) FROM visits' --epsilon 0.1 " + options);
  return ran.exit != 0 ? spent() == before : spent() > before;
}

TEST(LedgerCommand, ABudgetBesideTheDataIsPassedOverInNoWay) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  const Folder elsewhere;
  const std::string own_schema = elsewhere.path("clinic.schema.json");
  fs::copy(clinic.path("clinic.schema.json"), own_schema);
  std::string of_rows = clinic.read("clinic.schema.json");
  const std::string whose =
      R"("patient_id", "rows_per_unit": 3, "groups_per_unit": 3, "rows_per_group": 2)";
  of_rows.replace(of_rows.find(whose), whose.size(), R"("row")");
  elsewhere.write("rows.schema.json", of_rows);
  const std::string visits = clinic.path("visits.csv");
  const std::string folder = fs::path(visits).parent_path().string();

  // A pattern in the name of the folder.
  const std::string pattern = "'visits=" + folder.substr(0, folder.size() - 1) + "?/visits.csv'";
  EXPECT_TRUE(is_not_free(clinic, "--unit row --data " + pattern));
  EXPECT_TRUE(is_not_free(clinic, "--schema " + own_schema + " --data " + pattern));
  // A link to the file, in a folder with nothing else.
  const Folder links;
  fs::create_symlink(visits, links.path("visits.csv"));
  const std::string link = links.path("visits.csv");
  EXPECT_TRUE(is_not_free(clinic, "--unit row --data " + link));
  EXPECT_TRUE(is_not_free(clinic, "--data " + link + " --schema " + own_schema));
  EXPECT_NE(
      gauze_program("release count --epsilon 1 --relation add_remove --column age " + link).exit,
      0);
  // Another unit by a schema from elsewhere, with the name of the steward's data set.
  EXPECT_THAT(gauze_program("sql 'SELECT COUNT(*) FROM visits' --epsilon 0.1 --data " + visits +
                            " --schema " + elsewhere.path("rows.schema.json"))
                  .err,
              HasSubstr("keeps count by it"));
  // A ledger of one's own beside a schema of one's own.
  ASSERT_EQ(gauze_program("ledger init " + elsewhere.path("clinic.ledger") +
                          " --dataset clinic --epsilon 9")
                .exit,
            0);
  EXPECT_EQ(gauze_program("sql 'SELECT COUNT(*) FROM visits' --epsilon 0.1 --data " + visits +
                          " --schema " + own_schema)
                .exit,
            2);
  // A second schema beside the data that speaks of the same table.
  std::string other = clinic.read("clinic.schema.json");
  other.replace(other.find(R"("clinic")"), 8, R"("visits")");
  clinic.write("visits.schema.json", other);
  EXPECT_TRUE(is_not_free(clinic, "--data " + visits));
}

// Whatever a file is called, the schema beside it says whose rows they are, and the budget beside it pays.
TEST(LedgerCommand, AnotherNameOfTheDataPassesOverNoBudget) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  const Folder own;
  for (const char* folder : {"a", "b"}) fs::create_directory(own.path(folder));
  const std::string visits = clinic.path("visits.csv");
  std::string schema = clinic.read("clinic.schema.json");
  schema.replace(schema.find(R"("visits": {)"), 11, R"("foo": {)");
  const auto asked = [&](const std::string& options, const std::string& table = "foo") {
    return gauze_program("sql 'SELECT COUNT(*) FROM " + table + "' --epsilon 0.1 " + options).exit;
  };
  // A link and a pattern, with the unit of the steward and with another, or none.
  fs::create_symlink(visits, own.path("foo.csv"));
  const std::string pattern = "'foo=" + clinic.path("visit?.csv") + "'";
  const std::string same = own.write("a/same.schema.json", schema);
  std::string rows = schema;
  rows.replace(
      rows.find(
          R"("unit": "patient_id", "rows_per_unit": 3, "groups_per_unit": 3, "rows_per_group": 2)"),
      std::string(
          R"("unit": "patient_id", "rows_per_unit": 3, "groups_per_unit": 3, "rows_per_group": 2)")
          .size(),
      R"("unit": "row")");
  const std::string of_rows = own.write("a/rows.schema.json", rows);
  for (const std::string& data : {own.path("foo.csv"), pattern, "foo=" + visits})
    for (const std::string& each : {same, of_rows})
      EXPECT_EQ(asked("--data " + data + " --schema " + each), 2) << data << each;
  fs::create_symlink(visits, own.path("clinic.csv"));
  EXPECT_EQ(asked("--unit row --ledger " + clinic.path("clinic.ledger") + " --data " +
                      own.path("clinic.csv"),
                  "clinic"),
            2);
  // Another data set of the same ledger.
  ASSERT_EQ(
      gauze_program("ledger add " + clinic.path("clinic.ledger") + " --dataset other --epsilon 50")
          .exit,
      0);
  std::string other = clinic.read("clinic.schema.json");
  other.replace(other.find(R"("clinic")"), 8, R"("other")");
  EXPECT_EQ(
      asked("--data " + visits + " --schema " + own.write("a/other.schema.json", other), "visits"),
      2);
  // A schema and a budget of one's own beside another file that is read.
  own.write("b/own.schema.json", clinic.read("clinic.schema.json"));
  ASSERT_EQ(
      gauze_program("ledger init " + own.path("b/own.ledger") + " --dataset clinic --epsilon 99")
          .exit,
      0);
  own.write("b/wards.csv", clinic.read("wards.csv"));
  EXPECT_EQ(asked("--data " + own.path("b/wards.csv") + " --data " + visits, "visits"), 2);
  // A folder that a pattern of the shell would not find.
  fs::create_directory(own.path(".hidden"));
  fs::copy(clinic.path(""), own.path(".hidden"), fs::copy_options::recursive);
  const std::string hidden = "'visits=" + own.path("*hidden/visits.csv") + "'";
  EXPECT_EQ(asked("--unit row --data " + hidden, "visits"), 2);
  // The schema beside the data, under its own name, pays.
  EXPECT_EQ(asked("--data " + visits, "visits"), 0);
}

TEST(LedgerCommand, ABudgetInRhoSaysWhatIsCharged) {
  const Clinic clinic;
  clinic.set_budget("--rho 0.5");
  const Ran explained = ask(clinic, "EXPLAIN SELECT COUNT(*) FROM visits", "--epsilon 1 --json");
  EXPECT_NEAR(explained.json().at("cost").at("rho").get<double>(), 0.5, 1e-12);
  EXPECT_THAT(ask(clinic, "EXPLAIN SELECT COUNT(*) FROM visits", "--epsilon 2").out,
              HasSubstr("too little for this"));
}

TEST(LedgerCommand, ABudgetThatIsAwayIsNotPassedOver) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  const Folder elsewhere;
  fs::copy(clinic.path("clinic.schema.json"), elsewhere.path("clinic.schema.json"));
  fs::create_symlink("/nowhere/clinic.ledger", elsewhere.path("clinic.ledger"));
  const Ran ran = gauze_program("sql 'SELECT COUNT(*) FROM visits' --epsilon 0.1 --data " +
                                clinic.path("visits.csv") + " --schema " +
                                elsewhere.path("clinic.schema.json"));
  EXPECT_EQ(ran.exit, 5);
  EXPECT_EQ(ran.out, "");
}

TEST(LedgerCommand, RefusesWhatIsNoBudgetAndLeavesNothingBehind) {
  const Folder folder;
  const std::string path = folder.path("new.ledger");
  for (const char* budget :
       {"", "--epsilon 0", "--epsilon -1", "--epsilon nan", "--epsilon 1 --rho 1", "--delta 1e-6",
        "--epsilon 1 --delta 1", "--rho 0", "--epsilon 1 --relation friends", "--epsilon 1e-31"}) {
    const Ran ran = gauze_program("ledger init " + path + " --dataset people " + budget);
    EXPECT_EQ(ran.exit, 2) << budget << ": " << ran.err;
    EXPECT_EQ(slurp(path), "") << budget;
  }
  EXPECT_EQ(gauze_program("ledger show " + path).exit, 5);
  EXPECT_EQ(gauze_program("ledger show " + folder.write("thesis", "my thesis")).exit, 5);
}

}  // namespace
