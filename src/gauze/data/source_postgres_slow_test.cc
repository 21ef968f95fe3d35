#include <gtest/gtest.h>

#include <algorithm>

#include "gauze/data/source.h"
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

}  // namespace
}  // namespace gauze
