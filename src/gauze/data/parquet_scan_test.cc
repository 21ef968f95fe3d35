#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gauze/base/on_threads.h"
#include "gauze/data/pack_test_internal.h"
#include "gauze/data/parquet_internal.h"
#include "gauze/data/parquet_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/test_files_internal.h"

// Columns that Gauze reads by itself, beside what the engine makes of the same files.

namespace gauze::internal {
namespace {

using testing::Folder;
using testing::kPackings;
using testing::Packing;
using testing::parquet_file;
using testing::plain_bytes;
using testing::plain_texts;
using testing::rows_of;
using testing::TestPage;
using Columns = std::vector<ColumnInfo>;
using Lines = std::vector<std::string>;

/// What `rows_of` gives, sorted; of each stream on a thread of its own. Nothing where the engine must read.
std::optional<Lines> lines_of(std::vector<std::unique_ptr<Stream>> streams) {
  if (streams.empty()) return std::nullopt;
  std::vector<Lines> parts(streams.size());
  on_threads(static_cast<unsigned>(streams.size()), [&](unsigned i) {
    for (Batch batch; streams[i]->next(batch);) testing::append_rows(batch, parts[i]);
  });
  Lines lines;
  for (const Lines& part : parts) lines.insert(lines.end(), part.begin(), part.end());
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::optional<Lines> own_rows(const std::vector<std::string>& paths, const Columns& columns,
                              unsigned threads = 1) {
  try {
    return lines_of(
        scan_parquet(paths, columns, threads, std::make_shared<std::atomic<bool>>(true)));
  } catch (const MendedError&) {
    return std::nullopt;
  }
}

Lines engine_rows(const std::string& path, const Columns& columns) {
  std::string list;
  for (const ColumnInfo& column : columns) {
    const char* type = column.type == Type::kText     ? "VARCHAR"
                       : column.type == Type::kDouble ? "DOUBLE"
                                                      : "BIGINT";
    list += (list.empty() ? "CAST(" : ", CAST(") + column.name + " AS " + type + ")";
  }
  Lines lines = read_mended([&] {
    return rows_of(*open_files({{"t", path}}, {.threads = 1, .temp_directory = ""}),
                   "SELECT " + list + " FROM t");
  });
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Integers of both sizes, doubles with all that is no number, texts; few values and many, with nulls in various shares.
std::string hard_select(const std::string& rows) {
  const auto some = [](int salt, const std::string& value, int one_in) {
    return "CASE WHEN hash(i + " + std::to_string(salt) + ") % " + std::to_string(one_in) +
           " = 0 THEN NULL ELSE " + value + " END";
  };
  return "SELECT (hash(i) % 1000)::INT AS a, (hash(i + 1) % 9223372036854775807)::BIGINT AS b, " +
         some(2, "(hash(i + 3) % 70000)::INT", 3) + " AS c, " +
         some(4, "(hash(i + 5) % 1000000)::BIGINT", 500) +
         " AS d, ((hash(i + 6) % 100000) / 100.0)::DOUBLE AS e, " +
         some(7,
              "CASE hash(i + 8) % 7 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE WHEN 2 "
              "THEN -0.0::DOUBLE ELSE (hash(i) % 50) / 7.0 END",
              4) +
         " AS f, NULL::INT AS g, (i // 1000)::INT AS h, CASE WHEN i % 11 = 0 THEN NULL ELSE 'täxt "
         "' || (hash(i) % 40) END AS s, " +
         some(9, "hash(i)::VARCHAR || repeat('x', (hash(i) % 90)::INT)", 20) +
         " AS t, CASE WHEN i < 5000 THEN NULL ELSE i % 3 END AS n FROM range(" + rows + ") t(i)";
}

const Columns kHardColumns = {{"a", Type::kInteger}, {"b", Type::kInteger}, {"c", Type::kInteger},
                              {"d", Type::kInteger}, {"e", Type::kDouble},  {"f", Type::kDouble},
                              {"g", Type::kInteger}, {"h", Type::kInteger}, {"s", Type::kText},
                              {"t", Type::kText},    {"n", Type::kInteger}};

TEST(ParquetScan, GivesTheRowsOfTheEngine) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  const auto expect_same = [&](const std::string& rows, const std::string& options) {
    run_duckdb(
        {"COPY (" + hard_select(rows) + ") TO '" + path + "' (FORMAT parquet, " + options + ")"});
    const auto own = own_rows({path}, kHardColumns);
    ASSERT_TRUE(own) << rows << options;
    EXPECT_EQ(*own, engine_rows(path, kHardColumns)) << rows << options;
  };
  for (const Packing& packing : kPackings) {
    const std::string packed = std::string("COMPRESSION ") + packing.name;
    for (const char* rows : {"1", "9", "5000"}) expect_same(rows, packed);
    expect_same("12000", packed + ", ROW_GROUP_SIZE 5000");
    expect_same("40000", packed + ", DICTIONARY_SIZE_LIMIT 100000, ROW_GROUP_SIZE 20480");
    expect_same("20000", packed + ", DICTIONARY_SIZE_LIMIT 0");
  }
}

// Its second version has encodings that are not read here, for some columns.
TEST(ParquetScan, LeavesOtherEncodingsToTheEngine) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  run_duckdb({"COPY (" + hard_select("20000") + ") TO '" + path + "' (PARQUET_VERSION v2)"});
  std::size_t read = 0;
  for (const ColumnInfo& column : kHardColumns) {
    const auto own = own_rows({path}, {column});
    if (!own) continue;
    ++read;
    EXPECT_EQ(*own, engine_rows(path, {column})) << column.name;
  }
  EXPECT_GE(read, 3u);
  EXPECT_LT(read, kHardColumns.size());
  run_duckdb({"COPY (SELECT 1 AS g) TO '" + path + "' (COMPRESSION brotli)"});
  EXPECT_FALSE(own_rows({path}, {{"g", Type::kInteger}}));
}

TEST(ParquetScan, TakesColumnsOfItsTypesAlone) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  run_duckdb(
      {"COPY (SELECT i::INT AS g, i::TINYINT AS t, i::UINTEGER AS u, i::DOUBLE AS d, i::FLOAT AS "
       "f, DATE '2020-01-01' AS day, [i] AS l, {'g': i} AS r, encode('x') AS b, true AS o FROM "
       "range(10) t(i)) TO '" +
       path + "'"});
  const auto read = [&](const char* name, Type type) {
    return own_rows({path}, {{name, type}}).has_value();
  };
  EXPECT_TRUE(read("g", Type::kInteger));
  EXPECT_TRUE(read("d", Type::kDouble));
  for (const char* column : {"t", "u", "d", "f", "day", "l", "r", "b", "o", "G", "none"})
    EXPECT_FALSE(read(column, Type::kInteger)) << column;
  for (const char* column : {"g", "t", "f", "day", "l", "b"})
    EXPECT_FALSE(read(column, Type::kDouble)) << column;
  for (const char* column : {"g", "b", "l", "d"}) EXPECT_FALSE(read(column, Type::kText)) << column;
  EXPECT_FALSE(read("day", Type::kDate));
  EXPECT_FALSE(own_rows({folder.path("none.parquet")}, {{"g", Type::kInteger}}));
  EXPECT_FALSE(own_rows({path}, {}));
}

TEST(ParquetScan, SharesTheRowsOfAllFilesAmongThreads) {
  const Folder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 3; ++i) {
    paths.push_back(folder.path("t" + std::to_string(i) + ".parquet"));
    run_duckdb({"COPY (SELECT (hash(i) % 1000000)::" + std::string(i == 1 ? "BIGINT" : "INT") +
                " AS g, CASE WHEN i % 7 > 0 THEN (i % 10)::DOUBLE END AS y FROM range(300000) "
                "t(i)) TO '" +
                paths.back() + "'"});
  }
  const Columns columns = {{"y", Type::kDouble}, {"g", Type::kInteger}, {"y", Type::kDouble}};
  const auto rows = own_rows(paths, columns);
  ASSERT_TRUE(rows);
  EXPECT_EQ(*rows, engine_rows(folder.path("t*.parquet"), columns));
  EXPECT_EQ(own_rows(paths, columns, 3), rows);
  const auto readable = std::make_shared<std::atomic<bool>>(true);
  EXPECT_EQ(scan_parquet(paths, columns, 3, readable).size(), 3u);
  EXPECT_EQ(scan_parquet({paths[0]}, columns, 99, readable).size(), 2u);
  const auto streams = scan_parquet({paths[0]}, columns, 1, readable);
  EXPECT_EQ(streams[0]->progress(), 0);
  Batch batch;
  ASSERT_TRUE(streams[0]->next(batch));
  EXPECT_LE(batch.rows, 4096u);
  EXPECT_EQ(streams[0]->progress(), static_cast<double>(batch.rows) / 300'000);
}

// A dictionary that is given up, pages of both versions, packed and not: 7 -7 null 9, then 5 null, then 7 7 7.
TEST(ParquetScan, ReadsPagesOfEveryKindInOneChunk) {
  const Folder folder;
  const auto pages = [](const std::string& dictionary, const std::string& plain) {
    return std::vector<TestPage>{{.dictionary = true, .rows = 3, .values = dictionary},
                                 {.coded = true,
                                  .rows = 4,
                                  .levels = "\x03\x0b",
                                  .values = "\x02\x03"
                                            "\x24\x00"},
                                 {.second = true,
                                  .rows = 2,
                                  .levels = "\x02\x01\x02" + std::string(1, '\0'),
                                  .values = plain},
                                 {.second = true,
                                  .coded = true,
                                  .rows = 3,
                                  .levels = "\x06\x01",
                                  .values = std::string("\x01\x06\x00", 3)}};
  };
  const auto expect_both = [&](const std::string& bytes, Type type, const Lines& expected) {
    const std::string path = folder.write("t.parquet", bytes);
    const Columns columns = {{"g", type}};
    EXPECT_EQ(own_rows({path}, columns), expected);
    EXPECT_EQ(engine_rows(path, columns), expected);
  };
  for (const Packing& packing : kPackings) {
    const int codec = static_cast<int>(packing.codec);
    const auto pack = packing.pack;
    expect_both(
        parquet_file(1, true, codec,
                     pages(plain_bytes<std::int32_t>({7, -7, 9}), plain_bytes<std::int32_t>({5})),
                     -1, pack),
        Type::kInteger, {"-", "-", "-7", "5", "7", "7", "7", "7", "9"});
    expect_both(parquet_file(2, true, codec,
                             pages(plain_bytes<std::int64_t>({7, -7, 1LL << 40}),
                                   plain_bytes<std::int64_t>({INT64_MIN})),
                             -1, pack),
                Type::kInteger,
                {"-", "-", "-7", "-9223372036854775808", "1099511627776", "7", "7", "7", "7"});
    expect_both(
        parquet_file(5, true, codec,
                     pages(plain_bytes<double>({7, -7, 0.1}), plain_bytes<double>({HUGE_VAL})), -1,
                     pack),
        Type::kDouble, {"-", "-", "-7", "0.1", "7", "7", "7", "7", "inf"});
    // What is no text is null.
    expect_both(
        parquet_file(6, true, codec,
                     pages(plain_texts({"a", "\xff", "bc"}), plain_texts({"\xc3\xa4"})), 0, pack),
        Type::kText, {"-", "-", "-", "a", "a", "a", "a", "bc", "\xc3\xa4"});
    expect_both(parquet_file(6, true, codec,
                             pages(plain_texts({"a", "b", ""}), plain_texts({"\xc3"})), 0, pack),
                Type::kText, {"", "-", "-", "-", "a", "a", "a", "a", "b"});
  }
}

// A nullable column of which nothing is, and one that is not nullable.
TEST(ParquetScan, ReadsColumnsWithoutNulls) {
  const Folder folder;
  for (const bool nullable : {false, true}) {
    const std::string path = folder.write(
        "t.parquet",
        parquet_file(
            5, nullable, 0,
            {{.rows = 3, .levels = "\x06\x01", .values = plain_bytes<double>({1, 2, 3})}}));
    EXPECT_EQ(own_rows({path}, {{"g", Type::kDouble}}), (Lines{"1", "2", "3"}));
  }
}

// More than lies in memory at once: a dictionary that is wanted at the end, small pages, and one that is larger.
TEST(ParquetScan, ReadsChunksPieceByPiece) {
  const Folder folder;
  std::vector<TestPage> pages = {
      {.dictionary = true, .rows = 3, .values = plain_bytes<std::int64_t>({7, -7, 9})}};
  std::vector<std::int64_t> expected;
  for (const int rows : {9000, 1, 60'000, 70'000, 200'000, 13, 90'000}) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(rows));
    for (std::int64_t& value : values) {
      value = static_cast<std::int64_t>(expected.size() * 0x9e3779b97f4a7c15);
      expected.push_back(value);
    }
    pages.push_back({.rows = rows, .values = plain_bytes(values)});
    pages.push_back({.coded = true, .rows = 3, .values = std::string("\x02\x06\x01", 3)});
    expected.insert(expected.end(), 3, -7);
  }
  const std::string path = folder.write("t.parquet", parquet_file(2, false, 0, pages));
  const Columns columns = {{"g", Type::kInteger}};
  const auto streams = scan_parquet({path}, columns, 1, std::make_shared<std::atomic<bool>>(true));
  ASSERT_EQ(streams.size(), 1u);
  std::vector<std::int64_t> scanned;
  for (Batch batch; streams[0]->next(batch);) {
    const std::span<const std::int64_t> values = batch.columns[0].integers;
    scanned.insert(scanned.end(), values.begin(), values.end());
  }
  EXPECT_EQ(scanned, expected);

  std::vector<TestPage> texts = {
      {.dictionary = true, .rows = 2, .values = plain_texts({"a", "b"})}};
  Lines lines;
  for (char c = 'c'; c < 'p'; ++c) {
    const std::string text(200'000, c);
    texts.push_back({.rows = 1, .values = plain_texts({text})});
    texts.push_back({.coded = true, .rows = 2, .values = std::string("\x01\x04\x01", 3)});
    lines.insert(lines.end(), {text, "b", "b"});
  }
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(own_rows({folder.write("t.parquet", parquet_file(6, false, 0, texts, 0))},
                     {{"g", Type::kText}}),
            lines);
}

TEST(ParquetScan, LeavesDamageToTheEngine) {
  const Folder folder;
  const std::string levels("\x14\x01", 2);
  const auto read = [&](const TestPage& page, int entries = 3) {
    const std::string path = folder.write(
        "t.parquet",
        parquet_file(
            1, true, 0,
            {{.dictionary = true, .rows = entries, .values = plain_bytes<std::int32_t>({7, -7, 9})},
             page}));
    const auto readable = std::make_shared<std::atomic<bool>>(true);
    const Columns columns = {{"g", Type::kInteger}};
    try {
      const auto rows = lines_of(scan_parquet({path}, columns, 1, readable));
      EXPECT_TRUE(*readable);
      return rows.has_value();
    } catch (const MendedError&) {
      EXPECT_FALSE(*readable);
      EXPECT_TRUE(scan_parquet({path}, columns, 1, readable).empty());
      return false;
    }
  };
  const auto coded = [&](const std::string& codes, const std::string& given, int width = 2) {
    return TestPage{.second = true,
                    .coded = true,
                    .rows = 10,
                    .levels = given,
                    .values = static_cast<char>(width) + codes};
  };
  EXPECT_TRUE(read(coded("\x14\x02", levels)));
  EXPECT_FALSE(read(coded("\x14\x03", levels)));              // no such code
  EXPECT_FALSE(read(coded("\x03\xff\xff\x04\x02", levels)));  // the same, packed
  EXPECT_FALSE(read(coded("\x12\x02", levels)));              // codes for nine
  EXPECT_FALSE(read(coded("\x14\x02", "\x12\x01")));          // levels for nine
  EXPECT_FALSE(read(coded("\x14\x02", "\x14\x02")));          // a level beyond 1
  EXPECT_FALSE(read(coded("\x14\x02", levels, 30)));          // too wide
  EXPECT_FALSE(read(coded("\x14\x02", levels), 4));           // a dictionary that is cut off
  const auto plain = [&](std::size_t values) {
    return TestPage{
        .rows = 10, .levels = levels, .values = plain_bytes(std::vector<std::int32_t>(values, 5))};
  };
  EXPECT_TRUE(read(plain(10)));
  EXPECT_FALSE(read(plain(9)));
}

// Whatever byte is another: nothing breaks, and what is read is what the engine reads where it reads at all.
TEST(ParquetScan, GivesNoOtherRowsThanTheEngineWhateverIsDamaged) {
  const Folder folder;
  const std::string path = folder.path("t.parquet");
  for (const Packing& packing : kPackings) {
    run_duckdb(
        {"COPY (SELECT (i % 3)::INT AS a, CASE WHEN i % 5 > 0 THEN hash(i) / 1e19 END AS y, 'text "
         "' || "
         "(i % 4) AS s FROM range(40) t(i)) TO '" +
         path + "' (FORMAT parquet, COMPRESSION " + packing.name + ")"});
    const Columns columns = {{"a", Type::kInteger}, {"y", Type::kDouble}, {"s", Type::kText}};
    std::ifstream file(path, std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(file), {}};
    std::uint32_t footer = 0;
    std::memcpy(&footer, good.data() + good.size() - 8, sizeof footer);
    // Under a new name: a file system may write what takes another's place to the disk at once.
    std::size_t written = 0, compared = 0;
    const auto write = [&](const std::string& bytes) {
      std::filesystem::remove(folder.path("bad_" + std::to_string(written) + ".parquet"));
      return folder.write("bad_" + std::to_string(++written) + ".parquet", bytes);
    };
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const int flip : {1, 128, 255}) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        const std::string bad = write(bytes);
        const auto own = own_rows({bad}, columns);
        if (!own || at >= good.size() - 8 - footer || flip != 1 || at % 16 != 0) continue;
        Lines engine;
        try {
          engine = engine_rows(bad, columns);
        } catch (const Error&) {
          continue;
        }
        EXPECT_EQ(*own, engine) << at << ' ' << packing.name;
        ++compared;
      }
      if (at % 8 == 0) own_rows({write(good.substr(0, at))}, columns);
    }
    EXPECT_GT(compared, 4u) << packing.name;  // gzip has sums that find most damage
  }
}

}  // namespace
}  // namespace gauze::internal
