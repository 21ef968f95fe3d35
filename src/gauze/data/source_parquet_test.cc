#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/data/test_files_internal.h"
#include "gauze/testing/matchers.h"

// What single values in Parquet may do to a question: nothing.

namespace gauze {
namespace {

using testing::Folder;
using testing::rows_of;
using Lines = std::vector<std::string>;
using ::testing::HasSubstr;
using ::testing::Not;

// Whatever a column of Parquet may hold.
TEST(FileSource, AnOddParquetRowIsNeverAnError) {
  const Folder folder;
  internal::run_duckdb(
      {"COPY (SELECT * FROM (VALUES ('infinity'::DATE, '-infinity'::TIMESTAMP, "
       "'infinity'::TIMESTAMPTZ, 'NaN'::DOUBLE, '\\xFF\\x00'::BLOB, chr(0) || 'x', "
       "170141183460469231731687303715884105727::HUGEINT), "
       "('5881580-07-10'::DATE, '294247-01-10 04:00:54'::TIMESTAMP, NULL, '-inf'::DOUBLE, NULL, "
       "NULL, "
       "NULL)) v(d, t, z, f, b, s, h)) TO '" +
       folder.path("t.parquet") + "'"});
  const auto source = open_files({{"t", folder.path("t.parquet")}});
  EXPECT_EQ(rows_of(*source,
                    "SELECT CAST(d AS VARCHAR), CAST(t AS VARCHAR), CAST(z AS VARCHAR), "
                    "CAST(f AS VARCHAR), b, s, CAST(h AS VARCHAR) FROM t")
                .size(),
            2u);
  EXPECT_EQ(source->broken_rows("t"), 0u);
}

/// A Parquet file of a SELECT in which each "secret__" has become bytes that are not UTF-8.
std::string write_bad_text(const Folder& folder, const std::string& name,
                           const std::string& select) {
  const std::string path = folder.path(name);
  internal::run_duckdb(
      {"COPY (" + select + ") TO '" + path + "' (COMPRESSION uncompressed, FORMAT parquet)"});
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::size_t replaced = 0;
  for (std::size_t at = 0; (at = bytes.find("secret__", at)) != std::string::npos; ++replaced)
    bytes.replace(at, 8, "secret\xff\xfe");
  EXPECT_GT(replaced, 0u);
  return folder.write(name, bytes);
}

TEST(FileSource, TextOfParquetThatIsNotUtf8IsNull) {
  const Folder folder;
  const std::string path = write_bad_text(
      folder, "t.parquet",
      "SELECT i, CASE WHEN i = 5 THEN 'secret__' WHEN i = 6 THEN NULL ELSE 'älpha' END AS n, "
      "'\\xFF'::BLOB AS b, ['secret__'] AS l, {'s': 'secret__'} AS r, "
      "('\"secret__\"')::JSON AS j, 1.5::DECIMAL(20, 2) AS d FROM range(9) t(i)");
  const auto source = open_files({{"t", path}});
  const auto before = source->columns("t");
  EXPECT_EQ(rows_of(*source, "SELECT count(*) FROM t WHERE i < 3"), Lines{"3"});
  EXPECT_EQ(rows_of(*source, "SELECT count(*), count(n), min(n) FROM t"), Lines{"9|7|älpha"});
  EXPECT_EQ(rows_of(*source, "SELECT CAST(i AS BIGINT) FROM t WHERE n = 'älpha' ORDER BY 1"),
            (Lines{"0", "1", "2", "3", "4", "7", "8"}));
  EXPECT_EQ(rows_of(*source, "SELECT min(b), count(j), min(CAST(d AS VARCHAR)) FROM t"),
            Lines{"\\xFF|0|1.50"});
  // Lists and structs are no columns: mended, they would be written otherwise in every row.
  for (const ColumnInfo& column : source->columns("t"))
    EXPECT_TRUE(column.name != "l" && column.name != "r");
  EXPECT_EQ(source->broken_rows("t"), 0u);
  EXPECT_EQ(source->broken_texts("t", "n"), 1u);
  EXPECT_EQ(source->broken_texts("t", "j"), 9u);
  EXPECT_EQ(source->broken_texts("t", "b"), 0u);
  EXPECT_EQ(open_files({{"t", path}})->broken_texts("t", "N"), 1u);
  EXPECT_EQ(source->columns("t").size(), before.size());
}

// The engine checks JSON as it reads it, and converts it otherwise than text.
TEST(FileSource, TextThatIsNoJsonInParquetIsTextLikeAnyOther) {
  const Folder folder;
  const auto write = [&](const char* name, const char* odd) {
    const std::string path = folder.path(name);
    internal::run_duckdb(
        {"COPY (SELECT i, CASE WHEN i < 3 THEN '\"5\"' WHEN i < 8 THEN '777' ELSE "
         "'\"odd\"' END::JSON AS j FROM range(9) t(i)) TO '" +
         path + "' (COMPRESSION uncompressed)"});
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t at = 0; (at = bytes.find("\"odd\"", at)) != std::string::npos; ++at)
      bytes.replace(at, 5, odd);
    folder.write(name, bytes);
    return open_files({{"t", path}});
  };
  const auto whole = write("a.parquet", "\"odd\"");
  const auto broken = write("b.parquet", "{\"od,");
  for (Source* source : {whole.get(), broken.get()}) {
    const std::string number = source->dialect().convert("j", Type::kText, Type::kInteger);
    EXPECT_EQ(
        rows_of(*source, "SELECT count(*), count(j), count(" + number + ") FROM t WHERE i < 8"),
        Lines{"8|8|5"});
    EXPECT_EQ(rows_of(*source, "SELECT count(j), count(" + number + "), min(j) FROM t"),
              Lines{"9|5|\"5\""});
  }
}

// 2^62 milliseconds are more than any timestamp; the file's statistics alone made every question fail.
TEST(FileSource, AnOddTimeInParquetIsNeverAnError) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  internal::run_duckdb(
      {"COPY (SELECT i, CASE i WHEN 0 THEN TIMESTAMP_MS '2020-02-02 01:02:03.004' WHEN 1 THEN "
       "TIMESTAMP_MS '1991-01-01' END AS ms, CASE i WHEN 1 THEN TIMESTAMP '1991-01-01' END AS us, "
       "CASE i WHEN 1 THEN TIME '07:08:09' ELSE TIME '01:02:03' END AS t, [CASE i WHEN 1 THEN TIME "
       "'07:08:09' END] AS l FROM range(3) t(i)) TO '" +
       path + "' (COMPRESSION uncompressed)"});
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto replace = [&](std::int64_t from, std::int64_t to) {
    const auto text = [](const std::int64_t& x) {
      return std::string(reinterpret_cast<const char*>(&x), sizeof x);
    };
    std::size_t found = 0;
    for (std::size_t at = 0; (at = bytes.find(text(from), at)) != std::string::npos; ++found)
      bytes.replace(at, sizeof to, text(to));
    EXPECT_GT(found, 0u) << from;
  };
  replace(662688000000, INT64_MAX / 2 + 1);
  replace(662688000000000, INT64_MIN);
  replace((7 * 3600 + 8 * 60 + 9) * std::int64_t{1'000'000}, INT64_MAX / 2 + 1);
  folder.write("t.parquet", bytes);
  const auto source = open_files({{"t", path}});
  EXPECT_EQ(rows_of(*source, "SELECT count(*), count(i) FROM t"), Lines{"3|3"});
  const Dialect& dialect = source->dialect();
  const auto text = [&](const char* column) {
    return dialect.convert(column, Type::kTimestamp, Type::kText);
  };
  EXPECT_EQ(rows_of(*source, "SELECT " + dialect.convert("ms", Type::kTimestamp, Type::kInteger) +
                                 ", " + text("us") + ", t FROM t ORDER BY i"),
            (Lines{"1580605323004000|-|01:02:03", "253402300799999999|-|-", "-|-|01:02:03"}));
  EXPECT_EQ(source->broken_rows("t"), 0u);
  EXPECT_EQ(rows_of(*open_files({{"t", path}}), "SELECT t FROM t ORDER BY i LIMIT 1"),
            Lines{"01:02:03"});
}

// Rows have come when the text is met: whoever reads begins again, and has every row once.
TEST(FileSource, AReaderBeginsAgainWhereTextIsMetLate) {
  const Folder folder;
  const std::string path = write_bad_text(folder, "t.parquet",
                                          "SELECT i, CASE WHEN i = 700000 THEN 'secret__' ELSE "
                                          "'alpha' END AS n FROM range(700001) t(i)");
  TableSchema schema;
  schema.name = "t";
  schema.columns = {{"i", {.type = Type::kInteger}}, {"n", {.type = Type::kText}}};
  const auto source = open_files({{"t", path}}, {.threads = 1, .temp_directory = ""});
  EXPECT_THROW(rows_of(*source, "SELECT CAST(i AS BIGINT), n FROM t"), MendedError);
  EXPECT_EQ(rows_of(*source, "SELECT n FROM t WHERE i >= 699999 ORDER BY i"),
            (Lines{"alpha", "-"}));
  const auto fresh = open_files({{"t", path}}, {.threads = 1, .temp_directory = ""});
  const Table table = read_table(*fresh, schema);
  EXPECT_EQ(table.rows(), 700'001u);
  std::int64_t sum = 0, nulls = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    sum += table.columns()[0].integers()[row];
    nulls += table.columns()[1].is_null(row) ? 1 : 0;
  }
  EXPECT_EQ(sum, std::int64_t{700'000} * 700'001 / 2);
  EXPECT_EQ(nulls, 1);
}

TEST(FileSource, SeveralFilesOfParquetAreMendedTogether) {
  const Folder folder;
  std::filesystem::create_directories(folder.path("k=1"));
  std::filesystem::create_directories(folder.path("k=2"));
  write_bad_text(folder, "k=1/t.parquet", "SELECT 'secret__' AS n, 1 AS a");
  internal::run_duckdb(
      {"COPY (SELECT 'x' AS n, 2 AS m) TO '" + folder.path("k=2/t.parquet") + "'"});
  write_bad_text(folder, "u.parquet", "SELECT 'secret__' AS n");
  const auto source =
      open_files({{"t", folder.path("k=*/t.parquet")}, {"u", folder.path("u.parquet")}});
  EXPECT_EQ(rows_of(*source,
                    "SELECT CAST(t.k AS VARCHAR), t.n, CAST(a AS BIGINT), CAST(m AS BIGINT), u.n "
                    "FROM t, u ORDER BY k"),
            (Lines{"1|-|1|-|-", "2|x|-|2|-"}));
}

TEST(FileSource, AFullDiskWhileMendingIsAnErrorLikeAnyOther) {
  const Folder folder;
  const std::string path = write_bad_text(folder, "t.parquet", "SELECT 'secret__' AS n");
  const auto source = open_files({{"t", path}});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  std::string message;
  try {
    rows_of(*source, "SELECT n FROM t");
  } catch (const Error& error) {
    message = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_THAT(message, ::testing::AllOf(HasSubstr("temporary folder"), Not(HasSubstr("secret"))));
  EXPECT_EQ(rows_of(*source, "SELECT n FROM t"), Lines{"-"});
}

}  // namespace
}  // namespace gauze
