#include "gauze/data/bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "gauze/random/uniform.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::SeededBits;
using Integers = std::vector<std::int64_t>;

ColumnSchema integer_column(const std::string& name, std::int64_t lower, std::int64_t upper) {
  return {name, {.type = Type::kInteger, .lower = lower, .upper = upper}};
}

/// Units and values, one pair per row.
Table pairs(const Integers& units, const Integers& values) {
  return Table({"id", "x"}, {Column::of_integers(Type::kInteger, units),
                             Column::of_integers(Type::kInteger, values)});
}

TableBounds pair_bounds(std::uint64_t rows_per_unit) {
  return {std::string("id"), rows_per_unit,
          std::vector<ColumnSchema>{{"id", {.type = Type::kInteger}}, integer_column("x", 0, 100)}};
}

std::multiset<std::string> rows_of(const Table& table) {
  std::multiset<std::string> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::string text;
    for (const Column& each : table.columns()) text += to_text(each.value(row)) + "|";
    rows.insert(text);
  }
  return rows;
}

std::size_t distance(const std::multiset<std::string>& a, const std::multiset<std::string>& b) {
  std::vector<std::string> different;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                std::back_inserter(different));
  return different.size();
}

TEST(Bound, KeepsAtMostSoManyRowsOfAUnit) {
  SeededBits bits(1);
  const auto table = bound(pairs({1, 1, 1, 2, 3, 3}, {1, 2, 3, 4, 5, 6}), pair_bounds(2), bits);
  std::map<std::int64_t, int> rows;
  for (const std::int64_t id : table.rows().column("id").integers()) ++rows[id];
  EXPECT_EQ(rows, (std::map<std::int64_t, int>{{1, 2}, {2, 1}, {3, 2}}));
  EXPECT_EQ(table.bounds().rows_per_unit.get(), 2u);
}

// 60,000 choices of 2 of 5 rows; a right choice fails this once in 10^9 seeds.
TEST(Bound, EverySetOfRowsIsEquallyLikely) {
  SeededBits bits(2);
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> seen;
  for (int i = 0; i < 60000; ++i) {
    const auto table = bound(pairs({7, 7, 7, 7, 7}, {0, 1, 2, 3, 4}), pair_bounds(2), bits);
    const auto x = table.rows().column("x").integers();
    ++seen[{x[0], x[1]}];
  }
  ASSERT_EQ(seen.size(), 10u);
  std::vector<std::uint64_t> counts;
  for (const auto& [pair, count] : seen) counts.push_back(count);
  EXPECT_GT(testing::chi_square_p(counts, std::vector<double>(10, 0.1)), 1e-9);
}

/// How far bounded tables move when one unit comes or goes. The others have at most k rows, so
/// their rows are not a matter of chance; values are few, so that units share them.
template <class Bounding>
std::size_t largest_distance(std::uint64_t k, const Bounding& bounding) {
  SeededBits bits(3);
  std::size_t largest = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Integers units, values;
    for (std::int64_t unit = 0; unit < 5; ++unit) {
      for (std::uint64_t i = uniform_below(bits, k + 1); i > 0; --i) {
        units.push_back(unit);
        values.push_back(static_cast<std::int64_t>(uniform_below(bits, 3)));
      }
    }
    const auto without = bounding(pairs(units, values));
    for (std::uint64_t i = uniform_below(bits, 4 * k + 2); i > 0; --i) {
      const auto at = static_cast<std::ptrdiff_t>(uniform_below(bits, units.size() + 1));
      units.insert(units.begin() + at, 99);
      values.insert(values.begin() + at, static_cast<std::int64_t>(uniform_below(bits, 3)));
    }
    largest = std::max(largest, distance(without, bounding(pairs(units, values))));
  }
  return largest;
}

TEST(Bound, AUnitMovesNoMoreRowsThanItsBoundAndAWrongBoundingIsCaught) {
  for (const std::uint64_t k : {1u, 2u, 3u, 7u}) {
    SeededBits bits(4);
    EXPECT_EQ(largest_distance(k,
                               [&](const Table& rows) {
                                 return rows_of(bound(rows, pair_bounds(k), bits).rows());
                               }),
              k);
    // Bounding rows of one value, not of one unit.
    EXPECT_GT(
        largest_distance(k,
                         [&](const Table& rows) {
                           std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> kept;
                           std::vector<std::size_t> chosen;
                           for (std::size_t row = 0; row < rows.rows(); ++row) {
                             const auto key = std::pair(rows.column("id").integers()[row],
                                                        rows.column("x").integers()[row]);
                             if (++kept[key] <= k) chosen.push_back(row);
                           }
                           return rows_of(rows.take(chosen));
                         }),
        k);
    // Dropping the last row of tables of odd length; an even number of rows more would not show it.
    if (k % 2 == 0) continue;
    EXPECT_GT(largest_distance(k,
                               [&](const Table& rows) {
                                 SeededBits own(5);
                                 const Table bounded = bound(rows, pair_bounds(k), own).rows();
                                 std::vector<std::size_t> paired;
                                 for (std::size_t row = 0; row < bounded.rows() / 2 * 2; ++row)
                                   paired.push_back(row);
                                 return rows_of(bounded.take(paired));
                               }),
              k);
  }
}

TEST(Bound, AnOutlierIsNowhereBeyondItsClippedValue) {
  SeededBits bits(6);
  const double huge = 1e9, infinity = std::numeric_limits<double>::infinity();
  const Table table(
      {"i", "r", "d"},
      {Column::of_integers(Type::kInteger, {5, 1'000'000'000, -1'000'000'000, INT64_MIN}),
       Column::of_reals(Type::kDouble, {0.5, huge, -infinity, std::nan("")}),
       Column::of_integers(Type::kDate, {0, 1'000'000'000, -5, 7}, {1, 1, 1, 0})});
  const auto bounded = bound(
      table,
      {std::string(), 1u,
       std::vector<ColumnSchema>{
           integer_column("i", 0, 10),
           {"r", {.type = Type::kDouble, .lower = 0.0, .upper = 1.0}},
           {"d", {.type = Type::kDate, .lower = Date{0}, .upper = Date{10}, .nullable = false}}}},
      bits);
  EXPECT_EQ(rows_of(bounded.rows()),
            (std::multiset<std::string>{"5|0.5|1970-01-01|", "10|1|1970-01-11|", "0|0|1970-01-01|",
                                        "0||1970-01-01|"}));
  // Also under the nulls and in every buffer that can be reached.
  for (const double x : bounded.rows().column("r").reals()) EXPECT_TRUE(x >= 0 && x <= 1);
  for (const std::int64_t x : bounded.rows().column("i").integers()) EXPECT_TRUE(x >= 0 && x <= 10);
  for (const std::int64_t x : bounded.rows().column("d").integers()) EXPECT_TRUE(x >= 0 && x <= 10);
}

TEST(Bound, ValuesOutsideTheirCategoriesBecomeTheDefault) {
  SeededBits bits(7);
  const Table table({"w", "n"}, {Column::of_texts({"A", "secret", "B", "", "B"}, {1, 1, 1, 0, 1}),
                                 Column::of_integers(Type::kInteger, {1, 2, 3, 4, 5})});
  const std::vector<Value> wards = {std::string("B"), std::string("A")};
  const auto categories = [&](std::optional<Value> fallback, bool nullable) {
    const auto bounded = bound(table,
                               {std::string(), 1u,
                                std::vector<ColumnSchema>{{"w",
                                                           {.type = Type::kText,
                                                            .categories = wards,
                                                            .fallback = fallback,
                                                            .nullable = nullable}}}},
                               bits);
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < bounded.rows().rows(); ++row)
      texts.push_back(to_text(bounded.rows().columns()[0].value(row)));
    EXPECT_EQ(bounded.rows().columns()[0].dictionary().size(), 2u);
    EXPECT_EQ(bounded.rows().columns()[0].dictionary()[0], "B");
    return texts;
  };
  EXPECT_EQ(categories({}, true), (std::vector<std::string>{"A", "", "B", "", "B"}));
  EXPECT_EQ(categories(std::string("A"), true), (std::vector<std::string>{"A", "A", "B", "", "B"}));
  EXPECT_EQ(categories({}, false), (std::vector<std::string>{"A", "B", "B", "B", "B"}));
  const auto numbers =
      bound(table,
            {std::string(), 1u,
             std::vector<ColumnSchema>{
                 {"n",
                  {.type = Type::kInteger,
                   .categories = std::vector<Value>{std::int64_t{3}, std::int64_t{1}}}}}},
            bits);
  EXPECT_EQ(rows_of(numbers.rows()), (std::multiset<std::string>{"1|", "|", "3|", "|", "|"}));
}

// What a dropped row held is in no dictionary of what is kept.
TEST(Bound, DictionariesForgetDroppedRows) {
  SeededBits bits(8);
  const Table table({"id", "t"}, {Column::of_texts({"a", "a", "a", ""}, {1, 1, 1, 0}),
                                  Column::of_texts({"x", "y", "z", "secret"})});
  const auto bounded =
      bound(table, {std::string("id"), 1u, std::vector<ColumnSchema>{{"t", {.type = Type::kText}}}},
            bits);
  ASSERT_EQ(bounded.rows().rows(), 1u);
  EXPECT_EQ(bounded.rows().columns()[0].dictionary().size(), 1u);
}

TEST(Bound, TextsThatAreEqualAreOneUnitWhateverTheirCodes) {
  SeededBits bits(9);
  const Table table({"id", "x"}, {Column::of_texts({0, 1, 2}, {"a", "a", "b"}),
                                  Column::of_integers(Type::kInteger, {1, 2, 3})});
  const auto bounded = bound(
      table, {std::string("id"), 1u, std::vector<ColumnSchema>{integer_column("x", 0, 9)}}, bits);
  EXPECT_EQ(bounded.rows().rows(), 2u);
}

TEST(Bound, ErrorsDependOnNamesAndTypesAlone) {
  SeededBits bits(10);
  const Table table = pairs({1}, {1});
  const auto with = [&](TableBounds bounds) { return bound(table, std::move(bounds), bits); };
  EXPECT_ERROR(with(pair_bounds(0)), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({std::string(), 2u, std::vector<ColumnSchema>{}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({std::string("who"), 2u, std::vector<ColumnSchema>{}}),
               ErrorCode::kUnknownName);
  EXPECT_ERROR(with({std::string("id"), 2u, std::vector<ColumnSchema>{{"y", {}}}}),
               ErrorCode::kUnknownName);
  EXPECT_ERROR(
      with({std::string("id"), 2u, std::vector<ColumnSchema>{{"x", {.type = Type::kDate}}}}),
      ErrorCode::kInvalidInput);
  TableSchema schema;
  schema.unit.kind = UnitSchema::Kind::kPublic;
  EXPECT_ERROR(bounds_of(schema), ErrorCode::kUnboundedData);
  schema.unit = {UnitSchema::Kind::kColumn, "id", "", ""};
  schema.rows_per_unit = 3;
  EXPECT_EQ(bounds_of(schema).rows_per_unit.get(), 3u);
}

TEST(Bound, WorksOnNoRows) {
  SeededBits bits(11);
  EXPECT_EQ(bound(pairs({}, {}), pair_bounds(2), bits).rows().rows(), 0u);
}

}  // namespace
}  // namespace gauze
