#include "gauze/marginal/encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

const TableSchema& everything() {
  static const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {"t": {
    "unit": "row", "columns": {
      "member": {"type": "boolean", "nulls": false},
      "age": {"type": "integer", "lower": 0, "upper": 99},
      "children": {"type": "integer", "lower": 0, "upper": 9, "nulls": false},
      "wide": {"type": "integer", "lower": -9000000000000000000, "upper": 9000000000000000000},
      "height": {"type": "double", "lower": 100, "upper": 200, "nulls": false},
      "price": {"type": "decimal", "lower": 0, "upper": 1},
      "tiny": {"type": "double", "lower": 1, "upper": 1.000000000001},
      "ward": {"type": "text", "categories": ["north", "south"]},
      "grade": {"type": "integer", "lower": 0, "upper": 100, "bins": [0, 50, 80, 100]},
      "born": {"type": "date", "lower": "1900-01-01", "upper": "2020-12-31"},
      "seen": {"type": "timestamp", "lower": "2024-01-01 00:00:00", "upper": "2024-01-02 00:00:00"},
      "name": {"type": "text"}}}}})");
  return schema.tables[0];
}

ColumnEncoding encoding(const char* column, std::uint32_t bins = 32) {
  return ColumnEncoding(*everything().find(column), bins);
}

TEST(ColumnEncoding, HasTheCellsOfTheSchemaAndOneForNulls) {
  const auto expect = [](const char* column, std::uint32_t cells, const char* by) {
    EXPECT_EQ(encoding(column).cells(), cells) << column;
    EXPECT_STREQ(encoding(column).by(), by) << column;
  };
  expect("member", 2, "values");
  expect("age", 33, "equal");
  expect("children", 10, "values");
  expect("wide", 33, "equal");
  expect("height", 32, "equal");
  expect("price", 33, "equal");
  expect("ward", 3, "categories");
  expect("grade", 4, "bins");
  expect("born", 33, "equal");
  expect("seen", 33, "equal");
  EXPECT_EQ(encoding("age", 8).cells(), 9u);
  EXPECT_EQ(encoding("ward").label(1), "south");
  EXPECT_EQ(encoding("ward").label(2), "null");
  EXPECT_ERROR(encoding("age", 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(encoding("name"), ErrorCode::kMissingKnowledge);
}

TEST(ColumnEncoding, DrawsValuesInsideTheirCell) {
  SeededBits bits(1);
  for (const ColumnSchema& column : everything().columns) {
    if (column.name == "name") continue;
    const ColumnEncoding codes(column);
    for (std::uint32_t code = 0; code < codes.cells(); ++code) {
      std::vector<Value> drawn;
      for (int i = 0; i < 50; ++i) drawn.push_back(codes.decoded(code, bits));
      for (const std::uint32_t again : codes.encoded(Column::of_values(column.domain.type, drawn)))
        ASSERT_EQ(again, code) << column.name;
      if (!column.domain.lower) continue;
      const Column in_a_row = Column::of_values(column.domain.type, drawn);
      for (std::size_t i = 0; i < drawn.size() && !in_a_row.is_null(i); ++i) {
        if (!in_a_row.integers().empty() && column.name == "age") {
          ASSERT_GE(in_a_row.integers()[i], 0);
          ASSERT_LE(in_a_row.integers()[i], 99);
        }
      }
    }
    EXPECT_ERROR(codes.decoded(codes.cells(), bits), ErrorCode::kInvalidOption);
  }
}

TEST(ColumnEncoding, DrawsEveryWholeValueOfACell) {
  SeededBits bits(2);
  const ColumnEncoding grade = encoding("grade");
  std::set<std::int64_t> seen;
  for (int i = 0; i < 5000; ++i) seen.insert(std::get<std::int64_t>(grade.decoded(2, bits)));
  EXPECT_EQ(seen.size(), 21u);  // 80 to 100, the end among them
  EXPECT_EQ(*seen.begin(), 80);
  EXPECT_EQ(*seen.rbegin(), 100);
  seen.clear();
  for (int i = 0; i < 5000; ++i) seen.insert(std::get<std::int64_t>(grade.decoded(1, bits)));
  EXPECT_EQ(*seen.rbegin(), 79);
}

TEST(ColumnEncoding, DrawsNumbersWithFewDigits) {
  SeededBits bits(3);
  const ColumnEncoding height = encoding("height");  // cells are 3.125 wide: three digits
  double sum = 0;
  for (int i = 0; i < 4000; ++i) {
    const double x = std::get<double>(height.decoded(0, bits));
    EXPECT_NEAR(x * 1000, std::nearbyint(x * 1000), 1e-6);
    sum += x;
  }
  // The deviation of the mean is 3.125 / sqrt(12 * 4000) = 0.0143; this is six of them.
  EXPECT_NEAR(sum / 4000, 100 + 3.125 / 2, 0.086);
}

TEST(ColumnEncoding, NeverFailsForWhatARowHolds) {
  const auto nan = std::nan("");
  const Column odd = Column::of_reals(Type::kDouble, {nan, -1e300, 1e300, INFINITY}, {1, 1, 1, 0});
  for (const std::uint32_t code : encoding("height").encoded(odd)) EXPECT_LT(code, 32u);
  const Column texts = Column::of_texts({"north", "elsewhere", ""});
  EXPECT_EQ(encoding("ward").encoded(texts), (std::vector<std::uint32_t>{0, 2, 2}));
  EXPECT_EQ(encoding("ward").encoded(Column::of_texts(std::vector<std::string_view>{})).size(), 0u);
}

TEST(Encoding, IsTheSameWhateverTheRowsAre) {
  const Encoding all{{encoding("ward"), encoding("children")}};
  EXPECT_EQ(all.domain(), (Shape{{3, 10}}));
  const Table rows({"ward", "children"}, {Column::of_texts({"south", "?"}),
                                          Column::of_integers(Type::kInteger, {3, 77})});
  const CodedRows codes = all.encoded(rows);
  EXPECT_EQ(codes.domain, all.domain());
  EXPECT_EQ(codes.columns, (std::vector<std::vector<std::uint32_t>>{{1, 2}, {3, 9}}));
}

}  // namespace
}  // namespace gauze
