#include <gtest/gtest.h>

#include <algorithm>

#include "gauze/data/source.h"
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
  const std::vector<double> all = progress_of(*source, "SELECT x FROM t");
  EXPECT_EQ(all.front(), 0);
  EXPECT_NEAR(all.back(), 1, 0.01);
  EXPECT_NEAR(all[all.size() / 2], 0.5, 0.1);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  // Of a condition that it knows nothing of it expects a third to hold: then nobody knows how many are to come.
  const std::vector<double> more = progress_of(*source, "SELECT x FROM t WHERE x % 2 < 5");
  EXPECT_GT(*std::max_element(more.begin(), more.end()), 0.5);
  EXPECT_EQ(more.back(), -1);
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
  EXPECT_EQ(foreign, "bytea|point|point|uuid|time without time zone|money|interval|bigint[]|" +
                         std::string(9, '|'));
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
