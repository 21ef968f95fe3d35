#include "gauze/engine/job.h"

#include <gmock/gmock.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

TEST(JobDescription, ReadsAQuestionInSql) {
  const JobDescription job = job_from_json(json::parse(R"({
    "version": 1, "sql": "SELECT COUNT(*) FROM t", "options": {"epsilon": 1, "delta": "1e-6"},
    "data": {"t": "a.csv", "w": "b.csv"}, "schema": "s.json", "ledger": "l", "analyst": "ada",
    "output": "o.csv", "report": "r.html"})"));
  EXPECT_EQ(job.sql, "SELECT COUNT(*) FROM t");
  EXPECT_THAT(job.data, ElementsAre("t=a.csv", "w=b.csv"));
  EXPECT_EQ(job.schema, "s.json");
  EXPECT_EQ(job.ledger, "l");
  EXPECT_EQ(job.analyst, "ada");
  EXPECT_EQ(job.output, "o.csv");
  EXPECT_EQ(job.report, "r.html");
  const OptionValues values(question_options(), job.options);
  EXPECT_EQ(values.number("epsilon"), Ratio(1));
  EXPECT_EQ(values.number("delta"), Ratio(1, 1'000'000));
  EXPECT_EQ(values.whole("rows_per_unit"), 0u);
}

TEST(JobDescription, ReadsAnAlgorithmAndItsColumn) {
  const JobDescription job = job_from_json(json::parse(
      R"({"algorithm": "median", "data": ["a.csv", "b=c.csv"], "table": "a", "column": "age"})"));
  EXPECT_EQ(job.algorithm, "median");
  EXPECT_THAT(job.data, ElementsAre("a.csv", "b=c.csv"));
  EXPECT_EQ(job.table, "a");
  EXPECT_EQ(job.column, "age");
  const JobDescription asked = job_from_json(json::parse(
      R"({"algorithm": "dawa", "data": "a", "ranges": ["1:2", "4:"], "where": ["age < 3"]})"));
  EXPECT_THAT(asked.ranges, ElementsAre("1:2", "4:"));
  EXPECT_THAT(asked.where, ElementsAre("age < 3"));
}

TEST(JobDescription, ReadsWhoseRowsTheyAreColumnsAndWhetherToExplain) {
  const JobDescription job =
      job_from_json(json::parse(R"({"sql": "x", "data": "a", "unit": "row", "explain": true})"));
  EXPECT_EQ(job.unit, "row");
  EXPECT_TRUE(job.explain);
  EXPECT_FALSE(job_from_json(json::parse(R"({"sql": "x", "data": "a"})")).explain);
  EXPECT_THAT(
      job_from_json(json::parse(R"({"algorithm": "dawa", "data": "a", "columns": ["x", "y,z"]})"))
          .columns,
      ElementsAre("x", "y,z"));
}

TEST(JobDescription, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"[]",
                           "1",
                           R"({"data": "a.csv"})",
                           R"({"sql": "x"})",
                           R"({"sql": "x", "data": 5})",
                           R"({"sql": "x", "data": []})",
                           R"({"sql": "x", "data": [5]})",
                           R"({"sql": "x", "algorithm": "median", "data": "a"})",
                           R"({"sql": 5, "data": "a"})",
                           R"({"sql": "x", "data": "a", "version": 2})",
                           R"({"sql": "x", "data": "a", "column": "b"})",
                           R"({"sql": "x", "data": "a", "where": ["b < 3"]})",
                           R"({"sql": "x", "data": "a", "columns": ["b"]})",
                           R"({"sql": "x", "data": "a", "explain": "yes"})",
                           R"({"algorithm": "dawa", "data": "a", "explain": true})",
                           R"({"algorithm": "dawa", "data": "a", "columns": "b"})",
                           R"({"algorithm": "dawa", "data": "a", "column": "b", "columns": ["b"]})",
                           R"({"algorithm": "dawa", "data": "a", "where": "b < 3"})",
                           R"({"algorithm": "dawa", "data": "a", "ranges": [3]})",
                           R"({"algorithm": "dawa", "data": "a", "ranges": ["1\u0000:2"]})",
                           R"({"algorithm": "dawa", "data": "a\u0000b"})",
                           R"({"sql": "x", "data": {"a\u0000": "b"}})",
                           R"({"sql": "x", "data": "a", "ledger": "l\u0000"})"}) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(job_from_json(json::parse(text)), ErrorCode::kInvalidInput);
  }
  EXPECT_ERROR(job_from_json(json::parse(R"({"sql": "x", "data": "a", "legder": "l"})")),
               ErrorCode::kUnknownName);
}

}  // namespace
}  // namespace gauze
