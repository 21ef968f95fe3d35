#include "gauze/data/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "gauze/data/arrow.h"
#include "gauze/data/files_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/numeric/infinity.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/postgres_server.h"

namespace gauze {
namespace {

using testing::cells;
using testing::Folder;

std::vector<std::vector<std::string>> cells(const Table& table) {
  std::vector<std::vector<std::string>> all;
  for (const Column& each : table.columns()) all.push_back(cells(each));
  return all;
}

/// Every type, with nulls at different places and texts that are hard to quote.
Table sample() {
  return Table({"b", "i", "m", "r", "t", "d", "s"},
               {Column::of_integers(Type::kBoolean, {1, 0, 1}, {1, 1, 0}),
                Column::of_integers(Type::kInteger, {INT64_MIN, 0, INT64_MAX}),
                Column::of_reals(Type::kDecimal, {0.25, 2, -3}, {0, 1, 1}),
                Column::of_reals(Type::kDouble, {0.1, 5e-324, -1e300}),
                Column::of_texts({"it's, \"quoted\"\n", "", ""}, {1, 1, 0}),
                Column::of_integers(Type::kDate, {-719162, 0, 19782}, {1, 0, 1}),
                Column::of_integers(Type::kTimestamp, {-1, 0, 253402300799999999})});
}

TEST(Table, ColumnsHoldValuesAndNulls) {
  const Column texts = Column::of_texts({"a", "b", "a", "x"}, {1, 1, 1, 0});
  EXPECT_EQ(cells(texts), (std::vector<std::string>{"a", "b", "a", "-"}));
  EXPECT_EQ(texts.dictionary().size(), 2u);
  EXPECT_EQ(cells(texts.take(std::vector<std::size_t>{3, 2})),
            (std::vector<std::string>{"-", "a"}));
  EXPECT_EQ(texts.take(std::vector<std::size_t>{2}).dictionary().size(), 1u);
  EXPECT_FALSE(Column::of_integers(Type::kInteger, {1, 2}, {1, 1}).has_nulls());
  EXPECT_EQ(Column::of_values(Type::kDate, {Date{3}, {}}).value(0), Value(Date{3}));
  EXPECT_EQ(Column::of_values(Type::kDecimal, {Ratio(1, 10)}).reals()[0], 0.1);
  EXPECT_ERROR(Column::of_texts({0, 2}, {"a", "b"}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Column::of_integers(Type::kDouble, {1}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Column::of_reals(Type::kDouble, {1}, {1, 1}), ErrorCode::kInvalidInput);
}

TEST(Table, NamesAreToldApartAsInSql) {
  const Table table = sample();
  EXPECT_EQ(&table.column("T"), &table.columns()[4]);
  EXPECT_ERROR(table.column("q"), ErrorCode::kUnknownName);
  const Column column = Column::of_integers(Type::kInteger, {1});
  EXPECT_ERROR(Table({"a", "A"}, {column, column}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(Table({"a", "b"}, {column, Column()}), ErrorCode::kInvalidInput);
}

TEST(Arrow, ATableSurvivesTheWayThereAndBack) {
  const Table table = sample();
  ArrowSchema schema;
  ArrowArray array;
  export_arrow(table, &schema, &array);
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_EQ(array.n_children, 7);
  const std::vector<std::string> formats = {"b", "l", "g", "g", "i", "tdD", "tsu:"};
  for (std::size_t i = 0; i < formats.size(); ++i)
    EXPECT_EQ(schema.children[i]->format, formats[i]);
  EXPECT_EQ(array.children[1]->buffers[1], table.columns()[1].integers().data());
  EXPECT_EQ(array.children[4]->buffers[1], table.columns()[4].codes().data());
  const Table back = import_arrow(&schema, &array);
  EXPECT_EQ(schema.release, nullptr);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_EQ(back.names(), table.names());
  EXPECT_EQ(cells(back), cells(table));
  // Not one of these was copied on either way.
  EXPECT_EQ(back.columns()[1].integers().data(), table.columns()[1].integers().data());
  EXPECT_EQ(back.columns()[3].reals().data(), table.columns()[3].reals().data());
  EXPECT_EQ(back.columns()[4].codes().data(), table.columns()[4].codes().data());
  EXPECT_EQ(back.columns()[6].integers().data(), table.columns()[6].integers().data());
}

TEST(Arrow, SharedMemoryOutlivesTheTableAndIsReleasedOnce) {
  ArrowSchema schema;
  ArrowArray array;
  export_arrow(sample(), &schema, &array);
  static int released;
  released = 0;
  static void (*original)(ArrowArray*);
  original = array.release;
  array.release = [](ArrowArray* from) {
    ++released;
    original(from);
  };
  Column kept;
  {
    const Table table = import_arrow(&schema, &array);
    kept = table.column("r");
  }
  EXPECT_EQ(released, 0);
  EXPECT_EQ(kept.reals()[0], 0.1);
  kept = Column();
  EXPECT_EQ(released, 1);
}

/// One column as another library would hand it over: with an offset, in memory of its own.
Table import_one(const char* format, std::vector<const void*> buffers, std::int64_t rows,
                 std::int64_t offset) {
  static const auto forget_schema = [](ArrowSchema* from) { from->release = nullptr; };
  static const auto forget_array = [](ArrowArray* from) { from->release = nullptr; };
  ArrowSchema child{format, "x", nullptr, 2, 0, nullptr, nullptr, forget_schema, nullptr};
  ArrowSchema* schemas[] = {&child};
  ArrowSchema schema{"+s", "", nullptr, 0, 1, schemas, nullptr, forget_schema, nullptr};
  ArrowArray values{rows,
                    -1,
                    offset,
                    static_cast<std::int64_t>(buffers.size()),
                    0,
                    buffers.data(),
                    nullptr,
                    nullptr,
                    forget_array,
                    nullptr};
  ArrowArray* arrays[] = {&values};
  const void* none[] = {nullptr};
  ArrowArray array{rows, 0, 0, 1, 1, none, arrays, nullptr, forget_array, nullptr};
  const Table table = import_arrow(&schema, &array);
  return table.take(std::vector<std::size_t>{0, 1, 2});
}

TEST(Arrow, ReadsOtherTypesAndOffsets) {
  const std::uint8_t valid[] = {0b1101};  // rows 1, 2, 3 of four: null, valid, valid
  const std::int16_t shorts[] = {9, 9, -7, 300};
  EXPECT_EQ(cells(import_one("s", {valid, shorts}, 3, 1))[0],
            (std::vector<std::string>{"-", "-7", "300"}));
  const float floats[] = {1, 0.5, -2};
  EXPECT_EQ(cells(import_one("f", {nullptr, floats}, 3, 0))[0],
            (std::vector<std::string>{"1", "0.5", "-2"}));
  const std::int32_t offsets[] = {0, 1, 3, 3, 6};
  EXPECT_EQ(cells(import_one("u", {valid, offsets, "abcdef"}, 3, 1))[0],
            (std::vector<std::string>{"-", "", "def"}));
  const std::int64_t nanoseconds[] = {-1, 0, 1999};
  EXPECT_EQ(import_one("tsn:UTC", {nullptr, nanoseconds}, 3, 0).columns()[0].integers()[0], -1);
  EXPECT_EQ(import_one("tsn:UTC", {nullptr, nanoseconds}, 3, 0).columns()[0].integers()[2], 1);
  const std::uint64_t decimals[] = {250, 0, ~std::uint64_t{0}, ~std::uint64_t{0}, 1, 1};
  EXPECT_EQ(cells(import_one("d:38,2", {nullptr, decimals}, 3, 0))[0],
            (std::vector<std::string>{"2.5", "-0.01", to_text(Value((0x1p64 + 1) / 100))}));
  EXPECT_EQ(cells(import_one("n", {}, 3, 0))[0], (std::vector<std::string>{"-", "-", "-"}));
  EXPECT_ERROR(import_one("+l", {nullptr, offsets}, 3, 0), ErrorCode::kUnsupported);
}

TEST(WriteTable, WhatIsWrittenReadsBack) {
  const Folder folder;
  const Table table = sample();
  for (const char* name : {"t.csv", "t.json", "t.parquet"}) {
    const std::string path = folder.path(name);
    write_table(table, path);
    write_table(table, path);  // over the old one
    const auto source = open_files({{"t", path}});
    TableSchema schema;
    schema.name = "t";
    for (std::size_t i = 0; i < table.names().size(); ++i)
      schema.columns.push_back({table.names()[i], {.type = table.columns()[i].type()}});
    const Table back = read_table(*source, schema);
    auto expected = cells(table);
    if (path.ends_with("csv")) expected[4][1] = "-";  // a CSV reader takes "" for null
    EXPECT_EQ(cells(back), expected) << name;
  }
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder.path("")))
    files += each.exists();
  EXPECT_EQ(files, 3u);
}

TEST(WriteTable, AParquetFileKeepsALonelyNull) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  write_table(Table({"a \"b\""}, {Column::of_reals(Type::kDouble, {0, 1}, {0, 1})}), path);
  const auto source = open_files({{"t", path}});
  EXPECT_EQ(source->columns("t")[0].name, "a \"b\"");
  EXPECT_THAT(testing::rows_of(*source, "SELECT * FROM t"),
              ::testing::UnorderedElementsAre("-", "1"));
}

TEST(WriteTable, SaysWhatItCannotWriteAndLeavesNothing) {
  const Folder folder;
  EXPECT_ERROR(write_table(sample(), folder.path("t.xlsx")), ErrorCode::kInvalidOption);
  EXPECT_ERROR(write_table(sample(), folder.path("no/t.csv")), ErrorCode::kIo);
  EXPECT_ERROR(write_table(sample(), folder.path("no/t.parquet")), ErrorCode::kIo);
  EXPECT_ERROR(write_table(sample(), "/dev/full/t.csv"), ErrorCode::kIo);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
}

TableSchema numbers_schema(std::optional<Value> lower, std::optional<Value> upper) {
  TableSchema schema;
  schema.name = "t";
  schema.columns = {
      {"id", {.type = Type::kInteger}},
      {"x", {.type = Type::kDouble, .lower = std::move(lower), .upper = std::move(upper)}}};
  return schema;
}

/// id: x, in the order of ids.
std::map<std::int64_t, std::string> by_id(const Table& table) {
  std::map<std::int64_t, std::string> result;
  for (std::size_t i = 0; i < table.rows(); ++i)
    result[table.column("id").integers()[i]] = cells(table.column("x"))[i];
  return result;
}

// NaN and null are one thing after reading, infinity another, whatever brings them.
TEST(ReadTable, NanNullAndInfinityAreTheSameThroughEveryConnector) {
  const Folder folder;
  const std::string values =
      "(VALUES (1, 'NaN'::DOUBLE), (2, NULL), (3, 'inf'::DOUBLE), (4, '-inf'::DOUBLE), (5, 0.5)) "
      "v(id, x)";
  internal::run_duckdb(
      {"COPY (SELECT * FROM " + values + ") TO '" + folder.path("t.parquet") + "'",
       "COPY (SELECT * FROM " + values + ") TO '" + folder.path("t.csv") + "' (HEADER)",
       "ATTACH '" + folder.path("t.duckdb") + "' AS f",
       "CREATE TABLE f.t AS SELECT * FROM " + values});
  folder.write("t.ndjson",
               "{\"id\":1,\"x\":\"NaN\"}\n{\"id\":2,\"x\":null}\n{\"id\":3,\"x\":\"Infinity\"}\n"
               "{\"id\":4,\"x\":\"-inf\"}\n{\"id\":5,\"x\":0.5}\n");
  testing::PostgresServer postgres;
  postgres.run(
      "CREATE TABLE t (id integer, x float8); INSERT INTO t VALUES (1, 'NaN'), (2, NULL), (3, "
      "'Infinity'), (4, "
      "'-Infinity'), (5, 0.5)");
  std::vector<std::unique_ptr<Source>> sources;
  for (const char* name : {"t.parquet", "t.csv", "t.duckdb", "t.ndjson"})
    sources.push_back(open_files({{"t", folder.path(name)}}));
  sources.push_back(open_postgres(postgres.uri()));
  for (const auto& source : sources) {
    EXPECT_EQ(by_id(read_table(*source, numbers_schema({}, {}))),
              (std::map<std::int64_t, std::string>{
                  {1, "-"}, {2, "-"}, {3, "inf"}, {4, "-inf"}, {5, "0.5"}}));
    EXPECT_EQ(
        by_id(read_table(*source, numbers_schema(0.0, 1.0))),
        (std::map<std::int64_t, std::string>{{1, "-"}, {2, "-"}, {3, "1"}, {4, "0"}, {5, "0.5"}}));
  }
}

TableSchema owned_schema(Type type) {
  TableSchema schema;
  schema.name = "t";
  schema.unit = {UnitSchema::Kind::kColumn, "id", "", ""};
  schema.columns = {{"id", {.type = type, .nullable = false}}};
  return schema;
}

std::vector<std::string> ids(Source& source, Type type) {
  std::vector<std::string> result = cells(read_table(source, owned_schema(type)).column("id"));
  std::sort(result.begin(), result.end());
  return result;
}

using Ids = std::vector<std::string>;

// Two people who become one unit change a unit when one of them comes: that is twice the loss of
// one more unit.
TEST(ReadTable, AnIdIsExactlyWhatIsThereOrNobodysWhateverTheSchemaSaysOfNulls) {
  const Folder folder;
  const std::string texts =
      "'7', ' 7 ', '07', '7.0', '9223372036854775807', '9300000000000000001', "
      "'9400000000000000007', "
      "'-9300000000000000001', '7.4', '6.9', '7e0', 'A17', '', '- ', 'inf'";
  std::string values;
  for (const char c : texts) values += c == '\'' ? '"' : c == ',' ? '\n' : c;
  const auto csv = open_files({{"t", folder.write("t.csv", "id\n" + values + "\n")}});
  testing::PostgresServer postgres;
  postgres.run("CREATE TABLE t AS SELECT unnest(ARRAY[" + texts + "]) AS id");
  const auto database = open_postgres(postgres.uri());
  Ids expected(10, "-");
  expected.insert(expected.end(), {"7", "7", "7", "7", "9223372036854775807"});
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(ids(*database, Type::kInteger), expected);
  Ids of_csv = ids(*csv, Type::kInteger);  // where an empty field is a null, and no text
  EXPECT_EQ(of_csv, expected);
}

TEST(ReadTable, NumbersOfAnyTypeAreIdsWhereTheyAreWholeAndHaveAllTheirDigits) {
  const Folder folder;
  testing::PostgresServer postgres;
  const std::string doubles =
      "(1.0), (-3.0), (9007199254740991), (9007199254740992), (1.5), (1e300)";
  const std::string wide =
      "(1), (9223372036854775807), (9223372036854775808), (9300000000000000001)";
  const std::string cents = "(7.00), (7.10), (7.40)";
  internal::run_duckdb({"ATTACH '" + folder.path("t.duckdb") + "' AS f",
                        "CREATE TABLE f.d (id DOUBLE)",
                        "INSERT INTO f.d VALUES " + doubles + ", ('nan'), ('inf')",
                        "CREATE TABLE f.u (id UBIGINT)", "INSERT INTO f.u VALUES " + wide,
                        "CREATE TABLE f.c (id DECIMAL(38,30))", "INSERT INTO f.c VALUES " + cents});
  postgres.run("CREATE TABLE d (id float8); INSERT INTO d VALUES " + doubles +
               ", ('nan'), ('inf'); CREATE TABLE u (id numeric); INSERT INTO u VALUES " + wide +
               ", ('nan'); CREATE TABLE c (id numeric); INSERT INTO c VALUES " + cents);
  const auto check = [&](const std::string& table, Type type, Ids expected) {
    for (const bool file : {true, false}) {
      if (!file && table == "u") expected.insert(expected.begin(), "-");
      const auto source = file ? open_files({{"t", folder.path("t.duckdb") + ":" + table}})
                               : open_postgres(postgres.uri());
      if (!file) postgres.run("ALTER TABLE " + table + " RENAME TO t");
      EXPECT_EQ(ids(*source, type), expected) << table << file;
      if (!file) postgres.run("ALTER TABLE t RENAME TO " + table);
    }
  };
  for (const Type type : {Type::kInteger, Type::kText})
    check("d", type, {"-", "-", "-", "-", "-", "-3", "1", "9007199254740991"});
  check("u", Type::kInteger, {"-", "-", "1", "9223372036854775807"});
  check("u", Type::kText,
        {"1", "9223372036854775807", "9223372036854775808", "9300000000000000001"});
  check("c", Type::kInteger, {"-", "-", "7"});
  const auto held =
      open_tables({{"t", Table({"id"}, {Column::of_reals(Type::kDecimal, {5, 0x1p53, 1.5})})}});
  EXPECT_EQ(ids(*held, Type::kInteger), (Ids{"-", "-", "5"}));
  EXPECT_ERROR(ids(*held, Type::kDouble), ErrorCode::kUnsupported);
}

TEST(ReadTable, ReadsTheNamedColumnsAndKnowsWhatIsMissing) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "id,x\n1,0.5\n2,abc\n")}});
  const Table table = read_table(*source, numbers_schema({}, {}), {"x"});
  EXPECT_EQ(table.names(), std::vector<std::string>{"x"});
  EXPECT_THAT(cells(table.columns()[0]), ::testing::UnorderedElementsAre("0.5", "-"));
  EXPECT_ERROR(read_table(*source, numbers_schema({}, {}), {"y"}), ErrorCode::kUnknownName);
  TableSchema schema = numbers_schema({}, {});
  schema.columns.push_back({"y", {}});
  EXPECT_ERROR(read_table(*source, schema), ErrorCode::kUnknownName);
}

}  // namespace
}  // namespace gauze
