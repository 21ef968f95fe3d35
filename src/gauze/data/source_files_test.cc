#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "gauze/data/files_test_internal.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/source.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::Folder;
using testing::rows_of;
using Lines = std::vector<std::string>;
using ::testing::HasSubstr;
using ::testing::Not;

std::string message_of(const std::map<std::string, std::string>& tables) {
  try {
    open_files(tables);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(FileSource, ReadsCsvAsTextWithTheNamesOfTheFirstLine) {
  const Folder folder;
  const auto source =
      open_files({{"people", folder.write("people.csv",
                                          "\xef\xbb\xbfid, \"the \"\"age\"\"\" ,ward\n"
                                          "1,30,A\n2,,\"B,C\"\n3,\"\",\"D\nE\"\n")}});
  const auto columns = source->columns("PEOPLE");
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].name, "id");
  EXPECT_EQ(columns[2].name, "ward");
  for (const ColumnInfo& each : columns) {
    EXPECT_EQ(each.type, Type::kText);
    EXPECT_FALSE(each.typed);
  }
  EXPECT_EQ(rows_of(*source, "SELECT * FROM people ORDER BY id"),
            (Lines{"1|30|A", "2|-|B,C", "3|-|D\nE"}));
  EXPECT_ERROR(source->columns("persons"), ErrorCode::kUnknownName);
}

TEST(FileSource, ReadsATableFromSeveralPathsAndGlobs) {
  const Folder folder;
  const std::string a = folder.write("a.csv", "x\n1\n"), b = folder.write("b.csv", "x\n2\n");
  const std::string all = folder.write("c.csv", "x\n3\n");
  SourceOptions options;
  options.more_files["t"] = {b, all.substr(0, all.size() - 5) + "?.csv"};
  const auto source = open_files({{"t", a}}, options);
  EXPECT_EQ(rows_of(*source, "SELECT x FROM t ORDER BY x"), (Lines{"1", "2", "3"}));
  EXPECT_EQ(source->files("t").size(), 3u);
  options.more_files["t"] = {folder.write("d.json", "{\"x\": 4}\n")};
  EXPECT_ERROR(open_files({{"t", a}}, options), ErrorCode::kInvalidInput);
}

TEST(FileSource, ListsWhatAPathOrAGlobStandsFor) {
  const Folder folder;
  const std::string a = folder.write("a.csv", "x\n1\n"), b = folder.write("b.csv", "x\n2\n");
  const std::string stem = a.substr(0, a.size() - 5);
  EXPECT_EQ(list_files(a), Lines{a});
  EXPECT_EQ(list_files(stem + "*.csv"), (Lines{a, b}));
  EXPECT_EQ(list_files(stem + "*.parquet"), Lines{});
  EXPECT_EQ(list_files(stem + "no.csv"), Lines{});
  const std::string base = folder.write("base.duckdb", "");
  EXPECT_EQ(list_files(base + ":visits"), Lines{base});
}

TEST(FileSource, TheFirstLineAloneChoosesTheDelimiter) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "a;b\n1,2;3\n4,5;6\n,,,,;,,,\n")},
                                  {"u", folder.write("u.tsv", "a\tb\n1\t2,3\n")}});
  EXPECT_EQ(rows_of(*source, "SELECT a, b FROM t ORDER BY a"),
            (Lines{",,,,|,,,", "1,2|3", "4,5|6"}));
  EXPECT_EQ(rows_of(*source, "SELECT a, b FROM u"), (Lines{"1|2,3"}));
}

// Each kind of damage alone, in a file whose other rows must come through.
TEST(FileSource, ABrokenCsvRowIsNeverAnError) {
  const std::string damages[] = {"x",
                                 "x,y,z,w",
                                 "\"x\"y,z",
                                 "x\"y,z",
                                 "\"x\ny\",z",
                                 std::string("x\0y,z", 5),
                                 "\xff\xfe,\xc3",
                                 "",
                                 "\r",
                                 ",",
                                 "\\,\\n",
                                 std::string(3'000'000, 'x') + ",y"};
  for (const std::string& damage : damages) {
    const Folder folder;
    const auto source =
        open_files({{"t", folder.write("t.csv", "a,b\n1,2\n" + damage + "\n3,4\n")}});
    const Lines rows = rows_of(*source, "SELECT a, b FROM t");
    EXPECT_THAT(rows, ::testing::Contains("1|2")) << damage.substr(0, 20);
    EXPECT_THAT(rows, ::testing::Contains("3|4")) << damage.substr(0, 20);
  }
}

TEST(FileSource, ABrokenJsonLineIsNeverAnError) {
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string damages[] = {"x",
                                 "{",
                                 "{\"a\":\"x",
                                 "[1]",
                                 "3",
                                 "",
                                 "\r",
                                 "null",
                                 "{\"a\":\"\xff\xfe\",\"b\":\"\xc3\"}",
                                 std::string("{\"a\":\"x\0y\"}", 11),
                                 "{\"a\":\"x\x01y\"}",
                                 "{\"a\":\"\\ud800\"}",
                                 "{\"a\":1e999,\"a\":-}",
                                 "{\"a\":" + nested + "}",
                                 "{\"a\":\"" + std::string(40'000'000, 'x') + "\"}"};
  const Folder folder;
  std::map<std::string, std::string> tables;
  for (const std::string& damage : damages) {
    const std::string name = "t" + std::to_string(tables.size());
    tables[name] = folder.write(name + (tables.size() % 2 ? ".json" : ".ndjson"),
                                "{\"a\":1,\"b\":2}\n" + damage + "\n{\"a\":3,\"b\":4}\n");
  }
  const auto source = open_files(tables);
  for (const auto& [name, path] : tables) {
    const Lines rows = rows_of(*source, "SELECT a, b FROM " + name);
    EXPECT_THAT(rows, ::testing::Contains("1|2")) << name;
    EXPECT_THAT(rows, ::testing::Contains("3|4")) << name;
    EXPECT_LE(rows.size(), 3u) << name;
    source->unseen(name);
  }
}

// What is broken in a list is left out, as it is of lines; the steward hears of it.
TEST(FileSource, WhatIsBrokenInAListOfJsonIsLeftOut) {
  const std::string damages[] = {"{\"a\":\"secret",
                                 "{\"a\":\"secret\xff\"}]",
                                 "{\"a\":\"" + std::string(40'000'000, 's') + "ecret\"}]",
                                 "{\"a\":[1},{\"a\":",
                                 "7, {\"a\":\"\n",
                                 "[{\"a\":2}]]",
                                 "{]",
                                 "{\"a\":2",
                                 "{\"a\":}]",
                                 "\"x"};
  const std::uint64_t broken[] = {1, 1, 1, 2, 2, 1, 1, 1, 1, 1};
  const Folder folder;
  std::map<std::string, std::string> tables;
  SourceOptions options;
  for (const std::string& damage : damages) {
    const std::string name = "t" + std::to_string(tables.size());
    tables[name] = folder.write(name + ".json", "\n[ {\"a\":\n1} , " + damage);
    options.json_columns[name] = {"a"};
  }
  const auto source = open_files(tables, options);
  for (std::size_t i = 0; i < std::size(damages); ++i) {
    const std::string name = "t" + std::to_string(i);
    EXPECT_EQ(rows_of(*source, "SELECT a FROM " + name), Lines{"1"}) << i;
    EXPECT_EQ(source->unseen(name).rows, broken[i]) << i;
  }
}

TEST(FileSource, OpeningAListWithDeclaredColumnsReadsNoRow) {
  const Folder folder;
  const std::string path = folder.write("t.json", "[{\"a\":1}");
  const auto source =
      open_files({{"t", path}}, {.temp_directory = "", .json_columns = {{"t", {"a"}}}});
  folder.write("t.json", "[{\"a\":2}]");
  EXPECT_EQ(rows_of(*source, "SELECT a FROM t"), Lines{"2"});
}

TEST(FileSource, WhetherJsonIsAListIsSeenInItsFirstCharacter) {
  const Folder folder;
  const std::string long_text(20'000'000, 'x');
  for (const std::string& list :
       {std::string("\n  [\n{\"a\":1},\n{\"a\":2}]"),
        "[{\"a\":1,\"b\":\"" + long_text.substr(0, 9'000'000) + "\"},{\"a\":2,\"b\":\"" +
            long_text.substr(0, 9'000'000) + "\"}]"}) {
    const std::string path = folder.write("t.json", list);
    EXPECT_EQ(rows_of(*open_files({{"t", path}}), "SELECT a FROM t ORDER BY a"), (Lines{"1", "2"}));
    EXPECT_EQ(std::system(("gzip -nf " + path).c_str()), 0);
    EXPECT_ERROR(open_files({{"t", path + ".gz"}}), ErrorCode::kInvalidInput);
    EXPECT_THAT(message_of({{"t", path + ".gz"}}), HasSubstr(".ndjson.gz"));
  }
  folder.write("p1.json", "[{\"a\":1}]");
  folder.write("p2.json", "{\"a\":1}\n");
  EXPECT_ERROR(open_files({{"t", folder.path("p*.json")}}), ErrorCode::kInvalidInput);
  folder.write("p2.json", "[{\"a\":2}, {\"a\":3}]");
  EXPECT_EQ(rows_of(*open_files({{"t", folder.path("p*.json")}}), "SELECT a FROM t ORDER BY a"),
            (Lines{"1", "2", "3"}));
}

TEST(FileSource, CountsLinesOfJsonThatAreNoRows) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.ndjson",
                                                     "{\"a\":1}\nx\n\n[2]\n{\"a\":\"\xff\"}\n"
                                                     "{\"a\":3}\n")}});
  EXPECT_EQ(source->unseen("t").rows, 3u);
  EXPECT_EQ(rows_of(*source, "SELECT a FROM t ORDER BY a"), (Lines{"1", "3"}));
}

// A type that fits all names would change with one of them.
TEST(FileSource, ValuesInNamesOfFoldersAreText) {
  const Folder folder;
  for (const std::string day : {"2024-1-5", "2024-1-6"}) {
    std::filesystem::create_directories(folder.path("day=" + day));
    internal::run_duckdb({"COPY (SELECT 1 AS a) TO '" + folder.path("day=" + day) + "/t.parquet'"});
    folder.write("day=" + day + "/t.csv", "a\n1\n");
  }
  for (const std::string ending : {"parquet", "csv"}) {
    const auto source = open_files({{"t", folder.path("day=*/t." + ending)}});
    EXPECT_EQ(source->columns("t").at(1).type, Type::kText);
    EXPECT_EQ(rows_of(*source, "SELECT day FROM t ORDER BY 1"), (Lines{"2024-1-5", "2024-1-6"}));
  }
}

// Whatever a table is called, its lists become lines and its texts are mended.
TEST(FileSource, TablesMayHaveQuotesInTheirNames) {
  const Folder folder;
  const std::string name = "a\"b";
  const auto source = open_files({{name, folder.write("t.json", R"([{"a": 1}, {"a": 2}])")}});
  EXPECT_EQ(rows_of(*source, R"(SELECT count(*) FROM "a""b")"), Lines{"2"});
  EXPECT_EQ(open_files({{name, folder.path("t.json")}})->unseen(name).rows, 0u);
}

// Decimals that are equal are one person, however many digits they are stored with.
TEST(FileSource, DecimalsThatAreEqualAreOneUnit) {
  const Folder folder;
  internal::run_duckdb({"COPY (SELECT unnest([7, 70, 7.01])::DECIMAL(10, 2) AS id) TO '" +
                            folder.path("t.parquet") + "'",
                        "COPY (SELECT unnest([7, 70])::DECIMAL(10, 0) AS id) TO '" +
                            folder.path("u.parquet") + "'"});
  const auto source =
      open_files({{"t", folder.path("t.parquet")}, {"u", folder.path("u.parquet")}});
  const auto ids = [&](const char* table) {
    return rows_of(*source, "SELECT " +
                                source->dialect().identity("id", Type::kDecimal, Type::kText) +
                                " FROM " + table);
  };
  EXPECT_EQ(ids("t"), (Lines{"7", "70", "7.01"}));
  EXPECT_EQ(ids("u"), (Lines{"7", "70"}));
}

// Whole numbers of which one is missing are doubles as some programs write them: then they all
// would be.
TEST(FileSource, FilesOfParquetWithDifferentTypesAreRefused) {
  const Folder folder;
  const auto write = [&](const char* name, const char* sql) {
    internal::run_duckdb({"COPY (SELECT " + std::string(sql) + ") TO '" + folder.path(name) + "'"});
  };
  write("t1.parquet", "1::BIGINT AS a, 'x' AS s");
  write("t2.parquet", "1::SMALLINT AS A, 1.5::FLOAT AS f");
  EXPECT_EQ(rows_of(*open_files({{"t", folder.path("t*.parquet")}}),
                    "SELECT CAST(sum(a) AS BIGINT) FROM t"),
            Lines{"2"});
  write("t3.parquet", "1::DOUBLE AS a");
  EXPECT_ERROR(open_files({{"t", folder.path("t*.parquet")}}), ErrorCode::kInvalidInput);
  EXPECT_THAT(message_of({{"t", folder.path("t*.parquet")}}), HasSubstr("column 'a' is of type"));
  write("t3.parquet", "TIMESTAMP '2024-01-01' AS at");
  write("t4.parquet", "TIMESTAMPTZ '2024-01-01 00:00:00+02' AS at");
  EXPECT_ERROR(open_files({{"t", folder.path("t*.parquet")}}), ErrorCode::kInvalidInput);
}

// The engine casts whole files to a common type, and one row can be what it cannot cast: 'é' is no
// BLOB, 'unknown' no UUID and no JSON, 2^64 - 1 has too many digits. Lists are no columns, and
// would be as text.
TEST(FileSource, FilesOfParquetAreRefusedWhereOneValueCouldNotBeCast) {
  const Folder folder;
  const auto write = [&](const char* name, const std::string& sql) {
    internal::run_duckdb({"COPY (SELECT 1 AS y, " + sql + " AS x) TO '" + folder.path(name) + "'"});
  };
  const std::map<std::string, std::string> glob = {{"t", folder.path("t*.parquet")}};
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"'é'", "'a'::BLOB"},
      {"'unknown'", "uuid()"},
      {"'unknown'", "'{}'::JSON"},
      {"18446744073709551615::UBIGINT", "5::DECIMAL(38, 20)"},
      {"5::UBIGINT", "5::DECIMAL(4, 0)"},
      {"5::DECIMAL(5, 2)", "5::DECIMAL(4, 2)"},
      {"5::DECIMAL(30, 0)", "5::DECIMAL(30, 20)"},
      {"TIME '01:02:03'", "TIMETZ '01:02:03+00'"},
      {"'[a]'", "['a']"}};
  for (const auto& [x, y] : pairs) {
    for (const bool swapped : {false, true}) {
      write("t1.parquet", swapped ? y : x);
      write("t2.parquet", swapped ? x : y);
      EXPECT_ERROR(open_files(glob), ErrorCode::kInvalidInput);
      EXPECT_THAT(message_of(glob),
                  ::testing::AllOf(HasSubstr("column 'x' is of type "), HasSubstr(folder.path("t")),
                                   HasSubstr("; write them with the same types")));
    }
    for (const std::string& each : {x, y}) {
      write("t1.parquet", each);
      write("t2.parquet", each);
      EXPECT_NO_THROW(open_files(glob)) << each;
    }
  }
  write("t1.parquet", "'x'");
  write("t2.parquet", "'{}'::JSON");
  EXPECT_THAT(message_of(glob), HasSubstr("is of type VARCHAR in"));
}

TEST(FileSource, FilesOfParquetWithNumbersOfSeveralSizesAreRead) {
  const Folder folder;
  const auto read = [&](const std::string& x, const std::string& y) {
    internal::run_duckdb({"COPY (SELECT " + x + " AS x) TO '" + folder.path("t1.parquet") + "'",
                          "COPY (SELECT " + y + " AS x) TO '" + folder.path("t2.parquet") + "'"});
    return rows_of(*open_files({{"t", folder.path("t*.parquet")}}),
                   "SELECT CAST(x AS VARCHAR) FROM t ORDER BY t.x");
  };
  for (const char* wide : {"(-9223372036854775808)::BIGINT", "(-128)::TINYINT"}) {
    EXPECT_EQ(read(wide, "4294967295::UINTEGER").back(), "4294967295");
    EXPECT_EQ(read("255::UTINYINT", wide).back(), "255");
  }
  EXPECT_EQ(read("(-2147483648)::INTEGER", "4294967295::UINTEGER"),
            (Lines{"-2147483648", "4294967295"}));
  EXPECT_EQ(read("0.5::FLOAT", "0.1::DOUBLE"), (Lines{"0.1", "0.5"}));
}

// Steps of a quarter in [-2, 100]: ties go to even, null and NaN do not count or count as 3.
TEST(FileSource, AddsUpDoublesInSteps) {
  const Folder folder;
  const auto source =
      open_files({{"t", folder.write("t.csv",
                                     "g,x\na,1\na,0.3\na,0.125\na,0.375\na,nan\na,\na,-inf\n"
                                     "b,1e300\nb,-0.25\nc,nan\n")}});
  const auto sums = [&](const StepSum& sum) {
    const std::string name = source->step_sum(sum);
    EXPECT_EQ(source->step_sum(sum), name);
    return rows_of(*source, "SELECT g, s.high, s.low, s.n FROM (SELECT g, " + name +
                                "(CAST(x AS DOUBLE)) AS s FROM t GROUP BY g) ORDER BY g");
  };
  // 4 + 1 + 0 + 2 - 8 and 400 - 1
  EXPECT_EQ(sums({-2, 100, -2, std::nullopt}), (Lines{"a|-1|-1|5", "b|0|399|2", "c|0|0|0"}));
  EXPECT_EQ(sums({-2, 100, -2, 3}), (Lines{"a|0|23|7", "b|0|399|2", "c|0|12|1"}));
  EXPECT_EQ(sums({-2, 100, 0, std::nullopt}), (Lines{"a|-1|-1|5", "b|0|100|2", "c|0|0|0"}));
}

TEST(FileSource, SumsInStepsHave128Bits) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "x\n1\n")}});
  const std::string name = source->step_sum({-1, 1, -50, std::nullopt});
  const auto sum = [&](const char* x) {
    return rows_of(*source, "SELECT s.high, s.low, s.n FROM (SELECT " + name + "(" + x +
                                ") AS s FROM range(20000) AS r(i))");
  };
  // 20,000 times 2^50 is 2^64 + 3616 2^50
  const std::string low = std::to_string(std::int64_t{3616} << 50);
  EXPECT_EQ(sum("CAST(1 AS DOUBLE)"), Lines{"1|" + low + "|20000"});
  EXPECT_EQ(sum("CAST(-1 AS DOUBLE)"), Lines{"-2|-" + low + "|20000"});
  EXPECT_EQ(sum("CAST(CASE i % 2 WHEN 0 THEN 1 ELSE -1 END AS DOUBLE)"), Lines{"0|0|20000"});
}

TEST(FileSource, NamesWithZeroBytesAreNoNames) {
  const Folder folder;
  const std::string utf16(
      "\xff\xfe"
      "a\0,\0b\0\n\0",
      10);
  EXPECT_THAT(message_of({{"t", folder.write("t.csv", utf16)}}), HasSubstr("name the columns"));
}

TEST(FileSource, AnUnfinishedQuoteIsNoError) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "a,b\n1,2\n\"x,y\n3,4\n")}});
  EXPECT_THAT(rows_of(*source, "SELECT a, b FROM t"), ::testing::Contains("1|2"));
}

TEST(FileSource, ReadsCompressedFilesGlobsJsonAndParquet) {
  const Folder folder;
  folder.write("part1.csv", "a,b\n1,x\n");
  folder.write("part2.csv", "a,b\n2,y\n");
  const std::string rows = "(SELECT * FROM (VALUES (1, 'x'), (2, 'y')) t(a, b))";
  internal::run_duckdb(
      {"COPY " + rows + " TO '" + folder.path("z.csv.gz") + "' (HEADER, COMPRESSION gzip)",
       "COPY " + rows + " TO '" + folder.path("z.csv.zst") + "' (HEADER, COMPRESSION zstd)",
       "COPY " + rows + " TO '" + folder.path("z.parquet") + "'",
       "COPY " + rows + " TO '" + folder.path("z.ndjson") + "'",
       "COPY " + rows + " TO '" + folder.path("z.json") + "' (ARRAY true)",
       "COPY " + rows + " TO '" + folder.path("z.json.gz") + "' (COMPRESSION gzip)",
       "ATTACH '" + folder.path("z.duckdb") + "' AS z",
       "CREATE TABLE z.letters AS SELECT * FROM " + rows, "DETACH z"});
  for (const char* name : {"part*.csv", "z.csv.gz", "z.csv.zst", "z.parquet", "z.ndjson", "z.json",
                           "z.json.gz", "z.duckdb:letters"}) {
    const auto source = open_files({{"t", folder.path(name)}});
    EXPECT_EQ(rows_of(*source, "SELECT CAST(a AS VARCHAR), b FROM t ORDER BY a"),
              (Lines{"1|x", "2|y"}))
        << name;
    EXPECT_EQ(source->columns("t")[0].typed, name[2] == 'p' || name[2] == 'd') << name;
  }
  EXPECT_EQ(
      rows_of(*open_files({{"letters", folder.path("z.duckdb")}}), "SELECT count(*) FROM letters"),
      Lines{"2"});
  EXPECT_ERROR(open_files({{"numbers", folder.path("z.duckdb")}}), ErrorCode::kUnknownName);
}

TEST(FileSource, NamesOfPackedFilesKeepTheirLetters) {
  const Folder folder;
  internal::run_duckdb({"COPY (SELECT 'ä' AS \"größe €\", 1 AS \"ÿ\") TO '" +
                        folder.path("z.csv.gz") + "' (HEADER, COMPRESSION gzip)"});
  const auto source = open_files({{"t", folder.path("z.csv.gz")}});
  EXPECT_EQ(source->columns("t")[0].name, "größe €");
  EXPECT_EQ(source->columns("t")[1].name, "ÿ");
  EXPECT_EQ(rows_of(*source, "SELECT * FROM t"), Lines{"ä|1"});
}

TEST(FileSource, ARowOfAPackedFileNeverNamesTheColumns) {
  const Folder folder;
  const auto packed = [&](const char* name, const std::string& bytes) {
    folder.write(name, bytes);
    const std::string path = folder.path(name);
    EXPECT_EQ(std::system(("gzip -n " + path).c_str()), 0);
    return path + ".gz";
  };
  const std::string bad_names = packed("names.csv", "\xff,b\nsecret,1\n");
  EXPECT_ERROR(open_files({{"t", bad_names}}), ErrorCode::kInvalidInput);
  EXPECT_THAT(message_of({{"t", bad_names}}), Not(HasSubstr("secret")));
  const auto source = open_files({{"t", packed("row.csv", "a,b\n\xff,1\n2,3\n")}});
  EXPECT_EQ(source->columns("t")[0].name, "a");
  EXPECT_EQ(rows_of(*source, "SELECT a, b FROM t"), Lines{"2|3"});
}

TEST(FileSource, ALineOfJsonThatIsNoObjectIsDropped) {
  const Folder folder;
  const std::string path = folder.write(
      "t.ndjson",
      "{\"a\":1,\"b\":\"x\"}\nbroken{\n[1]\n3\n\n{\"b\":null}\n{\"a\":NaN,\"b\":{\"c\":1}}\n");
  EXPECT_EQ(rows_of(*open_files({{"t", path}}), "SELECT a, b FROM t ORDER BY b, a"),
            (Lines{"1|x", "NaN|{\"c\":1}", "-|-"}));
}

// Names in rows are no catalogue: what the steward declared is there, also when no row has it.
TEST(FileSource, JsonHasTheColumnsThatWereDeclared) {
  const Folder folder;
  const std::string path = folder.write("t.ndjson", "{\"secret\":1}\n");
  const auto source =
      open_files({{"t", path}}, {.temp_directory = "", .json_columns = {{"t", {"a"}}}});
  ASSERT_EQ(source->columns("t").size(), 1u);
  EXPECT_EQ(rows_of(*source, "SELECT a FROM t"), Lines{"-"});
}

TEST(FileSource, TypesComeFromTheCatalogue) {
  const Folder folder;
  internal::run_duckdb(
      {"COPY (SELECT true AS b, 1::SMALLINT AS i, 1::UBIGINT AS u, 1.5::DECIMAL(9,2) AS d, "
       "1::FLOAT "
       "AS f, 'x' "
       "AS t, DATE '2024-01-01' AS day, TIMESTAMP '2024-01-01' AS at, TIMESTAMPTZ '2024-01-01 "
       "00:00:00+02' AS "
       "tz, [1,2] AS l, 1::HUGEINT AS h, TIMESTAMP_NS '2024-01-01 00:00:01' AS ns) TO '" +
       folder.path("t.parquet") + "'"});
  const auto source = open_files({{"t", folder.path("t.parquet")}});
  std::vector<Type> types;
  for (const ColumnInfo& each : source->columns("t")) types.push_back(each.type);
  EXPECT_EQ(types,
            (std::vector<Type>{Type::kBoolean, Type::kInteger, Type::kDecimal, Type::kDecimal,
                               Type::kDouble, Type::kText, Type::kDate, Type::kTimestamp,
                               Type::kTimestamp, Type::kDouble, Type::kTimestamp}));  // no list
  EXPECT_EQ(rows_of(*source, "SELECT CAST(tz AS VARCHAR), CAST(ns AS VARCHAR) FROM t"),
            Lines{"2023-12-31 22:00:00|2024-01-01 00:00:01"});
}

// As numbers they would all be null, and nobody would know why.
TEST(FileSource, BytesAndTheLikeAreNothingButText) {
  const Folder folder;
  internal::run_duckdb(
      {"ATTACH '" + folder.path("z.duckdb") + "' AS z",
       "CREATE TABLE z.t AS SELECT 'ab'::BLOB AS bytes, uuid() AS id, INTERVAL 1 DAY AS days, "
       "TIME '12:00' AS hour, '101'::BIT AS bits, '7'::ENUM ('7', '8') AS few, '7' AS text"});
  const auto source = open_files({{"t", folder.path("z.duckdb")}});
  for (const std::string name : {"bytes", "id", "days", "hour", "bits", "few", "text"}) {
    const auto read = [&](Type type) {
      TableSchema schema;
      schema.name = "t";
      schema.columns = {{name, {.type = type}}};
      return read_table(*source, schema, {}).rows();
    };
    EXPECT_EQ(read(Type::kText), 1u);
    if (name == "few" || name == "text") {
      EXPECT_EQ(read(Type::kInteger), 1u);
      continue;
    }
    for (const Type type : {Type::kInteger, Type::kDouble, Type::kTimestamp, Type::kBoolean}) {
      SCOPED_TRACE(name);
      EXPECT_ERROR(read(type), ErrorCode::kUnsupported);
    }
  }
}

// Whether a question fails would tell whether somebody with x meets its condition.
TEST(FileSource, ViewsInFilesOfDuckDbAreRefused) {
  const Folder folder;
  internal::run_duckdb({"ATTACH '" + folder.path("z.duckdb") + "' AS z",
                        "CREATE TABLE z.t AS SELECT 'x' AS s",
                        "CREATE VIEW z.v AS SELECT CAST(s AS INTEGER) AS k FROM z.t"});
  EXPECT_EQ(open_files({{"t", folder.path("z.duckdb")}})->columns("t").size(), 1u);
  EXPECT_ERROR(open_files({{"v", folder.path("z.duckdb")}}), ErrorCode::kUnsupported);
  EXPECT_ERROR(open_files({{"x", folder.path("z.duckdb") + ":V"}}), ErrorCode::kUnsupported);
}

TEST(FileSource, ComputedColumnsInFilesOfDuckDbAreRefused) {
  const Folder folder;
  internal::run_duckdb({"ATTACH '" + folder.path("z.duckdb") + "' AS z",
                        "CREATE TABLE z.t (s VARCHAR, n INTEGER GENERATED ALWAYS AS (CAST(s AS "
                        "INTEGER)))",
                        "CREATE TABLE z.plain (s VARCHAR DEFAULT 'x')"});
  EXPECT_ERROR(open_files({{"t", folder.path("z.duckdb")}}), ErrorCode::kUnsupported);
  EXPECT_EQ(open_files({{"plain", folder.path("z.duckdb")}})->columns("plain").size(), 1u);
}

TEST(FileSource, AFolderDoesNotTakeThePlaceOfAColumn) {
  const Folder folder;
  for (const char* name : {"n=7", "m=7"}) std::filesystem::create_directory(folder.path(name));
  for (const char* file : {"n=7/t.parquet", "m=7/t.parquet"})
    internal::run_duckdb({"COPY (SELECT 3 AS n) TO '" + folder.path(file) + "'"});
  EXPECT_ERROR(open_files({{"t", folder.path("n=7/t.parquet")}}), ErrorCode::kInvalidInput);
  EXPECT_EQ(open_files({{"t", folder.path("m=7/t.parquet")}})->columns("t").size(), 2u);
}

TEST(FileSource, SaysWhichFileIsNotThere) {
  EXPECT_ERROR(open_files({{"t", "nowhere/people.csv"}}), ErrorCode::kIo);
  EXPECT_THAT(message_of({{"t", "nowhere/people.csv"}}), HasSubstr("nowhere/people.csv"));
  EXPECT_THAT(message_of({{"t", "nowhere/people.csv"}}),
              HasSubstr(std::filesystem::current_path().string()));
  EXPECT_ERROR(open_files({{"t", "nowhere/*.parquet"}}), ErrorCode::kIo);
  EXPECT_ERROR(open_files({}), ErrorCode::kInvalidInput);
}

TEST(FileSource, AFileThatIsNotWhatItsNameSaysIsRefusedWithoutShowingIt) {
  const Folder folder;
  for (const char* name : {"t.parquet", "t.duckdb", "t.json", "t.xlsx"}) {
    const std::string path = folder.write(name, "[secret of somebody,");
    EXPECT_ERROR(open_files({{"t", path}}), ErrorCode::kInvalidInput);
    EXPECT_THAT(message_of({{"t", path}}), Not(HasSubstr("somebody")));
    EXPECT_THAT(message_of({{"t", path}}), HasSubstr(name));
  }
  EXPECT_ERROR(open_files({{"t", folder.write("empty.csv", "")}}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(open_files({{"t", folder.write("twice.csv", "a,A\n1,2\n")}}),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(open_files({{"t", folder.write("quote.csv", "\"a,b\n1,2\n")}}),
               ErrorCode::kInvalidInput);
  folder.write("p1.csv", "a,b\n1,2\n");
  folder.write("p2.csv", "b,a\n1,2\n");
  EXPECT_ERROR(open_files({{"t", folder.path("p*.csv")}}), ErrorCode::kInvalidInput);
}

TEST(FileSource, ErrorsAtRunTimeSayNothingAboutRows) {
  const Folder folder;
  std::string many_rows;
  for (int i = 0; i < 300'000; ++i) many_rows += "1\n";
  const auto source =
      open_files({{"t", folder.write("t.csv", "a\nsecret\n")},
                  {"late", folder.write("late.csv", "a\n" + many_rows + "secret\n")}});
  for (const char* sql : {"SELECT CAST(a AS BIGINT) FROM t", "SELECT CAST(a AS BIGINT) FROM late",
                          "SELECT CAST(a AS BIGINT) AS b FROM t ORDER BY b"}) {
    try {
      rows_of(*source, sql);
      FAIL() << "a cast of text must fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
    }
    try {
      Batch batch;
      source->execute_few(sql)->next(batch);
      FAIL() << "a cast of text must fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
    }
  }
  EXPECT_ERROR(source->execute("SELECT"), ErrorCode::kInternal);
  EXPECT_ERROR(source->execute("SELECT nothing FROM t"), ErrorCode::kInternal);
  EXPECT_ERROR(source->execute("SELECT 1::INTEGER FROM t"), ErrorCode::kInternal);
  Batch batch;
  for (const char* sql : {"SELECT", "SELECT nothing FROM t", "SELECT 1::INTEGER FROM t"}) {
    EXPECT_ERROR(source->execute_few(sql)->next(batch), ErrorCode::kInternal);
  }
}

TEST(FileSource, FewRowsComeAsOthersDo) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "a\n1\n3\n")}});
  const auto few =
      source->execute_few("SELECT CAST(a AS BIGINT), a, 0.5::DOUBLE FROM t ORDER BY a");
  Batch batch;
  ASSERT_TRUE(few->next(batch));
  ASSERT_EQ(batch.rows, 2u);
  EXPECT_EQ(batch.columns[0].integers[1], 3);
  EXPECT_EQ(batch.columns[1].texts[0], "1");
  EXPECT_EQ(batch.columns[2].reals[1], 0.5);
  EXPECT_FALSE(few->next(batch));
  EXPECT_EQ(few->progress(), 1);
}

TEST(FileSource, ReachesNoOtherFileAndNoSetting) {
  const Folder folder;
  const std::string other = folder.write("other.csv", "a\n1\n");
  const auto source = open_files({{"t", folder.write("t.csv", "a\n1\n")}});
  EXPECT_EQ(rows_of(*source, "SELECT a FROM t"), Lines{"1"});
  for (const std::string& sql :
       {"SELECT a FROM read_csv('" + other + "', all_varchar = true)",
        "SELECT content FROM read_text('" + other + "')",
        "COPY t TO '" + folder.path("copy.csv") + "'", std::string("SET threads = 1"),
        std::string("SET enable_external_access = true"), std::string("LOAD httpfs"),
        std::string("INSTALL httpfs"), "ATTACH '" + folder.path("new.duckdb") + "'"})
    EXPECT_THROW(rows_of(*source, sql), Error) << sql;
}

TEST(FileSource, SeveralStreamsAndThreadsReadAtOnce) {
  const Folder folder;
  internal::run_duckdb({"COPY (SELECT i, i % 7 = 0 AS n FROM range(300000) t(i)) TO '" +
                        folder.path("t.parquet") + "'"});
  const auto source = open_files({{"t", folder.path("t.parquet")}});
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 6; ++i)
    streams.push_back(source->execute("SELECT CASE WHEN n THEN NULL ELSE i END FROM t"));
  for (const auto& stream : streams) {
    std::atomic<std::int64_t> sum = 0, nulls = 0;
    const auto consume = [&] {
      Batch batch;
      while (stream->next(batch)) {
        const Batch copy = batch;  // what a batch points to lives as long as a copy of it
        for (std::size_t row = 0; row < copy.rows; ++row) {
          if (copy.columns[0].is_null(row))
            ++nulls;
          else
            sum += copy.columns[0].integers[row];
        }
      }
    };
    std::thread other(consume);
    consume();
    other.join();
    // 0 + 7 + ... + 299999 has 42858 terms; the rest is the sum of all less theirs.
    EXPECT_EQ(nulls, 42858);
    EXPECT_EQ(sum, std::int64_t{300000} * 299999 / 2 - std::int64_t{7} * 42857 * 42858 / 2);
    EXPECT_EQ(stream->progress(), 1);
  }
}

TEST(FileSource, AnAbandonedStreamAndAClosedSourceDoNoHarm) {
  const Folder folder;
  auto source = open_files({{"t", folder.write("t.csv", "a\n1\n2\n")}});
  auto stream = source->execute("SELECT CAST(i AS BIGINT) FROM range(10000000) r(i), t");
  Batch batch;
  EXPECT_TRUE(stream->next(batch));
  source.reset();
  EXPECT_TRUE(stream->next(batch));
  stream.reset();
  EXPECT_GE(batch.columns[0].integers[0], 0);
}

TEST(FileSource, SpillsIntoAFolderThatGoesAway) {
  const Folder folder;
  const Folder spill;
  {
    const auto source =
        open_files({{"t", folder.write("t.csv", "a\n1\n")}},
                   {.threads = 1, .memory = 640 << 20, .temp_directory = spill.path("")});
    EXPECT_EQ(rows_of(*source,
                      "SELECT count(*) FROM (SELECT DISTINCT i, i + 1 FROM range(3000000) r(i))"),
              Lines{"3000000"});
    EXPECT_FALSE(std::filesystem::is_empty(spill.path("")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(spill.path("")));
  EXPECT_ERROR(open_files({{"t", folder.path("t.csv")}}, {.temp_directory = "/nowhere"}),
               ErrorCode::kIo);
}

// With little memory a scan fails or not by whether a condition about somebody holds: DuckDB does
// not begin it where nothing can match. Whoever asks must not choose such a limit.
TEST(FileSource, MemoryThatMayNotDoForAScanIsRefused) {
  const Folder folder;
  const std::string file = folder.write("t.csv", "a\n1\n");
  for (const std::uint64_t memory : {1u, 40u << 20, (640u << 20) - 1}) {
    EXPECT_ERROR(open_files({{"t", file}}, {.threads = 1, .memory = memory, .temp_directory = ""}),
                 ErrorCode::kInvalidOption);
  }
}

TEST(FileSource, AFileThatGoesAwayIsAnInputOutputError) {
  const Folder folder;
  const auto source = open_files({{"t", folder.write("t.csv", "a\n1\n")}});
  std::filesystem::remove(folder.path("t.csv"));
  EXPECT_ERROR(rows_of(*source, "SELECT a FROM t"), ErrorCode::kIo);
}

}  // namespace
}  // namespace gauze
