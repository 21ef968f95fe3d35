#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "gauze/data/parquet_internal.h"
#include "gauze/data/parquet_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/test_files_internal.h"

namespace gauze::internal {
namespace {

using Counts = std::map<std::string, std::uint64_t>;
using testing::Folder;
using testing::rows_of;

/// By value, "-" for null; nothing where the reader leaves it to the engine.
std::optional<Counts> own_counts(const std::vector<std::string>& paths, const std::string& column,
                                 Type type, unsigned threads = 1) {
  const auto counted = count_parquet(paths, column, type, threads, {});
  if (!counted) return std::nullopt;
  Counts result;
  for (std::size_t i = 0; i < counted->counts.size(); ++i) {
    const std::string value =
        type == Type::kText ? counted->texts[i] : std::to_string(counted->integers[i]);
    result[value] += counted->counts[i];
  }
  if (counted->nulls > 0) result["-"] = counted->nulls;
  return result;
}

/// The engine's answer to the same question.
Counts counts_by_sql(Source& source, const std::string& column) {
  Counts result;
  for (const std::string& row :
       rows_of(source, "SELECT CAST(" + column + " AS VARCHAR), COUNT(*) FROM t GROUP BY 1"))
    result[row.substr(0, row.rfind('|'))] = std::stoull(row.substr(row.rfind('|') + 1));
  return result;
}

TEST(ParquetCounts, AreThoseOfTheEngine) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  for (const std::string rows : {"9", "3000", "150000"}) {
    for (const std::string options :
         {"COMPRESSION snappy", "COMPRESSION uncompressed, ROW_GROUP_SIZE 5000", "COMPRESSION zstd",
          "COMPRESSION gzip", "COMPRESSION lz4_raw",
          "PARQUET_VERSION v2, DICTIONARY_SIZE_LIMIT 100000"}) {
      run_duckdb(
          {"COPY (SELECT (hash(i) % 1000)::INT AS g, (hash(i + 1) % 3)::BIGINT - 1 AS l, "
           "CASE WHEN hash(i + 2) % 3 = 0 THEN NULL ELSE (hash(i + 3) % 70000)::INT END AS m, "
           "NULL::INT AS e, 7 AS one, (i // 1000)::INT AS r, "
           "CASE WHEN i % 11 = 0 THEN NULL ELSE 'täxt ' || (hash(i) % 40) END AS s "
           "FROM range(" +
           rows + ") t(i)) TO '" + path + "' (FORMAT parquet, " + options + ")"});
      const auto source = open_files({{"t", path}});
      std::size_t counted = 0;
      for (const char* column : {"g", "l", "m", "e", "one", "r", "s"}) {
        const Type type = *column == 's' ? Type::kText : Type::kInteger;
        const auto own = own_counts({path}, column, type);
        if (!own) continue;
        ++counted;
        EXPECT_EQ(*own, counts_by_sql(*source, column)) << column << rows << options;
      }
      EXPECT_GE(counted, rows == "9" ? 0u : 4u) << rows << options;
    }
  }
}

TEST(ParquetCounts, AreOfAllFilesAndForAnyNumberOfThreads) {
  const Folder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 3; ++i) {
    paths.push_back(folder.path("t" + std::to_string(i) + ".parquet"));
    run_duckdb({"COPY (SELECT (hash(i) % 100)::" + std::string(i == 1 ? "BIGINT" : "INT") +
                " AS g FROM range(800000) t(i)) TO '" + paths.back() + "'"});
  }
  const auto counts = own_counts(paths, "g", Type::kInteger);
  ASSERT_TRUE(counts);
  EXPECT_EQ(*counts, counts_by_sql(*open_files({{"t", folder.path("t*.parquet")}}), "g"));
  EXPECT_EQ(own_counts(paths, "g", Type::kInteger, 3), counts);
}

TEST(ParquetCounts, AreCancelledByWhoeverWatches) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  run_duckdb({"COPY (SELECT (i % 100)::INT AS g FROM range(4000000) t(i)) TO '" + path + "'"});
  const std::vector<std::string> many(600, path);  // takes far longer than a tick
  double last = -1;
  struct Enough {};
  EXPECT_THROW(count_parquet(many, "g", Type::kInteger, 2,
                             [&](double done) {
                               last = done;
                               throw Enough();
                             }),
               Enough);
  EXPECT_GT(last, 0);
  EXPECT_LT(last, 1);
}

TEST(ParquetCounts, LeaveToTheEngineWhatIsNotSimple) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  run_duckdb(
      {"COPY (SELECT (i % 5)::INT AS g, (i % 5)::TINYINT AS t, (i % 5)::UINTEGER AS u, "
       "(i % 5)::DOUBLE AS d, DATE '2020-01-01' + (i % 5)::INT AS day, [(i % 5)::INT] AS l, "
       "{'g': (i % 5)::INT} AS r, encode('x') AS b, (i % 2 = 0) AS f, i AS id FROM range(100000) "
       "t(i)) TO '" +
       path + "'"});
  EXPECT_TRUE(own_counts({path}, "g", Type::kInteger));
  for (const char* column : {"t", "u", "d", "day", "l", "r", "b", "f", "id", "G", "none"})
    EXPECT_FALSE(own_counts({path}, column, Type::kInteger)) << column;
  for (const char* column : {"b", "g", "l"})
    EXPECT_FALSE(own_counts({path}, column, Type::kText)) << column;
  EXPECT_FALSE(own_counts({folder.path("none.parquet")}, "g", Type::kInteger));
  run_duckdb({"COPY (SELECT 1 AS g) TO '" + path + "' (COMPRESSION brotli)"});
  EXPECT_FALSE(own_counts({path}, "g", Type::kInteger));
}

/// A nullable column `g` of integers, {7, -7, 9} in its dictionary, and one page of the second version. `codes` are packed bits,
/// least first.
std::string file_of_version_2(const std::string& levels, const std::string& codes, int rows,
                              int width = 2) {
  return testing::parquet_file(
      1, true, 0,
      {{.dictionary = true, .rows = 3, .values = testing::plain_bytes<std::int32_t>({7, -7, 9})},
       {.second = true,
        .coded = true,
        .rows = rows,
        .levels = levels,
        .values = static_cast<char>(width) + codes}});
}

// Ten rows: levels 1101111111 (a packed group, then a run of two); codes 2 0 1 2 0 1 2 0 packed and a run of one 2.
TEST(ParquetCounts, ReadPagesOfTheSecondVersion) {
  const Folder folder;
  const std::string levels("\x03\xfb\x04\x01", 4);
  const std::string codes("\x03\x92\x24\x02\x02", 5);
  const std::string path = folder.write("t.parquet", file_of_version_2(levels, codes, 10));
  EXPECT_EQ(own_counts({path}, "g", Type::kInteger),
            (Counts{{"7", 3}, {"-7", 2}, {"9", 4}, {"-", 1}}));
  EXPECT_EQ(counts_by_sql(*open_files({{"t", path}}), "g"),
            (Counts{{"7", 3}, {"-7", 2}, {"9", 4}, {"-", 1}}));
}

TEST(ParquetCounts, LeaveDamageToTheEngine) {
  const Folder folder;
  const std::string levels("\x14\x01", 2);
  const auto counted = [&](const std::string& bytes) {
    return own_counts({folder.write("t.parquet", bytes)}, "g", Type::kInteger).has_value();
  };
  EXPECT_TRUE(counted(file_of_version_2(levels, "\x14\x02", 10)));
  EXPECT_FALSE(counted(file_of_version_2(levels, "\x14\x03", 10)));  // no such code
  EXPECT_FALSE(counted(file_of_version_2(levels, "\x12\x02", 10)));  // codes for nine
  EXPECT_FALSE(
      counted(file_of_version_2(levels, "\x03\xff\xff\x04\x02", 10)));   // no such code, packed
  EXPECT_FALSE(counted(file_of_version_2("\x12\x01", "\x14\x02", 10)));  // levels for nine
  EXPECT_FALSE(counted(file_of_version_2(levels, "\x14\x02", 10, 30)));  // too wide
  // Whatever byte is another, nothing breaks, and no row is counted twice or made up.
  const std::string good = file_of_version_2(levels, "\x14\x02", 10);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {1, 16, 128, 255}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      const auto counts =
          count_parquet({folder.write("t.parquet", bad)}, "g", Type::kInteger, 1, {});
      if (!counts) continue;
      std::uint64_t rows = counts->nulls;
      for (const std::uint64_t each : counts->counts) rows += each;
      EXPECT_LE(rows, 1000u) << at << ' ' << flip;
    }
    count_parquet({folder.write("t.parquet", good.substr(0, at))}, "g", Type::kInteger, 1, {});
  }
}

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
  const InputFile none(folder.path("none"));
  EXPECT_FALSE(none.is_open());
  for (const std::string& bytes :
       {std::string(), std::string("PAR1"), std::string("PAR1PAR1"),
        std::string("\xff\xff\xff\x7fPAR1"), std::string("\1\0\0\0PARE", 8)}) {
    EXPECT_TRUE(parquet_footer(InputFile(folder.write("t", bytes))).empty());
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
