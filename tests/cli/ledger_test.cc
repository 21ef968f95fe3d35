#include "gauze/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
  // A variable of a script that was never set is no hash that fits.
  const Ran empty = gauze_program("ledger verify --head \"\" " + path);
  EXPECT_EQ(empty.exit, 2);
  EXPECT_THAT(empty.err, HasSubstr("--head"));
  EXPECT_EQ(gauze_program("ledger verify " + path).exit, 0);
}

TEST(LedgerCommand, AShareMayHaveNoDelta) {
  const Folder folder;
  const std::string path = folder.path("people.ledger");
  const std::string whole = "ledger init " + path + " --dataset people --epsilon 3";
  const std::string share = "ledger share " + path + " --dataset people --analyst ada --epsilon 1";
  ASSERT_EQ(gauze_program(whole + " --delta 1e-6").exit, 0);
  const Ran ran = gauze_program(share + " --delta 0 --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("accounts").at(1).at("budget").at("delta"), 0);
  EXPECT_EQ(gauze_program(share).exit, 2) << "a delta that was forgotten";
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

/// What the steward's ledger has on record.
double spent(const Clinic& clinic) {
  const auto account = gauze_program("ledger show --json " + clinic.path("clinic.ledger")).json();
  return account.at("accounts").at(0).at("spent").at("epsilon").get<double>();
}

Ran count_rows(const std::string& options, const std::string& table = "visits",
               const std::string& environment = "") {
  return gauze_program("sql 'SELECT COUNT(*) FROM " + table + "' --epsilon 0.125 " + options, "",
                       environment);
}

/// Whether the question is refused, or paid by the steward's ledger.
bool is_not_free(const Clinic& clinic, const std::string& options) {
  const double before = spent(clinic);
  const Ran ran = count_rows(options);
  return ran.exit != 0 ? spent(clinic) == before : spent(clinic) > before;
}

/// The question is refused for the sake of the budget and nothing else, and costs nothing.
void expect_refused(const Clinic& clinic, const std::string& options, const std::string& why,
                    const std::string& table = "visits") {
  const double before = spent(clinic);
  const Ran ran = count_rows(options, table);
  EXPECT_EQ(ran.exit, 2) << options << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr(why), HasSubstr("[invalid_option]"))) << options;
  EXPECT_EQ(spent(clinic), before) << options;
}

void init_ledger(const std::string& path, const std::string& dataset) {
  const Ran ran = gauze_program("ledger init " + path + " --dataset " + dataset + " --epsilon 99");
  ASSERT_EQ(ran.exit, 0) << ran.err;
}

/// The text with one part of it replaced, which must be there.
std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::runtime_error("there is no " + part);
  return text.replace(at, part.size(), other);
}

/// The steward's schema, but each row is a person.
std::string of_rows(const std::string& schema) {
  return with(schema,
              R"("patient_id", "rows_per_unit": 3, "groups_per_unit": 3, "rows_per_group": 2)",
              R"("row")");
}

TEST(LedgerCommand, ABudgetBesideTheDataIsPassedOverInNoWay) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  const Folder elsewhere;
  const std::string own_schema = elsewhere.path("clinic.schema.json");
  fs::copy(clinic.path("clinic.schema.json"), own_schema);
  elsewhere.write("rows.schema.json", of_rows(clinic.read("clinic.schema.json")));
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
  const std::string stewards = clinic.read("clinic.schema.json");
  const std::string schema = with(stewards, R"("visits": {)", R"("foo": {)");
  // A link and a pattern, with the unit of the steward and with another, or none.
  fs::create_symlink(visits, own.path("foo.csv"));
  const std::string pattern = "'foo=" + clinic.path("visit?.csv") + "'";
  const std::string same = own.write("a/same.schema.json", schema);
  const std::string rows = own.write("a/rows.schema.json", of_rows(schema));
  for (const std::string& data : {own.path("foo.csv"), pattern, "foo=" + visits})
    for (const std::string& each : {same, rows})
      expect_refused(clinic, "--data " + data + " --schema " + each, "keeps count by it", "foo");
  fs::create_symlink(visits, own.path("clinic.csv"));
  expect_refused(
      clinic,
      "--unit row --ledger " + clinic.path("clinic.ledger") + " --data " + own.path("clinic.csv"),
      "--unit", "clinic");
  // Another data set of the same ledger.
  ASSERT_EQ(
      gauze_program("ledger add " + clinic.path("clinic.ledger") + " --dataset other --epsilon 50")
          .exit,
      0);
  own.write("a/other.schema.json", with(stewards, R"("clinic")", R"("other")"));
  expect_refused(clinic, "--data " + visits + " --schema " + own.path("a/other.schema.json"),
                 "keeps count by it");
  // A schema and a budget of one's own beside another file that is read.
  own.write("b/own.schema.json", stewards);
  init_ledger(own.path("b/own.ledger"), "clinic");
  own.write("b/wards.csv", clinic.read("wards.csv"));
  expect_refused(clinic, "--data " + own.path("b/wards.csv") + " --data " + visits, "--ledger");
  // A folder that a pattern of the shell would not find.
  fs::create_directory(own.path(".hidden"));
  fs::copy(clinic.path(""), own.path(".hidden"), fs::copy_options::recursive);
  const std::string hidden = "'visits=" + own.path("*hidden/visits.csv") + "'";
  expect_refused(clinic, "--unit row --data " + hidden, "--unit");
  // The schema beside the data, under its own name, pays.
  EXPECT_EQ(count_rows("--data " + visits).exit, 0);
  EXPECT_EQ(spent(clinic), 0.125);
}

// Whose a row is that refers to another table is said by that table of the steward, and by none of one's own.
TEST(LedgerCommand, WhoseRowsTheyAreIsSaidBesideTheirBudget) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  const std::string chained =
      R"("bills": {"unit": {"column": "test", "of": "tests", "key": "test"}, "rows_per_unit": 9, "columns": {"test": {"type": "integer"}}},
         "tests": {"unit": {"column": "who", "of": "visits", "key": "patient_id"}, "rows_per_unit": 9, "keys": [["test"]], "columns": {
             "test": {"type": "integer"}, "who": {"type": "integer"}}}, )";
  const std::string schema = with(clinic.read("clinic.schema.json"), R"("visits": {)",
                                  chained + R"("visits": {"keys": [["patient_id"]], )");
  clinic.write("clinic.schema.json", schema);
  const std::string bills = clinic.write("bills.csv", "test\n1\n2\n"),
                    tests = clinic.write("tests.csv", "test,who\n1,3\n2,3\n"),
                    visits = clinic.path("visits.csv");
  const Folder own;
  fs::create_directory(own.path("linked"));
  const std::string data = " --data ", why = "do not lie beside the budget";
  // The table itself, or one further on, is somebody's own.
  const std::string mine = own.write("visits.csv", clinic.read("visits.csv"));
  expect_refused(clinic, data + tests + data + mine, why, "tests");
  expect_refused(clinic, data + bills + data + tests + data + mine, why, "bills");
  expect_refused(clinic, data + tests + " --data 'visits=" + own.path("visit?.csv") + "'", why,
                 "tests");
  const std::string own_tests = own.write("tests.csv", "test,who\n1,4\n2,5\n");
  expect_refused(clinic, data + bills + data + own_tests + data + visits, why, "bills");
  // A link to the budget makes no place of it.
  fs::create_symlink(clinic.path("clinic.ledger"), own.path("clinic.ledger"));
  fs::create_symlink(clinic.path("clinic.schema.json"), own.path("clinic.schema.json"));
  expect_refused(clinic, data + tests + data + mine, why, "tests");
  // The steward's, also through links.
  fs::create_symlink(visits, own.path("linked/visits.csv"));
  for (const std::string& theirs : {visits, own.path("linked/visits.csv")}) {
    const Ran ran = count_rows(data + bills + data + tests + data + theirs, "bills");
    EXPECT_EQ(ran.exit, 0) << ran.err;
  }
  EXPECT_EQ(spent(clinic), 0.25);
  // Where the budget beside it keeps count of something else, nobody is passed over.
  const Folder free, elsewhere;
  init_ledger(free.path("people.ledger"), "people");
  free.write("mine.schema.json", with(schema, R"("clinic")", R"("mine")"));
  const std::string theirs = elsewhere.write("visits.csv", clinic.read("visits.csv"));
  const Ran ran = count_rows(data + free.write("tests.csv", "test,who\n1,3\n") + data + theirs +
                                 " --schema " + free.path("mine.schema.json"),
                             "tests");
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

// Ids that are one as integers are several as texts.
TEST(LedgerCommand, TheTypeOfAnIdIsTheStewards) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  const Folder own;
  const std::string schema = clinic.read("clinic.schema.json");
  const std::string texts = own.write(
      "texts.schema.json",
      with(schema, R"("patient_id": {"type": "integer"})", R"("patient_id": {"type": "text"})"));
  expect_refused(clinic, "--data " + clinic.path("visits.csv") + " --schema " + texts,
                 "says otherwise");
  const std::string same = own.write("same.schema.json", schema);
  EXPECT_EQ(count_rows("--data " + clinic.path("visits.csv") + " --schema " + same).exit, 0);
}

// Folders that are parts of a table by their names.
TEST(LedgerCommand, ABudgetPaysForEachPartOfATable) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  fs::create_directories(clinic.path("year=2024/month=5"));
  const std::string part = clinic.path("year=2024/month=5/visits.csv");
  fs::rename(clinic.path("visits.csv"), part);
  EXPECT_EQ(count_rows("--data " + part + " --unit row").exit, 2);
  EXPECT_EQ(
      gauze_program("release count --epsilon 1 --relation add_remove --column age " + part).exit,
      2);
  const std::string piped =
      GAUZE_PROGRAM
      " release count --epsilon 1 --relation add_remove --column age >/dev/null 2>&1 <" +
      part;
  EXPECT_NE(std::system(piped.c_str()), 0);
  const Folder own;
  const std::string rows =
      own.write("rows.schema.json", of_rows(clinic.read("clinic.schema.json")));
  expect_refused(clinic, "--data " + part + " --schema " + rows, "says otherwise");
  const std::string schema = " --schema " + clinic.path("clinic.schema.json");
  for (const std::string& data : {part, "'" + clinic.path("year=*/month=*/visits.csv") + "'",
                                  "'visits=" + clinic.path("year=*/month=5/*.csv") + "'"}) {
    const Ran ran = count_rows("--data " + data + schema);
    EXPECT_EQ(ran.exit, 0) << ran.err;
  }
  EXPECT_EQ(spent(clinic), 0.375);
  // The name of a table is none of a folder.
  const Ran here = gauze_program(
      "sql 'SELECT COUNT(*) FROM visits' --epsilon 0.125 --data "
      "'year=*/month=5/visits.csv' --schema clinic.schema.json",
      "", "cd " + clinic.path("") + " &&");
  EXPECT_EQ(here.exit, 0) << here.err;
}

// A conversation may take long: links can be made to lead elsewhere, and a budget set.
TEST(LedgerCommand, NoConversationGoesOnWithOtherFilesOrPastANewBudget) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  const Folder own;
  own.write("empty.csv", "patient_id,ward,age,cost,diagnosis,day\n1,day,30,1,flu,2024-01-10\n");
  fs::create_symlink(own.path("empty.csv"), own.path("visits.csv"));
  fs::copy(clinic.path("clinic.schema.json"), own.path("clinic.schema.json"));
  const auto run = [&](const std::string& meanwhile) {
    const std::string question = "echo \"SELECT COUNT(*) FROM visits;\"; ";
    const Folder folder;
    const std::string command =
        "( " + question + "until grep -q count " + folder.path("out") + "; do sleep 0.05; done; " +
        meanwhile + "; " + question + ") | " GAUZE_PROGRAM " sql --epsilon 1 --json --data " +
        own.path("visits.csv") + " >" + folder.path("out") + " 2>" + folder.path("err");
    EXPECT_NE(std::system(command.c_str()), 0) << meanwhile;
    EXPECT_THAT(folder.read("out"), HasSubstr("\"count\"")) << folder.read("err");
    return folder.read("err");
  };
  const std::string elsewhere =
      "ln -sfn " + clinic.path("visits.csv") + " " + own.path("visits.csv");
  EXPECT_THAT(run(elsewhere), HasSubstr("no longer those of the beginning"));
  const std::string budget = GAUZE_PROGRAM " ledger init " + own.path("clinic.ledger") +
                             " --dataset clinic --epsilon 0.5 >" + own.path("out");
  EXPECT_THAT(run(budget), HasSubstr("no longer those of the beginning"));
}

// What lies in one folder says nothing of the rows in another.
TEST(LedgerCommand, ABudgetPaysInEachFolderOfTheData) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  const std::string visits = clinic.path("visits.csv"), schema = clinic.read("clinic.schema.json");
  const Folder own;
  for (const char* folder : {"paid", "free", "linked", "some"})
    fs::create_directory(own.path(folder));
  const std::string mine = with(of_rows(schema), R"("clinic")", R"("mine")");
  // A schema and a budget of one's own beside a link.
  fs::create_symlink(visits, own.path("paid/visits.csv"));
  own.write("paid/own.schema.json", mine);
  init_ledger(own.path("paid/own.ledger"), "mine");
  expect_refused(clinic, "--data " + own.path("paid/visits.csv"), clinic.path("clinic.ledger"));
  // A schema of one's own that names the steward's data set and another unit.
  fs::create_symlink(visits, own.path("free/visits.csv"));
  own.write("free/own.schema.json", of_rows(schema));
  expect_refused(clinic, "--data " + own.path("free/visits.csv"), "clinic.schema.json");
  // A link to the steward's schema, beside a budget of one's own.
  fs::create_symlink(visits, own.path("linked/visits.csv"));
  fs::create_symlink(clinic.path("clinic.schema.json"), own.path("linked/own.schema.json"));
  init_ledger(own.path("linked/own.ledger"), "clinic");
  expect_refused(clinic, "--data " + own.path("linked/visits.csv"), clinic.path("clinic.ledger"));
  // A pattern over a folder of one's own and the steward's.
  own.write("some/visits.csv", clinic.read("visits.csv"));
  own.write("some/own.schema.json", mine);
  init_ledger(own.path("some/own.ledger"), "mine");
  fs::create_directory_symlink(fs::path(visits).parent_path(), own.path("some-clinic"));
  expect_refused(clinic,
                 "--data 'visits=" + own.path("some*/visits.csv") + "' --schema " +
                     own.path("some/own.schema.json"),
                 clinic.path("clinic.ledger"));
}

TEST(LedgerCommand, TheSchemasBesideABudgetAgreeOrNobodyAsks) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 5");
  const std::string data = "--data " + clinic.path("visits.csv") + " --schema ";
  const std::string schema = clinic.read("clinic.schema.json");
  // A copy from elsewhere is charged.
  const Folder elsewhere;
  const std::string copy = elsewhere.write("copy.schema.json", schema);
  EXPECT_EQ(count_rows(data + copy).exit, 0);
  EXPECT_EQ(spent(clinic), 0.125);
  // Neither a form, nor a data set that nobody counts, nor a second schema that says the same stops anybody.
  clinic.write("form.schema.json",
               gauze_program("schema template " + clinic.path("visits.csv")).out);
  clinic.write("draft.schema.json", with(schema, R"("clinic")", R"("draft")"));
  clinic.write("again.schema.json", schema);
  EXPECT_EQ(count_rows(data + clinic.path("clinic.schema.json")).exit, 0);
  EXPECT_EQ(spent(clinic), 0.25);
  // One that says otherwise whose the rows are does, whichever is used.
  const std::string second = clinic.write("second.schema.json", of_rows(schema));
  for (const std::string& each : {second, clinic.path("clinic.schema.json"), copy})
    expect_refused(clinic, data + each, "second.schema.json");
  for (const char* words : {"again.schema.json", "remove one of them", "--ledger"})
    expect_refused(clinic, data + second, words);
}

TEST(LedgerCommand, ABudgetOfOtherDataSetsStopsNobodyWhoseSchemaLiesThere) {
  const Clinic clinic;
  init_ledger(clinic.path("staff.ledger"), "staff");
  const Ran ran = count_rows("--data " + clinic.path("visits.csv"));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("nobody keeps count"));
  // Tables that are nobody's may stand in the schemas of several data sets.
  clinic.write("staff.schema.json", R"({"version": 1, "dataset": "staff", "tables": {
    "wards": {"public": true, "keys": [["ward"]], "columns": {"ward": {"type": "text"}}}}})");
  clinic.set_budget("--epsilon 5");
  const Ran both = count_rows(clinic.data() + "--schema " + clinic.path("clinic.schema.json"),
                              "visits JOIN wards USING (ward)");
  EXPECT_EQ(both.exit, 0) << both.err;
  EXPECT_EQ(spent(clinic), 0.125);
}

// Where each row is a person, whoever stands in a file that is read twice would be two.
TEST(LedgerCommand, NoRowIsReadUnderTwoNames) {
  namespace fs = std::filesystem;
  const Clinic clinic;
  clinic.write("clinic.schema.json", of_rows(clinic.read("clinic.schema.json")));
  clinic.set_budget("--epsilon 5");
  const Folder own;
  for (const char* name : {"1.csv", "2.csv"})
    fs::create_symlink(clinic.path("visits.csv"), own.path(name));
  const std::string schema = " --schema " + clinic.path("clinic.schema.json");
  expect_refused(clinic, "--data 'visits=" + own.path("*.csv") + "'" + schema, "read twice");
  EXPECT_EQ(count_rows("--data visits=" + own.path("1.csv") + schema).exit, 0);
  EXPECT_EQ(spent(clinic), 0.125);
}

// What lies beside the data matters only to whoever did not say which budget pays.
TEST(LedgerCommand, AFolderThatCannotBeListedStopsNobodyWhoSaysWhatPays) {
  const Clinic clinic;
  const Folder own;
  const std::string locked = own.path("locked");
  std::system(
      ("mkdir " + locked + " && chmod 777 " + own.path("") + " && chmod 755 " + clinic.path(""))
          .c_str());
  const std::string visits = own.write("locked/visits.csv", clinic.read("visits.csv"));
  const std::string ledger = own.path("any.ledger");
  init_ledger(ledger, "clinic");
  std::system(("chmod 666 " + ledger + " && chmod 311 " + locked).c_str());
  const std::string known = "--data " + visits + " --schema " +
                            own.write("my.schema.json", clinic.read("clinic.schema.json"));
  // The superuser may list everything.
  const std::string somebody =
      geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  const Ran paid = count_rows(known + " --ledger " + ledger, "visits", somebody);
  EXPECT_EQ(paid.exit, 0) << paid.err;
  const Ran checked =
      gauze_program("schema check " + known + " --data " + clinic.path("wards.csv"), "", somebody);
  EXPECT_EQ(checked.exit, 0) << checked.err;
  const Ran unsaid = count_rows(known, "visits", somebody);
  EXPECT_EQ(unsaid.exit, 5);
  EXPECT_THAT(unsaid.err, AllOf(HasSubstr("cannot be listed"), HasSubstr("--ledger")));
  std::system(("chmod 755 " + locked).c_str());
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
