#include <gtest/gtest.h>

#include <map>

#include "gauze/base/error.h"
#include "gauze/query/plan.h"
#include "sql_test_file.h"

namespace gauze::sql_test {
namespace {

TEST(SqlFiles, EveryQuestionIsPlannedOrRefusedAsWritten) {
  std::map<std::string, Schema> schemas;
  std::size_t accepted = 0, refused = 0;
  for (const Case& each : all_cases()) {
    if (!schemas.contains(each.schema)) schemas.emplace(each.schema, schema_named(each.schema));
    std::string plan, error;
    try {
      plan = describe(plan_query(each.query, schemas.at(each.schema)));
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
