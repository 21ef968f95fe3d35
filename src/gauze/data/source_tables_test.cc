#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "gauze/data/arrow.h"
#include "gauze/data/source.h"
#include "gauze/data/test_files_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::rows_of;
using Answers = std::vector<std::string>;

/// One column of each type, with a null in the second row.
Table every_type() {
  const std::vector<std::uint8_t> valid = {1, 0, 1};
  return Table(
      {"b", "i", "m", "r", "t", "d", "s"},
      {Column::of_integers(Type::kBoolean, {1, 0, 0}, valid),
       Column::of_integers(Type::kInteger, {INT64_MAX, 0, -5}, valid),
       Column::of_reals(Type::kDecimal, {1.25, 0, -2}, valid),
       Column::of_reals(Type::kDouble, {0.5, 0, -HUGE_VAL}, valid),
       Column::of_texts({0, 0, 1}, {"a text of more than twelve bytes", "\xc3\xa9"}, valid),
       Column::of_integers(Type::kDate, {0, 0, 59}, valid),
       Column::of_integers(Type::kTimestamp, {1'000'000, 0, -1}, valid)});
}

TEST(TableSource, ShowsEveryTypeToSql) {
  const auto source = open_tables({{"People", every_type()}});
  EXPECT_EQ(
      rows_of(*source,
              "SELECT CAST(b AS VARCHAR), i, CAST(m AS DOUBLE), CAST(r AS VARCHAR), t, CAST(d AS "
              "VARCHAR), CAST(s AS VARCHAR) FROM people ORDER BY i NULLS FIRST"),
      (Answers{"-|-|-|-|-|-|-", "false|-5|-2|-inf|\xc3\xa9|1970-03-01|1969-12-31 23:59:59.999999",
               "true|9223372036854775807|1.25|0.5|a text of more than twelve "
               "bytes|1970-01-01|1970-01-01 00:00:01"}));
  std::vector<Type> types;
  for (const ColumnInfo& each : source->columns("people")) types.push_back(each.type);
  EXPECT_EQ(types, (std::vector{Type::kBoolean, Type::kInteger, Type::kDouble, Type::kDouble,
                                Type::kText, Type::kDate, Type::kTimestamp}));
  EXPECT_ERROR(source->columns("persons"), ErrorCode::kUnknownName);
  ASSERT_NE(source->held("PEOPLE"), nullptr);
  EXPECT_EQ(source->held("PEOPLE")->rows(), 3u);
  EXPECT_EQ(source->held("persons"), nullptr);
}

// Several threads read blocks of it; each row is read once, also where no column is.
TEST(TableSource, ReadsEveryRowOnce) {
  std::vector<std::int64_t> numbers(300'001);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto source =
      open_tables({{"t", Table({"x"}, {Column::of_integers(Type::kInteger, numbers)})}},
                  {.threads = 4, .memory = 0, .temp_directory = ""});
  EXPECT_EQ(rows_of(*source, "SELECT COUNT(*), CAST(SUM(x) AS BIGINT), COUNT(DISTINCT x) FROM t"),
            (Answers{"300001|45000150000|300001"}));
  EXPECT_EQ(rows_of(*source, "SELECT COUNT(*) FROM t"), (Answers{"300001"}));
}

// The engine trusts its texts; what an Arrow client sends is not trusted.
TEST(TableSource, TextsThatAreNotUtf8AreNull) {
  const std::vector<std::string_view> texts = {"fine",        "\xff",
                                               "\xc3",        "\xed\xa0\x80",
                                               "\xc0\x80",    "\xf4\x90\x80\x80",
                                               "\xe2\x82",    "\xf0\x9f\x98\x80",
                                               "\xe2\x82\xac"};
  const auto source = open_tables({{"t", Table({"x"}, {Column::of_texts(texts)})}});
  EXPECT_EQ(rows_of(*source, "SELECT x FROM t WHERE x IS NOT NULL ORDER BY x"),
            (Answers{"fine", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}));
  EXPECT_EQ(rows_of(*source, "SELECT COUNT(*) FROM t"), (Answers{"9"}));
}

TEST(TableSource, KeepsWhatArrowLentIt) {
  ArrowSchema schema;
  ArrowArray array;
  export_arrow(every_type(), &schema, &array);
  std::unique_ptr<Source> source = open_tables({{"t", import_arrow(&schema, &array)}});
  const auto stream = source->execute("SELECT i FROM t WHERE i > 0");
  source.reset();
  Batch batch;
  ASSERT_TRUE(stream->next(batch));
  EXPECT_EQ(batch.columns[0].integers[0], INT64_MAX);
}

TEST(TableSource, CannotReachFiles) {
  const auto source = open_tables({{"t", every_type()}});
  EXPECT_ANY_THROW(
      rows_of(*source, "SELECT CAST(content AS VARCHAR) FROM read_text('/etc/passwd')"));
}

TEST(TableSource, RefusesNoTables) {
  EXPECT_ERROR(open_tables({}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(open_tables({{"t", Table()}}), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
