#include "gauze/service/job.h"

#include <gmock/gmock.h>

#include <fstream>

#include "gauze/testing/matchers.h"

namespace gauze::service {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// Three kinds of input, as families have them.
const Registry& registry() {
  const auto entry = [](const char* name, InputKind kind) {
    Algorithm algorithm;
    algorithm.name = name;
    algorithm.options = {{"epsilon", OptionSpec::Type::kNumber, "what it costs", ""}};
    algorithm.kind = std::move(kind);
    return algorithm;
  };
  static const Registry all(
      {{"Questions",
        {entry("sql", {.name = "sql",
                       .plain = InputKind::Plain::kNone,
                       .tables = true,
                       .asks = {{"sql", OptionSpec::Type::kText, "the question", ""}},
                       .writes_table = true}),
         entry("median", column_kind()),
         entry("dawa",
               {.name = "points",
                .tables = true,
                .asks = {{"columns", OptionSpec::Type::kWords, "axes", "", "column,columns"},
                         {"ranges", OptionSpec::Type::kTexts, "parts", "[]", "range"},
                         {"where", OptionSpec::Type::kTexts, "conditions", "[]"},
                         {"whole", OptionSpec::Type::kFlag, "whole numbers", "false"}},
                .writes_table = true})}}});
  return all;
}

Job job_of(const char* text) {
  return job_from_json(registry(), json::parse(text));
}

TEST(Jobs, ReadsAQuestionInSql) {
  const Job job = job_of(R"({
    "version": 1, "sql": "SELECT COUNT(*) FROM t", "options": {"epsilon": 1, "delta": "1e-6"},
    "data": {"t": "a.csv", "w": "b.csv"}, "schema": "s.json", "ledger": "l", "analyst": "ada",
    "output": "o.csv", "report": "r.html"})");
  EXPECT_EQ(job.question.algorithm, "sql");
  EXPECT_EQ(job.question.options,
            json({{"sql", "SELECT COUNT(*) FROM t"}, {"epsilon", 1}, {"delta", "1e-6"}}));
  EXPECT_THAT(job.data.data, ElementsAre("t=a.csv", "w=b.csv"));
  EXPECT_EQ(job.data.schema, "s.json");
  EXPECT_EQ(job.data.ledger, "l");
  EXPECT_EQ(job.data.analyst, "ada");
  EXPECT_EQ(job.files.output, "o.csv");
  EXPECT_EQ(job.files.report, "r.html");
}

TEST(Jobs, ReadsAnAlgorithmAndItsColumn) {
  const Job job = job_of(
      R"({"algorithm": "median", "data": ["a.csv", "b=c.csv"], "table": "a", "column": "age"})");
  EXPECT_EQ(job.question.algorithm, "median");
  EXPECT_THAT(job.data.data, ElementsAre("a.csv", "b=c.csv"));
  EXPECT_EQ(job.question.table, "a");
  EXPECT_EQ(job.question.options, json({{"column", "age"}}));
  EXPECT_EQ(job.data.rows_per_unit, "1");
  const Job asked = job_of(
      R"({"algorithm": "dawa", "data": "a", "ranges": ["1:2", "4:"], "where": ["age < 3"]})");
  EXPECT_EQ(asked.question.options.at("ranges"), json({"1:2", "4:"}));
  EXPECT_EQ(asked.question.options.at("where"), json({"age < 3"}));
}

TEST(Jobs, ReadsWhoseRowsTheyAreColumnsAndWhetherToExplain) {
  const Job job = job_of(R"({"sql": "x", "data": "a", "unit": "row", "explain": true})");
  EXPECT_EQ(job.data.unit, "row");
  EXPECT_TRUE(job.explain);
  EXPECT_FALSE(job_of(R"({"sql": "x", "data": "a"})").explain);
  const auto columns = [](const char* text) { return job_of(text).question.options.at("columns"); };
  EXPECT_EQ(columns(R"({"algorithm": "dawa", "data": "a", "columns": ["x", "y,z"]})"),
            json({"x", "y,z"}));
  EXPECT_EQ(columns(R"({"algorithm": "dawa", "data": "a", "column": "x,y"})"), json({"x", "y"}));
  EXPECT_EQ(columns(R"({"algorithm": "dawa", "data": "a", "options": {"columns": "x"}})"), "x");
}

TEST(Jobs, RefusesWhatItDoesNotUnderstand) {
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
    EXPECT_ERROR(job_of(text), ErrorCode::kInvalidInput);
  }
  for (const char* text :
       {R"({"sql": "x", "data": "a", "legder": "l"})", R"({"sql": "x", "data": "a", "epsilon": 1})",
        R"({"algorithm": "dawa", "data": "a", "whole": true})",
        R"({"algorithm": "dawe", "data": "a"})"})
    EXPECT_ERROR(job_of(text), ErrorCode::kUnknownName);
}

TEST(Jobs, NameWhatDoesNotGoWithAnAlgorithm) {
  for (const char* text : {R"({"algorithm": "median", "data": "a", "columns": ["b"]})",
                           R"({"algorithm": "median", "data": "a", "ranges": ["1:2"]})",
                           R"({"algorithm": "dawa", "data": "a", "sql": "x"})",
                           R"({"sql": "x", "data": "a", "table": "b"})",
                           R"({"algorithm": "median", "data": "a", "options": [1]})"})
    EXPECT_ERROR(job_of(text), ErrorCode::kInvalidInput);
}

TEST(Jobs, SayHowManyRowsAndThreads) {
  EXPECT_EQ(job_of(R"({"algorithm": "median", "data": "a", "options": {"rows_per_unit": 2}})")
                .data.rows_per_unit,
            "2");
}

TEST(Jobs, AreReadFromFilesThatTheyDoNotWriteOver) {
  const std::string path = ::testing::TempDir() + "gauze-job.json";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write(R"({"sql": "x", "data": "a", "output": ")" + path + "\"}");
  EXPECT_ERROR(read_job(registry(), path), ErrorCode::kInvalidOption);
  for (const std::string& text :
       {std::string("{"), std::string(R"({"sql": "x", "sql": "y", "data": "a"})"),
        R"({"sql": "x", "data": )" + std::string(70'000, '[') + std::string(70'000, ']') + "}"}) {
    write(text);
    EXPECT_ERROR(read_job(registry(), path), ErrorCode::kInvalidInput);
  }
  write(R"({"sql": "x", "data": "a", "explain": true})");
  EXPECT_TRUE(read_job(registry(), path).explain);
  EXPECT_ERROR(read_job(registry(), "/no/such/job.json"), ErrorCode::kIo);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace gauze::service
