#include "gauze/query/answer.h"

#include <gmock/gmock.h>

#include "gauze/query/sql_query_test_internal.h"

// What is made of released numbers, which the tests choose.

namespace gauze::testing {
namespace {

Schema reals_schema(const std::string& lower, const std::string& upper) {
  return schema_from_json(nlohmann::json::parse(
      R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row", "columns": {
        "x": {"type": "double", "lower": )" +
      lower + R"(, "upper": )" + upper + R"(, "nulls": false}}}}})"));
}

/// The only cell of an answer of which every released number is so many times how far it is off at most with 95 %.
Answer::Cell cell_of(const std::string& sql, const Schema& schema, double times) {
  const Plan plan = plan_query(sql, schema);
  const MeasurementDesign design = design_measurements(plan, 1, 0);
  ReleasedGroups released{{{}}, {}, {}};
  for (const Measurement& each : design.measurements)
    released.numbers.push_back({static_cast<std::int64_t>(times * radius(each, 0.05))});
  return make_answer(plan, design, released).rows.at(0).at(0);
}

double value_of(const Answer::Cell& cell) {
  return std::get<double>(cell.value);
}

TEST(Answer, SumsAndMeansOfRealNumbersStayOnTheirSide) {
  const Schema above = reals_schema("0", "100"), below = reals_schema("-100", "0");
  for (const double times : {-5.0, -0.5, 0.5, 5.0}) {
    EXPECT_GE(value_of(cell_of("SELECT SUM(x) FROM t", above, times)), 0) << times;
    EXPECT_LE(value_of(cell_of("SELECT SUM(x) FROM t", below, times)), 0) << times;
    const double mean = value_of(cell_of("SELECT AVG(x) FROM t", above, times));
    EXPECT_GE(mean, 0) << times;
    EXPECT_LE(mean, 100) << times;
  }
  EXPECT_EQ(value_of(cell_of("SELECT SUM(x) FROM t", above, -5)), 0);
  EXPECT_GT(value_of(cell_of("SELECT SUM(x) FROM t", above, 0.5)), 0);
}

// An interval that misses all that is possible is as long as any other.
TEST(Answer, WhatIsImpossibleLooksNoMoreCertain) {
  const Schema schema = reals_schema("0", "100");
  const Plan plan = plan_query("SELECT AVG(x), STDDEV(x) FROM t", schema);
  const MeasurementDesign design = design_measurements(plan, 1, 0);
  ReleasedGroups released = assumed_group(plan, design, 1000);
  for (const std::size_t sum : {*design.formulas[1].square, *design.formulas[0].sum}) {
    std::int64_t& number = released.numbers[sum][0];
    number = INT64_MIN / 4;
    const Answer answer = make_answer(plan, design, released);
    for (const Answer::Cell& cell : answer.rows.at(0)) {
      ASSERT_TRUE(cell.half_width);
      EXPECT_GT(*cell.half_width, 0.01);
    }
  }
}

}  // namespace
}  // namespace gauze::testing
