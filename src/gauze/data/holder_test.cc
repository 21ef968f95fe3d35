#include <gtest/gtest.h>

#include <filesystem>

#include "gauze/data/files_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/source.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::Folder;
using testing::rows_of;
using Lines = std::vector<std::string>;

// A file whose name looks like a pattern is that file, and no other that the pattern matches.
TEST(FileSource, ReadsTheFilesThatItFoundAndNoOther) {
  const Folder folder;
  for (const char* name : {"d[1]", "d1"}) std::filesystem::create_directory(folder.path(name));
  for (const std::string name : {"x[1]", "x1", "y*", "y2", "z?", "z3", "d[1]/v", "d1/v"}) {
    folder.write(name + ".csv", "a\n" + name + "\n");
    folder.write(name + ".ndjson", R"({"a": ")" + name + R"("})");
    internal::run_duckdb({"COPY (SELECT '" + name + "' AS a, 1.5::DECIMAL(9, 2) AS b) TO '" +
                          folder.path(name + ".parquet") + "'"});
  }
  for (const std::string name : {"x[1]", "y*", "z?", "d[1]/v"}) {
    for (const std::string ending : {"csv", "ndjson", "parquet"}) {
      const auto source = open_files({{"t", folder.path(name + "." + ending)}});
      EXPECT_EQ(source->files("t"), Lines{folder.path(name + "." + ending)});
      EXPECT_EQ(rows_of(*source, "SELECT a FROM t"), Lines{name}) << ending;
    }
  }
  // Nor are files that came later, whose first lines nobody has looked at.
  const auto source = open_files({{"t", folder.path("x*.csv")}});
  folder.write("x3.csv", "b\nx3\n");
  EXPECT_EQ(rows_of(*source, "SELECT a FROM t ORDER BY a"), (Lines{"x1", "x[1]"}));
}

TEST(FileSource, ColumnsThatAreFoldersTooAreRefused) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("a=7"));
  folder.write("a=7/t.csv", "A,b\n1,2\n");
  internal::run_duckdb({"COPY (SELECT 1 AS A) TO '" + folder.path("a=7/t.parquet") + "'"});
  for (const char* file : {"a=7/t.csv", "a=7/t.parquet"})
    EXPECT_ERROR(open_files({{"t", folder.path(file)}}), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
