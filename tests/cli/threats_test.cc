#include <gmock/gmock.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "clinic.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/ledger/ledger.h"

// Where a ledger pays, tables come from the steward's schema and from nowhere else: docs/threat-model.md.
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

double spent(const std::string& ledger) {
  const Ran shown = gauze_program("ledger show --json " + ledger);
  return shown.json().at("accounts").at(0).at("spent").at("epsilon").get<double>();
}

Ran count(const std::string& options, const std::string& from = "visits") {
  return gauze_program("sql \"SELECT COUNT(*) AS n FROM " + from + "\" --epsilon 0.125 --json " +
                       options);
}

/// A clinic whose wards have ids of patients too, as somebody's public list may.
class Counted : public Clinic {
 public:
  Counted() {
    std::string schema = read("clinic.schema.json");
    const std::string end = R"("floor": {"type": "integer", "lower": 1, "upper": 2}}}}})";
    schema.replace(schema.find(end), end.size(),
                   R"("floor": {"type": "integer", "lower": 1, "upper": 2}}},
        "tests": {"unit": {"column": "test", "of": "owners", "key": "test"}, "rows_per_unit": 9,
          "columns": {"test": {"type": "integer"}}},
        "owners": {"unit": "who", "rows_per_unit": 9, "keys": [["test"]],
          "columns": {"test": {"type": "integer"}, "who": {"type": "integer"}}}}})");
    write("clinic.schema.json", schema);
    write("tests.csv", "test\n1\n2\n3\n");
    write("owners.csv", "test,who\n1,5\n2,5\n3,5\n");
    set_budget("--epsilon 9");
  }

  std::string ledger() const { return path("clinic.ledger"); }
  std::string schema() const { return " --schema " + path("clinic.schema.json") + " "; }

  /// Refused for the sake of the budget, which it costs nothing, with a way out.
  void expect_refused(const std::string& options, const std::string& why,
                      const std::string& from = "visits") const {
    const double before = spent(ledger());
    for (const std::string& paid : {std::string(), " --ledger " + ledger()}) {
      const Ran ran = count(options + paid, from);
      EXPECT_EQ(ran.exit, 2) << options << paid << ran.out;
      EXPECT_THAT(ran.err, AllOf(HasSubstr(why), HasSubstr("\"invalid_option\""))) << options;
      EXPECT_EQ(ran.out, "") << options;
    }
    EXPECT_EQ(spent(ledger()), before) << options;
  }
};

TEST(Threats, NoPrivateFileIsReadAsAPublicTable) {
  const Counted clinic;
  const std::string visits = " --data " + clinic.path("visits.csv");
  const std::string join = "visits JOIN wards USING (ward)";
  clinic.expect_refused(visits + " --data wards=" + clinic.path("visits.csv") + clinic.schema(),
                        "is not the table 'wards'", join);
  clinic.expect_refused(" --data wards=" + clinic.path("visits.csv") + clinic.schema(),
                        "is not the table 'wards'", "wards");
  // By a pattern, and by links here and elsewhere.
  clinic.expect_refused(visits + " --data 'wards=" + clinic.path("visit?.csv'") + clinic.schema(),
                        "is not the table 'wards'", join);
  const Folder own;
  fs::create_symlink(clinic.path("visits.csv"), own.path("wards.csv"));
  const Ran linked = count(visits + " --data " + own.path("wards.csv") + clinic.schema(), join);
  EXPECT_EQ(linked.exit, 2) << linked.out;
  clinic.expect_refused(visits + " --data wards=" + own.path("wards.csv") + clinic.schema(),
                        "is not the table 'wards'", join);
  // A copy of the schema beside the link leads to the steward's files all the same.
  fs::copy(clinic.path("clinic.schema.json"), own.path("clinic.schema.json"));
  const Ran copied = count("--ledger " + clinic.ledger() + " --data " + own.path(""), "wards");
  EXPECT_NE(copied.exit, 0);
  // What is asked properly is answered.
  const Ran ran = count(clinic.data() + "--data " + clinic.path("wards.csv"), join);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(spent(clinic.ledger()), 0.125);
}

TEST(Threats, NoTableOfADatabaseFileIsReadAsAnother) {
  Clinic clinic;
  const std::string base = clinic.path("base.duckdb");
  gauze::internal::run_duckdb({"ATTACH '" + base + "' AS b",
                               "CREATE TABLE b.visits AS FROM '" + clinic.path("visits.csv") + "'",
                               "CREATE TABLE b.wards AS FROM '" + clinic.path("wards.csv") + "'"});
  std::string schema = clinic.read("clinic.schema.json");
  const auto say = [&](const std::string& before, const std::string& place) {
    schema.replace(schema.find(before), before.size(), before + R"("files": [")" + place + "\"], ");
  };
  say(R"("visits": {)", "base.duckdb:visits");
  say(R"("wards": {)", "base.duckdb:wards");
  clinic.write("clinic.schema.json", schema);
  clinic.set_budget("--epsilon 9");
  const std::string paid = " --schema " + clinic.path("clinic.schema.json");
  const std::string join = "visits JOIN wards USING (ward)";
  for (const std::string& wards : {base + ":visits", clinic.path("visits.csv")}) {
    const Ran ran = count("--data " + base + " --data wards=" + wards + paid, join);
    EXPECT_EQ(ran.exit, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("is not the table 'wards'"));
  }
  EXPECT_EQ(spent(clinic.path("clinic.ledger")), 0);
  for (const std::string& data : {" --data " + base, clinic.data(),
                                  " --data visits=" + base + ":visits --data wards=" + base}) {
    const Ran ran = count(data + paid, join);
    EXPECT_EQ(ran.exit, 0) << data << ran.err;
  }
}

TEST(Threats, WhoseRowsTheyAreIsSaidByTheStewardsTable) {
  const Counted clinic;
  const Folder own;
  const std::string mine = own.write("owners.csv", "test,who\n1,1\n2,2\n3,3\n");
  const std::string tests = " --data " + clinic.path("tests.csv");
  clinic.expect_refused(tests + " --data " + mine + clinic.schema(), "file of no table", "tests");
  clinic.expect_refused(tests + " --data owners=" + mine + clinic.schema(),
                        "is not the table 'owners'", "tests");
  const Ran ran = count(tests + " --data " + clinic.path("owners.csv"), "tests");
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

TEST(Threats, AnotherSchemaThanTheStewardsIsRefused) {
  const Counted clinic;
  const Folder own;
  std::string open = clinic.read("clinic.schema.json");
  const std::string unit = R"("unit": "patient_id", "rows_per_unit": 3, "groups_per_unit": 3, )"
                           R"("rows_per_group": 2)";
  open.replace(open.find(unit), unit.size(), R"("public": true)");
  const std::string public_visits = own.write("clinic.schema.json", open);
  clinic.expect_refused(clinic.data() + " --schema " + public_visits, "keeps count by it");
  // Laid out otherwise it is the same schema; changed by the steward it is one that the ledger was not told of.
  const std::string again = own.write(
      "again.json", nlohmann::ordered_json::parse(clinic.read("clinic.schema.json")).dump());
  EXPECT_EQ(count(clinic.data() + " --schema " + again).exit, 0);
  std::string wider = clinic.read("clinic.schema.json");
  wider.replace(wider.find("120"), 3, "130");
  clinic.write("clinic.schema.json", wider);
  clinic.expect_refused(clinic.data(), "gauze ledger schema");
  const std::string told = "ledger schema " + clinic.ledger() + " --dataset clinic --schema ";
  const Ran changed = gauze_program(told + clinic.path("clinic.schema.json") + " --json");
  ASSERT_EQ(changed.exit, 0) << changed.err;
  EXPECT_EQ(count(clinic.data()).exit, 0);
  EXPECT_EQ(gauze_program("ledger verify " + clinic.ledger()).exit, 0);
  EXPECT_EQ(gauze_program(told + own.write("other.json", R"({"version": 1, "dataset": "other",
    "tables": {"a": {"unit": "row", "columns": {"x": {"type": "text"}}}}})"))
                .exit,
            2);
}

TEST(Threats, NoUnitIsSaidWhereALedgerPays) {
  const Counted clinic;
  clinic.expect_refused(" --unit row --data " + clinic.path("visits.csv"), "--unit");
  const Folder own;
  fs::create_symlink(clinic.path("visits.csv"), own.path("visits.csv"));
  clinic.expect_refused(" --unit row --data " + own.path("visits.csv"), "--unit");
}

TEST(Threats, ATableIsCountedWhole) {
  Clinic clinic;
  fs::create_directories(clinic.path("visits/year=2023"));
  fs::create_directories(clinic.path("visits/year=2024"));
  fs::copy(clinic.path("visits.csv"), clinic.path("visits/year=2023/a.csv"));
  fs::rename(clinic.path("visits.csv"), clinic.path("visits/year=2024/a.csv"));
  std::string schema = clinic.read("clinic.schema.json");
  const std::string visits = R"("visits": {)";
  schema.replace(schema.find(visits), visits.size(), visits + R"("files": ["visits/*/*.csv"], )");
  clinic.write("clinic.schema.json", schema);
  clinic.set_budget("--epsilon 9");
  const std::string paid = " --schema " + clinic.path("clinic.schema.json");
  const std::string part = clinic.path("visits/year=2024");
  for (const std::string& data :
       {part, part + "/a.csv", "visits=" + part + "/a.csv", "'visits=" + part + "/*.csv'"}) {
    const Ran ran = count("--data " + data + paid);
    EXPECT_EQ(ran.exit, 2) << data << ran.out;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("counts as a whole"),
                               HasSubstr("give their folder, --data " +
                                         fs::path(part).parent_path().parent_path().string())))
        << data;
  }
  // Nor is it free without a schema.
  EXPECT_EQ(count("--unit row --data " + part + "/a.csv").exit, 2);
  EXPECT_EQ(spent(clinic.path("clinic.ledger")), 0);
  const std::string whole = "'visits=" + clinic.path("visits/*/a.csv") + "'";
  for (const std::string& data :
       {whole, clinic.path(""), clinic.path("clinic.schema.json"),
        part + "/a.csv --data " + clinic.path("visits/year=2023/a.csv")}) {
    const Ran ran = count("--data " + data + paid);
    EXPECT_EQ(ran.exit, 0) << data << ran.err;
  }
  EXPECT_EQ(spent(clinic.path("clinic.ledger")), 0.5);
}

TEST(Threats, ASecondNameInTheFolderIsNoOtherTable) {
  const Counted clinic;
  const Folder own;
  for (const auto& link : {std::pair("hard.csv", true), std::pair("soft.csv", false)}) {
    const std::string other = clinic.path(link.first);
    link.second ? fs::create_hard_link(clinic.path("visits.csv"), other)
                : fs::create_symlink(clinic.path("visits.csv"), other);
    const std::string table = fs::path(other).stem().string();
    const std::string mine = own.write(table + ".schema.json", R"({"version": 1, "dataset": "mine",
      "tables": {")" + table + R"(": {"unit": "row", "columns": {"age": {"type": "integer"}}}}})");
    const Ran ran = count("--data " + other + " --schema " + mine, table);
    EXPECT_EQ(ran.exit, 2) << ran.out;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("keeps count by it"), HasSubstr("clinic.ledger")));
    fs::remove(other);
  }
}

// As it was written before ledgers remembered schemas.
TEST(Threats, ALedgerWithoutASchemaIsReadAsBefore) {
  Clinic clinic;
  gauze::Ledger::create(clinic.path("clinic.ledger"), {{"clinic", gauze::Budget::pure(9)}});
  EXPECT_EQ(count(clinic.data()).exit, 0);
  EXPECT_THAT(gauze_program("ledger show " + clinic.path("clinic.ledger")).out,
              HasSubstr("gauze ledger schema"));
  const Ran told = gauze_program("ledger schema " + clinic.path("clinic.ledger") +
                                 " --dataset clinic --schema " + clinic.path("clinic.schema.json"));
  ASSERT_EQ(told.exit, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("counted by the schema"));
  EXPECT_EQ(count(clinic.data()).exit, 0);
  // Its tables came from its schema's files before, too.
  EXPECT_EQ(spent(clinic.path("clinic.ledger")), 0.25);
}

TEST(Threats, WithoutALedgerFilesHaveAnyName) {
  const Clinic clinic;
  const Ran ran = count("--data visits=" + clinic.path("visits.csv") +
                        " --data wards=" + clinic.path("visits.csv") + " --schema " +
                        clinic.path("clinic.schema.json"));
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

TEST(Threats, TheLedgerRemembersTheSchemaFromTheBeginning) {
  const Folder folder;
  const auto schema = [&](const std::string& name, const std::string& dataset) {
    return folder.write(name, R"({"version": 1, "dataset": ")" + dataset + R"(",
      "tables": {"a": {"unit": "row", "columns": {"x": {"type": "text"}}}}})");
  };
  schema("one.schema.json", "one");
  const std::string two = schema("two.schema.json", "two");
  const std::string ledger = folder.path("budget.ledger");
  ASSERT_EQ(gauze_program("ledger init " + ledger + " --dataset one --epsilon 1").exit, 0);
  ASSERT_EQ(
      gauze_program("ledger add " + ledger + " --dataset two --epsilon 1 --schema " + two).exit, 0);
  ASSERT_EQ(gauze_program("ledger add " + ledger + " --dataset three --epsilon 1").exit, 0);
  const auto accounts = gauze_program("ledger show --json " + ledger).json().at("accounts");
  EXPECT_EQ(accounts.at(0).at("schema").at("file"), "one.schema.json");
  EXPECT_EQ(accounts.at(1).at("schema").at("file"), "two.schema.json");
  EXPECT_NE(accounts.at(0).at("schema").at("digest"), accounts.at(1).at("schema").at("digest"));
  EXPECT_FALSE(accounts.at(2).contains("schema"));
  EXPECT_EQ(
      gauze_program("ledger add " + ledger + " --dataset four --epsilon 1 --schema " + two).exit,
      2);
  EXPECT_EQ(gauze_program("ledger verify " + ledger).exit, 0);
}

}  // namespace
