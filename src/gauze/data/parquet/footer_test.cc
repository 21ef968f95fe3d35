#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gauze/data/files_test_internal.h"
#include "gauze/data/parquet/footer_internal.h"
#include "gauze/data/run_duckdb_internal.h"

namespace gauze::internal {
namespace {

using testing::Folder;
using testing::rows_of;

TEST(ParquetFooter, LosesItsTextsAndKeepsTheRest) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  run_duckdb(
      {"COPY (SELECT i AS a, 'x' || i AS s, ['y'] AS l, {'z': 'z', 'n': i} AS r, "
       "1.5::DECIMAL(18, 3) AS d, '1'::JSON AS j FROM range(1000) t(i)) TO '" +
       path + "' (ROW_GROUP_SIZE 500)"});
  TemporaryFile copy(folder.path(""));
  ASSERT_TRUE(copy_with_raw_columns(path, copy, false));
  const std::string changed = folder.path("changed.parquet");
  std::filesystem::copy_file(copy.path(), changed);
  const auto source = open_files({{"t", changed}});
  EXPECT_EQ(
      rows_of(*source,
              "SELECT CAST(sum(a) AS BIGINT), min(s), CAST(max(d) AS VARCHAR), min(j) FROM t"),
      std::vector<std::string>{"499500|x0|1.500|1"});
  std::vector<std::string> types;
  for (const std::string& row :
       rows_of(*source, "SELECT DISTINCT typeof(COLUMNS(*)) FROM read_parquet('" + changed + "')"))
    types.push_back(row);
  EXPECT_EQ(types, std::vector<std::string>{
                       "BIGINT|BLOB|BLOB[]|STRUCT(z BLOB, n BIGINT)|DECIMAL(18,3)|BLOB"});
}

TEST(ParquetFooter, ThatIsDamagedIsNoFooter) {
  const Folder folder;
  EXPECT_TRUE(parquet_footer(folder.path("none")).empty());
  EXPECT_TRUE(parquet_footer(folder.path("")).empty());
  for (const std::string& bytes :
       {std::string(), std::string("PAR1"), std::string("PAR1PAR1"),
        std::string("\xff\xff\xff\x7fPAR1"), std::string("\1\0\0\0PARE", 8)}) {
    EXPECT_TRUE(parquet_footer(folder.write("t", bytes)).empty());
  }
  const std::string deep(200, '\x1c');
  EXPECT_FALSE(with_raw_columns({reinterpret_cast<const std::uint8_t*>(deep.data()), deep.size()}));
  EXPECT_FALSE(with_raw_columns({}));
  // A field of number 2^63 - 1, and the next one.
  const std::string numbered = std::string("\x05\xfe") + std::string(8, '\xff') + "\x01\x02" +
                               std::string("\x15\x02\x00", 3);
  EXPECT_FALSE(
      with_raw_columns({reinterpret_cast<const std::uint8_t*>(numbered.data()), numbered.size()}));
}

}  // namespace
}  // namespace gauze::internal
