#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gauze/data/schema.h"
#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/postgres_server.h"

namespace gauze {
namespace {

/// What a stream says of its progress, batch by batch.
std::vector<double> progress_of(Source& source, const std::string& sql) {
  const auto stream = source.execute(sql);
  std::vector<double> seen = {stream->progress()};
  for (Batch batch; stream->next(batch);) seen.push_back(stream->progress());
  return seen;
}

TEST(PostgresStream, TellsHowManyOfTheRowsThatThePlannerExpectsHaveCome) {
  const testing::PostgresServer server;
  server.run("CREATE TABLE t AS SELECT i::bigint AS x FROM generate_series(1, 100000) AS i");
  server.run("ANALYZE t");
  const auto source = open_postgres(server.uri());
  const std::vector<double> all = progress_of(*source, "SELECT x FROM public.t");
  EXPECT_EQ(all.front(), 0);
  EXPECT_NEAR(all.back(), 1, 0.01);
  EXPECT_NEAR(all[all.size() / 2], 0.5, 0.1);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  // Of a condition that it knows nothing of it expects a third to hold: then nobody knows how many
  // are to come.
  const std::vector<double> more = progress_of(*source, "SELECT x FROM public.t WHERE x % 2 < 5");
  EXPECT_GT(*std::max_element(more.begin(), more.end()), 0.5);
  EXPECT_EQ(more.back(), -1);
}

TEST(PostgresSource, TakesTheRelationThatHoldsATable) {
  const testing::PostgresServer server;
  server.run("CREATE SCHEMA hospital; CREATE SCHEMA mine");
  server.run("CREATE TABLE hospital.\"Visits\" (x bigint, of_hospital text)");
  server.run("CREATE TABLE mine.visits (x bigint); CREATE TABLE hospital.wards (x bigint)");
  const std::string own = server.uri() + "&options=-csearch_path%3Dmine";
  PostgresOptions options;
  options.relations["visits"] = "hospital.Visits";
  EXPECT_EQ(open_postgres(own, options)->columns("VISITS").size(), 2u);
  options.relations["visits"] = "hospital.nothing";
  EXPECT_ERROR(open_postgres(own, options)->columns("visits"), ErrorCode::kUnknownName);
  // Without a schema of the server it is where the path leads, or the only one in all of them.
  EXPECT_EQ(open_postgres(own)->columns("visits").size(), 1u);
  EXPECT_ERROR(open_postgres(own)->columns("wards"), ErrorCode::kUnknownName);
  options = {.relations = {}, .any_schema = true};
  EXPECT_EQ(open_postgres(own, options)->columns("wards").size(), 1u);
  server.run("CREATE TABLE mine.wards (x bigint)");
  EXPECT_ERROR(open_postgres(own, options)->columns("wards"), ErrorCode::kInvalidOption);
}

TEST(PostgresSource, SaysWhichDatabaseItIsByWhateverAddress) {
  const testing::PostgresServer server;
  const std::string one = open_postgres(server.uri())->database();
  EXPECT_EQ(open_postgres(server.uri() + "&application_name=other")->database(), one);
  std::string uri = server.uri();
  uri.replace(uri.find("/postgres"), 9, "/template1");
  EXPECT_NE(open_postgres(uri)->database(), one);
  server.run("CREATE USER ada");
  std::string ada = server.uri();
  ada.replace(ada.find("gauze@"), 5, "ada");
  EXPECT_EQ(open_postgres(ada)->database(), one);
}

TEST(PostgresSource, ReadsTablesThatStoreTheirRowsOnly) {
  const testing::PostgresServer server;
  server.run("CREATE TABLE t AS SELECT i::bigint AS x, i AS y FROM generate_series(1, 10) AS i");
  server.run("CREATE TABLE whole (x bigint) PARTITION BY RANGE (x)");
  server.run("CREATE TABLE part PARTITION OF whole FOR VALUES FROM (1) TO (9)");
  server.run("CREATE MATERIALIZED VIEW stored AS SELECT 1 / x AS x FROM t");
  // Whether a question fails would tell whether a row with x = 7 meets its condition.
  server.run("CREATE VIEW v AS SELECT 1 / (x - 7) AS x FROM t");
  server.run("CREATE EXTENSION IF NOT EXISTS file_fdw");
  server.run("CREATE SERVER files FOREIGN DATA WRAPPER file_fdw");
  server.run("CREATE FOREIGN TABLE f (x bigint) SERVER files OPTIONS (filename '/dev/null')");
  server.run("CREATE TABLE mixed (x bigint) PARTITION BY RANGE (x)");
  server.run(
      "CREATE FOREIGN TABLE far PARTITION OF mixed FOR VALUES FROM (1) TO (9) SERVER files OPTIONS "
      "(filename '/dev/null')");
  const auto source = open_postgres(server.uri());
  for (const char* table : {"t", "whole", "part", "stored"}) {
    EXPECT_EQ(source->columns(table).front().name, "x") << table;
  }
  for (const char* table : {"v", "f", "mixed"}) {
    EXPECT_ERROR(source->columns(table), ErrorCode::kUnsupported);
  }
  EXPECT_ERROR(source->columns("nothing"), ErrorCode::kUnknownName);
}

TEST(PostgresSource, NamesTypesThatAreNothingButText) {
  const testing::PostgresServer server;
  server.run("CREATE DOMAIN place AS point");
  server.run("CREATE TYPE mood AS ENUM ('good', 'bad')");
  server.run(
      "CREATE TABLE t (a bytea, b point, c place, d uuid, e time, f money, g interval, h bigint[], "
      "i int, j text, k mood, l jsonb, m numeric, n date, o varchar(3), p boolean, q char(2))");
  std::string foreign;
  for (const ColumnInfo& column : open_postgres(server.uri())->columns("t"))
    foreign += column.foreign_type + "|";
  // Without lists and jsonb, of which the text of one may be longer than any is.
  EXPECT_EQ(foreign,
            "bytea|point|point|uuid|time without time zone|money|interval|" + std::string(8, '|'));
}

Schema texts_schema(const std::string& columns) {
  return parse_schema(R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "id",
    "rows_per_unit": 1, "columns": {)" +
                      columns + "}}}}");
}

// Of one person's text nothing is too long, nor in a collation without patterns: whether a question
// fails would tell whose row it met.
TEST(PostgresSource, NoTextOfOnePersonEndsAQuestion) {
  const testing::PostgresServer server;
  server.run(
      "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = "
      "false)");
  server.run("CREATE TABLE t (id bigint, age text COLLATE ci, note text, raw bytea)");
  server.run(
      "INSERT INTO t VALUES (1, '41', 'short', 'a'), (2, '42', repeat('a', 140000000), "
      "convert_to(repeat('a', 2000000), 'UTF8'))");
  const auto source = open_postgres(server.uri());
  const Schema schema = texts_schema(
      R"("id": {"type": "integer"}, "age": {"type": "integer", "lower": 0, "upper": 99},
         "note": {"type": "text"}, "raw": {"type": "text"})");
  const Table rows = read_table(*source, schema.tables[0], {"id", "age", "note", "raw"});
  const std::size_t second = rows.column("id").integers()[0] == 2 ? 0 : 1;
  EXPECT_EQ(rows.column("age").integers()[second], 42);
  EXPECT_TRUE(rows.column("note").is_null(second));
  EXPECT_TRUE(rows.column("raw").is_null(second));
  EXPECT_FALSE(rows.column("note").is_null(1 - second));
  const std::string make = "psql -q '" + server.uri() +
                           "' -c \"CREATE DATABASE west ENCODING 'LATIN1' LC_COLLATE 'C' "
                           "LC_CTYPE 'C' TEMPLATE template0\"";
  ASSERT_EQ(std::system(make.c_str()), 0);
  std::string west = server.uri();
  west.replace(west.find("/postgres?"), 10, "/west?");
  EXPECT_ERROR(open_postgres(west), ErrorCode::kUnsupported);
}

// To the server 7 and 7.00 are one person.
TEST(PostgresSource, DecimalsThatAreEqualAreOneUnit) {
  const testing::PostgresServer server;
  server.run("CREATE TABLE t (id numeric)");
  server.run("INSERT INTO t VALUES (7), (7.0), (7.00), (70), (7.01), ('NaN')");
  const auto source = open_postgres(server.uri());
  const Table rows =
      read_table(*source, texts_schema(R"("id": {"type": "text"})").tables[0], {"id"});
  std::set<std::string> units;
  for (std::size_t i = 0; i < rows.rows(); ++i)
    if (!rows.column("id").is_null(i)) units.emplace(rows.column("id").text(i));
  EXPECT_EQ(units, (std::set<std::string>{"7", "70", "7.01"}));
}

// Functions that suit better than the server's own are nobody's choice, wherever the tables are
// found.
TEST(PostgresSource, CallsNothingThatOthersMade) {
  const testing::PostgresServer server;
  server.run("CREATE SCHEMA own");
  server.run("ALTER ROLE gauze SET search_path = own, public");
  server.run("CREATE TABLE own.t AS SELECT 1::bigint AS id, '2024-02-03'::text AS d");
  server.run("CREATE TABLE public.t AS SELECT 1::bigint AS id, '1999-02-03'::text AS d");
  server.run(
      "CREATE FUNCTION public.to_char(date, text) RETURNS text LANGUAGE plpgsql AS "
      "'BEGIN RAISE EXCEPTION ''called''; END'");
  const auto source = open_postgres(server.uri());
  // Two tables of one name on the path: which of them was meant?
  EXPECT_ERROR(source->columns("t"), ErrorCode::kInvalidOption);
  server.run("DROP TABLE public.t");
  const Table rows = read_table(
      *source, texts_schema(R"("id": {"type": "integer"}, "d": {"type": "date"})").tables[0],
      {"d"});
  ASSERT_EQ(rows.rows(), 1u);
  EXPECT_EQ(rows.column("d").integers()[0], parse_date("2024-02-03").days);
  server.run("ALTER ROLE gauze SET statement_timeout = 100");
  const auto slow = source->execute("SELECT count(pg_sleep(0.3))");
  Batch batch;
  EXPECT_TRUE(slow->next(batch));
}

// A price must not be reserved for rows that the user of the database may not read.
TEST(PostgresSource, KnowsWhatItsUserMayRead) {
  const testing::PostgresServer server;
  server.run("CREATE TABLE t (x bigint, y bigint)");
  server.run("CREATE TABLE own (x bigint)");
  server.run("CREATE ROLE ada LOGIN");
  server.run("ALTER TABLE own ENABLE ROW LEVEL SECURITY");
  server.run("GRANT SELECT ON own TO ada");
  const std::string uri = server.uri();
  std::string hers = uri;
  hers.replace(hers.find("gauze@"), 5, "ada");
  const auto asked = [&] { return open_postgres(hers); };
  EXPECT_ERROR(asked()->columns("t"), ErrorCode::kIo);
  server.run("GRANT SELECT (y) ON t TO ada");
  const auto columns = asked()->columns("t");
  ASSERT_EQ(columns.size(), 1u);
  EXPECT_EQ(columns[0].name, "y");
  EXPECT_EQ(open_postgres(uri)->columns("t").size(), 2u);
  EXPECT_ERROR(asked()->columns("own"), ErrorCode::kUnsupported);
  EXPECT_EQ(open_postgres(uri)->columns("own").size(), 1u);  // its owner's rows have no policy
}

}  // namespace
}  // namespace gauze
