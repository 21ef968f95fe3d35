#include <gtest/gtest.h>

#include "gauze/data/run_duckdb_internal.h"
#include "gauze/numeric/infinity.h"
#include "gauze/query/sql_query_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze::testing {
namespace {

/// Different numbers beyond 64 bits.
std::string wide_id(int i) {
  return "93" + std::to_string(10'000'000 + i) + "0000000001";
}

double one_number(const std::string& sql, const Schema& schema, Source& source) {
  return number(answer(query(sql, schema, "10000"), source, 1).rows.at(0).at(0));
}

// Read as the nearest 64-bit number, all of them would be one patient, and one more would change that patient's rows.
TEST(WhoseRows, IdsThatAreNoIntegersOf64BitsAreNobodys) {
  const Tables tables;
  std::string csv = std::string(kHeader) + "1,a,x,1,100\n";
  for (int i = 0; i < 1000; ++i)
    csv += wide_id(i) + ",a,x,10,100\n1." + std::to_string(i) + "1,a,x,10,100\n";
  const auto source = tables.open("visits", csv);
  for (const char* sql :
       {"SELECT COUNT(*) FROM visits", "SELECT COUNT(DISTINCT patient) FROM visits",
        "SELECT SUM(days) FROM visits"})
    EXPECT_NEAR(one_number(sql, visits_schema(), *source), 1, 0.01) << sql;
}

// The key of a visit says whose its tests are: read as the nearest, one test would have a thousand owners.
TEST(WhoseRows, OneRowHasOneOwnerHoweverWideItsKeyIs) {
  std::string visits = "pid,vid\n";
  for (int i = 0; i < 1000; ++i) visits += std::to_string(i) + "," + wide_id(i) + "\n";
  const std::string tests = "vid\n" + wide_id(5) + "\n";
  for (const std::string type : {"integer", "text"}) {
    const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {
      "visits": {"unit": "pid", "rows_per_unit": 5, "keys": [["vid"]], "columns": {
        "pid": {"type": "integer"}, "vid": {"type": ")" +
                                       type + R"("}}},
      "tests": {"unit": {"column": "vid", "of": "visits", "key": "vid"}, "rows_per_unit": 5, "columns": {
        "vid": {"type": ")" + type + R"("}}}}})");
    const Tables tables;
    const auto source = tables.open_all({{"visits", visits}, {"tests", tests}});
    EXPECT_NEAR(one_number("SELECT COUNT(*) FROM tests", schema, *source), type == "text" ? 1 : 0,
                0.01);
  }
}

// Whoever is in both tables would be two units where one of them spells bytes.
TEST(WhoseRows, IdsThatAreBytesAreNotMixedWithText) {
  const std::string folder = std::filesystem::temp_directory_path() / "gauze_bytes_XXXXXX";
  std::string path = folder;
  ASSERT_NE(mkdtemp(path.data()), nullptr);
  internal::run_duckdb({"COPY (SELECT encode('é') AS id) TO '" + path + "/a.parquet'",
                        "COPY (SELECT 'é' AS id) TO '" + path + "/b.parquet'"});
  const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {
    "a": {"unit": "id", "rows_per_unit": 1, "columns": {"id": {"type": "text"}}},
    "b": {"unit": "id", "rows_per_unit": 1, "columns": {"id": {"type": "text"}}}}})");
  const auto source = open_files({{"a", path + "/a.parquet"}, {"b", path + "/b.parquet"}});
  EXPECT_NEAR(one_number("SELECT COUNT(*) FROM a", schema, *source), 1, 0.01);
  EXPECT_ERROR(one_number("SELECT COUNT(*) FROM (SELECT id FROM a UNION ALL SELECT id FROM b) t",
                          schema, *source),
               ErrorCode::kUnsupported);
  std::filesystem::remove_all(path);
}

// A schema made without `parse_schema` is not checked there.
TEST(WhoseRows, UnitsThatAreRealNumbersAreRefusedAndNotRead) {
  const Tables tables;
  const auto source = tables.open("visits", visits());
  Schema schema = visits_schema();
  schema.tables[0].unit.column = "cost";
  EXPECT_ERROR(answer(query("SELECT COUNT(*) FROM visits", schema), *source, 1),
               ErrorCode::kUnsupported);
}

TEST(WhoseRows, SumsUseAll64BitsAndMayBeAnythingWhereTheyEnd) {
  const Tables tables;
  const Schema schema =
      parse_schema(R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row",
    "columns": {"x": {"type": "integer", "lower": -1000000000000000, "upper": 1000000000000000}}}}})");
  const auto sum = [&](const std::string& value, int rows) {
    std::string csv = "x\n";
    for (int i = 0; i < rows; ++i) csv += value + "\n";
    const auto source = tables.open("t", csv);
    return answer(query("SELECT SUM(x) FROM t", schema, "1000"), *source, 1).rows.at(0).at(0);
  };
  const Answer::Cell within = sum("1000000000000000", 6000);
  EXPECT_NEAR(number(within), 6e18, 1e14);
  EXPECT_LT(within.half_width.value(), 1e14);
  const Answer::Cell above = sum("1000000000000000", 12000);
  EXPECT_EQ(above.value, Value(std::int64_t{INT64_MAX}));
  EXPECT_EQ(above.half_width, kInfinity);
  const Answer::Cell below = sum("-1000000000000000", 12000);
  EXPECT_EQ(below.value, Value(std::int64_t{INT64_MIN}));
  EXPECT_EQ(below.half_width, kInfinity);
}

}  // namespace
}  // namespace gauze::testing
