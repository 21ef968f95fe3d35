#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "gauze/data/arrow.h"
#include "gauze/data/files_test_internal.h"
#include "gauze/data/source.h"
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
}

// Without SQL: the same values, in the order of the rows, and nothing of what is not stored as
// asked.
TEST(TableSource, IsScannedWithoutSql) {
  const auto source =
      open_tables({{"People", Table({"i", "r", "t", "m"},
                                    {Column::of_integers(Type::kInteger, {1, 2, 3}, {1, 0, 1}),
                                     Column::of_reals(Type::kDouble, {0.5, -1, 2}),
                                     Column::of_texts({"a", "\xff", "a"}),
                                     Column::of_reals(Type::kDecimal, {1.5, 2, 3})})}});
  const auto lines = [&](const std::vector<ColumnInfo>& columns) {
    Answers result;
    for (const auto& stream : source->scan("PEOPLE", columns, 3)) {
      for (Batch batch; stream->next(batch);) testing::append_rows(batch, result);
      EXPECT_EQ(stream->progress(), 1);
    }
    return result;
  };
  EXPECT_EQ(lines({{"T", Type::kText}, {"i", Type::kInteger}, {"r", Type::kDouble}}),
            (Answers{"a|1|0.5", "-|-|-1", "a|3|2"}));
  EXPECT_EQ(lines({{"i", Type::kDouble}}), Answers{});
  EXPECT_EQ(lines({{"m", Type::kDouble}}), Answers{});
  EXPECT_EQ(lines({{"m", Type::kDecimal}}), Answers{});
  EXPECT_EQ(lines({{"i", Type::kInteger}, {"none", Type::kInteger}}), Answers{});
  EXPECT_EQ(lines({}), Answers{});
  EXPECT_TRUE(source->scan("persons", {}, 1).empty());
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
  const std::vector<ColumnInfo> columns = {{"x", Type::kInteger}};
  std::vector<std::int64_t> scanned;
  const auto streams = source->scan("t", columns, 3);
  EXPECT_EQ(streams.size(), 3u);
  for (const auto& stream : streams) {
    for (Batch batch; stream->next(batch);) {
      const std::span<const std::int64_t> x = batch.columns[0].integers;
      scanned.insert(scanned.end(), x.begin(), x.end());
    }
  }
  EXPECT_EQ(scanned, numbers);
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
