#include <gmock/gmock.h>

#include <numeric>

#include "clinic.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/table.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kByWard = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward";

// Noise of scale below 2 exceeds 80 with probability below e^-40.
TEST(SqlCommand, AnswersWithErrorBarsCostAndBounds) {
  const Clinic clinic;
  const Ran ran = ask(clinic, kByWard, "--epsilon 5 --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto json = ran.json();
  const auto rows = json.at("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("ward"), "day");
  EXPECT_NEAR(rows[0].at("n").get<double>(), 2000, 80);
  EXPECT_NEAR(rows[1].at("n").get<double>(), 1000, 80);
  EXPECT_GT(rows[0].at("n_half_width").get<double>(), 0);
  EXPECT_FALSE(rows[0].contains("ward_half_width"));
  EXPECT_EQ(json.at("cost").at("epsilon"), 5.0);
  EXPECT_EQ(json.at("bounds").at("rows_per_unit"), 3);
  EXPECT_FALSE(json.contains("left"));
}

TEST(SqlCommand, ShowsPeopleATableWithWhatItCostAndWhatWasCounted) {
  const Clinic clinic;
  const Ran fancy = ask(clinic, kByWard, "--epsilon 5", "LC_ALL=C.UTF-8");
  ASSERT_EQ(fancy.exit, 0) << fancy.err;
  EXPECT_THAT(fancy.out, AllOf(HasSubstr("night"), HasSubstr("±"), HasSubstr("ε = 5"),
                               HasSubstr("█"), HasSubstr("at most 3 rows of each patient_id")));
  const Ran plain = ask(clinic, kByWard, "--epsilon 5", "LC_ALL=C");
  EXPECT_THAT(plain.out, AllOf(HasSubstr("+-"), HasSubstr("epsilon = 5"), HasSubstr("#")));
  for (const char c : plain.out)
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << static_cast<int>(c);
}

TEST(SqlCommand, AveragesMediansAndJoinsAreAnswered) {
  const Clinic clinic;
  const Ran average =
      ask(clinic, "SELECT ward, AVG(cost) AS c FROM visits GROUP BY ward", "--epsilon 9 --json");
  ASSERT_EQ(average.exit, 0) << average.err;
  EXPECT_NEAR(average.json().at("rows")[0].at("c").get<double>(), 100, 50);
  EXPECT_NEAR(average.json().at("rows")[1].at("c").get<double>(), 300, 50);
  const Ran median = ask(clinic, "SELECT MEDIAN(age) AS a FROM visits", "--epsilon 9 --json");
  ASSERT_EQ(median.exit, 0) << median.err;
  EXPECT_NEAR(median.json().at("rows")[0].at("a").get<double>(), 45, 10);
  const Ran join =
      ask(clinic, "SELECT floor, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY floor",
          "--epsilon 5 --json");
  ASSERT_EQ(join.exit, 0) << join.err;
  EXPECT_NEAR(join.json().at("rows")[1].at("n").get<double>(), 1000, 80);
}

TEST(SqlCommand, TheSchemaIsFoundBesideAFileAndByName) {
  const Clinic clinic;
  const std::string count = "sql \"SELECT COUNT(*) FROM visits\" --epsilon 5 ";
  EXPECT_EQ(gauze_program(count + "--data " + clinic.path("visits.csv")).exit, 0);
  EXPECT_EQ(gauze_program(count + "--data visits=" + clinic.path("visits.csv") + " --schema " +
                          clinic.path("clinic.schema.json"))
                .exit,
            0);
  const Ran renamed = gauze_program(count + "--data people=" + clinic.path("visits.csv") +
                                    " --schema " + clinic.path("clinic.schema.json"));
  EXPECT_EQ(renamed.exit, 2);
  EXPECT_THAT(renamed.err, HasSubstr("--data visits="));
}

TEST(SqlCommand, WithoutASchemaItSaysHowToWriteOne) {
  const Folder folder;
  const std::string file = folder.write("people.csv", "id,city\n1,A\n");
  const Ran ran = gauze_program("sql \"SELECT COUNT(*) FROM people\" --epsilon 1 --data " + file);
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("gauze schema template"), HasSubstr("missing_knowledge")));
}

TEST(SqlCommand, TheQuickFormCountsWithoutASchema) {
  const Clinic clinic;
  const Folder folder;
  const std::string quick =
      "sql \"SELECT diagnosis, COUNT(DISTINCT patient_id) AS n FROM visits "
      "GROUP BY diagnosis\" --epsilon 5 --delta 1e-6 --json --unit patient_id --data " +
      folder.write("visits.csv", clinic.read("visits.csv"));
  EXPECT_EQ(gauze_program(quick).exit, 2) << "how many rows is not said";
  const Ran ran = gauze_program(quick + " --rows-per-unit 3");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  // A diagnosis of one patient is kept with probability at most 1e-6.
  EXPECT_EQ(ran.json().at("rows").size(), 2u) << ran.out;
  EXPECT_THAT(ran.out, Not(HasSubstr("kuru")));
  EXPECT_EQ(gauze_program(quick + " --rows-per-unit 3 --unit nobody").exit, 2);
}

// A program that writes a missing id makes doubles of all.
TEST(SqlCommand, TheQuickFormTakesUnitsOfAnyType) {
  const Folder folder;
  const std::string people = folder.write("people.parquet", "");
  std::vector<double> numbers(400);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<std::int64_t> days(numbers.begin(), numbers.end()), bits(400, 1);
  using gauze::Column;
  using gauze::Type;
  gauze::write_table(
      gauze::Table(
          {"d", "m", "day", "b"},
          {Column::of_reals(Type::kDouble, numbers), Column::of_reals(Type::kDecimal, numbers),
           Column::of_integers(Type::kDate, days), Column::of_integers(Type::kBoolean, bits)}),
      people);
  for (const std::string unit : {"d", "m", "day", "b"}) {
    const Ran ran = gauze_program(
        "sql 'SELECT COUNT(*) AS n FROM people' --epsilon 9 --json --rows-per-unit 1 --data " +
        people + " --unit " + unit);
    ASSERT_EQ(ran.exit, 0) << unit << ran.err;
    EXPECT_NEAR(ran.json().at("rows")[0].at("n").get<double>(), unit == "b" ? 1 : 400, 20) << unit;
  }
}

TEST(SqlCommand, TheQuickFormPassesOverNoSchemaAndNoBudget) {
  const Clinic clinic;
  const std::string count = "sql 'SELECT COUNT(*) FROM visits' --epsilon 9 --unit row --data ";
  const Ran known = gauze_program(count + clinic.path("visits.csv"));
  EXPECT_EQ(known.exit, 2) << known.out;
  EXPECT_THAT(known.err, AllOf(HasSubstr("clinic.schema.json"), HasSubstr("leave --unit out")));
  EXPECT_EQ(gauze_program(count + clinic.path("")).exit, 2);
  EXPECT_EQ(gauze_program(count + "'visits=" + clinic.path("vis*.csv") + "'").exit, 2);
  EXPECT_EQ(gauze_program(count + clinic.path("visits.csv") + " --schema " +
                          clinic.path("clinic.schema.json"))
                .exit,
            2);
  // A ledger without a schema: in the folder, and beside it by its name.
  for (const char* where : {"ward/any.ledger", "ward.ledger"}) {
    const Folder folder;
    std::system(("mkdir " + folder.path("ward")).c_str());
    folder.write("ward/visits.csv", clinic.read("visits.csv"));
    EXPECT_EQ(gauze_program(count + folder.path("ward/visits.csv")).exit, 0);
    ASSERT_EQ(
        gauze_program("ledger init " + folder.path(where) + " --dataset visits --epsilon 20").exit,
        0);
    const Ran refused = gauze_program(count + folder.path("ward/visits.csv"));
    EXPECT_EQ(refused.exit, 2) << where << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("--ledger")) << where;
    // Where one pays, a schema says whose the rows are.
    const std::string ledger = " --ledger " + folder.path(where);
    EXPECT_EQ(gauze_program(count + folder.path("ward/visits.csv") + ledger).exit, 2);
    folder.write("ward/visits.schema.json", R"({"version": 1, "dataset": "visits", "tables": {
      "visits": {"unit": "row", "columns": {"age": {"type": "integer"}}}}})");
    const Ran paid = gauze_program("sql 'SELECT COUNT(*) FROM visits' --epsilon 9 --json --data " +
                                   folder.path("ward/visits.csv") + ledger);
    ASSERT_EQ(paid.exit, 0) << paid.err;
    EXPECT_EQ(paid.json().at("left").at("epsilon"), 11.0);
  }
}

TEST(SqlCommand, ABudgetBesideTheDataPaysWhateverItsNameAndWhereverTheSchema) {
  const Clinic clinic;
  const Folder elsewhere;
  ASSERT_EQ(
      gauze_program("ledger init " + clinic.path("b.ledger") + " --dataset clinic --epsilon 3")
          .exit,
      0);
  const std::string count = "sql 'SELECT COUNT(*) FROM visits' --epsilon 1 --json --data " +
                            clinic.path("visits.csv") + " ";
  EXPECT_EQ(gauze_program(count).json().at("left").at("epsilon"), 2.0);
  std::string schema = clinic.read("clinic.schema.json");
  const std::string same = elsewhere.write("same.schema.json", schema);
  EXPECT_EQ(gauze_program(count + "--schema " + same).json().at("left").at("epsilon"), 1.0);
  schema.replace(schema.find("\"clinic\""), 8, "\"myself\"");
  const Ran other = gauze_program(count + "--schema " + elsewhere.write("o.schema.json", schema));
  EXPECT_EQ(other.exit, 2) << other.out;
  EXPECT_THAT(other.err, AllOf(HasSubstr("b.ledger"), HasSubstr("--ledger")));
}

// What a question is called and what else the schema speaks of are no part of what it reads.
TEST(SqlCommand, SaysWhichTextsItReadsAsSomethingElse) {
  using gauze::Column;
  const Folder folder;
  const std::string people = folder.path("people.parquet");
  gauze::write_table(gauze::Table({"id", "Age", "city"},
                                  {Column::of_texts({"1", "2"}), Column::of_texts({"30", "old"}),
                                   Column::of_texts({"A", "B"})}),
                     people);
  const auto schema = [&](const std::string& id) {
    folder.write("people.schema.json", R"({"version": 1, "dataset": "people", "tables": {
      "people": {"unit": "id", "rows_per_unit": 1, "columns": {"id": {"type": ")" +
                                           id + R"("},
        "age": {"type": "integer", "lower": 0, "upper": 110}, "city": {"type": "text"}}},
      "cities": {"public": true, "keys": [["city"]], "columns": {"city": {"type": "text"}}}}})");
  };
  const auto notes = [&](const std::string& sql) {
    const Ran ran =
        gauze_program("sql \"" + sql + "\" --epsilon 1 --json --explain --data " + people);
    EXPECT_EQ(ran.exit, 0) << sql << ran.err;
    return ran.exit == 0 ? ran.json().at("notes").dump() : "";
  };
  schema("text");
  const std::string age =
      R"(["Age is text in the data and read as integer; what cannot be read so is null"])";
  EXPECT_EQ(notes("SELECT COUNT(DISTINCT id) AS cities FROM people"), "[]");
  EXPECT_EQ(notes("SELECT COUNT(*) AS age FROM people"), "[]");
  EXPECT_EQ(notes("SELECT COUNT(*) FROM (SELECT age, city FROM people) AS t WHERE city = 'A'"),
            "[]");
  for (const char* sql :
       {"SELECT AVG(age) FROM people", "SELECT COUNT(*) FROM people WHERE AGE > 3",
        "SELECT COUNT(*) FROM people AS a JOIN people AS b USING (id) WHERE b.age > 3",
        "SELECT COUNT(*) FROM people WHERE id IN (SELECT id FROM people WHERE age > 3)",
        "SELECT AVG(n) FROM (SELECT id, MAX(age) AS n FROM people GROUP BY id) AS t",
        "SELECT AVG(x) FROM (SELECT id, age AS x FROM people UNION ALL SELECT id, 1 FROM people) "
        "t"})
    EXPECT_EQ(notes(sql), age) << sql;
  // Rows with an id that is none belong to nobody, whatever is asked.
  schema("integer");
  EXPECT_THAT(notes("SELECT COUNT(*) FROM people"), HasSubstr("id is text in the data"));
}

TEST(SqlCommand, AFileOfDuckDbHasTheTablesOfTheSchema) {
  const Clinic clinic;
  const std::string base = clinic.path("all.duckdb");
  gauze::internal::run_duckdb({"ATTACH '" + base + "' AS b",
                               "CREATE TABLE b.visits AS FROM '" + clinic.path("visits.csv") + "'",
                               "CREATE TABLE b.wards AS FROM '" + clinic.path("wards.csv") + "'"});
  const std::string join =
      "sql 'SELECT floor, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY floor' "
      "--epsilon 9 --json --data ";
  const Ran ran = gauze_program(join + base);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NEAR(ran.json().at("rows")[0].at("n").get<double>(), 2000, 20);
  // Another name for a table that a schema speaks of makes it no table without one.
  const Ran quick = gauze_program(
      "sql 'SELECT COUNT(*) FROM x' --epsilon 9 --unit row --data x=" + base + ":visits");
  EXPECT_EQ(quick.exit, 2) << quick.out;
  EXPECT_THAT(quick.err, HasSubstr("clinic.schema.json"));
  const Ran form = gauze_program("schema template " + base + " --table visits --table wards");
  ASSERT_EQ(form.exit, 0) << form.err;
  EXPECT_TRUE(form.json().at("tables").at("wards").at("columns").contains("floor"));
}

TEST(SqlCommand, GroupsWithoutAPublicListNeedADelta) {
  const Clinic clinic;
  const char* const diagnoses = "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis";
  const Ran ran = ask(clinic, diagnoses);
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("delta"));
  EXPECT_EQ(ask(clinic, diagnoses, "--epsilon 5 --delta 1e-6").exit, 0);
}

TEST(SqlCommand, ABudgetWithoutADeltaSaysThatItIsTheDeltaThatIsMissing) {
  const char* const diagnoses = "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis";
  const Clinic pure;
  pure.set_budget("--epsilon 9");
  const Ran of_pure = ask(pure, diagnoses, "--epsilon 1 --delta 1e-6");
  EXPECT_NE(of_pure.exit, 0);
  EXPECT_THAT(of_pure.err, AllOf(HasSubstr("needs a delta"), HasSubstr("--delta 1e-6"),
                                 Not(HasSubstr("composed"))));
  const Clinic concentrated;
  concentrated.set_budget("--rho 9");
  const Ran of_rho = ask(concentrated, diagnoses, "--epsilon 1 --delta 1e-6");
  EXPECT_EQ(of_rho.exit, 3);
  EXPECT_THAT(of_rho.err, AllOf(HasSubstr("delta"), Not(HasSubstr("smaller epsilon"))));
  EXPECT_LT(of_rho.err.size(), 500u) << of_rho.err;
}

// An address with a password, whatever goes wrong with it.
TEST(SqlCommand, NoPasswordIsShown) {
  const Clinic clinic;
  const std::string count = "sql 'SELECT COUNT(*) FROM visits' --epsilon 1";
  const std::string server = " 'postgresql://ada:opensesame@127.0.0.1:1/db' ";
  for (const std::string& arguments :
       {count + clinic.data() + "--ledger" + server,
        count + " --schema " + clinic.path("clinic.schema.json") + " --data" + server,
        count + " --data" + server, count + clinic.data() + "--data" + server,
        count + " --unit row --data" + server,
        count + " --data 'Postgresql://ada:opensesame@127.0.0.1:1/db'",
        count + clinic.data() + "--ledger 'Postgresql://ada:opensesame@127.0.0.1:1/db'",
        "schema template" + server, "ledger show" + server,
        "ledger init" + server + "--dataset d --epsilon 1"}) {
    const Ran ran = gauze_program(arguments);
    EXPECT_NE(ran.exit, 0) << arguments;
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("opensesame"))) << arguments;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST(SqlCommand, TheLedgerPaysAndRefusesWhatItCannotPay) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const Ran first = ask(clinic, kByWard, "--epsilon 2 --json");
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(first.json().at("left").at("epsilon"), 1.0);
  const Ran second = ask(clinic, kByWard, "--epsilon 2");
  EXPECT_EQ(second.exit, 3);
  EXPECT_EQ(second.out, "");
  const Ran third = ask(clinic, kByWard, "--epsilon 1", "LC_ALL=C");
  EXPECT_EQ(third.exit, 0) << third.err;
  EXPECT_THAT(third.out, HasSubstr("epsilon = 0 in "));
}

TEST(SqlCommand, ExplainReadsAndSpendsNothing) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  const std::string before = slurp(clinic.path("clinic.ledger"));
  for (const char* form :
       {"EXPLAIN SELECT AVG(cost) FROM visits", "SELECT AVG(cost) FROM visits"}) {
    const Ran ran = ask(clinic, form, "--epsilon 2 --explain", "LC_ALL=C");
    ASSERT_EQ(ran.exit, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("noise"), HasSubstr("epsilon = 2"), HasSubstr("visits"),
                               HasSubstr("nothing was spent")));
  }
  const Ran json = ask(clinic, "EXPLAIN SELECT AVG(cost) FROM visits", "--epsilon 2 --json");
  ASSERT_EQ(json.exit, 0) << json.err;
  EXPECT_FALSE(json.json().at("measurements").empty());
  EXPECT_FALSE(json.json().contains("rows"));
  const Ran show = gauze_program("ledger history " + clinic.path("clinic.ledger") + " --json");
  EXPECT_THAT(show.out, Not(HasSubstr("AVG")));
}

TEST(SqlCommand, ExplainForetellsTheErrorOfMediansAndMeans) {
  const Clinic clinic;
  const Ran ran =
      ask(clinic, "SELECT ward, AVG(cost) AS mean, MEDIAN(age) AS m FROM visits GROUP BY ward",
          "--epsilon 2 --explain", "LC_ALL=C");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(" ranks\n"), HasSubstr("with 10,000 rows in a group"),
                             HasSubstr("\n  mean ")));
  const auto json = ask(clinic, "SELECT AVG(cost) AS mean, STDDEV(cost) AS s FROM visits",
                        "--epsilon 2 --explain --json")
                        .json();
  const auto& expected = json.at("expected");
  ASSERT_EQ(expected.size(), 6u);
  EXPECT_EQ(expected[2].at("rows"), 10000);
  // Ten times the rows: a tenth of the error, or nearly.
  const double many = expected[2].at("half_width"), fewer = expected[1].at("half_width");
  EXPECT_NEAR(fewer / many, 10, 0.5);
}

TEST(SqlCommand, ExplainWritesNoFile) {
  const Clinic clinic;
  const Ran ran = ask(clinic, "SELECT COUNT(*) FROM visits",
                      "--epsilon 1 --explain -o " + clinic.path("x.csv"));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("output"));
}

TEST(SqlCommand, AUnitWithBlanksInItsNameIsNamedInFull) {
  const Folder folder;
  folder.write("t.csv", "patient id,x\n1,2\n");
  folder.write("t.schema.json", R"({"version": 1, "dataset": "d", "tables": {"t": {
    "unit": "patient id", "rows_per_unit": 2, "columns": {"patient id": {"type": "integer"}}}}})");
  const Ran ran =
      gauze_program("sql 'SELECT COUNT(*) FROM t' --epsilon 1 --data " + folder.path("t.csv"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("for one patient id more or less"));
}

TEST(SqlCommand, DataThatIsNotThereIsSaidToBeMissing) {
  const auto error = [](const std::string& data) {
    const Ran ran = gauze_program("sql 'SELECT COUNT(*) FROM t' --epsilon 1 --data " + data);
    EXPECT_NE(ran.exit, 0);
    return ran.err;
  };
  EXPECT_THAT(error("nothere"), HasSubstr("there is no file or folder 'nothere'"));
  EXPECT_THAT(error("mysql://me:secret@x/y"),
              AllOf(HasSubstr("postgresql://"), Not(HasSubstr("secret"))));
}

TEST(SqlCommand, ATypeThatDoesNotFitIsSaidOfTableAndColumn) {
  const Clinic clinic;
  ASSERT_EQ(ask(clinic, "SELECT ward, COUNT(*) AS at FROM visits GROUP BY ward",
                "--epsilon 1 -o " + clinic.path("x.parquet"))
                .exit,
            0);
  const std::string schema = clinic.write("x.json", R"({"version": 1, "dataset": "x", "tables": {
    "x": {"unit": "row", "columns": {"at": {"type": "date", "lower": "2024-01-01",
    "upper": "2024-12-31"}}}}})");
  const Ran ran = gauze_program("sql 'SELECT MEDIAN(at) FROM x' --epsilon 1 --data " +
                                clinic.path("x.parquet") + " --schema " + schema);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("table 'x', column 'at'"), HasSubstr("integer"),
                             Not(HasSubstr("duckdb"))));
}

TEST(SqlCommand, WhatWouldLeakIsRefusedBeforeAnythingIsSpent) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 3");
  for (const char* sql :
       {"SELECT * FROM visits", "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id",
        "SELECT age FROM visits LIMIT 1", "DELETE FROM visits",
        "SELECT COUNT(*) FROM visits WHERE random() < 0.5"}) {
    const Ran ran = ask(clinic, sql, "--epsilon 1 --delta 1e-9");
    EXPECT_EQ(ran.exit, 2) << sql << ran.out;
    EXPECT_EQ(ran.out, "") << sql;
    EXPECT_THAT(ran.err, HasSubstr("not_private")) << sql;
  }
  EXPECT_EQ(ask(clinic, "SELECT COUNT(*) FROM visits", "--epsilon 3").exit, 0)
      << "nothing was spent";
}

TEST(SqlCommand, BadInputGetsOneLineThatSaysWhatToDo) {
  const Clinic clinic;
  struct Case {
    const char* sql;
    const char* more;
    int exit;
    const char* says;
  };
  for (const Case& each :
       {Case{"SELECT COUNT(*) FROM visist", "--epsilon 1", 2, "visits"},
        Case{"SELECT AVG(agee) FROM visits", "--epsilon 1", 2, "age"},
        Case{"SELEC COUNT(*) FROM visits", "--epsilon 1", 2, "syntax"},
        Case{"SELECT AVG(ward) FROM visits", "--epsilon 1", 2, "takes a number"},
        Case{"SELECT COUNT(*) FROM visits", "", 2, "--epsilon"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 0", 2, "epsilon"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 11", 2, "accept-weak"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --delta 1", 2, "delta"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --delta 0.99", 2, "--accept-weak"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --output a.xls", 2, ".parquet"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --report a.csv", 2, ".html"},
        Case{"", "--epsilon 1", 2, "syntax"},
        Case{"SELECT AVG(profession) FROM visits", "--epsilon 1", 2, "no column 'profession' ["},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --output /no/such/a.csv", 5, "a.csv"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --schema /no/such.json", 5, "such.json"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --ledger /no/such.ledger", 5,
             "such.ledger"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --memory lots", 2, "memory"},
        Case{"SELECT COUNT(*) FROM visits", "--epsilon 1 --rows-per-unit -3", 2,
             "rows_per_unit"}}) {
    const Ran ran = ask(clinic, each.sql, each.more);
    EXPECT_EQ(ran.exit, each.exit) << each.sql << each.more << ran.err;
    EXPECT_EQ(ran.out, "") << each.sql << each.more;
    EXPECT_THAT(ran.err, HasSubstr(each.says)) << each.sql << each.more;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  EXPECT_EQ(ask(clinic, "SELECT COUNT(*) FROM visits", "--epsilon 11 --accept-weak").exit, 0);
  const Ran missing = gauze_program("sql \"SELECT 1\" --epsilon 1 --data /no/such/file.csv");
  EXPECT_EQ(missing.exit, 5);
  EXPECT_THAT(missing.err, HasSubstr("/no/such/file.csv"));
  clinic.write("clinic.schema.json", "{\"version\": 1,");
  EXPECT_EQ(ask(clinic, "SELECT COUNT(*) FROM visits").exit, 2);
}

// With little memory the engine cannot finish a scan, and a condition about somebody may spare it the scan: whoever asks
// must not choose that limit.
TEST(SqlCommand, MemoryIsForRowsThatWaitAndNotForTheEngine) {
  const Clinic clinic;
  for (const std::string sql : {"SELECT COUNT(*) FROM visits", kByWard}) {
    EXPECT_EQ(ask(clinic, sql, "--epsilon 1 --memory 1M").exit, 0) << sql;
  }
}

TEST(SqlCommand, AKeyCannotSteerTheTerminal) {
  const Folder folder;
  std::string rows = "id,city\n";
  for (int i = 0; i < 2000; ++i) rows += std::to_string(i) + ",\033[31mred\n";
  folder.write("people.csv", rows);
  const Ran ran = gauze_program(
      "sql \"SELECT city, COUNT(*) FROM people GROUP BY city\" --epsilon 5 --delta 1e-6 --unit id "
      "--rows-per-unit 1 --data " +
      folder.path("people.csv"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("?[31mred"), Not(HasSubstr("\033"))));
}

}  // namespace
