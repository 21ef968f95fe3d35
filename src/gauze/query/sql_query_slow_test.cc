#include "gauze/query/sql_query_test_internal.h"
#include "gauze/testing/audit.h"

namespace gauze::testing {
namespace {

// 300 releases; a half width that held with 95 % would be missed more than 35 times (12 %) with
// probability below 1e-6; with half the noise promised, all single measurements would be.
TEST(SqlQuery, KeepsEveryHalfWidthItPromises) {
  const Tables tables;
  Replay source(tables.open("visits", visits()));
  const Truth truth = plain_answers();
  for (const std::string delta : {"0", "1e-6"}) {
    const SqlQuery q = query(kManyAggregates, visits_schema("\"patient\"", kFourRows), "6", delta);
    std::map<std::string, int> missed;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const Answer a = answer(q, source, seed);
      ASSERT_EQ(a.rows.size(), 3u);
      for (const auto& row : a.rows) {
        const std::string ward = std::get<std::string>(row[0].value);
        for (std::size_t i = 0; i < 11; ++i) {
          const double exact = truth.by_ward.at(ward)[i];
          if (std::isnan(exact)) continue;  // of no rows: there is no true value
          ASSERT_TRUE(row[i + 1].half_width.has_value());
          if (std::abs(number(row[i + 1]) - exact) > *row[i + 1].half_width * (1 + 1e-12) + 1e-9) {
            ++missed[a.columns[i + 1].name + " of " + ward];
          }
        }
      }
    }
    for (const auto& [what, times] : missed) EXPECT_LE(times, 35) << what << " at delta " << delta;
    // Single measurements are no wider than they must be: 5 % are missed, at least 8 of 1200 but with
    // probability 1e-9; integers miss less, so only the finest is asked.
    EXPECT_GE(missed["s of b"] + missed["n of b"] + missed["n of c"] + missed["p of a"], 8);
  }
}

// 100 releases of three cells, 95 % each: more than 36 misses of 300 have probability below 1e-6.
TEST(SqlQuery, KeepsTheHalfWidthsOfQuantiles) {
  const Tables tables;
  Replay source(tables.open("visits", visits()));
  const SqlQuery q = query(
      "SELECT MEDIAN(days), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY days), MEDIAN(days) + "
      "COUNT(*) FROM "
      "visits",
      visits_schema("\"patient\"", kFourRows), "3");
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Answer a = answer(q, source, seed);
    // days are 0 to 9 in turn: the median lies between 4 and 5, the 90 % quantile between 8 and 9
    const auto& row = a.rows[0];
    missed += std::abs(number(row[0]) - 4.5) > *row[0].half_width + 0.5;
    missed += std::abs(number(row[1]) - 8.5) > *row[1].half_width + 0.5;
    missed += std::abs(number(row[2]) - 604.5) > *row[2].half_width + 0.5;
    EXPECT_LT(*row[0].half_width, 5);
  }
  EXPECT_LE(missed, 36);
}

// Two tables that differ in one patient; the audit's lower bound for epsilon stays below what was paid, and
// rises above it for the same query sold at an eighth of its price.
TEST(SqlQuery, SurvivesTheAuditThatCatchesAnEighthOfThePrice) {
  const Tables tables, others;
  std::string with = kHeader;
  for (int i = 0; i < 4; ++i) with += "1,a,x,10,1000\n";
  Replay one(tables.open("visits", with));
  Replay none(others.open("visits", kHeader));
  const Schema schema = visits_schema("\"patient\"", kFourRows);
  const auto audited = [&](const std::string& epsilon) {
    const SqlQuery q =
        query("SELECT ward, COUNT(*), SUM(days) FROM visits GROUP BY ward", schema, epsilon);
    const auto draw = [&](Source& source) {
      return [&](BitSource& bits) {
        Meter meter(q.event());
        Context context{meter, bits};
        const Answer a = q.run(source, context).value;
        return std::round(number(a.rows[0][1]) + number(a.rows[0][2]) / 5);
      };
    };
    return audited_epsilon(draw(none), draw(one), {.trials = 1500, .seed = 4});
  };
  EXPECT_LE(audited("1"), 1);
  EXPECT_GT(audited("8"), 1);
}

}  // namespace
}  // namespace gauze::testing
