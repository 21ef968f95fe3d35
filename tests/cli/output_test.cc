#include <gmock/gmock.h>

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
  EXPECT_EQ(gauze_program("example /proc/nowhere").exit, 5);
}

}  // namespace
