#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gauze/query/plan.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

Schema hospital() {
  return schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "hospital",
    "tables": {
      "visits": {"unit": "patient_id", "rows_per_unit": 10, "keys": [["visit_id"]], "columns": {
        "patient_id": {"type": "integer"}, "visit_id": {"type": "integer"},
        "ward": {"type": "text", "categories": ["a", "b", "c"]},
        "cost": {"type": "double", "lower": 0, "upper": 5000}}}}})"));
}

TEST(Planner, CountsPerGroup) {
  const Plan plan =
      plan_query("SELECT ward, COUNT(*) AS n, AVG(cost) FROM visits WHERE cost > 10 GROUP BY ward",
                 hospital());
  EXPECT_EQ(plan.keys.size(), 1u);
  EXPECT_EQ(plan.keys[0].domain->size(), 4u);
  EXPECT_EQ(plan.aggregates.size(), 2u);
  EXPECT_EQ(plan.bounds.rows_per_unit, 10u);
}

}  // namespace
}  // namespace gauze
