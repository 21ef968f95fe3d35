#include <gmock/gmock.h>

#include <filesystem>

#include "clinic.h"
#include "gauze/testing/postgres_server.h"
#include "terminal.h"

// Long scans, databases and disks as the program meets them.

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// One file under so many names that reading all of them takes seconds.
class LongScan : public Folder {
 public:
  LongScan() {
    std::string rows = "who,x\n";
    for (int i = 0; i < 1'000'000; ++i) {
      rows += std::to_string(i % 1000) + "," + std::to_string(i % 10) + "\n";
    }
    write("part-0.csv", rows);
    for (int i = 1; i < 60; ++i) {
      std::filesystem::create_hard_link(path("part-0.csv"),
                                        path("part-" + std::to_string(i) + ".csv"));
    }
    write("names.csv", "who,name\n1,one\n2,two\n");
    write("t.schema.json",
          R"({"version": 1, "dataset": "d", "tables": {"t": {"files": ["part-*.csv"],
      "unit": "row", "columns": {"x": {"type": "integer", "lower": 0, "upper": 9},
      "who": {"type": "text", "categories": ["1", "2", "3", "4", "5", "6", "7"]}}},
      "names": {"public": true, "keys": [["who"]], "columns": {"who": {"type": "text"},
      "name": {"type": "text", "categories": ["one", "two"]}}}}})");
    const Ran ran = gauze_program("ledger init " + path("t.ledger") + " --dataset d --epsilon 3");
    if (ran.exit != 0) throw std::runtime_error(ran.err);
  }

  std::string arguments(const std::string& sql = "SELECT SUM(x) AS n FROM t") const {
    return "sql \"" + sql + "\" --threads 1 --epsilon 1 --data \"t=" + path("part-*.csv") +
           "\" --data names=" + path("names.csv") + " --schema " + path("t.schema.json");
  }
};

TEST(LongScans, ShowHowFarTheyAreAndStopAtCtrlC) {
  const LongScan scan;
  Terminal terminal(scan.arguments());
  EXPECT_THAT(terminal.until("%"), HasSubstr("reading"));
  terminal.type("\x03");
  EXPECT_THAT(terminal.until("asked again"), AllOf(HasSubstr("stopped"), Not(HasSubstr("+-"))));
  EXPECT_EQ(terminal.wait(), 130);
  // The budget stays reserved.
  const Ran shown = gauze_program("ledger show --json " + scan.path("t.ledger"));
  ASSERT_EQ(shown.exit, 0) << shown.err;
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 2);
}

// The engine says nothing of lists of values that it joins; they are asked otherwise.
TEST(LongScans, ShowHowFarTheyAreWithCategoriesListsAndJoins) {
  const LongScan scan;
  for (const char* sql :
       {"SELECT who, COUNT(*) AS n FROM t GROUP BY who",
        "SELECT SUM(x) AS n FROM t WHERE x IN (1, 2, 3, 4, 5, 6)",
        "SELECT name, COUNT(*) AS n FROM t JOIN names ON t.who = names.who GROUP BY name"}) {
    Terminal terminal(scan.arguments(sql));
    EXPECT_THAT(terminal.until("%"), HasSubstr("reading")) << sql;
    terminal.type("\x03");
    EXPECT_EQ(terminal.wait(), 130) << sql;
  }
}

// The same question takes over what was reserved for it.
TEST(LongScans, AreNotPaidTwiceWhenAskedAgain) {
  const LongScan scan;
  {
    Terminal terminal(scan.arguments());
    terminal.until("%");
    terminal.type("\x03");
    EXPECT_EQ(terminal.wait(), 130);
  }
  const Ran again = gauze_program(scan.arguments());
  ASSERT_EQ(again.exit, 0) << again.err;
  const Ran shown = gauze_program("ledger show --json " + scan.path("t.ledger"));
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 2);
}

// However the program is told to end, the reservation says that no noise was drawn.
TEST(LongScans, AreInterruptedAlikeByEverySignalThatEndsPrograms) {
  const LongScan scan;
  for (const int signal : {SIGTERM, SIGHUP}) {
    Terminal terminal(scan.arguments());
    terminal.until("%");
    terminal.send(signal);
    EXPECT_THAT(terminal.until("asked again"), HasSubstr("stopped")) << signal;
    EXPECT_EQ(terminal.wait(), 128 + signal);
    const Ran history = gauze_program("ledger history --json " + scan.path("t.ledger"));
    EXPECT_EQ(history.json().size(), 1u) << history.out;
    EXPECT_EQ(history.json().at(0).at("state"), "interrupted") << signal;
  }
}

TEST(Databases, AnswerAsFilesDo) {
  const Clinic clinic;
  const gauze::testing::PostgresServer server;
  server.run(
      "CREATE TABLE visits (patient_id bigint, ward text, age int, cost float8, diagnosis "
      "text, day date); CREATE TABLE wards (ward text, floor int);");
  server.run(
      "INSERT INTO visits SELECT i, w, 20 + i % 50, CASE w WHEN 'day' THEN 100 ELSE 300 END, "
      "'flu', '2024-01-10' FROM generate_series(0, 999) AS i, "
      "unnest(ARRAY['day', 'day', 'night']) AS w; "
      "INSERT INTO wards VALUES ('day', 1), ('night', 2);");
  clinic.set_budget("--epsilon 1000");
  for (const char* sql : {"SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY ward",
                          "SELECT floor, SUM(age) AS n FROM visits JOIN wards USING (ward) GROUP "
                          "BY floor"}) {
    const std::string more =
        "--epsilon 100 --accept-weak --json --schema " + clinic.path("clinic.schema.json");
    const Ran files = ask(clinic, sql, more);
    const Ran database =
        gauze_program("sql \"" + std::string(sql) + "\" --data '" + server.uri() + "' " + more);
    ASSERT_EQ(files.exit, 0) << files.err;
    ASSERT_EQ(database.exit, 0) << database.err;
    const auto one = files.json().at("rows"), other = database.json().at("rows");
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      // Twice the error bars of 95 %: with 100 epsilon hardly anything is ever outside.
      const double bar = one[i].at("n_half_width").get<double>();
      EXPECT_NEAR(one[i].at("n").get<double>(), other[i].at("n").get<double>(), 4 * bar + 1);
    }
  }
  // A view, which no question may read, stops none that does not.
  server.run("ALTER TABLE wards RENAME TO stored; CREATE VIEW wards AS SELECT * FROM stored;");
  const Ran apart =
      gauze_program("sql 'SELECT COUNT(*) AS wards FROM visits' --epsilon 1 --data '" +
                    server.uri() + "' --schema " + clinic.path("clinic.schema.json"));
  EXPECT_EQ(apart.exit, 0) << apart.err;
}

// The server asks for no password; what is shown of an address that has one lacks it.
TEST(Databases, PasswordsAreNeverShownAndTheWaysOutWork) {
  const Clinic clinic;
  const gauze::testing::PostgresServer server;
  server.run("CREATE TABLE visits (patient_id bigint, ward text)");
  server.run("INSERT INTO visits SELECT i, 'day' FROM generate_series(0, 999) AS i");
  std::string uri = server.uri();
  uri.replace(uri.find("@"), 1, ":opensesame@");
  const std::string address = "'" + uri + "'";
  const std::string schema = clinic.write("v.schema.json", R"({"version": 1, "dataset": "clinic",
      "tables": {"visits": {"unit": "patient_id", "rows_per_unit": 3,
      "columns": {"patient_id": {"type": "integer"}, "ward": {"type": "text"}}}}})");
  const std::string count = "sql 'SELECT COUNT(*) FROM visits' --epsilon 1 --data " + address;
  const auto silent = [](const std::string& arguments, const std::string& input = "") {
    const Ran ran = gauze_program(arguments, input);
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("opensesame"))) << arguments;
    return ran;
  };
  ASSERT_EQ(silent("ledger init " + address + " --dataset clinic --epsilon 9").exit, 0);
  const std::string paid = " --ledger " + address + " --schema " + schema;
  EXPECT_EQ(silent(count + paid).exit, 0);
  EXPECT_EQ(silent("sql --data " + address + paid, "\\budget\n").exit, 0);
  EXPECT_EQ(silent("release count --epsilon 1 --data " + address + paid).exit, 0);
  EXPECT_EQ(silent("sql 'SELECT COUNT(*) FROM visits' --epsilon 8 --data " + address + paid).exit,
            3);
  EXPECT_EQ(silent("ledger show " + address).exit, 0);
  EXPECT_EQ(silent("ledger init " + address + " --dataset clinic --epsilon 9").exit, 2);
  // Without a schema: what the message says can be done can be done.
  const Ran without = silent(count);
  EXPECT_EQ(without.exit, 2);
  EXPECT_THAT(without.err, AllOf(HasSubstr("--table visits"), Not(HasSubstr("--unit"))));
  EXPECT_EQ(silent("schema template " + address + " --table visits").exit, 0);
  EXPECT_THAT(silent(count + " --unit row").err, HasSubstr("--table visits"));
}

// By the schema, and by what the ledger remembers, whatever the address says besides.
TEST(Databases, AreTheStewardsAndNoOther) {
  const Clinic clinic;
  const gauze::testing::PostgresServer server;
  server.run("CREATE SCHEMA hospital; CREATE SCHEMA mine");
  for (const std::string schema : {"hospital", "mine"})
    server.run("CREATE TABLE " + schema +
               ".visits AS SELECT i::bigint AS patient_id, 'day'::text "
               "AS ward FROM generate_series(1, " +
               (schema == "mine" ? "10" : "1000") + ") AS i");
  const std::string schema = clinic.write("base.schema.json", R"({"version": 1, "dataset": "base",
      "tables": {"visits": {"unit": "patient_id", "rows_per_unit": 1,
      "columns": {"patient_id": {"type": "integer"}, "ward": {"type": "text"}}}}})");
  const std::string ledger = clinic.path("base.ledger");
  ASSERT_EQ(gauze_program("ledger init " + ledger + " --dataset base --epsilon 99 --data '" +
                          server.uri() + "'")
                .exit,
            0);
  const auto count = [&](const std::string& address) {
    return gauze_program("sql 'SELECT COUNT(*) AS n FROM visits' --epsilon 9 --json --schema " +
                         schema + " --data '" + address + "'");
  };
  // Two relations have the name, and an address that leads to one of them is not asked which.
  const std::string mine = server.uri() + "&options=-csearch_path%3Dmine";
  EXPECT_THAT(count(mine).err, AllOf(HasSubstr("relation"), HasSubstr("hospital.visits")));
  std::string said = slurp(schema);
  said.replace(said.find(R"("unit")"), 0, R"("relation": "hospital.visits", )");
  clinic.write("base.schema.json", said);
  EXPECT_THAT(count(mine).err, HasSubstr("gauze ledger schema"));
  ASSERT_EQ(gauze_program("ledger schema " + ledger + " --dataset base --schema " + schema +
                          " --data '" + server.uri() + "'")
                .exit,
            0);
  const Ran ran = count(mine);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NEAR(ran.json().at("rows").at(0).at("n").get<double>(), 1000, 20);
  // Another database, and files.
  std::string other = server.uri();
  other.replace(other.find("/postgres"), 9, "/template1");
  for (const std::string& data : {other, clinic.path("visits.csv")}) {
    const Ran refused = count(data);
    EXPECT_EQ(refused.exit, 2) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("--data"), HasSubstr("another database"))) << data;
  }
  const Ran shown = gauze_program("ledger show --json " + ledger);
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 90);
}

TEST(Databases, ThatAreNotThereCostNothing) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Ran ran = gauze_program(
      "sql \"SELECT COUNT(*) FROM visits\" --epsilon 1 --data "
      "'postgresql://gauze@/postgres?host=" +
      clinic.path("nowhere") + "' --schema " + clinic.path("clinic.schema.json"));
  EXPECT_NE(ran.exit, 0);
  EXPECT_THAT(ran.err, HasSubstr("PostgreSQL"));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  const Ran shown = gauze_program("ledger show --json " + clinic.path("clinic.ledger"));
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 3);
}

// No file may grow: the reservation cannot be written, so nothing is read and nothing is said.
TEST(FullDisks, LeaveTheLedgerAsItWas) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const std::string command = "(trap '' XFSZ; ulimit -f 0; exec " GAUZE_PROGRAM
                              " sql 'SELECT COUNT(*) AS answer FROM visits' --epsilon 1 --data " +
                              clinic.path("") + " 2>&1) | cat > " + clinic.path("said");
  std::system(("bash -c \"" + command + "\"").c_str());
  EXPECT_THAT(slurp(clinic.path("said")), AllOf(HasSubstr("ledger"), Not(HasSubstr("+-"))));
  const Ran verified = gauze_program("ledger verify " + clinic.path("clinic.ledger"));
  EXPECT_EQ(verified.exit, 0) << verified.err;
  const Ran shown = gauze_program("ledger show --json " + clinic.path("clinic.ledger"));
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 3);
}

// Lines of JSON have no catalogue: the columns are those of the schema, whatever the first object
// lacks.
TEST(JsonFiles, HaveTheColumnsOfTheSchema) {
  const Folder folder;
  std::string lines = "{\"a\": 1}\n";
  for (int i = 0; i < 200; ++i) lines += "{\"a\": 1, \"b\": 2}\n";
  folder.write("t.json", lines);
  folder.write("t.schema.json", R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row",
    "columns": {"a": {"type": "integer"}, "b": {"type": "integer", "lower": 0, "upper": 2}}}}})");
  const Ran ran = gauze_program("sql 'SELECT SUM(b) AS s FROM t' --epsilon 5 --json --data " +
                                folder.path("t.json"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NEAR(ran.json().at("rows").at(0).at("s").get<double>(), 400, 40);
}

// The rows are looked at behind the door alone, and one of them stops no question.
TEST(JsonFiles, WhatARowHoldsDecidesNothingBeforeOrAfterTheReservation) {
  const Folder folder;
  const std::string broken = "{\"a\": \"" + std::string(40'000'000, 'x') + "\"}";
  folder.write("t.schema.json", R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row",
    "columns": {"a": {"type": "integer"}}}}})");
  const std::string count =
      "sql 'SELECT COUNT(*) AS n FROM t' --epsilon 5 --json --data " + folder.path("t.json");
  folder.write("t.json", "{\"a\": 1}\n" + broken + "\n{\"a\": 1}\n");
  EXPECT_EQ(gauze_program(count).exit, 0);
  folder.write("t.json", "[{\"a\": 1},\n" + broken + "]");
  EXPECT_EQ(gauze_program(count + " --explain").exit, 0);
  ASSERT_EQ(
      gauze_program("ledger init " + folder.path("t.ledger") + " --dataset d --epsilon 9").exit, 0);
  EXPECT_EQ(gauze_program(count).exit, 0);
  const Ran history = gauze_program("ledger history --json " + folder.path("t.ledger"));
  EXPECT_THAT(history.out, HasSubstr("settled"));
  const Ran check = gauze_program("schema check --data " + folder.path("t.json"));
  EXPECT_EQ(check.exit, 0) << check.err;
  EXPECT_THAT(check.out, AllOf(HasSubstr("t  1 row\n"), HasSubstr("no text: 1;")));
}

TEST(SchemaCheck, CountsLinesThatAreNoRows) {
  const Folder folder;
  folder.write("t.csv", "a,b\n1,2\n3\n4,5\n\xff\xfe,6\n7,8\n");
  folder.write("t.schema.json", R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row",
    "columns": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}})");
  const Ran ran = gauze_program("schema check --json --data " + folder.path("t.csv"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto table = ran.json().at("tables").at(0);
  EXPECT_EQ(table.at("rows"), 3);
  EXPECT_EQ(table.at("broken_rows"), 2);
}

}  // namespace
