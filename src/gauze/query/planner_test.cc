#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gauze/query/plan.h"
#include "gauze/query/relation_internal.h"
#include "gauze/testing/matchers.h"

// Whole questions with their plans are in tests/sql; here is what a text cannot show.

namespace gauze {
namespace {

Schema hospital() {
  return schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "hospital",
    "tables": {
      "visits": {"unit": "patient_id", "rows_per_unit": 10, "keys": [["visit_id"]], "columns": {
        "patient_id": {"type": "integer"}, "visit_id": {"type": "integer"},
        "ward": {"type": "text", "categories": ["b", "a", "c"]},
        "day": {"type": "date", "lower": "2024-01-30", "upper": "2024-03-02"},
        "cost": {"type": "double", "lower": 0, "upper": 5000},
        "age": {"type": "integer", "lower": 0, "upper": 99, "nulls": false, "bins": [0, 18, 65, 99]}}},
      "prices": {"public": true, "columns": {"ward": {"type": "text"}, "price": {"type": "double"}}}}})"));
}

Plan plan(const std::string& sql, const PlanOptions& options = {}) {
  return plan_query(sql, hospital(), options);
}

std::vector<std::string> domain(const std::string& key) {
  std::vector<std::string> result;
  const Plan planned = plan("SELECT " + key + ", COUNT(*) FROM visits GROUP BY 1");
  for (const Value& value : planned.keys.at(0).domain.value()) result.push_back(to_text(value));
  return result;
}

TEST(Planner, ListsEveryValueOfAKeyInItsOrder) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(domain("ward"), (Texts{"b", "a", "c", ""}));  // as declared, null last
  EXPECT_EQ(domain("upper(ward)"), (Texts{"A", "B", "C", ""}));
  EXPECT_EQ(domain("ward = 'a'"), (Texts{"false", "true", ""}));
  EXPECT_EQ(domain("coalesce(ward, 'none')"), (Texts{"b", "a", "c", "none"}));
  EXPECT_EQ(domain("CASE WHEN cost > 10 THEN 'dear' ELSE 'cheap' END"), (Texts{"dear", "cheap"}));
  EXPECT_EQ(domain("extract(month FROM day)"), (Texts{"1", "2", "3", ""}));
  EXPECT_EQ(domain("date_trunc('month', day)"),
            (Texts{"2024-01-01", "2024-02-01", "2024-03-01", ""}));
  EXPECT_EQ(domain("date_trunc('week', day)"),
            (Texts{"2024-01-29", "2024-02-05", "2024-02-12", "2024-02-19", "2024-02-26", ""}));
  EXPECT_EQ(domain("floor(cost / 2000)"), (Texts{"0", "1", "2", "3", ""}));
  // LEAST and GREATEST pass over nulls.
  EXPECT_EQ(domain("LEAST(age / 99 * 0 + 5, floor(cost / 2000))"),
            (Texts{"0", "1", "2", "3", "5"}));
  EXPECT_EQ(domain("GREATEST(extract(month FROM day), 2)"), (Texts{"2", "3"}));
  EXPECT_EQ(domain("GREATEST(CASE WHEN age > 9 THEN 1 END, CASE WHEN age > 5 THEN 2 END)"),
            (Texts{"1", "2", ""}));
  // Only what is the same on all rows is never a result.
  EXPECT_EQ(domain("NULLIF(ward, 'a')"), (Texts{"b", "c", ""}));
  EXPECT_EQ(domain("NULLIF(ward, CASE WHEN age > 9 THEN 'a' END)"), (Texts{"b", "a", "c", ""}));
  EXPECT_EQ(domain("concat(ward, '-')"), (Texts{"-", "a-", "b-", "c-"}));
  EXPECT_EQ(domain("ward || '-'"), (Texts{"a-", "b-", "c-", ""}));
  // No null where bins cover the range of a column that has none.
  EXPECT_EQ(domain("bin(age)"), (Texts{"[0, 18)", "[18, 65)", "[65, 99]"}));
}

// PostgreSQL has what USING merges first, then the left table, also of a RIGHT JOIN. The columns are price and ward, and age,
// cost, day, patient_id, visit_id and ward.
TEST(Planner, HasTheColumnsOfAStarInTheOrderOfPostgresql) {
  const auto key = [](const std::string& from, const std::string& names) {
    return plan("SELECT k, COUNT(*) FROM (SELECT " + from + ") AS t(" + names + ") GROUP BY k",
                {20, std::nullopt, std::nullopt})
        .keys.at(0);
  };
  const auto is_ward = [](const KeyColumn& column) {
    return column.type == Type::kText && column.domain && column.domain->size() == 4;
  };
  EXPECT_TRUE(is_ward(key("* FROM visits JOIN prices USING (ward)", "k")));
  EXPECT_EQ(key("* FROM visits JOIN prices USING (ward)", "a, b, c, k").type, Type::kDate);
  EXPECT_TRUE(is_ward(key("* FROM prices RIGHT JOIN visits USING (ward)", "k")));
  EXPECT_EQ(key("* FROM prices RIGHT JOIN visits USING (ward)", "a, k").type, Type::kDouble);
  const std::string on = " RIGHT JOIN visits ON prices.ward = visits.ward";
  EXPECT_EQ(key("* FROM prices" + on, "k").type, Type::kDouble);
  EXPECT_TRUE(is_ward(key("* FROM prices" + on, "a, b, c, d, e, f, g, k")));
  EXPECT_EQ(key("prices.* FROM visits JOIN prices USING (ward)", "a, k").type, Type::kText);
}

TEST(Planner, TakesTheAnalystsBoundsInsteadOfTheSchemas) {
  const Plan declared = plan("SELECT ward, COUNT(*) FROM visits GROUP BY ward");
  EXPECT_EQ(declared.bounds, (Bounds{10, 4, 10}));
  const Plan tighter =
      plan("SELECT ward, COUNT(*) FROM visits GROUP BY ward", {std::nullopt, 2, 3});
  EXPECT_EQ(tighter.bounds, (Bounds{6, 2, 3}));
  const Plan wider = plan("SELECT COUNT(*) FROM visits", {50, 7, std::nullopt});
  EXPECT_EQ(wider.bounds, (Bounds{50, 1, 50}));
  EXPECT_ERROR(plan("SELECT COUNT(*) FROM visits", {0, std::nullopt, std::nullopt}),
               ErrorCode::kInvalidOption);
}

TEST(Planner, AcceptsAJoinThatMultipliesOnlyWithALimitOfTheAnalyst) {
  const std::string sql = "SELECT COUNT(*) FROM visits JOIN prices ON visits.ward = prices.ward";
  EXPECT_ERROR(plan(sql), ErrorCode::kMissingKnowledge);
  EXPECT_EQ(plan(sql, {20, std::nullopt, std::nullopt}).bounds.rows_per_unit, 20u);
}

TEST(Planner, ComputesAnAggregateOnceHoweverOftenItIsAsked) {
  const Plan planned = plan(
      "SELECT ward, COUNT(*), COUNT(*) * 2, SUM(cost), AVG(cost), SUM(cost) / COUNT(*) FROM visits "
      "GROUP BY ward "
      "HAVING COUNT(*) > 3 ORDER BY SUM(cost)");
  EXPECT_EQ(planned.aggregates.size(), 3u);
  EXPECT_EQ(planned.values.size(), 1u);
  EXPECT_EQ(planned.outputs.size(), 6u);
  EXPECT_TRUE(planned.outputs[0].is_key);
  EXPECT_EQ(planned.outputs[1].type, Type::kInteger);
  EXPECT_EQ(planned.outputs[3].type, Type::kDouble);
}

TEST(Planner, CountsWhatIsNeverNullAsRows) {
  EXPECT_EQ(plan("SELECT COUNT(patient_id) FROM visits").aggregates[0].function,
            Aggregate::Function::kCountRows);
  EXPECT_EQ(plan("SELECT COUNT(ward) FROM visits").aggregates[0].function,
            Aggregate::Function::kCount);
  EXPECT_EQ(plan("SELECT COUNT(DISTINCT patient_id) FROM visits").aggregates[0].function,
            Aggregate::Function::kCountUnits);
}

TEST(Planner, MessagesAreTheSameWhateverTheSchemaDoesNotSay) {
  EXPECT_ERROR(plan("SELECT SUM(price) FROM prices"), ErrorCode::kUnsupported);
  EXPECT_ERROR(plan("SELECT COUNT(*) FROM visits WHERE visit_id IN (SELECT visit_id FROM visits)"),
               ErrorCode::kNotPrivate);
}

TEST(Planner, RefusesTreesThatSharedQueriesWouldMakeHuge) {
  std::string sql = "WITH q0 AS (SELECT patient_id FROM visits)";
  for (int i = 1; i <= 30; ++i) {
    const std::string before = "q" + std::to_string(i - 1);
    sql += ", q" + std::to_string(i) + " AS (SELECT a.patient_id FROM " + before + " AS a JOIN " +
           before + " AS b ON a.patient_id = b.patient_id)";
  }
  EXPECT_ERROR(plan(sql + " SELECT COUNT(*) FROM q30"), ErrorCode::kUnsupported);
}

TEST(Planner, ReadsATextBesideADateAsADate) {
  const auto condition = [](const std::string& text) {
    return plan("SELECT COUNT(*) FROM visits WHERE " + text).rows->inputs.at(0)->condition;
  };
  EXPECT_EQ(condition("day >= '2024-02-05 12:00:00'"), condition("day >= DATE '2024-02-05'"));
  EXPECT_EQ(condition("day < '2024-02-05'"), condition("day < DATE '2024-02-05'"));
  EXPECT_FALSE(condition("day >= TIMESTAMP '2024-02-05 12:00:00'") ==
               condition("day >= '2024-02-05 12:00:00'"));
}

TEST(Planner, PlansANullThatWasCastToADate) {
  EXPECT_NO_THROW(plan("SELECT COUNT(*) FROM visits WHERE day - CAST(NULL AS date) > 3"));
  EXPECT_NO_THROW(
      plan("SELECT COUNT(*) FROM visits WHERE extract(year FROM CAST(NULL AS date)) > 3"));
}

// 2^60 mentions of one column, and a union of 60 lists of 9,000: both are found in well under a second.
TEST(Planner, FindsADomainOnceHoweverOftenAColumnIsMentioned) {
  std::string chain = "WITH a0 AS (SELECT ward AS c FROM visits)";
  for (int i = 1; i <= 60; ++i)
    chain += ", a" + std::to_string(i) + " AS (SELECT coalesce(c, c) AS c FROM a" +
             std::to_string(i - 1) + ")";
  EXPECT_NO_THROW(plan(chain + " SELECT c, COUNT(*) FROM a60 GROUP BY c"));
  std::string branches;
  for (int i = 0; i < 60; ++i)
    branches += " WHEN visit_id = " + std::to_string(i) + " THEN clamp(visit_id, 0, 8999) + " +
                std::to_string(i * 9000);
  EXPECT_NO_THROW(plan("SELECT CASE" + branches + " END AS c, COUNT(*) FROM visits GROUP BY c"));
}

}  // namespace
}  // namespace gauze
