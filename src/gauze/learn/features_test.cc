#include "gauze/learn/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;
using Row = std::vector<double>;
using Names = std::vector<std::string>;

ColumnSchema number(const std::string& name, std::int64_t lower, std::int64_t upper,
                    bool nullable = false) {
  return {name, {.type = Type::kInteger, .lower = lower, .upper = upper, .nullable = nullable}};
}

ColumnSchema text(const std::string& name, const std::vector<std::string>& categories,
                  bool nullable = false) {
  return {name,
          {.type = Type::kText,
           .categories = std::vector<Value>(categories.begin(), categories.end()),
           .nullable = nullable}};
}

TableSchema people_schema() {
  TableSchema schema;
  schema.name = "people";
  schema.unit = {.kind = UnitSchema::Kind::kColumn, .column = "id", .table = "", .key = ""};
  schema.rows_per_unit = 2;
  schema.columns = {
      number("id", 0, 1000),
      number("age", 20, 60),
      text("sex", {"f", "m"}),
      number("weight", 0, 100, true),
      {"member", {.type = Type::kBoolean, .nullable = false}},
      {"since", {.type = Type::kDate, .lower = Date{0}, .upper = Date{1000}, .nullable = false}},
      {"remarks", {.type = Type::kText}},
      text("ill", {"no", "yes"}, true)};
  return schema;
}

Table people_table() {
  return Table(
      {"id", "age", "sex", "weight", "member", "since", "ill"},
      {Column::of_integers(Type::kInteger, {1, 1, 2, 3}),
       Column::of_integers(Type::kInteger, {20, 60, 40, 99}),
       Column::of_texts(std::vector<std::string_view>{"f", "m", "m", "f"}),
       Column::of_integers(Type::kInteger, {50, 100, 0, 0}, {1, 1, 0, 1}),
       Column::of_integers(Type::kBoolean, {0, 1, 1, 0}),
       Column::of_integers(Type::kDate, {0, 250, 1000, 500}),
       Column::of_texts(std::vector<std::string_view>{"no", "yes", "yes", "no"}, {1, 1, 1, 0})});
}

FeatureMap people_map(Scaling scaling = Scaling::kBall) {
  return features_of(
      {.table = people_schema(), .label = std::string("ILL"), .columns = {}, .scaling = scaling});
}

Row dense(const std::vector<Entry>& entries, std::uint32_t dimension) {
  Row row(dimension);
  for (const Entry& entry : entries) row[entry.index] = entry.value;
  return row;
}

TEST(Features, ComeFromTheSchemaAlone) {
  const FeatureMap map = people_map();
  EXPECT_EQ(map.names(), (Names{"age", "sex=f", "sex=m", "weight", "weight is null", "member",
                                "since", "intercept"}));
  EXPECT_EQ(map.dimension(), 8u);
  EXPECT_EQ(map.label, "ill");
  EXPECT_EQ(map.classes, (Names{"no", "yes"}));
  EXPECT_DOUBLE_EQ(map.scale(), 1 / std::sqrt(6.0));
  EXPECT_EQ(
      features_of(
          {.table = people_schema(), .label = std::string("member"), .columns = {"sex", "Age"}})
          .names(),
      (Names{"sex=f", "sex=m", "age", "intercept"}));
}

TEST(Features, OfARowAreWhatItsPageSays) {
  const FeatureMap map = people_map();
  const Table table = people_table();
  RowFeatures features(map, table);
  const auto expect = [&](std::size_t row, Row expected) {
    for (double& value : expected) value *= map.scale();
    const Row seen = dense(features.of(row), map.dimension());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(seen[i], expected[i]) << i;
  };
  expect(0, {-1, 1, 0, 0, 0, -1, -1, 1});
  expect(1, {1, 0, 1, 1, 0, 1, -0.5, 1});
  expect(2, {0, 0, 1, 0, 1, 1, 1, 1});    // no weight
  expect(3, {1, 1, 0, -1, 0, -1, 0, 1});  // an age of 99 counts as 60
}

TEST(Features, FitIntoTheBallAndLieOnTheSphere) {
  const Table table = people_table();
  for (const Scaling scaling : {Scaling::kBall, Scaling::kSphere}) {
    const FeatureMap map = people_map(scaling);
    RowFeatures features(map, table);
    for (std::size_t row = 0; row < 4; ++row) {
      double squares = 0;
      for (const Entry& entry : features.of(row)) squares += entry.value * entry.value;
      EXPECT_LE(squares, 1 + 1e-15);
      EXPECT_GE(squares, scaling == Scaling::kSphere ? 1 - 1e-15 : 0.0);
    }
  }
}

TEST(Features, KeepARowsUnitAndLeaveOutRowsWithoutLabel) {
  SeededBits bits(1);
  TableSchema schema = people_schema();
  std::erase_if(schema.columns, [](const ColumnSchema& c) { return c.name == "remarks"; });
  const BoundedTable table = bound(people_table(), bounds_of(schema), bits);
  const Examples examples = examples_of(people_map(), table);
  EXPECT_EQ(examples.units(), 3u);
  EXPECT_EQ(examples.rows(), 3u);
  EXPECT_EQ(examples.rows_per_unit(), 2u);
  std::vector<std::size_t> rows;
  double labels = 0;
  for (std::size_t unit = 0; unit < 3; ++unit) {
    const auto [first, end] = examples.rows_of(unit);
    rows.push_back(end - first);
  }
  for (std::size_t row = 0; row < 3; ++row) labels += examples.label(row);
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(labels, 1);  // no, yes, yes
}

TEST(Features, ManyCategoriesAreStoredSparsely) {
  std::vector<std::string> towns;
  for (int i = 0; i < 100; ++i) towns.push_back("town" + std::to_string(i));
  TableSchema schema;
  schema.name = "t";
  schema.columns = {text("town", towns), text("ill", {"no", "yes"})};
  const Table table({"town", "ill"},
                    {Column::of_texts(std::vector<std::string_view>{"town7", "town99"}),
                     Column::of_texts(std::vector<std::string_view>{"no", "yes"})});
  SeededBits bits(2);
  const Examples examples = examples_of(features_of({.table = schema, .label = std::string("ill")}),
                                        bound(table, bounds_of(schema), bits));
  EXPECT_TRUE(examples.is_sparse());
  EXPECT_EQ(examples.values(0).size(), 2u);
}

TEST(Features, RefuseWhatTheSchemaDoesNotSay) {
  const TableSchema schema = people_schema();
  const auto with = [&](const std::string& label, const Names& columns) {
    return features_of({.table = schema, .label = label, .columns = columns});
  };
  EXPECT_ERROR(with("nothing", {}), ErrorCode::kUnknownName);
  EXPECT_ERROR(with("age", {}), ErrorCode::kMissingKnowledge);
  EXPECT_ERROR(with("remarks", {}), ErrorCode::kMissingKnowledge);
  EXPECT_ERROR(with("ill", {"remarks"}), ErrorCode::kMissingKnowledge);
  EXPECT_ERROR(with("ill", {"nothing"}), ErrorCode::kUnknownName);
  EXPECT_ERROR(with("ill", {"age", "ill"}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with("ill", {"age", "AGE"}), ErrorCode::kInvalidOption);
  const auto of = [](std::vector<ColumnSchema> columns) {
    TableSchema other;
    other.name = "t";
    other.columns = std::move(columns);
    return features_of({.table = other, .label = std::string("y")});
  };
  EXPECT_ERROR(of({number("x", 0, 1), text("y", {"a"})}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(of({number("x", 0, 1), text("y", {"a", "b", "c"})}), ErrorCode::kInvalidOption);
  // A column with one possible value teaches nothing.
  EXPECT_ERROR(of({number("x", 5, 5), text("y", {"a", "b"})}), ErrorCode::kInvalidOption);
}

TEST(Features, RefuseTablesOfAnotherForm) {
  const FeatureMap map = people_map();
  EXPECT_ERROR(RowFeatures(map, Table({"age"}, {Column::of_integers(Type::kInteger, {1})})),
               ErrorCode::kUnknownName);
  EXPECT_ERROR(RowFeatures(map, Table({"age"}, {Column::of_reals(Type::kDouble, {1.0})})),
               ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
