#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gauze/data/dialect.h"
#include "gauze/data/files_test_internal.h"
#include "gauze/data/normalise.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/numeric/infinity.h"
#include "gauze/numeric/lattice.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/postgres_server.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::rows_of;
using Lines = std::vector<std::string>;

/// Both engines with the same tables, so that every expression meets real rows: nothing can be
/// folded away before it runs.
class Dialects : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<testing::PostgresServer>(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    postgres_.run("DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public");
  }

  /// A table `name` of rows (id, x), ids counting from 0; `type` and the rows are SQL of each
  /// engine.
  void make_table(const std::string& name, const std::string& duckdb_type,
                  const std::string& postgres_type, const Lines& duckdb_rows,
                  const Lines& postgres_rows) {
    const auto script = [&](const std::string& table, const std::string& type, const Lines& rows) {
      std::string sql = "CREATE TABLE " + table + " (id BIGINT, x " + type + "); INSERT INTO " +
                        table + " VALUES ";
      for (std::size_t i = 0; i < rows.size(); ++i)
        sql += (i ? ", (" : "(") + std::to_string(i) + ", " + rows[i] + ")";
      return sql;
    };
    duckdb_.push_back(script("f." + name, duckdb_type, duckdb_rows));
    files_[name] = folder_.path("t.duckdb") + ":" + name;
    postgres_.run(script(name, postgres_type, postgres_rows));
  }
  void make_table(const std::string& name, Type type, const std::vector<Value>& values) {
    Lines rows;
    for (const Value& each : values) rows.push_back(duckdb_dialect().literal(each));
    make_table(name, duckdb_dialect().type_name(type), postgres_dialect().type_name(type), rows,
               rows);
  }

  void open() {
    duckdb_.insert(duckdb_.begin(), "ATTACH '" + folder_.path("t.duckdb") + "' AS f");
    internal::run_duckdb(duckdb_);
    sources_.push_back(open_files(files_));
    sources_.push_back(open_postgres(postgres_.uri()));
  }

  /// What an expression over x gives on both engines, row by row, as text.
  template <class Expression>
  void expect(const std::string& table, const Expression& expression, const Lines& expected) {
    for (const auto& source : sources_) {
      const Dialect& dialect = source->dialect();
      SCOPED_TRACE(std::string(dialect.name()) + ", " + table);
      const std::string sql = "SELECT CAST(" + expression(dialect) + " AS " +
                              dialect.type_name(Type::kText) + ") FROM " +
                              source->table_sql(table) + " ORDER BY id";
      EXPECT_EQ(rows_of(*source, sql), expected) << sql;
    }
  }
  void expect_converted(const std::string& table, Type from, Type to, const Lines& expected) {
    SCOPED_TRACE(std::string("as ") + std::string(name(to)));
    expect(
        table, [&](const Dialect& d) { return d.convert("x", from, to); }, expected);
  }

  testing::Folder folder_;
  inline static std::unique_ptr<testing::PostgresServer> server_;
  testing::PostgresServer& postgres_ = *server_;
  Lines duckdb_;
  std::map<std::string, std::string> files_;
  std::vector<std::unique_ptr<Source>> sources_;
};

/// The letters of a text, some of which are several bytes.
Lines letters(const std::string& text) {
  Lines result;
  for (const char c : text)
    if ((c & 0xC0) == 0x80)
      result.back() += c;
    else
      result.emplace_back(1, c);
  return result;
}

/// LIKE as the standard describes it.
bool looks_like(const Lines& text, std::size_t t, const Lines& pattern, std::size_t p) {
  if (p == pattern.size()) return t == text.size();
  if (pattern[p] == "%")
    return looks_like(text, t, pattern, p + 1) ||
           (t < text.size() && looks_like(text, t + 1, pattern, p));
  const bool any = pattern[p] == "_";
  if (pattern[p] == "\\") ++p;
  return t < text.size() && (any || text[t] == pattern[p]) &&
         looks_like(text, t + 1, pattern, p + 1);
}

TEST_F(Dialects, LookForPatternsAsTheStandardHasIt) {
  testing::SeededBits bits(31);
  const Lines signs = {"a", "A", "b", "B", "%", "_", "\\", ".", "(", "*", "ü", "\n", "'", "1"};
  const auto draw = [&](std::size_t most) {
    std::string text;
    for (std::size_t n = bits.next() % (most + 1); n > 0; --n)
      text += signs[bits.next() % signs.size()];
    return text;
  };
  Lines texts, rows;
  for (int i = 0; i < 300; ++i) {
    texts.push_back(draw(7));
    rows.push_back(duckdb_dialect().literal(texts.back()));
  }
  make_table("t", "VARCHAR", "TEXT", rows, rows);
  open();
  for (int i = 0; i < 200; ++i) {
    std::string pattern = i < 100 ? draw(6) : "%" + draw(2) + "%" + draw(2);
    if (pattern.ends_with('\\')) pattern += '%';
    const bool ignore_case = i % 2 == 1;
    const auto in_case = [&](std::string text) {
      for (char& c : text)
        if (ignore_case && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
      return letters(text);
    };
    Lines expected;
    for (const std::string& text : texts)
      expected.push_back(looks_like(in_case(text), 0, in_case(pattern), 0) ? "true" : "false");
    SCOPED_TRACE(pattern);
    expect(
        "t", [&](const Dialect& d) { return d.like("x", pattern, ignore_case); }, expected);
  }
}

// Tried at every place for every %, such a text would take longer than anybody waits.
TEST_F(Dialects, LookForPatternsInTheTimeOfTheText) {
  const Lines rows = {"repeat('a', 9000)", "'a'"};
  make_table("t", "VARCHAR", "TEXT", rows, rows);
  open();
  std::string parts = "%", plain = "%", blanks;
  for (int i = 0; i < 20; ++i) parts += "a_%", plain += "a%";
  for (int i = 0; i < 1000; ++i) blanks += '_';
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& pattern : {parts + "b", plain + "b", plain + "\\_", blanks})
    for (const bool ignore_case : {false, true})
      expect("t", [&](const Dialect& d) { return d.like("x", pattern, ignore_case); },
             {"false", "false"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(Dialects, ConvertTextWithoutEverFailing) {
  const struct {
    std::string text;
    std::string integer, number, boolean, date, timestamp;
  } cases[] = {
      {"12", "12", "12", "-", "-", "-"},
      {" -7 ", "-7", "-7", "-", "-", "-"},
      {"1", "1", "1", "true", "-", "-"},
      {"2.5", "3", "2.5", "-", "-", "-"},
      {"1e3", "1000", "1000", "-", "-", "-"},
      {"9223372036854775807", "9223372036854775807", "9223372036854775807", "-", "-", "-"},
      {"99999999999999999999", "9223372036854774784", "99999999999999999999", "-", "-", "-"},
      {"-1e300", "-9223372036854774784", "-1e300", "-", "-", "-"},
      {"1e999", "9223372036854774784", "inf", "-", "-", "-"},
      {"1e-400", "0", "0", "-", "-", "-"},
      {"NaN", "-", "-", "-", "-", "-"},
      {"nan", "-", "-", "-", "-", "-"},
      {"inf", "9223372036854774784", "inf", "-", "-", "-"},
      {"-Infinity", "-9223372036854774784", "-inf", "-", "-", "-"},
      {"", "-", "-", "-", "-", "-"},
      {"  ", "-", "-", "-", "-", "-"},
      {"abc", "-", "-", "-", "-", "-"},
      {"1,5", "-", "-", "-", "-", "-"},
      {"--1", "-", "-", "-", "-", "-"},
      {"1e", "-", "-", "-", "-", "-"},
      {".", "-", "-", "-", "-", "-"},
      {"\u0661\u0662", "-", "-", "-", "-", "-"},  // digits, but not ASCII's
      {"Yes", "-", "-", "true", "-", "-"},
      {" F ", "-", "-", "false", "-", "-"},
      {"2024-02-29", "-", "-", "-", "2024-02-29", "2024-02-29 00:00:00"},
      {"2023-02-29", "-", "-", "-", "-", "-"},
      {"2024-13-01", "-", "-", "-", "-", "-"},
      {"2024-04-31", "-", "-", "-", "-", "-"},
      {"2024-05-01 13:45:01", "-", "-", "-", "2024-05-01", "2024-05-01 13:45:01"},
      {"2024-05-01T13:45:01.5", "-", "-", "-", "2024-05-01", "2024-05-01 13:45:01.5"},
      {"2024-05-01 13:45:01Z", "-", "-", "-", "2024-05-01", "2024-05-01 13:45:01"},
      {"2024-05-01 13:45:01 UTC", "-", "-", "-", "2024-05-01", "2024-05-01 13:45:01"},
      {"2024-05-01 13:45:01.25+00:00", "-", "-", "-", "2024-05-01", "2024-05-01 13:45:01.25"},
      {"2024-05-01 13:45:01+02", "-", "-", "-", "2024-05-01", "-"},  // elsewhere another day
      {"2024-05-01T13:45:01-05:30", "-", "-", "-", "2024-05-01", "-"},
      {"2024-05-01true2", "-", "-", "-", "-", "-"},
      {"epoch", "-", "-", "-", "-", "-"},
      {"- ", "-", "-", "-", "-", "-"},
      {"+ ", "-", "-", "-", "-", "-"},
      {"00", "0", "0", "-", "-", "-"},
      {".4", "0", "0.4", "-", "-", "-"},
      {"it's \\ \"quoted\"; DROP TABLE t", "-", "-", "-", "-", "-"},
  };
  Lines rows, integers, numbers, booleans, dates, timestamps;
  for (const auto& each : cases) {
    rows.push_back(duckdb_dialect().literal(each.text));
    integers.push_back(each.integer);
    numbers.push_back(each.number);
    booleans.push_back(each.boolean);
    dates.push_back(each.date);
    timestamps.push_back(each.timestamp);
  }
  for (Lines* each : {&rows, &integers, &numbers, &booleans, &dates, &timestamps})
    each->push_back(each == &rows ? "NULL" : "-");
  make_table("t", "VARCHAR", "TEXT", rows, rows);
  open();
  expect_converted("t", Type::kText, Type::kInteger, integers);
  expect_converted("t", Type::kText, Type::kBoolean, booleans);
  expect_converted("t", Type::kText, Type::kDate, dates);
  expect_converted("t", Type::kText, Type::kTimestamp, timestamps);
  for (const auto& source : sources_) {
    Lines expected;  // as this program reads and writes them
    for (const std::string& each : numbers)
      expected.push_back(each == "-" ? each : to_text(Value(std::strtod(each.c_str(), nullptr))));
    EXPECT_EQ(
        rows_of(*source, "SELECT " + source->dialect().convert("x", Type::kText, Type::kDouble) +
                             " FROM " + source->table_sql("t") + " ORDER BY id"),
        expected);
  }
}

TEST_F(Dialects, ConvertNumbersAndTimesWithoutEverFailing) {
  make_table("doubles", Type::kDouble, {0.0, 2.5, -2.5, 1e300, -1e300, kInfinity, -kInfinity, {}});
  make_table("nans", "DOUBLE", "DOUBLE PRECISION", {"'NaN'"}, {"'NaN'"});
  make_table("floats", "FLOAT", "REAL", {"'NaN'", "0.5", "'inf'"}, {"'NaN'", "0.5", "'Infinity'"});
  make_table("integers", Type::kInteger, {INT64_MIN, INT64_MAX, std::int64_t{0}, {}});
  make_table("decimals", "DECIMAL(38,1)", "NUMERIC", {"2.5", "'1e30'", "'-1e30'", "NULL"},
             {"2.5", "1e30", "-1e30", "NULL"});
  make_table("huge", "HUGEINT", "NUMERIC", {"0", "0", "0", "0", "0"},
             {"'NaN'", "'Infinity'", "'-Infinity'", "1e400", "1e-400"});
  make_table("booleans", Type::kBoolean, {true, false, {}});
  make_table("dates", "DATE", "DATE",
             {"DATE '2024-02-29'", "DATE 'infinity'", "DATE '-infinity'", "NULL"},
             {"DATE '2024-02-29'", "DATE 'infinity'", "DATE '-infinity'", "NULL"});
  make_table(
      "times", "TIMESTAMP", "TIMESTAMP",
      {"TIMESTAMP '1970-01-02 00:00:01.5'", "TIMESTAMP 'infinity'", "TIMESTAMP '-infinity'"},
      {"TIMESTAMP '1970-01-02 00:00:01.5'", "TIMESTAMP 'infinity'", "TIMESTAMP '-infinity'"});
  make_table("far", "DATE", "DATE", {"DATE '5000000-01-01'", "DATE '4000-01-01 (BC)'"},
             {"DATE '5000000-01-01'", "DATE '4000-01-01 BC'"});
  make_table("zones", "TIMESTAMP", "TIMESTAMPTZ", {"TIMESTAMP '2024-01-01 00:00:00'"},
             {"TIMESTAMPTZ '2024-01-01 02:00:00+02'"});
  open();
  const std::string most = "9223372036854774784";
  expect_converted("doubles", Type::kDouble, Type::kInteger,
                   {"0", "2", "-2", most, "-" + most, most, "-" + most, "-"});
  expect_converted("doubles", Type::kDouble, Type::kBoolean,
                   {"false", "true", "true", "true", "true", "true", "true", "-"});
  expect_converted("nans", Type::kDouble, Type::kDouble, {"-"});
  expect_converted("nans", Type::kDouble, Type::kInteger, {"-"});
  expect_converted("nans", Type::kDouble, Type::kBoolean, {"-"});
  expect_converted("integers", Type::kInteger, Type::kInteger,
                   {"-9223372036854775808", "9223372036854775807", "0", "-"});
  expect_converted("decimals", Type::kDecimal, Type::kInteger, {"3", most, "-" + most, "-"});
  expect_converted("decimals", Type::kDecimal, Type::kBoolean, {"true", "true", "true", "-"});
  expect_converted("booleans", Type::kBoolean, Type::kInteger, {"1", "0", "-"});
  expect_converted("dates", Type::kDate, Type::kDate,
                   {"2024-02-29", "9999-12-31", "0001-01-01", "-"});
  expect_converted("dates", Type::kDate, Type::kInteger, {"19782", "2932896", "-719162", "-"});
  expect_converted("dates", Type::kDate, Type::kTimestamp,
                   {"2024-02-29 00:00:00", "9999-12-31 00:00:00", "0001-01-01 00:00:00", "-"});
  expect_converted("times", Type::kTimestamp, Type::kInteger,
                   {"86401500000", "253402300799999999", "-62135596800000000"});
  expect_converted("times", Type::kTimestamp, Type::kDate,
                   {"1970-01-02", "9999-12-31", "0001-01-01"});
  expect_converted("far", Type::kDate, Type::kTimestamp,
                   {"9999-12-31 00:00:00", "0001-01-01 00:00:00"});
  expect_converted("zones", Type::kTimestamp, Type::kTimestamp, {"2024-01-01 00:00:00"});
  for (const auto& source : sources_) {
    const auto reals = [&](const std::string& table, Type from) {
      return rows_of(*source, "SELECT " + source->dialect().convert("x", from, Type::kDouble) +
                                  " FROM " + source->table_sql(table) + " ORDER BY id");
    };
    EXPECT_EQ(reals("floats", Type::kDouble), (Lines{"-", "0.5", "inf"}));
    EXPECT_EQ(reals("decimals", Type::kDecimal), (Lines{"2.5", "1e+30", "-1e+30", "-"}));
    EXPECT_EQ(reals("doubles", Type::kDouble),
              (Lines{"0", "2.5", "-2.5", "1e+300", "-1e+300", "inf", "-inf", "-"}));
  }
  EXPECT_EQ(rows_of(*sources_[1],
                    "SELECT " + postgres_dialect().convert("x", Type::kDecimal, Type::kDouble) +
                        ", " + postgres_dialect().convert("x", Type::kDecimal, Type::kInteger) +
                        " FROM " + sources_[1]->table_sql("huge") + " ORDER BY id"),
            (Lines{"-|-", "inf|" + most, "-inf|-" + most, "inf|" + most, "0|0"}));
}

TEST(Dialect, RefusesConversionsThatMeanNothing) {
  for (const Dialect* dialect : {&duckdb_dialect(), &postgres_dialect()}) {
    EXPECT_ERROR(dialect->convert("x", Type::kInteger, Type::kDate), ErrorCode::kUnsupported);
    EXPECT_ERROR(dialect->convert("x", Type::kBoolean, Type::kTimestamp), ErrorCode::kUnsupported);
    EXPECT_ERROR(dialect->convert("x", Type::kDate, Type::kBoolean), ErrorCode::kUnsupported);
    EXPECT_ERROR(dialect->date_part("century", "x"), ErrorCode::kUnsupported);
    EXPECT_ERROR(dialect->date_trunc("dow", "x", Type::kDate), ErrorCode::kUnsupported);
    EXPECT_ERROR(dialect->literal(std::string("a\0b", 3)), ErrorCode::kInvalidInput);
    EXPECT_EQ(dialect->identifier("a\"b"), "\"a\"\"b\"");
  }
}

TEST_F(Dialects, LiteralsComeBackAsTheyWent) {
  const std::vector<double> doubles = {0.1,       -1e-300,      5e-324, 1.7976931348623157e308,
                                       kInfinity, 123456789.123};
  std::vector<Value> values(doubles.begin(), doubles.end());
  make_table("doubles", Type::kDouble, values);
  make_table("texts", Type::kText,
             {std::string("it's"), std::string("\\n \"x\" %"), std::string("ä€")});
  open();
  for (const auto& source : sources_) {
    const auto stream =
        source->execute("SELECT x FROM " + source->table_sql("doubles") + " ORDER BY id");
    Batch batch;
    ASSERT_TRUE(stream->next(batch));
    for (std::size_t i = 0; i < doubles.size(); ++i)
      EXPECT_EQ(batch.columns[0].reals[i], doubles[i]);
    EXPECT_EQ(rows_of(*source, "SELECT x FROM " + source->table_sql("texts") + " ORDER BY id"),
              (Lines{"it's", "\\n \"x\" %", "ä€"}));
    EXPECT_EQ(rows_of(*source, "SELECT " + source->dialect().literal(Ratio(1, 10)) + ", " +
                                   source->dialect().literal(std::int64_t{INT64_MIN})),
              Lines{"0.1|-9223372036854775808"});
  }
}

TEST_F(Dialects, ClampKeepsNullsAndRoundsEndsInward) {
  make_table("doubles", Type::kDouble, {-kInfinity, -1.0, 0.2, 7.0, kInfinity, {}});
  make_table("nans", "DOUBLE", "DOUBLE PRECISION", {"'NaN'"}, {"'NaN'"});
  make_table("integers", Type::kInteger, {INT64_MIN, std::int64_t{4}, INT64_MAX, {}});
  make_table("dates", Type::kDate, {parse_date("2023-01-01"), parse_date("2024-06-01"), {}});
  open();
  for (const auto& source : sources_) {
    const Dialect& dialect = source->dialect();
    const auto clamped = [&](const std::string& table, Type type, const Value& lower,
                             const Value& upper) {
      return rows_of(*source, "SELECT " + dialect.clamp("x", type, lower, upper) + " FROM " +
                                  source->table_sql(table) + " ORDER BY id");
    };
    EXPECT_EQ(clamped("doubles", Type::kDouble, 0.0, 5.0), (Lines{"0", "0", "0.2", "5", "5", "-"}));
    EXPECT_EQ(clamped("nans", Type::kDouble, 0.0, 5.0), Lines{"-"});
    EXPECT_EQ(clamped("integers", Type::kInteger, std::int64_t{0}, std::int64_t{5}),
              (Lines{"0", "4", "5", "-"}));
    EXPECT_EQ(clamped("integers", Type::kInteger, Ratio(1, 2), Ratio(9, 2)),
              (Lines{"1", "4", "4", "-"}));
    // The double 0.1 is above 1/10 and 0.3 below 3/10, so as ends they move by one.
    const auto stream = source->execute(
        "SELECT " + dialect.clamp("x", Type::kDecimal, Ratio(3, 10), Ratio(31, 10)) + ", " +
        dialect.clamp("x", Type::kDecimal, Ratio(0), Ratio(1, 10)) + " FROM " +
        source->table_sql("doubles") + " WHERE id IN (0, 4) ORDER BY id");
    Batch batch;
    ASSERT_TRUE(stream->next(batch));
    EXPECT_GE(ratio_of_bits(batch.columns[0].reals[0]), Ratio(3, 10));
    EXPECT_LE(ratio_of_bits(batch.columns[1].reals[1]), Ratio(1, 10));
    EXPECT_LT(batch.columns[1].reals[1], 0.1);
    EXPECT_EQ(rows_of(*source, "SELECT CAST(" +
                                   dialect.clamp("x", Type::kDate, parse_date("2024-01-01"),
                                                 parse_date("2024-03-01")) +
                                   " AS " + dialect.type_name(Type::kText) + ") FROM " +
                                   source->table_sql("dates") + " ORDER BY id"),
              (Lines{"2024-01-01", "2024-03-01", "-"}));
  }
}

// Against floor(x / 2^e + 1/2) in fractions. Adding 1/2 to a double first would fail on the first
// row.
TEST_F(Dialects, StepsAreExact) {
  const std::vector<int> exponents = {-1060, -1022, -40, -20, -3, 0, 1, 5, 30, 900};
  testing::SeededBits bits(7);
  std::vector<Value> doubles = {0.49999999999999994,
                                -0.5,
                                0.5,
                                1.5,
                                -1.5,
                                2.5,
                                -0.49999999999999994,
                                5e-324,
                                0.0,
                                -1e-300,
                                4503599627370497.5,
                                0x1p61,
                                -0x1p61};
  for (int i = 0; i < 200; ++i) {
    const auto mantissa = static_cast<double>(static_cast<std::int64_t>(bits.next()) >> 10);
    doubles.emplace_back(std::ldexp(mantissa, -static_cast<int>(bits.next() % 110)));
  }
  std::vector<Value> integers = {std::int64_t{0},
                                 std::int64_t{1},
                                 std::int64_t{-1},
                                 std::int64_t{3},
                                 std::int64_t{-3},
                                 (std::int64_t{1} << 62) - 1,
                                 -(std::int64_t{1} << 62) + 1};
  for (int i = 0; i < 50; ++i)
    integers.emplace_back(static_cast<std::int64_t>(bits.next()) >> (2 + i));
  make_table("doubles", Type::kDouble, doubles);
  make_table("integers", Type::kInteger, integers);
  open();
  for (const int e : exponents) {
    const auto check = [&](const std::string& table, Type type, const std::vector<Value>& values) {
      Lines expected;
      std::string ids = "-1";  // of the rows that fit
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Ratio x = type == Type::kInteger ? Ratio(std::get<std::int64_t>(values[i]))
                                               : ratio_of_bits(std::get<double>(values[i]));
        const Ratio y = x * power_of_two(-e);
        if (abs(y) >= power_of_two(62)) continue;
        ids += ", " + std::to_string(i);
        expected.push_back(floor(y + Ratio(1, 2)).str());
      }
      for (const auto& source : sources_) {
        EXPECT_EQ(rows_of(*source, "SELECT " + source->dialect().steps("x", type, e) + " FROM " +
                                       source->table_sql(table) + " WHERE id IN (" + ids +
                                       ") ORDER BY id"),
                  expected)
            << source->dialect().name() << " " << table << " 2^" << e;
      }
    };
    check("doubles", Type::kDouble, doubles);
    if (e > -62) check("integers", Type::kInteger, integers);
  }
}

// Against the nearest whole number in fractions, ties to even.
TEST_F(Dialects, RoundsToTheNearestStep) {
  testing::SeededBits bits(8);
  std::vector<Value> doubles = {0.5,    1.5,     2.5, -0.5, -1.5, 0.49999999999999994,
                                5e-324, -1e-300, 0.0};
  for (int i = 0; i < 200; ++i) {
    const auto mantissa = static_cast<double>(static_cast<std::int64_t>(bits.next()) >> 10);
    doubles.emplace_back(std::ldexp(mantissa, -static_cast<int>(bits.next() % 110)));
  }
  make_table("doubles", Type::kDouble, doubles);
  open();
  for (const int e : {-1000, -40, -18, -1, 0, 3, 30, 960}) {
    Lines expected;
    std::string ids = "-1";
    for (std::size_t i = 0; i < doubles.size(); ++i) {
      const Ratio y = ratio_of_bits(std::get<double>(doubles[i])) * power_of_two(-e);
      if (abs(y) >= power_of_two(51)) continue;
      ids += ", " + std::to_string(i);
      Integer nearest = floor(Ratio(y + Ratio(1, 2)));
      if (Ratio(nearest) - y == Ratio(1, 2) && nearest % 2 != 0) --nearest;
      expected.push_back(nearest.str());
    }
    for (const auto& source : sources_) {
      EXPECT_EQ(rows_of(*source, "SELECT " + source->dialect().nearest_steps("x", e) + " FROM " +
                                     source->table_sql("doubles") + " WHERE id IN (" + ids +
                                     ") ORDER BY id"),
                expected)
          << source->dialect().name() << " 2^" << e;
    }
  }
}

TEST_F(Dialects, SumsDoNotOverflowAndProductsDoNotUnderflow) {
  make_table("big", Type::kInteger, {INT64_MAX, INT64_MAX, INT64_MAX, {}});
  make_table("tiny", Type::kDouble, {1e-200, -1e-200, 0.0, 3.0, {}});
  open();
  for (const auto& source : sources_) {
    const Dialect& dialect = source->dialect();
    EXPECT_EQ(rows_of(*source,
                      "SELECT " + dialect.integer_sum("x") + " FROM " + source->table_sql("big")),
              Lines{"27670116110564327421"});
    EXPECT_EQ(rows_of(*source, "SELECT " + dialect.integer_sum("x") + " FROM " +
                                   source->table_sql("big") + " WHERE id > 5"),
              Lines{"0"});
    const Lines zeros =
        rows_of(*source, "SELECT abs(" + dialect.multiply("x", "x") + "), abs(" +
                             dialect.divide("x", dialect.literal(1e200)) + ") FROM " +
                             source->table_sql("tiny") + " ORDER BY id");
    EXPECT_EQ(zeros[0], "0|0");
    EXPECT_EQ(zeros[1], "0|0");
    EXPECT_EQ(zeros[2], "0|0");
    EXPECT_EQ(zeros[3].substr(0, 2), "9|");
    EXPECT_EQ(zeros[4], "-|-");
    // One small operand is enough, on either side.
    const std::string small = dialect.literal(1e-140);
    EXPECT_EQ(rows_of(*source, "SELECT abs(" + dialect.multiply("x", small) + "), abs(" +
                                   dialect.multiply(small, "x") + ") FROM " +
                                   source->table_sql("tiny") + " WHERE id = 0"),
              Lines{"0|0"});
    EXPECT_EQ(rows_of(*source, "SELECT " + dialect.divide("x", dialect.literal(2.0)) + " FROM " +
                                   source->table_sql("tiny") + " WHERE id = 3"),
              Lines{"1.5"});
  }
}

TEST_F(Dialects, PartsOfDatesAreTheSame) {
  // 2024-02-29 is a Thursday in ISO week 9, the 60th day; 2023-01-01 a Sunday in week 52 of 2022.
  make_table("times", Type::kTimestamp,
             {parse_timestamp("2024-02-29 13:45:59.75"), parse_timestamp("2023-01-01"), {}});
  make_table("dates", Type::kDate, {parse_date("2024-02-29"), parse_date("2023-01-01"), {}});
  open();
  const std::map<std::string, Lines> parts = {{"year", {"2024", "2023"}}, {"quarter", {"1", "1"}},
                                              {"month", {"2", "1"}},      {"week", {"9", "52"}},
                                              {"day", {"29", "1"}},       {"dow", {"4", "0"}},
                                              {"doy", {"60", "1"}},       {"hour", {"13", "0"}},
                                              {"minute", {"45", "0"}},    {"second", {"59", "0"}}};
  for (const auto& [part, values] : parts) {
    expect("times", [&](const Dialect& d) { return d.date_part(part, "x"); },
           {values[0], values[1], "-"});
    const bool time = part == "hour" || part == "minute" || part == "second";
    expect("dates", [&](const Dialect& d) { return d.date_part(part, "x"); },
           {time ? "0" : values[0], values[1], "-"});
  }
  const std::map<std::string, Lines> floors = {{"year", {"2024-01-01", "2023-01-01"}},
                                               {"quarter", {"2024-01-01", "2023-01-01"}},
                                               {"month", {"2024-02-01", "2023-01-01"}},
                                               {"week", {"2024-02-26", "2022-12-26"}},
                                               {"day", {"2024-02-29", "2023-01-01"}}};
  for (const auto& [part, values] : floors) {
    expect("dates", [&](const Dialect& d) { return d.date_trunc(part, "x", Type::kDate); },
           {values[0], values[1], "-"});
    expect("times", [&](const Dialect& d) { return d.date_trunc(part, "x", Type::kTimestamp); },
           {values[0] + " 00:00:00", values[1] + " 00:00:00", "-"});
  }
  expect("times", [&](const Dialect& d) { return d.date_trunc("minute", "x", Type::kTimestamp); },
         {"2024-02-29 13:45:00", "2023-01-01 00:00:00", "-"});
}

// Otherwise SQL would take for one person whom bounding counts as two.
TEST_F(Dialects, TextsAreEqualOnlyWhenTheirBytesAre) {
  postgres_.run(
      "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = "
      "false)");
  const Lines rows = {"'Bob'", "'bob'"};
  make_table("t", "VARCHAR COLLATE NOCASE", "TEXT COLLATE nocase", rows, rows);
  open();
  expect("t", [](const Dialect&) { return std::string("(x = 'bob')"); }, {"true", "true"});
  expect(
      "t",
      [](const Dialect& d) { return "(" + d.convert("x", Type::kText, Type::kText) + " = 'bob')"; },
      {"false", "true"});
}

// However many values there are, and so however an engine is asked: as IN has it.
TEST_F(Dialects, TellWhatIsOneOfManyValues) {
  const Lines texts = {"v0", "v3",  "v4",  "v127", "v128", "v300",
                       "V0", " v0", "v0 ", "",     "o'ne", "é"};
  Lines rows, numbers;
  for (const std::string& each : texts) rows.push_back(duckdb_dialect().literal(each));
  for (const int each : {0, 3, 4, 127, 128, 300, -1})
    numbers.push_back(duckdb_dialect().literal(std::int64_t{each}));
  rows.push_back("NULL");
  numbers.push_back("NULL");
  make_table("t", "VARCHAR", "TEXT", rows, rows);
  make_table("i", "BIGINT", "BIGINT", numbers, numbers);
  open();
  for (const int count : {1, 4, 5, 128, 129, 200, 4000}) {
    SCOPED_TRACE(count);
    Lines list, whole;
    for (int i = 0; i < count; ++i) {
      list.push_back("v" + std::to_string(i));
      whole.push_back(duckdb_dialect().literal(std::int64_t{i}));
    }
    if (count > 4) list[1] = "o'ne";
    if (count > 4) list[2] = "é";
    Lines expected, among;
    for (const std::string& text : texts)
      expected.push_back(std::find(list.begin(), list.end(), text) != list.end() ? "true"
                                                                                 : "false");
    for (const int each : {0, 3, 4, 127, 128, 300, -1})
      among.push_back(each >= 0 && each < count ? "true" : "false");
    expected.push_back("-");
    among.push_back("-");
    expect(
        "t", [&](const Dialect& d) { return d.is_one_of_texts("x", list); }, expected);
    expect(
        "i", [&](const Dialect& d) { return d.is_one_of("x", whole); }, among);
    whole.push_back("CAST(NULL AS BIGINT)");
    std::replace(among.begin(), among.end(), std::string("false"), std::string("-"));
    expect(
        "i", [&](const Dialect& d) { return d.is_one_of("x", whole); }, among);
  }
}

TEST_F(Dialects, NormalisedColumnsKeepWhatTheSchemaPromises) {
  Lines rows;
  for (const char* each :
       {"5", "-3", "999", "abc", "NaN", "inf", "A", "B", "2024-06-01", "1999-01-01"})
    rows.push_back(duckdb_dialect().literal(std::string(each)));
  rows.push_back("NULL");
  make_table("t", "VARCHAR", "TEXT", rows, rows);
  open();
  const auto check = [&](const Domain& domain, const Lines& expected) {
    expect(
        "t",
        [&](const Dialect& d) {
          return normalised(d, {"c", domain}, {"c", Type::kText}, "x");
        },
        expected);
  };
  Domain age{.type = Type::kInteger, .lower = std::int64_t{0}, .upper = std::int64_t{120}};
  check(age, {"5", "0", "120", "-", "-", "120", "-", "-", "-", "-", "-"});
  age.nullable = false;
  check(age, {"5", "0", "120", "0", "0", "120", "0", "0", "0", "0", "0"});
  Domain ward{.type = Type::kText,
              .categories = std::vector<Value>{std::string("B"), std::string("A")}};
  check(ward, {"-", "-", "-", "-", "-", "-", "A", "B", "-", "-", "-"});
  ward.fallback = std::string("A");
  check(ward, {"A", "A", "A", "A", "A", "A", "A", "B", "A", "A", "-"});
  ward.nullable = false;
  check(ward, {"A", "A", "A", "A", "A", "A", "A", "B", "A", "A", "A"});
  const Domain day{
      .type = Type::kDate, .lower = parse_date("2024-01-01"), .upper = parse_date("2024-12-31")};
  check(day, {"-", "-", "-", "-", "-", "-", "-", "-", "2024-06-01", "2024-01-01", "-"});
  const Domain number{.type = Type::kInteger, .categories = std::vector<Value>{std::int64_t{5}}};
  check(number, {"5", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"});
  EXPECT_ERROR(normalised(duckdb_dialect(), {"c", day}, {"c", Type::kInteger}, "x"),
               ErrorCode::kUnsupported);
  for (const Type type : {Type::kDate, Type::kTimestamp}) {
    EXPECT_ERROR(normalised(duckdb_dialect(), {"c", number}, {"c", type}, "x"),
                 ErrorCode::kUnsupported);
  }
}

TEST_F(Dialects, PostgresSourceReadsAndSurvivesItsServer) {
  postgres_.run(
      "CREATE TABLE \"People\" (id bigint, b boolean, i integer, n numeric, f real, t varchar(9), "
      "day date, at "
      "timestamptz, j json, gone text); ALTER TABLE \"People\" DROP COLUMN gone; INSERT INTO "
      "\"People\" SELECT i, "
      "true, i, i, i, CASE WHEN i % 3 = 0 THEN NULL ELSE repeat('x', i % 5) END, '2024-01-01', "
      "now(), '{}' FROM "
      "generate_series(0, 99999) g(i)");
  const auto source = open_postgres(postgres_.uri());
  std::vector<Type> types;
  for (const ColumnInfo& each : source->columns("People")) types.push_back(each.type);
  EXPECT_EQ(types, (std::vector<Type>{Type::kInteger, Type::kBoolean, Type::kInteger,
                                      Type::kDecimal, Type::kDouble, Type::kText, Type::kDate,
                                      Type::kTimestamp, Type::kText}));
  EXPECT_ERROR(source->columns("persons"), ErrorCode::kUnknownName);
  const auto stream =
      source->execute("SELECT id, id / 2.0::float8, CAST(t AS TEXT) FROM public.\"People\"");
  Batch batch;
  std::int64_t rows = 0, ids = 0, nulls = 0, letters = 0;
  double halves = 0;
  while (stream->next(batch)) {
    for (std::size_t row = 0; row < batch.rows; ++row) {
      ++rows;
      ids += batch.columns[0].integers[row];
      halves += batch.columns[1].reals[row];
      nulls += batch.columns[2].is_null(row);
      letters += static_cast<std::int64_t>(batch.columns[2].texts[row].size());
    }
    EXPECT_TRUE(batch.columns[0].valid.empty());
  }
  EXPECT_EQ(rows, 100000);
  EXPECT_EQ(ids, std::int64_t{100000} * 99999 / 2);
  EXPECT_EQ(halves, 100000.0 * 99999 / 4);
  EXPECT_EQ(nulls, 33334);
  EXPECT_GT(letters, 0);
  EXPECT_EQ(rows_of(*source, "SELECT id FROM public.\"People\" WHERE id < 0"), Lines{});
  EXPECT_ERROR(source->execute("SELECT nothing"), ErrorCode::kInternal);
  EXPECT_ERROR(source->execute("SELECT i FROM public.\"People\""), ErrorCode::kInternal);
  // Whatever else is tried, the session only reads.
  EXPECT_THROW(rows_of(*source, "DELETE FROM public.\"People\" RETURNING id"), Error);
  EXPECT_EQ(rows_of(*source, "SELECT count(*) FROM public.\"People\""), Lines{"100000"});
  try {
    rows_of(*source,
            "SELECT CAST('secret' || t AS BIGINT) FROM public.\"People\" WHERE t IS NOT NULL");
    ADD_FAILURE() << "a cast of text must fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("secret")));
  }
  const auto broken = source->execute("SELECT a.id FROM public.\"People\" a, public.\"People\" b");
  EXPECT_TRUE(broken->next(batch));
  postgres_.kill();
  const auto read_on = [&] {
    while (broken->next(batch)) {
    }
    return true;
  };
  EXPECT_ERROR(read_on(), ErrorCode::kUnavailable);
  EXPECT_ERROR(source->execute("SELECT id FROM public.\"People\""), ErrorCode::kUnavailable);
  EXPECT_ERROR(source->columns("People"), ErrorCode::kUnavailable);
  EXPECT_ERROR(open_postgres(postgres_.uri()), ErrorCode::kUnavailable);
  postgres_.start();
  EXPECT_EQ(rows_of(*source, "SELECT count(*) FROM public.\"People\""), Lines{"100000"});
}

}  // namespace
}  // namespace gauze
