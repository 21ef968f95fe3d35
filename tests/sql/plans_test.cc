#include <gtest/gtest.h>

#include <map>

#include "gauze/accounting/accountant.h"
#include "gauze/base/error.h"
#include "gauze/query/measurement.h"
#include "gauze/query/plan.h"
#include "sql_test_file.h"

namespace gauze::sql_test {
namespace {

/// What is measured with which share of the price, and how far one unit moves it: in l1, at delta 0. Where keys are
/// selected there is no delta 0, and shares are all that is said.
std::string price(const Plan& plan) {
  MeasurementDesign design = derive_measurements(plan);
  std::string text;
  const auto add = [&](const Ratio& weight, const std::string& what) {
    text += "cost " + weight.str() + " " + what;
  };
  if (design.groups == 0) add(design.key_weight, "keys\n");
  if (design.groups != 0) design = design_measurements(plan, 1, 0);
  Ratio whole = design.key_weight;
  for (const Measurement& m : design.measurements) {
    whole += m.weight;
    add(m.weight, m.of);
    if (m.kind != Measurement::Kind::kQuantile && design.groups != 0)
      text += ": " + to_text(Value(round_up(Ratio(m.sensitivity * power_of_two(m.exponent)))));
    text += "\n";
  }
  if (design.measurements.empty()) return text;
  EXPECT_EQ(whole, 1) << plan.sql;
  if (design.groups == 0) return text;
  // The accountant knows nothing of shares.
  EXPECT_DOUBLE_EQ(epsilon_at(design.events(), 0, Accountant::kPure).epsilon, 1) << plan.sql;
  return text;
}

TEST(SqlFiles, EveryQuestionIsPlannedOrRefusedAsWritten) {
  std::map<std::string, Schema> schemas;
  std::size_t accepted = 0, refused = 0;
  for (const Case& each : all_cases()) {
    if (!schemas.contains(each.schema)) schemas.emplace(each.schema, schema_named(each.schema));
    std::string plan, error;
    try {
      const Plan planned = plan_query(each.query, schemas.at(each.schema));
      plan = describe(planned) + price(planned);
      ++accepted;
    } catch (const Error& problem) {
      error = name(problem.code());
      ++refused;
      EXPECT_EQ(std::string(problem.what()).find('\n'), std::string::npos)
          << each.where << ": one line";
      if (each.error != error) plan = problem.what();
    }
    EXPECT_EQ(error, each.error) << each.where << "\n" << each.query << "\n" << plan;
    if (error.empty()) {
      EXPECT_EQ(plan, each.plan) << each.where << "\n" << each.query;
    }
  }
  EXPECT_GE(accepted, 100u);
  EXPECT_GE(refused, 80u);
}

}  // namespace
}  // namespace gauze::sql_test
