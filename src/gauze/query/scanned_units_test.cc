#include <gtest/gtest.h>

#include "gauze/data/table.h"
#include "gauze/query/scanned_units_internal.h"
#include "gauze/query/sql_query_test_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

// Rows of units without SQL, beside what SQL makes of them.

namespace gauze::testing {
namespace {

using internal::GroupIndex;
using internal::GroupTruth;
using internal::ScannedUnits;

Schema owned_schema(const char* unit) {
  return schema_from_json(nlohmann::json::parse(std::string(R"({
    "version": 1, "dataset": "d", "tables": {"t": {"unit": ")") +
                                                unit + R"(", "rows_per_unit": 12,
      "groups_per_unit": 3, "rows_per_group": 5, "columns": {
        "u": {"type": "integer"},
        "v": {"type": "text"},
        "g": {"type": "integer", "lower": -1, "upper": 2, "nulls": false},
        "c": {"type": "text", "categories": ["b", "a"], "default": "a"},
        "h": {"type": "integer"},
        "i": {"type": "integer", "lower": -1000000, "upper": 1000000, "nulls": false},
        "j": {"type": "integer", "nulls": false},
        "x": {"type": "integer", "lower": 0, "upper": 10},
        "y": {"type": "double", "lower": -1, "upper": 1000}}}}})"));
}

Table owned_rows(std::size_t rows) {
  SeededBits bits(9);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(uniform_below(bits, n));
  };
  const auto integers = [&](std::vector<std::int64_t> from) {
    std::vector<std::int64_t> values(rows);
    std::vector<std::uint8_t> valid(rows);
    for (std::int64_t& value : values) value = from[below(from.size())];
    for (std::uint8_t& each : valid) each = below(7) != 0;
    return Column::of_integers(Type::kInteger, values, valid);
  };
  const auto texts = [&](std::vector<std::string> from) {
    std::vector<std::int32_t> codes(rows);
    std::vector<std::uint8_t> valid(rows);
    for (std::int32_t& code : codes) code = static_cast<std::int32_t>(below(from.size()));
    for (std::uint8_t& each : valid) each = below(7) != 0;
    return Column::of_texts(codes, from, valid);
  };
  std::vector<std::int64_t> units;
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) {
    units.push_back(i * 1'000'003 - 7'000'000);
    names.push_back("n" + std::to_string(i * i % 40));
  }
  std::vector<double> reals(rows);
  for (double& x : reals) x = static_cast<double>(below(100'000)) / 77 - 100;
  return Table({"u", "v", "g", "c", "h", "i", "j", "x", "y"},
               {integers(units), texts(names), integers({INT64_MIN, -2, -1, 0, 1, 2, INT64_MAX}),
                texts({"a", "z", "b"}), integers({INT64_MAX, 3, 5, -5, 1'000'000'007, -9}),
                integers({INT64_MIN, -1'000'001, -1'000'000, 0, 7, 1'000'000, INT64_MAX}),
                integers({INT64_MIN, 1, 2, 3}), integers({-1, 0, 3, 10, 11}),
                Column::of_reals(Type::kDouble, reals, {})});
}

struct Truths {
  bool scanned;
  std::vector<std::vector<Value>> keys;  ///< in the order of answers
  std::vector<std::vector<WideInteger>> sums;
};

Truths truth_of(const std::string& question, const Schema& schema, Source& source,
                unsigned threads) {
  const SqlQuery::Options options{.plan = plan_query(question, schema),
                                  .epsilon = 1,
                                  .delta = Ratio(1, 1000),
                                  .threads = threads};
  const MeasurementDesign design = derive_measurements(options.plan);
  GroupIndex index(options.plan);
  Truths result;
  result.scanned = ScannedUnits::of(options, design, index.is_one_number(), source).has_value();
  SeededBits bits(2);
  const GroupTruth truth = internal::read_units(options, design, source, index, bits);
  for (const std::uint32_t g : index.in_order()) {
    result.keys.push_back(index.key(g));
    result.sums.emplace_back();
    for (std::size_t m = 0; m < truth.totals.measures; ++m) {
      result.sums.back().push_back(truth.totals.sums[g * truth.totals.measures + m]);
    }
  }
  return result;
}

void expect_same_as_sql(const std::string& question, const char* unit, Source& source) {
  const Schema schema = owned_schema(unit);
  OnlySql sql(source);
  const Truths expected = truth_of(question, schema, sql, 2);
  EXPECT_FALSE(expected.scanned);
  EXPECT_FALSE(expected.sums.empty());
  for (const unsigned threads : {1u, 3u}) {
    const Truths got = truth_of(question, schema, source, threads);
    EXPECT_TRUE(got.scanned) << question;
    EXPECT_EQ(got.keys, expected.keys) << question;
    EXPECT_EQ(got.sums, expected.sums) << question;
  }
}

TEST(ScannedUnits, AreThoseOfSqlWhateverTheRowsHold) {
  const auto source = open_tables({{"t", owned_rows(20'000)}});
  for (const char* unit : {"u", "v"}) {
    for (const char* question :
         {"SELECT COUNT(*) FROM t", "SELECT g, COUNT(*) FROM t GROUP BY g",
          "SELECT g, c, COUNT(*), SUM(x), AVG(y) FROM t GROUP BY g, c",
          "SELECT c, SUM(y) FROM (SELECT y, c FROM t) AS s GROUP BY c",
          "SELECT h, COUNT(*) FROM t GROUP BY h", "SELECT i, COUNT(*), SUM(x) FROM t GROUP BY i",
          "SELECT j, COUNT(*), SUM(y) FROM t GROUP BY j"}) {
      expect_same_as_sql(question, unit, *source);
    }
  }
}

// The number that stands for null is another key where both come up.
TEST(ScannedUnits, TellNullFromTheNumberThatStandsForIt) {
  const std::size_t rows = 3000;
  std::vector<std::int64_t> units(rows), keys(rows);
  std::vector<std::uint8_t> valid(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    units[i] = static_cast<std::int64_t>(i);
    keys[i] = i % 3 == 0 ? INT64_MIN : 8;
    valid[i] = i % 3 != 1;
  }
  const auto source =
      open_tables({{"t", Table({"u", "h"}, {Column::of_integers(Type::kInteger, units, {}),
                                            Column::of_integers(Type::kInteger, keys, valid)})}});
  const Schema schema = schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "d", "tables": {"t": {"unit": "u", "rows_per_unit": 1, "columns": {
        "u": {"type": "integer"}, "h": {"type": "integer"}}}}})"));
  OnlySql sql(*source);
  for (Source* each : {source.get(), static_cast<Source*>(&sql)}) {
    const Truths got = truth_of("SELECT h, COUNT(*) FROM t GROUP BY h", schema, *each, 2);
    const std::vector<std::vector<Value>> keys_expected = {{INT64_MIN}, {std::int64_t{8}}, {{}}};
    EXPECT_EQ(got.keys, keys_expected);
    const std::vector<std::vector<WideInteger>> sums_expected = {{1000}, {1000}, {1000}};
    EXPECT_EQ(got.sums, sums_expected);
  }
}

TEST(ScannedUnits, LeaveToSqlWhatIsMoreThanColumns) {
  const auto source = open_tables({{"t", owned_rows(100)}});
  const Schema schema = owned_schema("u");
  for (const char* question :
       {"SELECT g, COUNT(*) FROM t WHERE x > 3 GROUP BY g", "SELECT v, COUNT(*) FROM t GROUP BY v",
        "SELECT g, h, COUNT(*) FROM t GROUP BY g, h", "SELECT g + 1, COUNT(*) FROM t GROUP BY 1",
        "SELECT g, COUNT(DISTINCT h) FROM t GROUP BY g"}) {
    EXPECT_FALSE(truth_of(question, schema, *source, 1).scanned) << question;
  }
}

}  // namespace
}  // namespace gauze::testing
