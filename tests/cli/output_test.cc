#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "clinic.h"
#include "markup.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char* const kByWard = "SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY ward";

TEST(SqlOutput, CsvJsonAndParquetReadBack) {
  const Clinic clinic;
  for (const char* ending : {"csv", "json", "parquet"}) {
    const std::string file = clinic.path(std::string("answer.") + ending);
    const Ran ran = ask(clinic, kByWard, "--epsilon 5 -o " + file);
    ASSERT_EQ(ran.exit, 0) << ending << ran.err;
    const std::string text = slurp(file);
    if (std::string(ending) == "csv") {
      EXPECT_THAT(text, StartsWith("ward,n,n_half_width,c,c_half_width\n"));
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    }
    // Two rows, whatever the format: ours reads what ours wrote.
    const Ran count = gauze_program(
        "sql \"SELECT COUNT(*) AS rows FROM answer WHERE ward IS NOT NULL\" --unit row "
        "--epsilon 9 --json --data " +
        file);
    ASSERT_EQ(count.exit, 0) << ending << count.err;
    EXPECT_NEAR(count.json().at("rows")[0].at("rows").get<double>(), 2, 6) << ending;
  }
}

TEST(SqlOutput, NamesThatTheFileCannotTellApartAreRefusedBeforeTheyArePaid) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 1");
  const auto records = [&] {
    return gauze_program("ledger verify --json " + clinic.path("clinic.ledger"))
        .json()
        .at("records");
  };
  const auto before = records();
  const std::string file = clinic.path("answer.csv");
  for (const char* columns :
       {"ward, COUNT(*)+1000000 AS n_half_width, COUNT(*)+500000 AS n",
        "ward, COUNT(*) AS n, COUNT(*) AS N_Half_Width", "ward AS n_half_width, COUNT(*) AS n",
        "ward, COUNT(*) AS n, COUNT(*) AS n_2, COUNT(*) AS n_2_half_width"}) {
    for (const std::string& more :
         {std::string("--json"), "-o " + file, std::string("--explain")}) {
      const Ran ran = ask(clinic, "SELECT " + std::string(columns) + " FROM visits GROUP BY ward",
                          "--epsilon 1 " + more);
      EXPECT_EQ(ran.exit, 2) << columns << more;
      EXPECT_THAT(ran.err, HasSubstr("AS")) << columns << more;
      EXPECT_THAT(ran.err, Not(HasSubstr("paid"))) << columns << more;
      EXPECT_EQ(ran.out, "") << columns << more;
    }
  }
  EXPECT_EQ(records(), before);
  const Ran ran = ask(clinic, "SELECT ward, COUNT(*) AS n, COUNT(*) AS N FROM visits GROUP BY ward",
                      "--epsilon 1 -o " + file);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(slurp(file), StartsWith("ward,n,n_half_width,n_2,n_2_half_width\n"));
}

TEST(SqlOutput, AnEndingWithoutANameIsRefusedBeforeItIsPaid) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 1");
  for (const char* name : {".csv", ".json", ".parquet"}) {
    const Ran ran = gauze_program(
        "sql '" + std::string(kByWard) + "' --epsilon 1 --data " + clinic.path("") + " -o " + name,
        "", "cd " + clinic.path("") + ";");
    EXPECT_EQ(ran.exit, 2) << name;
    EXPECT_THAT(ran.err, Not(HasSubstr("paid"))) << name;
  }
  const Ran ran = ask(clinic, kByWard, "--epsilon 1 -o " + clinic.path("ANSWER.CSV"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(clinic.read("ANSWER.CSV"), StartsWith("ward,n,"));
}

TEST(SqlOutput, TheReportStandsAlone) {
  const Clinic clinic;
  const std::string page = clinic.path("page.html");
  const Ran ran = ask(clinic, kByWard, "--epsilon 5 --report " + page, "LC_ALL=C");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string html = slurp(page);
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html,
              AllOf(HasSubstr("<svg"), HasSubstr("ε = 5"), HasSubstr("±"), HasSubstr("night"),
                    HasSubstr("at most 3 rows of each patient_id"), HasSubstr("SELECT ward")));
  EXPECT_THAT(html,
              AllOf(Not(HasSubstr("<script")), Not(HasSubstr("http")), Not(HasSubstr("url("))));
}

TEST(SqlOutput, StatesTheAmountsThatWereGiven) {
  const Clinic clinic;
  const std::string page = clinic.path("page.html");
  // Where no noise needs a delta, none is charged.
  EXPECT_THAT(ask(clinic, kByWard, "--epsilon 0.7 --delta 1e-7 --json").out,
              HasSubstr(R"("cost":{"epsilon":0.7,"delta":0.0})"));
  const Ran ran = ask(clinic, "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis",
                      "--epsilon 0.7 --delta 1e-7 --json --report " + page);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(R"("cost":{"epsilon":0.7,"delta":1e-07})"));
  EXPECT_THAT(slurp(page), AllOf(HasSubstr("ε = 0.7, δ = 1e-07<"), HasSubstr("δ = 1e-07 aside"),
                                 Not(HasSubstr("1.01e-07"))));
}

// Ages are whole numbers, and so is how far apart two of them are.
TEST(SqlOutput, MediansOfWholeNumbersHaveWholeErrorBars) {
  const Clinic clinic;
  const Ran ran =
      ask(clinic, "SELECT MEDIAN(age) AS m FROM visits", "--epsilon 1 -o " + clinic.path("m.csv"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(slurp(clinic.path("m.csv")),
              ::testing::MatchesRegex("m,m_half_width\n[0-9]+,[0-9]+(.0)?\n"));
}

// A folder of this name, a folder that is not there, and a name with no room for that of a file in the making.
TEST(SqlOutput, FilesThatCannotBeMadeAreRefusedBeforeTheyArePaid) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 1");
  const auto expect_refused = [&](const std::string& arguments) {
    const Ran ran = gauze_program(arguments + " --epsilon 1" + clinic.data());
    EXPECT_EQ(ran.exit, 5) << arguments;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("[io]"), Not(HasSubstr("paid")))) << arguments;
  };
  for (const std::string ending : {".csv", ".html"}) {
    const std::string option = ending == ".csv" ? " -o " : " --report ";
    std::filesystem::create_directory(clinic.path("taken" + ending));
    for (const std::string& name :
         {"taken" + ending, "missing/a" + ending, std::string(255 - ending.size(), 'x') + ending}) {
      expect_refused("sql '" + std::string(kByWard) + "'" + option + clinic.path(name));
      expect_refused("release flat_histogram --table visits --column age" + option +
                     clinic.path(name));
    }
  }
  const Ran shown = gauze_program("ledger show --json " + clinic.path("clinic.ledger"));
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 1);
  const std::string longest = std::string(200, 'x') + ".csv";
  const Ran ran = ask(clinic, kByWard, "--epsilon 1 -o " + clinic.path(longest));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  for (const auto& each : std::filesystem::directory_iterator(clinic.path("")))
    EXPECT_THAT(each.path().string(), Not(HasSubstr(".part")));
}

TEST(SqlOutput, AFileBeyondItsLimitIsAnErrorAndNoSilentEnd) {
  const Clinic clinic;
  const Ran ran = gauze_program("sql '" + std::string(kByWard) + "' --epsilon 5 --report " +
                                    clinic.path("page.html") + clinic.data(),
                                "", "ulimit -f 2;");
  EXPECT_EQ(ran.exit, 5);
  EXPECT_THAT(ran.err, HasSubstr("[io]"));
}

TEST(SqlOutput, TheReportDrawsTimeAsALine) {
  const Clinic clinic;
  const std::string page = clinic.path("page.html");
  const Ran ran =
      ask(clinic, "SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY 1",
          "--epsilon 5 --report " + page);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string html = slurp(page);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, AllOf(HasSubstr("<polyline"), HasSubstr("2024-02-01")));
}

TEST(SqlOutput, TheReportEscapesWhatItShows) {
  const Clinic clinic;
  const std::string page = clinic.path("page.html");
  const Ran ran =
      ask(clinic,
          "SELECT ward AS \\\"<b>&\\\", COUNT(*) AS \\\"<script>alert(1)</script>\\\" FROM "
          "visits GROUP BY ward",
          "--epsilon 5 --report " + page);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string html = slurp(page);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), HasSubstr("&lt;script&gt;"),
                          HasSubstr("&lt;b&gt;&amp;")));
}

// What is not a released number is the same whether a table holds many rows or none: columns,
// groups, prices, bounds and error bars.
TEST(SqlOutput, SaysTheSameAboutManyRowsAndNone) {
  const Clinic full, empty;
  empty.write("visits.csv", "patient_id,ward,age,cost,diagnosis,day\n");
  const char* const sql = "SELECT ward, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY ward";
  auto of_full = ask(full, sql, "--epsilon 5 --json").json();
  auto of_empty = ask(empty, sql, "--epsilon 5 --json").json();
  for (auto* json : {&of_full, &of_empty}) {
    for (auto& row : json->at("rows")) {
      row.erase("n");
      row.erase("c");
    }
  }
  EXPECT_EQ(of_full, of_empty);
}

// Data, schema and ledger, under another name too, and what would be a table of the folder next time.
TEST(SqlOutput, NothingThatIsReadIsWrittenOver) {
  const Clinic clinic;
  clinic.set_budget("--epsilon 9");
  std::system(("cd " + clinic.path("") + " && mkdir more && ln -s visits.csv alias.csv").c_str());
  const std::string job = clinic.write(
      "job.json", R"({"sql": "SELECT COUNT(*) FROM visits", "options": {"epsilon": 1}, "data": ")" +
                      clinic.path("") + R"(", "output": ")" + clinic.path("job.json") + "\"}");
  const std::string plain = clinic.write("more/plain.csv", "1\n2\n");
  const std::string before = slurp(clinic.path("visits.csv")),
                    wards = slurp(clinic.path("wards.csv")),
                    schema = slurp(clinic.path("clinic.schema.json"));
  const std::string count = "sql 'SELECT COUNT(*) FROM visits' --epsilon 1 --data ";
  const std::string file = count + clinic.path("visits.csv");
  const std::string glob = count + "'visits=" + clinic.path("v*.csv") + "' --schema " +
                           clinic.path("clinic.schema.json");
  const std::string folder = count + clinic.path("");
  const std::string age = "release flat_histogram --epsilon 1 --column age" + clinic.data();
  for (const std::string& arguments :
       {file + " -o " + clinic.path("visits.csv"),
        file + " -o " + clinic.path("more/../visits.csv"), file + " -o " + clinic.path("alias.csv"),
        file + " --report " + clinic.path("visits.csv"),
        file + " -o " + clinic.path("clinic.schema.json"),
        file + " --report " + clinic.path("clinic.ledger"),
        file + " --report " + clinic.path("clinic.ledger-wal"),
        glob + " -o " + clinic.path("visits.csv"), glob + " -o " + clinic.path("v2.csv"),
        folder + " -o " + clinic.path("visits.csv"), folder + " -o " + clinic.path("wards.csv"),
        folder + " -o " + clinic.path("visits.parquet"),
        folder + " -o " + clinic.path("a.csv") + " --report " + clinic.path("a.csv"),
        age + " -o " + clinic.path("visits.csv"), age + " --report " + clinic.path("wards.csv"),
        "run " + job, "release flat_histogram --epsilon 1 --cells 2 -o " + plain + " " + plain,
        "audit count --epsilon 1 --relation add_remove --data " + clinic.path("wards.csv") +
            " --neighbour " + clinic.path("visits.csv") + " --report " +
            clinic.path("wards.csv")}) {
    const Ran ran = gauze_program(arguments);
    EXPECT_EQ(ran.exit, 2) << arguments << ran.out;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("name"), HasSubstr("invalid_option"))) << arguments;
  }
  EXPECT_EQ(slurp(clinic.path("visits.csv")), before);
  EXPECT_EQ(slurp(clinic.path("wards.csv")), wards);
  EXPECT_EQ(slurp(clinic.path("clinic.schema.json")), schema);
  const Ran shown = gauze_program("ledger show --json " + clinic.path("clinic.ledger"));
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 9);
  EXPECT_EQ(gauze_program(folder + " -o " + clinic.path("counts.csv")).exit, 0);
}

TEST(SqlOutput, ExpectedErrorsOfDatesAreDays) {
  const Clinic clinic;
  EXPECT_THAT(ask(clinic,
                  "EXPLAIN SELECT DATE '2024-01-01' + ROUND(AVG(age)) AS d, AVG(age) AS a "
                  "FROM visits",
                  "--epsilon 1", "LC_ALL=C.UTF-8")
                  .out,
              ::testing::ContainsRegex("  d +± [0-9]+ days +± [0-9]+ days? .*\n  a +± [0-9.]+ "));
}

// What was released stays paid for, which is not to be said where nothing was.
TEST(SqlOutput, AFullDiskSaysWhatWasReleasedAndPaid) {
  const Clinic clinic, free;
  clinic.set_budget("--epsilon 9");
  const auto error = [&](const std::string& arguments, const std::string& input = "") {
    const std::string command = GAUZE_PROGRAM " " + arguments + " <" + free.write("in", input) +
                                " >/dev/full 2>" + free.path("err");
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5) << arguments;
    return slurp(free.path("err"));
  };
  const std::string count = "sql 'SELECT COUNT(*) FROM visits' --epsilon 1";
  for (const std::string& arguments :
       {count, count + " --json",
        std::string("release count --epsilon 1 --table visits --column age"),
        std::string("release flat_histogram --epsilon 1 --table visits --column age")}) {
    EXPECT_THAT(error(arguments + clinic.data()),
                AllOf(HasSubstr("the answer was released, and it is paid for"),
                      HasSubstr("could not be written")))
        << arguments;
    EXPECT_THAT(error(arguments + free.data()),
                AllOf(HasSubstr("the answer was released"), Not(HasSubstr("paid"))))
        << arguments;
  }
  // Nothing is asked after an answer that could not be handed out.
  EXPECT_THAT(error("sql --epsilon 1" + clinic.data(),
                    "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits;"),
              HasSubstr("paid for"));
  const Ran shown = gauze_program("ledger show --json " + clinic.path("clinic.ledger"));
  EXPECT_EQ(shown.json().at("accounts").at(0).at("left").at("epsilon"), 4);
  for (const std::string& arguments : {std::string("list"), count + " --explain" + clinic.data()})
    EXPECT_THAT(error(arguments), AllOf(HasSubstr("could not be written"),
                                        Not(HasSubstr("released")), Not(HasSubstr("paid"))))
        << arguments;
}

// As `gauze ... | true` would, with the pipe closed for sure.
TEST(SqlOutput, AReaderThatLeavesHearsWhatWasReleasedAndPaid) {
  const Clinic clinic, free;
  clinic.set_budget("--epsilon 9");
  const auto ran = [&](const std::string& arguments) {
    const std::string command = "bash -c '{ until [ -e " + free.path("left") +
                                " ]; do sleep 0.01; "
                                "done; " GAUZE_PROGRAM " " +
                                arguments + " 2>" + free.path("err") + "; echo $? >" +
                                free.path("code") + "; } | { exec <&-; touch " + free.path("left") +
                                "; }'";
    std::remove(free.path("left").c_str());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return std::pair(std::stoi(slurp(free.path("code"))), slurp(free.path("err")));
  };
  const std::string count = "sql \"SELECT COUNT(*) FROM visits\" --epsilon 1";
  for (const std::string& arguments :
       {count, count + " --json",
        std::string("release count --epsilon 1 --table visits --column age"),
        std::string("release flat_histogram --epsilon 1 --table visits --column age")}) {
    const auto [code, error] = ran(arguments + clinic.data());
    EXPECT_EQ(code, 5) << arguments;
    EXPECT_THAT(error, HasSubstr("the answer was released, and it is paid for")) << arguments;
    EXPECT_THAT(ran(arguments + free.data()).second,
                AllOf(HasSubstr("the answer was released"), Not(HasSubstr("paid"))))
        << arguments;
  }
  // What costs nothing ends as programs do whose reader has what it wanted.
  for (const std::string& arguments : {std::string("list"), count + " --explain" + clinic.data()}) {
    const auto [code, error] = ran(arguments);
    EXPECT_EQ(code, 128 + SIGPIPE) << arguments;
    EXPECT_EQ(error, "") << arguments;
  }
}

TEST(ExampleCommand, LeavesFilesOfOthersAlone) {
  const Folder folder;
  folder.write("visits.csv", "somebody,else\n1,2\n");
  for (const char* command : {"example ", "tour "})
    EXPECT_EQ(gauze_program(command + folder.path("")).exit, 2);
  EXPECT_EQ(folder.read("visits.csv"), "somebody,else\n1,2\n");
  EXPECT_EQ(folder.read("wards.csv"), "");
  const Folder other;
  other.write("hospital.ledger", "somebody's");
  EXPECT_EQ(gauze_program("tour " + other.path("")).exit, 2);
  EXPECT_EQ(other.read("hospital.ledger"), "somebody's");
}

TEST(ExampleCommand, WritesAHospitalThatAnswers) {
  const Folder folder;
  const Ran ran = gauze_program("example " + folder.path("hospital"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string rows = slurp(folder.path("hospital/visits.csv"));
  EXPECT_GT(std::count(rows.begin(), rows.end(), '\n'), 200'000);
  const Ran answer = gauze_program(
      "sql \"SELECT ward, AVG(length_of_stay) FROM visits GROUP BY ward\" "
      "--epsilon 1 --data " +
      folder.path("hospital"));
  EXPECT_EQ(answer.exit, 0) << answer.err;
  EXPECT_EQ(gauze_program("example " + folder.path("hospital")).exit, 0) << "once more";
  EXPECT_EQ(gauze_program("example /proc/nowhere").exit, 5);
}

}  // namespace
