#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gauze/data/files_test_internal.h"
#include "gauze/data/parquet/parquet_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/source.h"
#include "gauze/data/steward.h"
#include "gauze/data/table.h"
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
  EXPECT_EQ(source->unseen("t").rows, 0u);
}

/// A Parquet file of a SELECT in which some bytes have become others, as many.
std::string write_changed(const Folder& folder, const std::string& name, const std::string& select,
                          const std::vector<std::pair<std::string, std::string>>& changes) {
  const std::string path = folder.path(name);
  internal::run_duckdb(
      {"COPY (" + select + ") TO '" + path + "' (COMPRESSION uncompressed, FORMAT parquet)"});
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [from, to] : changes) {
    std::size_t replaced = 0;
    for (std::size_t at = 0; (at = bytes.find(from, at)) != std::string::npos; at += to.size()) {
      bytes.replace(at, to.size(), to);
      ++replaced;
    }
    EXPECT_GT(replaced, 0u);
  }
  return folder.write(name, bytes);
}

/// The same, in which each "secret__" has become bytes that are not UTF-8.
std::string write_bad_text(const Folder& folder, const std::string& name,
                           const std::string& select) {
  return write_changed(folder, name, select, {{"secret__", "secret\xff\xfe"}});
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
  EXPECT_EQ(source->unseen("t").rows, 0u);
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

// 2^62 milliseconds are more than any timestamp; the file's statistics alone made every question
// fail.
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
  EXPECT_EQ(source->unseen("t").rows, 0u);
  EXPECT_EQ(rows_of(*open_files({{"t", path}}), "SELECT t FROM t ORDER BY i LIMIT 1"),
            Lines{"01:02:03"});
}

/// What metadata say of times: of the local clock or UTC's, in milliseconds (1) or microseconds
/// (2).
testing::ThriftWriter time_annotation(bool utc, int unit) {
  using Writer = testing::ThriftWriter;
  return Writer().inside(8, Writer().flag(1, utc).inside(2, Writer().inside(unit, Writer())));
}

// Whatever the engine reads in a whole file is the same in a mended one: one time beyond all years,
// or one text that is none, moves nobody else's rows.
TEST(FileSource, OneValueOfParquetMovesNoTimeOfOthers) {
  const Folder folder;
  const std::string odd = testing::plain_bytes<std::int64_t>({662688000000});  // 1991
  const std::string beyond = testing::plain_bytes<std::int64_t>({INT64_MAX / 2 + 1});
  const std::string select =
      "SELECT row_number() OVER () AS i, CAST(t AS TIMESTAMP_MS) AS t, s FROM (SELECT "
      "make_timestamp(1000 * unnest([9000000000000000, 9000000000000001, 8999999999999999, "
      "9100000000000000, 9223372036854774, 9223372036854775, -9000000000000000, "
      "-9000000000000001, -8999999999999999, -9100000000000000, -9223372022400000, "
      "-9223372022400001, -9223372036854774, -9223372036854775, 0, NULL])) AS t, 'x' AS s UNION "
      "ALL VALUES (TIMESTAMP '1991-01-01', 'secret__'))";
  for (const bool utc : {false, true}) {
    const std::pair<std::string, std::string> zone = {time_annotation(false, 1).bytes(),
                                                      time_annotation(utc, 1).bytes()};
    const auto whole = open_files({{"t", write_changed(folder, "whole.parquet", select, {zone})}});
    const auto late =
        open_files({{"t", write_changed(folder, "late.parquet", select, {zone, {odd, beyond}})}});
    const auto broken = open_files({{"t", write_changed(folder, "broken.parquet", select,
                                                        {zone, {"secret__", "secret\xff\xfe"}})}});
    const Dialect& dialect = whole->dialect();
    const std::string text = dialect.convert("t", Type::kTimestamp, Type::kText);
    const std::string others = "SELECT CAST(i AS BIGINT), " + text +
                               ", CAST(epoch_us(t) AS BIGINT), " +
                               dialect.convert("t", Type::kTimestamp, Type::kInteger) + ", " +
                               dialect.convert(dialect.convert("t", Type::kTimestamp, Type::kDate),
                                               Type::kDate, Type::kText) +
                               " FROM t WHERE i < 17 ORDER BY i";
    const Lines rows = rows_of(*whole, others);
    ASSERT_EQ(rows.size(), 16u);
    for (Source* source : {late.get(), broken.get()}) {
      EXPECT_EQ(rows_of(*source, "SELECT count(*), count(" + text + "), count(s) FROM t").size(),
                1u);
      EXPECT_EQ(rows_of(*source, others), rows) << utc;
    }
    EXPECT_EQ(broken->broken_texts("t", "s"), 1u);
  }
}

// The engine takes the ends of 64 bits for infinities, unless statistics have them.
TEST(FileSource, OneTimeOfParquetMovesNoInfinityOfOthers) {
  const Folder folder;
  std::vector<std::int64_t> times = {INT64_MAX, -INT64_MAX, INT64_MAX / 1000, 0};
  const auto text = [&](bool utc) {
    const std::string file = testing::parquet_file(
        2, 0, {.rows = static_cast<int>(times.size()), .values = testing::plain_bytes(times)}, 9,
        {}, time_annotation(utc, 1));
    const auto source = open_files({{"t", folder.write("t.parquet", file)}});
    Lines rows =
        rows_of(*source, "SELECT " + source->dialect().convert("g", Type::kTimestamp, Type::kText) +
                             ", CAST(isinf(g) AS VARCHAR) FROM t");
    rows.resize(4);
    return rows;
  };
  const Lines local = text(false), utc = text(true);
  EXPECT_EQ(local[0], "infinity|true");
  EXPECT_EQ(local[1], "-infinity|true");
  EXPECT_EQ(utc[0], "-|-");
  times.push_back(INT64_MAX / 2 + 1);
  EXPECT_EQ(text(false), local);
  EXPECT_EQ(text(true), utc);
}

// One text that is none has all files mended: those in milliseconds are numbers then, those in
// microseconds times.
TEST(FileSource, TimesOfSeveralFilesOfParquetAreTheSameInMillisecondsAndMicroseconds) {
  const auto select = [](const std::string& type, const std::string& text) {
    return "SELECT i, CAST(make_timestamp(86400000000 * i) AS " + type +
           ") AS t, CASE i WHEN 4 "
           "THEN '" +
           text + "' ELSE 'x' END AS s FROM range(5) r(i)";
  };
  const Lines days = {"1970-01-01 00:00:00", "1970-01-01 00:00:00", "1970-01-02 00:00:00",
                      "1970-01-02 00:00:00", "1970-01-03 00:00:00", "1970-01-03 00:00:00",
                      "1970-01-04 00:00:00", "1970-01-04 00:00:00", "1970-01-05 00:00:00",
                      "1970-01-05 00:00:00"};
  for (const bool utc : {false, true}) {
    for (const bool milliseconds_first : {false, true}) {
      for (const bool in_milliseconds : {false, true}) {
        const Folder folder;
        const auto write = [&](const std::string& name, bool milliseconds) {
          const int unit = milliseconds ? 1 : 2;
          std::vector<std::pair<std::string, std::string>> changes = {
              {time_annotation(false, unit).bytes(), time_annotation(utc, unit).bytes()}};
          const bool bad = milliseconds == in_milliseconds;
          if (bad) changes.emplace_back("secret__", "secret\xff\xfe");
          write_changed(folder, name,
                        select(milliseconds ? "TIMESTAMP_MS" : "TIMESTAMP", bad ? "secret__" : "y"),
                        changes);
        };
        write("a.parquet", milliseconds_first);
        write("b.parquet", !milliseconds_first);
        internal::run_duckdb({"COPY (SELECT 7 AS z) TO '" + folder.path("c.parquet") + "'"});
        const auto source = open_files({{"t", folder.path("*.parquet")}});
        const std::string times = "SELECT " +
                                  source->dialect().convert("t", Type::kTimestamp, Type::kText) +
                                  " FROM t WHERE t IS NOT NULL ORDER BY 1";
        EXPECT_EQ(rows_of(*source, times), days);
        EXPECT_EQ(
            rows_of(*source, "SELECT count(*), count(s), min(s), CAST(max(z) AS BIGINT) FROM t"),
            Lines{"11|9|x|7"});
        EXPECT_EQ(rows_of(*source, times), days);
        EXPECT_EQ(source->broken_texts("t", "s"), 1u);
      }
    }
  }
}

TEST(FileSource, AnOddTimeInOneOfSeveralFilesOfParquetIsNeverAnError) {
  const Folder folder;
  write_changed(folder, "a.parquet",
                "SELECT unnest([TIMESTAMP_MS '1991-01-01', TIMESTAMP_MS '2000-01-01']) AS t",
                {{testing::plain_bytes<std::int64_t>({662688000000}),
                  testing::plain_bytes<std::int64_t>({INT64_MAX / 2 + 1})}});
  internal::run_duckdb(
      {"COPY (SELECT TIMESTAMP '2001-01-01' AS t) TO '" + folder.path("b.parquet") + "'"});
  const auto source = open_files({{"t", folder.path("*.parquet")}});
  EXPECT_EQ(
      rows_of(*source, "SELECT " + source->dialect().convert("t", Type::kTimestamp, Type::kText) +
                           " FROM t ORDER BY t LIMIT 2"),
      (Lines{"2000-01-01 00:00:00", "2001-01-01 00:00:00"}));
}

/// An integer in two's complement, the highest byte first.
std::string big_endian(const std::string& digits, std::size_t size) {
  std::string bytes(size, '\0');
  const bool negative = digits[0] == '-';
  const auto add = [&](unsigned times, unsigned carry) {
    for (std::size_t i = size; i-- > 0; carry >>= 8) {
      carry += times * static_cast<std::uint8_t>(bytes[i]);
      bytes[i] = static_cast<char>(carry & 255);
    }
  };
  for (std::size_t i = negative ? 1 : 0; i < digits.size(); ++i)
    add(10, static_cast<unsigned>(digits[i] - '0'));
  if (!negative) return bytes;
  for (char& each : bytes) each = static_cast<char>(~each);
  add(1, 1);
  return bytes;
}

/// The same as a decimal; the engine writes no zero before the point where the type has no room for
/// a digit there.
std::string decimal_text(std::string digits, const testing::TestDecimal& decimal) {
  const std::string sign = digits[0] == '-' ? "-" : "";
  const auto scale = static_cast<std::size_t>(decimal.scale);
  const std::size_t least = scale + (decimal.precision > decimal.scale ? 1 : 0);
  digits.erase(0, sign.size());
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - scale, ".");
  return sign + digits;
}

/// Decimals in bytes: of fixed size, or with as many as each value has where `decimal.size` is 0.
std::string decimal_file(const testing::TestDecimal& decimal, const Lines& values) {
  std::string all;
  for (const std::string& value : values) all += value;
  return testing::parquet_file(decimal.size > 0 ? 7 : 6, 0,
                               {.rows = static_cast<int>(values.size()),
                                .values = decimal.size > 0 ? all : testing::plain_texts(values)},
                               5, decimal);
}

// The engine would read bytes of the values behind short ones.
TEST(FileSource, DecimalsOfParquetWithMoreDigitsThanTheEngineHasAreNull) {
  const Folder folder;
  const auto source = open_files(
      {{"t", folder.write("t.parquet", decimal_file({40, 2, 0}, {"\1", "\2\3", "\1\1\1"}))}});
  EXPECT_EQ(source->columns("t")[0].type, Type::kDouble);
  EXPECT_EQ(rows_of(*source, "SELECT CAST(COUNT(*) AS BIGINT), CAST(COUNT(g) AS BIGINT) FROM t"),
            Lines{"3|0"});
}

// What a mended file gives for all other rows is what it gave before, whatever they hold. The
// engine would look for the sign of nothing in the size of the value behind it: it is -1 there
// before 200 bytes.
TEST(FileSource, DecimalsOfParquetWithoutBytesAreNullWhateverIsBehindThem) {
  const Folder folder;
  for (const int precision : {4, 9, 18, 38}) {
    for (const auto& [next, last] : std::vector<std::pair<std::string, std::string>>{
             {"\xff", "-1"}, {"\1", "1"}, {"", "-"}, {std::string(200, '\0'), "0"}}) {
      const auto source = open_files(
          {{"t", folder.write("t.parquet", decimal_file({precision, 0, 0}, {"\5", "", next}))}});
      const std::string select =
          "SELECT " + source->dialect().convert("g", Type::kDecimal, Type::kInteger) + " FROM t";
      EXPECT_THAT(rows_of(*source, select), ::testing::UnorderedElementsAre("5", "-", last));
      EXPECT_EQ(source->broken_texts("t", "g"), next.empty() ? 2u : 1u);
    }
  }
}

TEST(FileSource, DecimalsOfParquetBeyondTheirPrecisionAreNull) {
  const Folder folder;
  for (const testing::TestDecimal& decimal : std::vector<testing::TestDecimal>{{4, 2, 3},
                                                                               {4, 0, 0},
                                                                               {9, 9, 5},
                                                                               {9, 3, 0},
                                                                               {18, 2, 16},
                                                                               {18, 17, 0},
                                                                               {38, 5, 17},
                                                                               {38, 0, 0},
                                                                               {19, 1, 20},
                                                                               {38, 37, 40}}) {
    const auto precision = static_cast<std::size_t>(decimal.precision);
    const std::size_t held = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
    const std::size_t size = decimal.size > 0 ? static_cast<std::size_t>(decimal.size) : held;
    const std::string nines(precision, '9'), one = "1" + std::string(precision, '0');
    const std::string many =
        std::string("98765432109876543210987654321098765432").substr(0, precision);
    Lines values, expected;
    for (const std::string& digits : {std::string("0"), std::string("7"), std::string("-1"),
                                      std::string("-250"), nines, "-" + nines, many, "-" + many}) {
      values.push_back(big_endian(digits, size));
      expected.push_back(decimal_text(digits, decimal));
    }
    // One digit more than declared, the least that is held, and what seems to be -1 to the engine.
    values.push_back(big_endian(one, size));
    values.push_back(big_endian("-" + one, size));
    values.push_back(std::string(size - held, '\xff') + "\x80" + std::string(held - 1, '\0'));
    values.push_back(std::string(size - held, '\0') + std::string(held, '\xff'));
    expected.insert(expected.end(), {"-", "-", "-", decimal_text("-1", decimal)});
    if (decimal.size == 0) {
      values.push_back(big_endian("-3", 1));
      values.push_back(big_endian("3", 40));
      expected.push_back(decimal_text("-3", decimal));
      expected.push_back(decimal_text("3", decimal));
    }
    const auto whole =
        open_files({{"t", folder.write("whole.parquet", decimal_file(decimal, values))}});
    values.push_back("\1" + std::string(std::max(size, held + 1) - 1, '\2'));
    const auto broken =
        open_files({{"t", folder.write("broken.parquet", decimal_file(decimal, values))}});
    const Dialect& dialect = broken->dialect();
    const std::string select =
        "SELECT " + dialect.convert("g", Type::kDecimal, Type::kText) + ", CAST(" +
        dialect.convert("g", Type::kDecimal, Type::kDouble) + " AS VARCHAR), " +
        dialect.convert("g", Type::kDecimal, Type::kInteger) + " FROM t ORDER BY ALL";
    Lines before = rows_of(*whole, select), texts;
    for (const std::string& row : before) texts.push_back(row.substr(0, row.find('|')));
    EXPECT_THAT(texts, ::testing::UnorderedElementsAreArray(expected)) << precision;
    before.push_back("-|-|-");
    EXPECT_THAT(rows_of(*broken, select), ::testing::UnorderedElementsAreArray(before))
        << precision;
    EXPECT_EQ(whole->broken_texts("t", "g"), 3u);
    EXPECT_EQ(broken->broken_texts("t", "g"), 4u);
    EXPECT_EQ(broken->unseen("t").rows, 0u);
  }
}

// The engine reads eight bytes at a time, and takes the last of 17 for the first of eight.
TEST(FileSource, LongDecimalsOfParquetInBytesOfOneSizeAreNull) {
  const Folder folder;
  const auto source =
      open_files({{"t", folder.write("t.parquet",
                                     decimal_file({40, 2, 17}, {std::string(16, '\0') + '\5'}))}});
  EXPECT_EQ(rows_of(*source, "SELECT CAST(COUNT(*) AS BIGINT), CAST(COUNT(g) AS BIGINT) FROM t"),
            Lines{"1|0"});
}

// They were of bytes with signs: é is the least there. The engine takes it for the largest and
// passes over what lies between them, which is everything, as soon as somebody has z.
TEST(FileSource, OldStatisticsOfTextHideNoRow) {
  const Folder folder;
  for (const bool old : {true, false}) {
    const auto source = open_files(
        {{"t", folder.write("t.parquet",
                            testing::parquet_file(
                                6, 0, {.rows = 3, .values = testing::plain_texts({"é", "z", "é"})},
                                0, {0, 0, 0, old ? "é" : "z", old ? "z" : "é", old}))}});
    EXPECT_EQ(rows_of(*source, "SELECT count(*) FROM t WHERE g = 'é'"), Lines{"2"}) << old;
    EXPECT_EQ(rows_of(*source, "SELECT count(*) FROM t WHERE g = 'z'"), Lines{"1"}) << old;
  }
}

// Which pages the engine meets hangs on which rows a question is about: what it cannot read must
// show before.
TEST(FileSource, ParquetThatTheEngineDoesNotReadIsRefusedWhenItIsOpened) {
  const Folder folder;
  constexpr int kInteger32 = 1;
  const auto opened = [&](int codec, std::int64_t encoding) {
    std::string bytes = testing::parquet_file(
        kInteger32, codec, {.rows = 2, .values = testing::plain_bytes<std::int32_t>({1, 2})});
    const std::string plain = testing::ThriftWriter().numbers(2, {0, 3, 8}).bytes().substr(1, 4);
    const std::string other =
        testing::ThriftWriter().numbers(2, {encoding, 3, 8}).bytes().substr(1, 4);
    bytes.replace(bytes.rfind(plain), plain.size(), other);
    return open_files({{"t", folder.write("t.parquet", bytes)}});
  };
  constexpr int kPlain = 0, kDelta = 5, kDeltaBytes = 7, kSplit = 9, kLz4OfHadoop = 5;
  EXPECT_EQ(rows_of(*opened(0, kPlain), "SELECT CAST(g AS BIGINT) FROM t"), (Lines{"1", "2"}));
  EXPECT_EQ(rows_of(*opened(0, kDelta), "SELECT CAST(g AS BIGINT) FROM t"), (Lines{"1", "2"}));
  EXPECT_ERROR(opened(0, kSplit), ErrorCode::kUnsupported);
  EXPECT_ERROR(opened(0, kDeltaBytes), ErrorCode::kUnsupported);
  EXPECT_ERROR(opened(kLz4OfHadoop, kPlain), ErrorCode::kUnsupported);
}

// To the engine they are bytes, written with escapes, whatever else there is: repaired files are
// read alike.
TEST(FileSource, TextThatOnlyItsLogicalTypeNamesIsBytes) {
  const Folder folder;
  const auto rows = [&](int annotation, const std::string& first) {
    const auto source = open_files(
        {{"t", folder.write(
                   "t.parquet",
                   testing::parquet_file(
                       6, 0, {.rows = 2, .values = testing::plain_texts({first, "z"})}, annotation,
                       {}, testing::ThriftWriter().inside(1, testing::ThriftWriter())))}});
    return rows_of(*source, "SELECT g FROM t ORDER BY g DESC");
  };
  EXPECT_EQ(rows(0, "é"), (Lines{"é", "z"}));
  EXPECT_EQ(rows(-1, "é"), (Lines{"z", "\\xC3\\xA9"}));
  EXPECT_EQ(rows(0, "\xff"), (Lines{"z", "-"}));
  EXPECT_EQ(rows(-1, "\xff"), (Lines{"z", "\\xFF"}));
}

// In integers they are never too long to be read, but statistics were.
TEST(FileSource, StatisticsOfDecimalsBeyondTheirPrecisionAreNoError) {
  const Folder folder;
  const std::vector<std::int64_t> values = {150, 9999, -10000, 70000};
  const auto text = [](std::int64_t x) { return testing::plain_bytes<std::int64_t>({x}); };
  const auto write = [&](const char* name, const std::string& least, const std::string& most) {
    return folder.write(
        name, testing::parquet_file(2, 0, {.rows = 4, .values = testing::plain_bytes(values)}, 5,
                                    {4, 2, 0, least, most}));
  };
  for (const std::string& path :
       {write("a.parquet", "", ""), write("b.parquet", text(-10000), text(70000))}) {
    const auto source = open_files({{"t", path}});
    // 70000 = 2^16 + 4464
    EXPECT_THAT(
        rows_of(*source,
                "SELECT CAST(g AS VARCHAR) FROM t WHERE CAST(g AS DOUBLE) > 1 OR g IS NULL"),
        ::testing::UnorderedElementsAre("1.50", "99.99", "-", "44.64"));
    EXPECT_EQ(source->broken_texts("t", "g"), 1u);
  }
}

// The engine takes 65535 in three bytes for -1, as the most that a row has, too.
TEST(FileSource, StatisticsOfDecimalsBeyondTheirPrecisionHideNoRow) {
  const Folder folder;
  const Lines values = {big_endian("300", 3), big_endian("-5", 3), big_endian("65535", 3)};
  const auto source = open_files(
      {{"t", folder.write("t.parquet", decimal_file({4, 2, 3, values[1], values[2]}, values))}});
  EXPECT_EQ(rows_of(*source, "SELECT count(*) FROM t WHERE CAST(g AS DOUBLE) > 1"), Lines{"1"});
}

TEST(FileSource, DecimalsOfSeveralFilesOfParquetAreMended) {
  const testing::TestDecimal kind = {4, 2, 3};
  const std::string good = decimal_file(kind, {big_endian("150", 3)});
  const std::string bad = decimal_file(kind, {big_endian("150", 3), "\1\2\3"});
  const std::string select = "SELECT CAST(g AS VARCHAR) FROM t";
  const auto rows = [&](const std::string& first, const std::string& second) {
    const Folder folder;
    folder.write("a.parquet", first);
    folder.write("b.parquet", second);
    return rows_of(*open_files({{"t", folder.path("*.parquet")}}), select);
  };
  EXPECT_THAT(rows(good, bad), ::testing::UnorderedElementsAre("1.50", "1.50", "-"));
  const std::string integers = testing::parquet_file(
      1, 0, {.rows = 1, .values = testing::plain_bytes<std::int32_t>({150})}, 5, {4, 2});
  EXPECT_THAT(rows(good, integers), ::testing::UnorderedElementsAre("1.50", "1.50"));
  EXPECT_THAT(rows(integers, bad), ::testing::UnorderedElementsAre("1.50", "1.50", "-"));
  EXPECT_THAT(rows(bad, integers), ::testing::UnorderedElementsAre("1.50", "1.50", "-"));
  // The engine would not cast what has more digits than declared, as 123.45 has here.
  const std::string scaled = decimal_file({4, 1, 3}, {big_endian("12345", 3)});
  EXPECT_ERROR(rows(good, scaled), ErrorCode::kInvalidInput);
  EXPECT_ERROR(rows(scaled, good), ErrorCode::kInvalidInput);
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

/// What an error of this code says; nothing where there is none.
template <class Run>
std::string said(ErrorCode code, Run run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "";
}

// Whatever its rows hold and however it is packed: a question about the column ends in the same
// words, which name the way out, and the steward hears which column it is.
TEST(FileSource, ADamagedPageOfParquetEndsAQuestionInTheSameWords) {
  const Folder folder;
  const Schema schema = parse_schema(
      R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row", "columns": {
          "g": {"type": "integer", "lower": 0, "upper": 2}, "s": {"type": "text"}}}}})");
  std::string words, stewards;
  for (const std::string packing : {"uncompressed", "snappy", "gzip", "zstd", "lz4_raw"}) {
    for (const char* content : {"i % 3", "7777777"}) {
      const std::string path = folder.path("t.parquet");
      internal::run_duckdb({std::string("COPY (SELECT (") + content +
                            ")::BIGINT AS g, 'secret' || i AS s FROM range(5000) t(i)) TO '" +
                            path + "' (COMPRESSION " + packing + ")"});
      std::ifstream file(path, std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(file), {}};
      folder.write("t.parquet", bytes.replace(4, 16, 16, '\xff'));  // where the first page begins
      const auto source = open_files({{"t", path}});
      const std::string asked =
          said(ErrorCode::kIo, [&] { rows_of(*source, "SELECT CAST(sum(g) AS BIGINT) FROM t"); });
      const std::string checked =
          said(ErrorCode::kInvalidInput, [&] { check_schema(*source, schema); });
      if (words.empty()) words = asked;
      if (stewards.empty()) stewards = checked;
      EXPECT_EQ(asked, words) << packing;
      EXPECT_EQ(checked, stewards) << packing;
      EXPECT_EQ(rows_of(*source, "SELECT count(s) FROM t"), Lines{"5000"});
    }
  }
  EXPECT_THAT(words, ::testing::AllOf(HasSubstr("damaged"), HasSubstr("gauze schema check")));
  EXPECT_THAT(stewards, ::testing::AllOf(HasSubstr("'g'"), HasSubstr("damaged"),
                                         Not(HasSubstr("'s'")), Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace gauze
