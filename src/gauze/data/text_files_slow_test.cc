#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "gauze/data/files_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/source.h"
#include "gauze/testing/matchers.h"

// Text files so large that an engine reads them in parts.

namespace gauze {
namespace {

using testing::Folder;
using testing::rows_of;
using Lines = std::vector<std::string>;

// What lies in a quoted cell is nobody's row, wherever a part of the file would begin: with a
// reader that has parts, one such cell on the border of two adds rows or takes others' away.
TEST(LargeTextFiles, OfCsvHaveNoRowsInCellsThatLookLikeRows) {
  const Folder folder;
  constexpr int kRows = 300'000;  // 43 MB
  for (const std::string& cell :
       {std::string("\"ab\nz1,10,q\nz2,10,q\nz3,10,") + std::string(100, 'x') + "\"",
        "\"\"\",10,\"\"\n" + std::string(120, 'y') + "\n\"\",10,\"\"\n\""}) {
    std::string rows = "u,v,s\n";
    for (int i = 0; i < kRows; ++i) rows += std::to_string(i) + ",1," + cell + "\n";
    const auto source = open_files({{"t", folder.write("t.csv", rows)}});
    EXPECT_EQ(rows_of(*source,
                      "SELECT count(*), count(DISTINCT u), CAST(sum(CAST(v AS BIGINT)) AS BIGINT), "
                      "count(DISTINCT s) FROM t"),
              Lines{"300000|300000|300000|1"});
  }
}

// A cell that is longer than the engine's buffers is left out with its row, and neither adds rows
// nor takes others away.
TEST(LargeTextFiles, OfCsvHaveNoRowsInVeryLongCells) {
  const Folder folder;
  std::string rows = "u,v,s\n";
  for (int i = 0; i < 30'000; ++i) {
    rows += std::to_string(i) + ",1,\"x\"\n";
    if (i != 15'000) continue;
    rows += "long,1, \"";
    while (rows.size() < 80'000'000) rows += "9999999,10,\"\"q\n";
    rows += "\"\n";
  }
  const auto expect_rows = [](const std::string& path) {
    const auto source = open_files({{"t", path}});
    EXPECT_EQ(rows_of(*source,
                      "SELECT count(*), count(DISTINCT u), CAST(sum(CAST(v AS BIGINT)) AS BIGINT) "
                      "FROM t"),
              Lines{"30000|30000|30000"});
    EXPECT_EQ(source->unseen("t").rows, 1u);
  };
  const std::string plain = folder.write("t.csv", rows), packed = folder.path("t.csv.gz");
  expect_rows(plain);
  internal::run_duckdb({"COPY (SELECT content FROM read_text('" + plain + "')) TO '" + packed +
                        "' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01')"});
  expect_rows(packed);
}

// A copy that was given up leaves nothing behind that is read later, whatever has taken its place:
// at whatever moment.
TEST(LargeTextFiles, OfCsvAreLookedThroughAgainAfterACancel) {
  const Folder folder;
  std::string filler(1000, 'x');
  for (const std::string part : {"1", "2"}) {
    std::filesystem::create_directory(folder.path("y=" + part));
    std::string rows = "u,s\n" + part + ",a\n0,\"" + std::string(3'000'000, 'b') + "\"\n";
    while (rows.size() < 17'000'000) rows += "0," + filler + "\n";
    folder.write("y=" + part + "/v.csv", rows);
  }
  const std::string other = folder.write("other.csv", "u,s\n7,x\n8,x\n");
  const std::string sql =
      "SELECT y, CAST(max(CAST(u AS BIGINT)) AS BIGINT) FROM v GROUP BY y ORDER BY y";
  const auto open = [&] { return open_files({{"v", folder.path("y=*/v.csv")}}); };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(rows_of(*open(), sql), (Lines{"1|1", "2|2"}));
  const auto whole = std::chrono::steady_clock::now() - begin;
  constexpr int kMoments = 12;
  for (int i = 1; i < kMoments; ++i) {
    const auto source = open();
    const auto stream = source->execute(sql);
    std::thread asking([&] {
      try {
        for (Batch batch; stream->next(batch);) continue;
      } catch (const Error&) {
      }
    });
    std::this_thread::sleep_for(whole * i / kMoments);
    stream->cancel();
    asking.join();
    const std::ifstream in_its_place(other);
    EXPECT_EQ(rows_of(*source, sql), (Lines{"1|1", "2|2"})) << i;
  }
}

TEST(LargeTextFiles, AreNotCopiedIntoAFolderThatIsAColumn) {
  const Folder folder;
  for (const char* part : {"y=1", "tmp=1"}) std::filesystem::create_directory(folder.path(part));
  const std::string path = folder.write("y=1/v.csv", "u\n1\n");
  SourceOptions options;
  options.temp_directory = folder.path("tmp=1");
  EXPECT_ERROR(open_files({{"v", path}}, options), ErrorCode::kInvalidInput);
}

/// The names of columns of a file that has other names behind its first line, asked several times:
/// threads differ in speed.
void expect_names(const std::string& path, const Lines& names) {
  for (int i = 0; i < 4; ++i) {
    Lines found;
    for (const ColumnInfo& column : open_files({{"t", path}})->columns("t"))
      found.push_back(column.name);
    EXPECT_EQ(found, names);
  }
}

TEST(LargeTextFiles, HaveTheNamesOfTheirFirstLine) {
  const Folder folder;
  const std::string packed = folder.path("t.csv.gz"), lines = folder.path("j.ndjson");
  internal::run_duckdb(
      {"COPY (SELECT i AS u, 'note of person ' || i AS s FROM range(800000) r(i)) TO '" + packed +
           "' (HEADER)",
       "COPY (SELECT CASE WHEN i < 1000 THEN '{\"u\":1,\"v\":2}' ELSE '{\"u\":1,\"secret\":2}' END "
       "FROM range(1500000) r(i)) TO '" +
           lines + "' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '|')"});
  expect_names(packed, {"u", "s"});
  expect_names(lines, {"u", "v"});
}

}  // namespace
}  // namespace gauze
