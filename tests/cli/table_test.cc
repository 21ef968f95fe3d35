#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "clinic.h"

// The other commands on tables: release, run, schema.
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Off by more than 15 of 50 ages at epsilon 5 on 1,000 patients happens with probability below e^-100.
TEST(ReleaseOnTables, TakesOneRowPerUnitAndTheSchemasRange) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 9");
  const Ran median =
      gauze_program("release median --epsilon 5 --column age --json" + clinic.data());
  ASSERT_EQ(median.exit, 0) << median.err;
  EXPECT_NEAR(median.json().at("value").get<double>(), 45, 15);
  EXPECT_EQ(median.json().at("spent").at("relation"), "add_remove");
  const Ran count = gauze_program("release count --epsilon 4 --json" + clinic.data());
  ASSERT_EQ(count.exit, 0) << count.err;
  EXPECT_NEAR(count.json().at("value").get<double>(), Clinic::kPatients, 30) << "units, not rows";
  EXPECT_EQ(gauze_program("release count --epsilon 1" + clinic.data()).exit, 3) << "9 are spent";
}

TEST(ReleaseOnTables, SaysWhichRowsTookPartAndRecordsTheTable) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 9");
  const Ran ran = gauze_program("release median --epsilon 1 --column age" + clinic.data());
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("counted    one row of each patient_id"));
  const Ran cells =
      gauze_program("release flat_histogram --epsilon 1 --column age" + clinic.data());
  ASSERT_EQ(cells.exit, 0) << cells.err;
  const Ran history = gauze_program("ledger history --json " + clinic.path("clinic.ledger"));
  std::size_t named = 0;
  for (std::size_t at = 0; (at = history.out.find("visits", at)) != std::string::npos; ++at)
    ++named;
  EXPECT_EQ(named, 2u) << history.out;
}

TEST(ReleaseOnTables, RefusesWhatMakesNoSense) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 1");
  for (const char* arguments :
       {"release median --epsilon 1 --column nobody", "release median --epsilon 1 --column ward",
        "release median --epsilon 1", "release median --column age",
        "release median --epsilon 1 --column patient_id",
        "release median --epsilon 1 --column age --relation replace",
        "release count --epsilon 1 --table wards", "release count --epsilon 1 --table nothing"}) {
    const Ran ran = gauze_program(arguments + clinic.data());
    EXPECT_EQ(ran.exit, 2) << arguments << ran.err;
    EXPECT_EQ(ran.out, "") << arguments;
  }
  EXPECT_EQ(gauze_program("release count --epsilon 1" + clinic.data()).exit, 0)
      << "nothing was spent";
}

// In the schema, not in the file: known before anything is paid.
TEST(ReleaseOnTables, WhatTheCatalogueRefusesIsFree) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 1");
  clinic.write("visits.csv", "patient_id,ward,age\n1,day,30\n");
  const std::string end = R"(, "options": {"epsilon": 0.1}, "data": ")" + clinic.path("") + "\"}";
  for (const auto& [options, job] :
       {std::pair("mean --column cost", R"({"algorithm": "mean", "column": "cost")"),
        {"flat_histogram --cells 4 --column cost",
         R"({"algorithm": "flat_histogram", "column": "cost")"},
        {"flat_histogram --columns ward,ward",
         R"({"algorithm": "flat_histogram", "column": "ward,ward")"},
        {"flat_histogram --columns age,AGE",
         R"({"algorithm": "flat_histogram", "column": "age,AGE")"}}) {
    const Ran ran =
        gauze_program(std::string("release ") + options + " --epsilon 0.1" + clinic.data());
    EXPECT_EQ(ran.exit, 2) << options << ran.err;
    EXPECT_THAT(ran.err, Not(HasSubstr("reserved"))) << options;
    const Ran asked = gauze_program("run -", job + end);
    EXPECT_EQ(asked.exit, 2) << job << asked.err;
    EXPECT_THAT(asked.err, Not(HasSubstr("reserved"))) << job;
  }
  EXPECT_EQ(gauze_program("release count --epsilon 1" + clinic.data()).exit, 0)
      << "nothing was spent";
}

TEST(ReleaseOnTables, NeedsNoSchemaToCount) {
  const Folder folder;
  const std::string data =
      " --unit id --data " + folder.write("people.csv", "id,city\n1,a\n1,b\n2,a\n");
  EXPECT_EQ(gauze_program("release count --epsilon 1" + data).exit, 0);
  EXPECT_EQ(gauze_program("release count --epsilon 1 --rows-per-unit 1" + data).exit, 0);
  EXPECT_THAT(gauze_program("release count --epsilon 1 --rows-per-unit 2" + data).err,
              HasSubstr("is 1"));
  // A histogram then tells what is missing indeed.
  EXPECT_THAT(
      gauze_program("release flat_histogram --epsilon 1 --column city --rows-per-unit 2" + data)
          .err,
      HasSubstr("categories"));
}

TEST(RunCommand, RunsQuestionsAndAlgorithmsFromJson) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 9");
  const std::string data = R"("data": ")" + clinic.path("") + "\"";
  const std::string question =
      clinic.write("question.json",
                   R"({"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", )" + data +
                       R"(, "options": {"epsilon": 2, "rows_per_unit": 1}, "output": ")" +
                       clinic.path("answer.csv") + "\"}");
  const Ran asked = gauze_program("run --json " + question);
  ASSERT_EQ(asked.exit, 0) << asked.err;
  EXPECT_EQ(asked.json().at("rows").size(), 2u);
  EXPECT_EQ(asked.json().at("bounds").at("rows_per_unit"), 1);
  EXPECT_EQ(asked.json().at("left").at("epsilon"), 7.0);
  EXPECT_THAT(slurp(clinic.path("answer.csv")), HasSubstr("n_half_width"));
  const Ran mean = gauze_program(
      "run --json -",
      R"({"algorithm": "mean", "options": {"epsilon": "3"}, "column": "age", )" + data + "}");
  ASSERT_EQ(mean.exit, 0) << mean.err;
  EXPECT_NEAR(mean.json().at("value").get<double>(), 44.5, 10);
}

TEST(RunCommand, TakesWhatTheCommandLineHasBesides) {
  const Clinic clinic;
  const auto ran = [&](const std::string& algorithm, const std::string& more) {
    return gauze_program("run --json -",
                         R"({"algorithm": ")" + algorithm + R"(", "options": {"epsilon": )" + more +
                             R"(}, "column": "age", "data": ")" + clinic.path("") + "\"}");
  };
  for (const char* algorithm : {"count", "flat_histogram"}) {
    EXPECT_THAT(ran(algorithm, "12").err, HasSubstr("accept_weak")) << algorithm;
    EXPECT_EQ(ran(algorithm, R"(12, "accept_weak": false)").exit, 2) << algorithm;
    const Ran weak = ran(algorithm, R"(12, "accept_weak": true)");
    EXPECT_EQ(weak.exit, 0) << algorithm << weak.err;
  }
  EXPECT_EQ(ran("count", R"(1, "confidence": 0.5)").json().at("accuracy").at("confidence"), 0.5);
  EXPECT_EQ(ran("stable_mode", R"(1, "delta": 1e-5)").json().at("cost").at("delta"), 1e-5);
  EXPECT_EQ(ran("quantile_interval", R"(1, "confidence": 0.5, "probabilities": 0.5)").exit, 0);
  const Ran counts = ran("flat_histogram", R"(0.1, "non_negative": true, "whole": true)");
  ASSERT_EQ(counts.exit, 0) << counts.err;
  const auto rows = counts.json().at("rows");
  for (const auto& row : rows) {
    EXPECT_GE(row.at("n"), 0);
    EXPECT_EQ(row.at("n"), std::floor(row.at("n").get<double>()));
  }
}

// The help says so: a job has the names of the command line.
TEST(RunCommand, HasTheNamesOfTheCommandLine) {
  const Clinic clinic;
  const std::string data = R"("data": ")" + clinic.path("") + "\"";
  const std::string column = R"({"algorithm": "mean", "column": "age", )" + data;
  const Ran mean = gauze_program(
      "run --json -",
      column + R"(, "options": {"epsilon": 1, "rows_per_unit": 1, "quote_delta": 1e-9}})");
  EXPECT_EQ(mean.exit, 0) << mean.err;
  EXPECT_EQ(
      gauze_program("run -", column + R"(, "options": {"epsilon": 1, "rows_per_unit": 2}})").exit,
      2);
  EXPECT_EQ(
      gauze_program("run -", column + R"(, "options": {"epsilon": 1, "quote_delta": 0}})").exit, 2);
  // A guarantee with a delta is quoted at its own, or at another.
  for (const std::string what :
       {R"("stable_mode", "column": "age")", R"("sparse_histogram", "columns": ["age", "ward"])"}) {
    const std::string job =
        R"({"algorithm": )" + what + ", " + data + R"(, "options": {"epsilon": 1, "delta": 1e-5)";
    const auto own = gauze_program("run --json -", job + "}}").json();
    const auto other = gauze_program("run --json -", job + R"(, "quote_delta": 1e-3}})").json();
    EXPECT_EQ(own.at("cost").at("delta"), 1e-5) << what;
    EXPECT_EQ(other.at("cost").at("delta"), 1e-3) << what;
  }

  const Ran explained = gauze_program(
      "run -",
      R"({"sql": "SELECT COUNT(*) FROM visits", "options": {"epsilon": 1}, "explain": true, )" +
          data + "}");
  EXPECT_THAT(explained.out, HasSubstr("nothing was spent")) << explained.err;
  const Folder free;
  const std::string file = free.write("people.csv", "id,x\n1,2\n1,3\n2,3\n");
  const Ran quick = gauze_program(
      "run --json -", R"({"sql": "SELECT COUNT(*) AS n FROM people", "unit": "id", "data": ")" +
                          file + R"(", "options": {"epsilon": 1, "rows_per_unit": 2}})");
  EXPECT_EQ(quick.exit, 0) << quick.err;
}

TEST(RunCommand, BadJobsAreRefused) {
  const Clinic clinic;
  const std::string data = R"("data": ")" + clinic.path("") + "\"";
  for (const std::string& job :
       {std::string("{"), std::string("[]"), std::string(R"({"sql": "SELECT 1"})"),
        R"({"sql": "SELECT COUNT(*) FROM visits", )" + data + "}",
        R"({"sql": "SELECT COUNT(*) FROM visits", "options": {"epsilom": 1}, )" + data + "}",
        R"({"sql": "SELECT COUNT(*) FROM visits", "options": {"epsilon": 1}, "extra": 1, )" + data +
            "}",
        R"({"algorithm": "nothing", "options": {"epsilon": 1}, )" + data + "}",
        R"({"algorithm": "count", "options": {"epsilon": 1, "epsilon": 2}, )" + data + "}",
        R"({"algorithm": "count", "options": {"epsilon": 1, "whole": true}, )" + data + "}",
        R"({"algorithm": "count", "options": {"epsilon": 1, "confidence": 2}, )" + data + "}",
        R"({"algorithm": "count", "options": {"epsilon": 1}, "table": "visits\u0000", )" + data +
            "}",
        R"({"algorithm": "count", "options": )" + std::string(70'000, '[') +
            std::string(70'000, ']') + ", " + data + "}"}) {
    const Ran ran = gauze_program("run -", job);
    EXPECT_EQ(ran.exit, 2) << job << ran.err;
    EXPECT_EQ(ran.out, "") << job;
  }
  EXPECT_EQ(gauze_program("run /no/such/job.json").exit, 5);
  const Ran option = gauze_program(
      "run -", R"({"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, )" + data + "}");
  EXPECT_THAT(option.err, HasSubstr(R"("options": {"epsilon": ...})"));
}

TEST(SchemaCommand, WritesAFormFromNamesAndTypesAlone) {
  const Folder folder;
  const std::string file = folder.write("people.csv", "id,city\n1,Timbuktu\n");
  const Ran ran = gauze_program("schema template " + file);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(ran.json().at("tables").contains("people"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("city"), Not(HasSubstr("Timbuktu"))));
  // As it stands it is no schema yet.
  folder.write("people.schema.json", ran.out);
  EXPECT_EQ(gauze_program("sql \"SELECT COUNT(*) FROM people\" --epsilon 1 --data " + file).exit,
            2);
  EXPECT_EQ(gauze_program("schema template /no/such.csv").exit, 5);
}

TEST(SchemaCommand, NamesThatAreNotUtf8AreRefusedWithAWayOut) {
  const Folder folder;
  for (const char* json : {"", "--json "}) {
    const Ran ran = gauze_program("schema template " + std::string(json) +
                                  folder.write("lat.csv",
                                               "Gr\xf6\xdf"
                                               "e,id\n1,2\n"));
    EXPECT_EQ(ran.exit, 2) << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("invalid_input"), HasSubstr("save the file as UTF-8")));
    EXPECT_EQ(ran.out, "");
  }
  const Ran ran = gauze_program("schema template " + folder.write("utf.csv", "Größe,id\n1,2\n"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(ran.json().at("tables").at("utf").at("columns").contains("Größe"));
}

TEST(SchemaCommand, TellsTheStewardWhatDoesNotKeepTheSchema) {
  const Clinic clinic;
  clinic.write("visits.csv",
               "patient_id,ward,age,cost,diagnosis,day\n1,day,200,5,flu,2024-01-01\n1,roof,x,5,flu,"
               "2024-01-01\n"
               "1,day,30,5,flu,2024-01-01\n1,day,30,5,flu,2024-01-01\n");
  const Ran ran = gauze_program("schema check --json" + clinic.data());
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto table = ran.json().at("tables").at(0);
  EXPECT_EQ(table.at("rows"), 4);
  EXPECT_EQ(table.at("units_over_bound"), 1);
  EXPECT_THAT(gauze_program("schema check" + clinic.data()).out,
              AllOf(HasSubstr("4 rows"), HasSubstr("age"), HasSubstr("steward")));
  EXPECT_THAT(
      gauze_program("schema show " + clinic.path("clinic.schema.json")).out,
      AllOf(HasSubstr("private by patient_id"), HasSubstr("0 to 120"), HasSubstr("public")));
}

TEST(SchemaCommand, CheckingCostsNothingAndNeedsNoLedger) {
  const Clinic clinic;
  clinic.write("clinic.ledger", "no ledger at all");
  EXPECT_EQ(gauze_program("schema check" + clinic.data()).exit, 0);
  EXPECT_EQ(ask(clinic, "SELECT COUNT(*) FROM visits").exit, 5);
}

TEST(SchemaCommand, EverythingIsHadAsJson) {
  const Clinic clinic;
  const Ran show = gauze_program("schema show --json " + clinic.path("clinic.schema.json"));
  ASSERT_EQ(show.exit, 0) << show.err;
  EXPECT_EQ(show.json().at("dataset"), "clinic");
  const Ran form = gauze_program("schema template --json " + clinic.path("visits.csv"));
  ASSERT_EQ(form.exit, 0) << form.err;
  EXPECT_TRUE(form.json().at("tables").contains("visits"));
}

// A column of a table that a schema or a budget speaks of is not a file of plain values, and options of tables are not
// passed over where there is no table.
TEST(ReleaseCommand, PlainValuesHaveNoSchemaAndNoBudget) {
  const Clinic clinic;
  const std::string median =
      "release median --epsilon 0.2 --lower 0 --upper 110 --relation add_remove ";
  const std::string cells = "release flat_histogram --epsilon 0.2 --cells 3 --rows-per-unit 1 ";
  const std::string plain = clinic.write("plain.txt", "1\n2\n3\n");
  for (const std::string& command : {median, cells}) {
    EXPECT_EQ(gauze_program(command + plain).exit, 0);
    for (const char* option : {"--ledger", "--schema", "--unit", "--analyst", "--table"}) {
      const Ran ran = gauze_program(command + plain + " " + option + " x");
      EXPECT_EQ(ran.exit, 2) << option;
      EXPECT_THAT(ran.err, HasSubstr(std::string(option) + ": goes with --data")) << option;
      EXPECT_EQ(ran.out, "");
    }
    const Ran table = gauze_program(command + clinic.path("visits.csv") + " --column age");
    EXPECT_EQ(table.exit, 2);
    EXPECT_THAT(table.err, HasSubstr("--data"));
    // Whatever its name is.
    const std::string ledger = clinic.write("all.ledger", "");
    EXPECT_EQ(gauze_program(command + plain).exit, 2);
    std::filesystem::remove(ledger);
  }
  EXPECT_THAT(gauze_program(median + plain).out, HasSubstr("nobody keeps count"));
}

TEST(SqlCommand, AnotherNameDoesNotHideThatASchemaSpeaksOfTheFile) {
  const Clinic clinic;
  const Ran ran =
      gauze_program("sql 'SELECT COUNT(*) AS n FROM x' --unit row --epsilon 1 --data x=" +
                    clinic.path("visits.csv"));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("--unit: is for data without a schema"));
}

}  // namespace
