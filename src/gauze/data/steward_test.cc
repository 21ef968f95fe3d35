#include "gauze/data/steward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gauze/data/files_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::Folder;

TEST(SchemaTemplate, HoldsNamesAndTypesButNoValuesAndIsRefusedUntilFilledIn) {
  const Folder folder;
  internal::run_duckdb(
      {"COPY (SELECT 'secret' AS ward, 77 AS age, DATE '2024-01-01' AS day, true AS ok) TO '" +
       folder.path("t.parquet") + "'"});
  const auto source = open_files(
      {{"t", folder.path("t.parquet")}, {"u", folder.write("u.csv", "zip,name\n98765,hidden\n")}});
  auto json = schema_template(*source, {"t", "u"});
  EXPECT_EQ(json["tables"]["t"]["columns"]["age"]["type"], "integer");
  EXPECT_TRUE(json["tables"]["u"]["columns"]["zip"]["type"].is_null());
  for (const char* value : {"secret", "77", "2024", "98765", "hidden"})
    EXPECT_THAT(json.dump(), ::testing::Not(::testing::HasSubstr(value)));
  // Each thing that is filled in leads to the next that is not.
  EXPECT_ERROR(schema_from_json(json), ErrorCode::kMissingKnowledge);
  json["dataset"] = "d";
  json["tables"].erase("u");
  EXPECT_ERROR(schema_from_json(json), ErrorCode::kMissingKnowledge);
  auto& table = json["tables"]["t"];
  table.erase("todo");
  EXPECT_ERROR(schema_from_json(json), ErrorCode::kMissingKnowledge);
  table["unit"] = "row";
  table.erase("rows_per_unit");
  table["columns"]["ward"]["categories"] = {"A", "B"};
  table["columns"]["age"] = {{"type", "integer"}, {"lower", 0}, {"upper", 120}};
  EXPECT_ERROR(schema_from_json(json), ErrorCode::kMissingKnowledge);
  table["columns"]["day"] = {{"type", "date"}};
  EXPECT_EQ(schema_from_json(json).tables.size(), 1u);
}

TEST(SchemaCheck, SaysHowManyIdsAndKeysAreNotExactly64BitsWide) {
  const Folder folder;
  const auto source =
      open_files({{"v", folder.write("v.csv",
                                     "pid,vid\n9300000000000000001,9223372036854775813\n"
                                     "9400000000000000007,9223372036855775816\n7.4,5\n8,6\n")},
                  {"w", folder.write("w.csv", "vref\n9223372036854775813\n6\n")}});
  const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {
    "v": {"unit": "pid", "rows_per_unit": 2, "keys": [["vid"]], "columns": {
      "pid": {"type": "integer"}, "vid": {"type": "integer"}}},
    "w": {"unit": {"column": "vref", "of": "v", "key": "vid"}, "rows_per_unit": 2, "columns": {
      "vref": {"type": "integer"}}}}})");
  const SchemaCheck check = check_schema(*source, schema);
  EXPECT_EQ(check.tables[0].units, 1u);
  EXPECT_EQ(check.tables[0].rows_without_unit, 3u);
  EXPECT_EQ(check.tables[0].columns[0].unreadable, 3u);
  EXPECT_EQ(check.tables[0].columns[1].unreadable, 2u);
  EXPECT_EQ(check.tables[0].repeated_keys, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(check.tables[1].rows_without_unit, 1u);
  EXPECT_EQ(check.tables[1].columns[0].unreadable, 1u);
}

TEST(SchemaCheck, CountsWhatDoesNotKeepTheSchema) {
  const Folder folder;
  const auto source = open_files(
      {{"visits",
        folder.write("visits.csv",
                     "visit,patient,age,ward\n1,a,30,A\n2,a,999,B\n3,a,abc,C\n3,b,,A\n4,,-1,A\n")},
       {"tests", folder.write("tests.csv", "visit,ok\n1,true\n9,false\n,maybe\n")},
       {"wards", folder.write("wards.csv", "ward\nA\n")}});
  const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {
    "visits": {"unit": "patient", "rows_per_unit": 2, "keys": [["visit"], ["visit", "patient"]], "columns": {
      "visit": {"type": "integer"}, "patient": {"type": "text"},
      "age": {"type": "integer", "lower": 0, "upper": 120, "nulls": false},
      "ward": {"type": "text", "categories": ["A", "B"]}}},
    "tests": {"unit": {"column": "visit", "of": "visits", "key": "visit"}, "rows_per_unit": 9, "columns": {
      "visit": {"type": "integer"}, "ok": {"type": "boolean"}}},
    "wards": {"public": true, "columns": {"ward": {"type": "text"}}}}})");
  const SchemaCheck check = check_schema(*source, schema);
  ASSERT_EQ(check.tables.size(), 3u);
  const auto& visits = check.tables[0];
  EXPECT_EQ(visits.rows, 5u);
  EXPECT_EQ(visits.rows_without_unit, 1u);
  EXPECT_EQ(visits.units, 2u);
  EXPECT_EQ(visits.units_over_bound, 1u);
  EXPECT_EQ(visits.repeated_keys, (std::vector<std::uint64_t>{1, 0}));
  EXPECT_EQ(visits.columns[2].unreadable, 1u);
  EXPECT_EQ(visits.columns[2].outside, 2u);
  EXPECT_EQ(visits.columns[2].nulls_not_declared, 2u);
  EXPECT_EQ(visits.columns[3].outside, 1u);
  EXPECT_EQ(visits.columns[0].unreadable, 0u);
  const auto& tests = check.tables[1];
  EXPECT_EQ(tests.rows, 3u);
  EXPECT_EQ(tests.rows_without_unit, 2u);
  EXPECT_EQ(tests.columns[1].unreadable, 1u);
  EXPECT_EQ(check.tables[2].rows, 1u);
}

TEST(SchemaCheck, CountsUnitsThroughOtherTables) {
  const Folder folder;
  const auto source = open_files(
      {{"visits", folder.write("visits.csv", "visit,patient\n1,a\n2,a\n3,b\n4,\n5,c\n")},
       {"tests", folder.write("tests.csv", "test,visit\n10,1\n11,2\n12,2\n13,3\n14,4\n15,9\n")},
       {"notes", folder.write("notes.csv", "test\n10\n10\n11\n13\n14\n99\n")}});
  const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {
    "visits": {"unit": "patient", "rows_per_unit": 2, "keys": [["visit"]], "columns": {
      "visit": {"type": "integer"}, "patient": {"type": "text"}}},
    "tests": {"unit": {"column": "visit", "of": "visits", "key": "visit"}, "rows_per_unit": 2, "keys": [["test"]],
      "columns": {"test": {"type": "integer"}, "visit": {"type": "integer"}}},
    "notes": {"unit": {"column": "test", "of": "tests", "key": "test"}, "rows_per_unit": 3,
      "columns": {"test": {"type": "integer"}}}}})");
  const SchemaCheck check = check_schema(*source, schema);
  EXPECT_EQ(check.tables[1].units, 2u);  // a has 3 tests, b one
  EXPECT_EQ(check.tables[1].units_over_bound, 1u);
  EXPECT_EQ(check.tables[2].units, 2u);  // a has 3 notes, b one
  EXPECT_EQ(check.tables[2].units_over_bound, 0u);
}

// Of three lines one has bytes in its second field that are no text: it is left out wherever that
// field is read.
TEST(SchemaCheck, LinesOfCsvThatAreNoTextAreCounted) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "a,b\n1,x\n2,\xff\xfe\n3,z\n")}});
  const SchemaCheck check = check_schema(
      *source,
      parse_schema(R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row", "columns": {
                                  "a": {"type": "integer"}, "b": {"type": "text"}}}}})"));
  EXPECT_EQ(check.tables[0].unseen.rows, 1u);
  EXPECT_EQ(check.tables[0].rows, 2u);
}

// Two of the lines have something behind the last column, one nothing but a comma, and one too
// little.
TEST(SchemaCheck, TellsOfFieldsBeyondTheLastColumn) {
  const Folder folder;
  const std::string text = "a,b\n1,2\n3,4,5\n6,7,\n8\n\"9\n9\",1,\"2\",3\n";
  const auto source = open_files({{"t", folder.write("t.csv", text)}});
  EXPECT_EQ(source->unseen("t"), (Unseen{.rows = 1, .row_ends = 2, .file_ends = 0}));
  EXPECT_EQ(testing::rows_of(*source, "SELECT count(*) FROM t"), std::vector<std::string>{"4"});
}

TEST(SchemaCheck, TellsOfPackedFilesThatBreakOff) {
  for (const std::string packing : {"gz", "zst"}) {
    for (const std::string format : {"csv", "ndjson"}) {
      const Folder folder;
      const std::string whole = folder.path("t1." + format + "." + packing);
      internal::run_duckdb({"COPY (SELECT i AS a, hash(i) AS b FROM range(20000) t(i)) TO '" +
                            whole + "' (FORMAT " + (format == "csv" ? "csv" : "json") +
                            ", COMPRESSION " + (packing == "gz" ? "gzip" : "zstd") + ")"});
      const std::string path = folder.path("t*." + format + "." + packing);
      EXPECT_EQ(open_files({{"t", path}})->unseen("t"), Unseen{}) << path;
      std::ifstream stream(whole, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
      folder.write("t2." + format + "." + packing, bytes.substr(0, bytes.size() / 2));
      EXPECT_EQ(open_files({{"t", path}})->unseen("t").file_ends, 1u) << path;
    }
  }
}

TEST(SchemaCheck, AColumnThatTheDataLacksIsAnError) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "a\n1\n")}});
  EXPECT_ERROR(check_schema(*source, parse_schema(R"({"version": 1, "dataset": "d", "tables": {
                                       "t": {"unit": "row", "columns": {"b": {"type": "text"}}}}})")),
               ErrorCode::kUnknownName);
}

}  // namespace
}  // namespace gauze
