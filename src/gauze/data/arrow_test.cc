// Tables against another implementation of the Arrow C data interface: the embedded engine's.
// (tests/arrow has pyarrow's.)

#include "gauze/data/arrow.h"

#include <duckdb.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gauze/data/files_test_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

/// An engine in memory and what of its interface is about Arrow.
class Engine {
 public:
  Engine() {
    EXPECT_EQ(duckdb_open(nullptr, &database_), DuckDBSuccess);
    EXPECT_EQ(duckdb_connect(database_, &connection_), DuckDBSuccess);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() {
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
  }

  /// All cells of a SELECT as texts, row after row; "-" for null.
  std::vector<std::string> texts(const std::string& sql) {
    duckdb_result result;
    EXPECT_EQ(duckdb_query(connection_, sql.c_str(), &result), DuckDBSuccess)
        << duckdb_result_error(&result);
    std::vector<std::string> cells;
    for (idx_t row = 0; row < duckdb_row_count(&result); ++row) {
      for (idx_t column = 0; column < duckdb_column_count(&result); ++column) {
        char* text = duckdb_value_varchar(&result, column, row);
        cells.emplace_back(text ? text : "-");
        duckdb_free(text);
      }
    }
    duckdb_destroy_result(&result);
    return cells;
  }

  /// Adds the rows of what somebody exported to a table that has its types, and releases it.
  void append(ArrowSchema* schema, ArrowArray* array, const char* table) {
    duckdb_arrow_converted_schema converted = nullptr;
    expect_no_error(duckdb_schema_from_arrow(connection_, schema, &converted));
    duckdb_data_chunk chunk = nullptr;
    expect_no_error(duckdb_data_chunk_from_arrow(connection_, array, converted, &chunk));
    duckdb_appender appender = nullptr;
    EXPECT_EQ(duckdb_appender_create(connection_, nullptr, table, &appender), DuckDBSuccess);
    EXPECT_EQ(duckdb_append_data_chunk(appender, chunk), DuckDBSuccess)
        << duckdb_appender_error(appender);
    EXPECT_EQ(duckdb_appender_destroy(&appender), DuckDBSuccess);
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_arrow_converted_schema(&converted);
    schema->release(schema);
  }

  /// The first rows of a SELECT, exported and imported.
  Table table(const std::string& sql) {
    duckdb_result result;
    EXPECT_EQ(duckdb_query(connection_, sql.c_str(), &result), DuckDBSuccess)
        << duckdb_result_error(&result);
    std::vector<duckdb_logical_type> types;
    std::vector<const char*> names;
    for (idx_t i = 0; i < duckdb_column_count(&result); ++i) {
      types.push_back(duckdb_column_logical_type(&result, i));
      names.push_back(duckdb_column_name(&result, i));
    }
    duckdb_arrow_options options = duckdb_result_get_arrow_options(&result);
    ArrowSchema schema;
    ArrowArray array;
    expect_no_error(
        duckdb_to_arrow_schema(options, types.data(), names.data(), types.size(), &schema));
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    expect_no_error(duckdb_data_chunk_to_arrow(options, chunk, &array));
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_arrow_options(&options);
    for (duckdb_logical_type& type : types) duckdb_destroy_logical_type(&type);
    duckdb_destroy_result(&result);
    return import_arrow(&schema, &array);
  }

 private:
  static void expect_no_error(duckdb_error_data error) {
    EXPECT_FALSE(duckdb_error_data_has_error(error)) << duckdb_error_data_message(error);
    duckdb_destroy_error_data(&error);
  }

  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

using testing::cells;
using Texts = std::vector<std::string>;

TEST(ArrowWithDuckDb, ReadsEveryTypeThatWeExport) {
  Engine engine;
  engine.texts(
      "CREATE TABLE t(b BOOLEAN, i BIGINT, m DOUBLE, r DOUBLE, s VARCHAR, d DATE, w TIMESTAMP)");
  ArrowSchema schema;
  ArrowArray array;
  {
    const Table ours(
        {"b", "i", "m", "r", "s", "d", "w"},
        {Column::of_integers(Type::kBoolean, {1, 0, 1}, {1, 1, 0}),
         Column::of_integers(Type::kInteger, {INT64_MIN, 0, INT64_MAX}),
         Column::of_reals(Type::kDecimal, {0.25, 2, -3}, {0, 1, 1}),
         Column::of_reals(Type::kDouble, {0.1, 5e-324, -1e300}),
         Column::of_texts({"it's", "", "na\xc3\xafve and longer than twelve"}, {1, 0, 1}),
         Column::of_integers(Type::kDate, {-719162, 0, 19782}, {1, 0, 1}),
         Column::of_integers(Type::kTimestamp, {-1, 0, 1'700'000'000'000'000})});
    export_arrow(ours, &schema, &array);
  }  // what was exported outlives the table
  engine.append(&schema, &array, "t");
  EXPECT_EQ(engine.texts("FROM t"), (Texts{"true",
                                           "-9223372036854775808",
                                           "-",
                                           "0.1",
                                           "it's",
                                           "0001-01-01",
                                           "1969-12-31 23:59:59.999999",  //
                                           "false",
                                           "0",
                                           "2.0",
                                           "5e-324",
                                           "-",
                                           "-",
                                           "1970-01-01 00:00:00",  //
                                           "-",
                                           "9223372036854775807",
                                           "-3.0",
                                           "-1e+300",
                                           "na\xc3\xafve and longer than twelve",
                                           "2024-02-29",
                                           "2023-11-14 22:13:20"}));
}

TEST(ArrowWithDuckDb, ReadsNullsBeyondTheFirstByteAndRepeatedTexts) {
  std::vector<std::int64_t> numbers;
  std::vector<std::string_view> texts;
  std::vector<std::uint8_t> valid;
  for (int i = 0; i < 2000; ++i) {
    numbers.push_back(i);
    texts.push_back(i % 3 == 0 ? "three" : i % 2 == 0 ? "even" : "odd");
    valid.push_back(i % 7 != 0);
  }
  Engine engine;
  engine.texts("CREATE TABLE t(i BIGINT, s VARCHAR)");
  ArrowSchema schema;
  ArrowArray array;
  export_arrow(Table({"i", "s"}, {Column::of_integers(Type::kInteger, numbers, valid),
                                  Column::of_texts(texts, valid)}),
               &schema, &array);
  engine.append(&schema, &array, "t");
  EXPECT_EQ(
      engine.texts("SELECT COUNT(*), COUNT(i), SUM(i), COUNT(s) FROM t"),
      engine.texts("SELECT COUNT(*), COUNT(*) FILTER (x % 7 <> 0), SUM(x) FILTER (x % 7 <> 0), "
                   "COUNT(*) FILTER (x % 7 <> 0) FROM range(2000) AS r(x)"));
  EXPECT_EQ(engine.texts("SELECT COUNT(*) FROM t WHERE (s = 'three') <> (i % 3 = 0)"), Texts{"0"});
}

TEST(ArrowWithDuckDb, ImportsEveryTypeThatWeRead) {
  Engine engine;
  engine.texts("CREATE TYPE mood AS ENUM ('stern', 'calm')");
  const Table table = engine.table(
      "SELECT b, t::TINYINT AS t, t::UTINYINT AS ut, s::SMALLINT AS s, i::INTEGER AS i, "
      "i::UINTEGER AS ui, l, "
      "ul, f, r, n::DECIMAL(9, 2) AS n, h, x, x::mood AS m, d, w, w::TIMESTAMP_S AS ws, "
      "w::TIMESTAMP_MS AS wm, "
      "w::TIMESTAMP_NS AS wn, to_timestamp(epoch(w)) AS wz FROM (VALUES "
      "(true, 7, 300, 70000, -5000000000, 18446744073709551615::UBIGINT, 0.5::FLOAT, 0.1::DOUBLE, "
      "2.5, "
      "170141183460469231731687303715884105727::HUGEINT, 'calm', DATE '2024-02-29', "
      "TIMESTAMP '2023-11-14 22:13:20.25'), "
      "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) "
      "AS v(b, t, s, i, l, ul, f, r, n, h, x, d, w)");
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"b", "true"},
      {"t", "7"},
      {"ut", "7"},
      {"s", "300"},
      {"i", "70000"},
      {"ui", "70000"},
      {"l", "-5000000000"},
      {"ul", "18446744073709551616"},
      {"f", "0.5"},
      {"r", "0.1"},
      {"n", "2.5"},
      {"x", "calm"},
      {"m", "calm"},
      {"d", "2024-02-29"},
      {"w", "2023-11-14 22:13:20.25"}};
  for (const auto& [name, value] : expected) {
    EXPECT_EQ(cells(table.column(name)), (Texts{value, "-"})) << name;
  }
  EXPECT_EQ(table.column("h").reals()[0], 0x1p127);
  for (const char* name : {"w", "wm", "wn", "wz"}) {
    EXPECT_EQ(table.column(name).integers()[0], 1'700'000'000'250'000) << name;
  }
  EXPECT_EQ(table.column("ws").integers()[0], 1'700'000'000'000'000);
}

TEST(ArrowWithDuckDb, SharedMemoryOutlivesTheEngine) {
  Table table;
  {
    Engine engine;
    table = engine.table("SELECT x AS i, x / 4 AS r, 'text ' || x AS s FROM range(1000) AS v(x)");
  }
  EXPECT_EQ(table.rows(), 1000u);
  EXPECT_EQ(table.column("i").integers()[999], 999);
  EXPECT_EQ(table.column("r").reals()[999], 249.75);
  EXPECT_EQ(table.column("s").text(999), "text 999");
}

TEST(ArrowWithDuckDb, RefusesListsByTheNameOfTheirColumn) {
  Engine engine;
  try {
    engine.table("SELECT 1 AS fine, [1, 2] AS many");
    ADD_FAILURE() << "a list was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("'many'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace gauze
