#include "gauze/query/sql_query.h"

#include "gauze/accounting/accountant.h"
#include "gauze/numeric/infinity.h"
#include "gauze/query/answer.h"
#include "gauze/query/sql_query_test_internal.h"
#include "gauze/sql/evaluate.h"
#include "gauze/testing/matchers.h"

namespace gauze::testing {
namespace {

TEST(SqlQuery, ChargesExactlyItsEventAndPromisesWhatWasAsked) {
  const Tables tables;
  const auto source = tables.open("visits", visits());
  const Schema schema = visits_schema("\"patient\"", kFourRows);
  const std::vector<std::string> questions = {
      "SELECT COUNT(*) FROM visits", kManyAggregates,
      "SELECT ward, MEDIAN(days), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY days), "
      "COUNT(DISTINCT town) FROM visits GROUP BY ward",
      "SELECT town, COUNT(*), AVG(days) FROM visits GROUP BY town"};
  for (const std::string& sql : questions) {
    for (const std::string delta : {"0", "1e-6"}) {
      if (delta == "0" && sql.find("GROUP BY town") != std::string::npos) continue;
      SCOPED_TRACE(sql + " at " + delta);
      const SqlQuery q = query(sql, schema, "0.75", delta);
      const double given = std::stod(delta);
      const double epsilon = epsilon_at({q.event()}, given).epsilon;
      EXPECT_LE(epsilon, 0.75);
      EXPECT_GT(epsilon, 0.74);
      SeededBits bits(1);
      Meter meter(q.event());
      Context context{meter, bits};
      const auto release = q.run(*source, context);
      EXPECT_TRUE(meter.exhausted());
      EXPECT_EQ(Event({events::Composed{meter.charged()}, Relation::kAddRemove}), release.spent);
    }
  }
}

TEST(SqlQuery, DrawsAndReadsNothingWhenItCannotPay) {
  class NoSource final : public Source {
    const Dialect& dialect() const override { return duckdb_dialect(); }
    std::vector<ColumnInfo> columns(const std::string&) override {
      ADD_FAILURE() << "read the catalogue";
      return {};
    }
    std::unique_ptr<Stream> execute(const std::string&) override {
      ADD_FAILURE() << "read rows";
      return nullptr;
    }
  } source;
  const SqlQuery q = query(kManyAggregates, visits_schema("\"patient\"", kFourRows));
  const SqlQuery smaller = query(kManyAggregates, visits_schema("\"patient\"", kFourRows), "0.99");
  SeededBits bits(1);
  Meter meter(smaller.event());
  Context context{meter, bits};
  EXPECT_THROW(q.run(source, context), Error);
  EXPECT_EQ(bits.refills(), 0u);
}

TEST(SqlQuery, AnswersUnitsThatAreRowsInTheSource) {
  const Tables tables;
  Replay source(tables.open("visits", visits()));
  const Truth truth = plain_answers();
  const SqlQuery q = query(
      "SELECT ward, COUNT(*) AS n, COUNT(cost) AS m, COUNT(DISTINCT patient) AS p, SUM(cost) AS s, "
      "AVG(cost) AS a, MEDIAN(days) AS d, VAR_POP(cost) AS v, CORR(cost, days) AS r FROM visits "
      "GROUP "
      "BY ward",
      visits_schema("\"row\"", ""), "10000");
  ASSERT_TRUE(q.plan().unit_is_row);
  const Answer a = answer(q, source, 1);
  ASSERT_EQ(a.rows.size(), 3u);
  for (const auto& row : a.rows) {
    const auto& exact = truth.by_ward.at(std::get<std::string>(row[0].value));
    EXPECT_NEAR(number(row[1]), exact[0], 0.5);
    EXPECT_NEAR(number(row[2]), exact[1], 0.5);
    EXPECT_NEAR(number(row[3]), exact[2], 0.5);
    EXPECT_NEAR(number(row[4]), exact[3], 10);
    if (exact[0] == 0) continue;
    EXPECT_NEAR(number(row[5]), exact[4], 0.1);
    EXPECT_NEAR(number(row[6]), 4.5, 1);
    EXPECT_NEAR(number(row[7]), exact[6], 50);
    EXPECT_NEAR(number(row[8]), exact[9], 0.01);
  }
}

TEST(SqlQuery, GivesEveryPublicGroupInOrderAlsoFromAnEmptyTable) {
  const Tables tables;
  for (const std::string unit : {"\"patient\"", "\"row\""}) {
    const Schema schema = visits_schema(unit, unit == "\"row\"" ? "" : kFourRows);
    const auto empty = tables.open("visits", kHeader);
    const SqlQuery q = query(kManyAggregates, schema, "1", "0");
    const Answer a = answer(q, *empty, 3);
    ASSERT_EQ(a.rows.size(), 3u);
    EXPECT_EQ(a.rows[0][0].value, Value(std::string("a")));
    EXPECT_EQ(a.rows[1][0].value, Value(std::string("b")));
    EXPECT_EQ(a.rows[2][0].value, Value(std::string("c")));
    for (const auto& row : a.rows) {
      for (std::size_t i = 1; i < row.size(); ++i) EXPECT_TRUE(std::isfinite(number(row[i])));
    }
    const Answer one = answer(query("SELECT COUNT(*), AVG(cost) FROM visits", schema), *empty, 1);
    EXPECT_EQ(one.rows.size(), 1u);
  }
}

TEST(SqlQuery, AcceptsNullsAndNumbersThatAreNone) {
  const Tables tables;
  const auto source = tables.open("visits", std::string(kHeader) +
                                                ",a,x,1,1\n1,,,,\n2,a,x,,nan\n3,zzz,x,inf,inf\n"
                                                "4,b,x,-5,-inf\nsomebody,a,x,1e300,1e300\n");
  for (const std::string unit : {"\"patient\"", "\"row\""}) {
    const Schema schema = visits_schema(unit, unit == "\"row\"" ? "" : kFourRows);
    const Answer a = answer(query("SELECT COUNT(*), SUM(cost), AVG(days), VARIANCE(cost), "
                                  "MEDIAN(cost) FROM visits",
                                  schema, "100000"),
                            *source, 1);
    ASSERT_EQ(a.rows.size(), 1u);
    for (const auto& cell : a.rows[0]) EXPECT_TRUE(std::isfinite(number(cell)));
    EXPECT_LE(number(a.rows[0][1]), 4 * 1000.0 + 1);
  }
}

// One unit with 10^4 rows of the largest value, in every ward, spread over towns: what it adds must stay
// within the bounds however little noise there is.
TEST(SqlQuery, LetsNoUnitMoveAnAnswerBeyondItsBounds) {
  const Tables tables, others;
  std::string hostile = visits();
  for (int i = 0; i < 10'000; ++i) {
    hostile += "777," + std::string(1, "abc"[i % 3]) + ",town" + std::to_string(i) + ",10,1e9\n";
  }
  const auto before = tables.open("visits", visits());
  const auto after = others.open("visits", hostile);
  const Schema schema = visits_schema("\"patient\"", kFourRows);
  const SqlQuery q = query(
      "SELECT ward, COUNT(*), SUM(cost), SUM(days), COUNT(DISTINCT town), COUNT(DISTINCT patient) "
      "FROM visits GROUP BY ward",
      schema, "100000000");
  const Answer x = answer(q, *before, 1);
  const Answer y = answer(q, *after, 1);
  double rows = 0, groups = 0;
  for (std::size_t g = 0; g < 3; ++g) {
    const auto moved = [&](std::size_t i) { return number(y.rows[g][i]) - number(x.rows[g][i]); };
    EXPECT_LE(moved(1), 2);
    EXPECT_LE(std::abs(moved(2)), 2000.1);
    EXPECT_LE(std::abs(moved(3)), 20.1);
    EXPECT_LE(moved(4), 2);
    EXPECT_LE(moved(5), 1);
    rows += moved(1);
    groups += moved(5);
  }
  EXPECT_EQ(rows, 4);
  EXPECT_LE(groups, 3);
}

TEST(SqlQuery, NamesNoKeyOfASingleUnitAndAllKeysOfMany) {
  const Tables tables;
  std::string csv = kHeader;
  for (int i = 0; i < 5000; ++i)
    csv += std::to_string(i) + ",a,big" + std::to_string(i % 4) + ",1,1\n";
  csv += "9999,a,secret,1,1\n9999,a,also secret,1,1\n";
  Replay source(tables.open("visits", csv));
  for (const std::string unit : {"\"patient\"", "\"row\""}) {
    const SqlQuery q = query("SELECT town, COUNT(*) FROM visits GROUP BY town ORDER BY 1",
                             visits_schema(unit, unit == "\"row\"" ? "" : kFourRows), "1", "1e-6");
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Answer a = answer(q, source, seed);
      ASSERT_EQ(a.rows.size(), 4u);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(a.rows[i][0].value, Value("big" + std::to_string(i)));
        EXPECT_NEAR(number(a.rows[i][1]), 1250, 200);
      }
    }
  }
  EXPECT_ERROR(query("SELECT town, COUNT(*) FROM visits GROUP BY town", visits_schema()),
               ErrorCode::kInvalidOption);
}

TEST(SqlQuery, DoesNotShowTheOrderOfRows) {
  std::vector<std::string> lines;
  for (int i = 0; i < 4000; ++i) {
    lines.push_back(std::to_string(i % 700) + "," + "abc"[i % 3] + ",town" +
                    std::to_string(i % 13) + "," + std::to_string(i % 10) + "," +
                    std::to_string(i % 1000) + "\n");
  }
  std::string forward = kHeader, backward = kHeader;
  for (const std::string& line : lines) forward += line;
  for (std::size_t i = lines.size(); i-- > 0;) backward += lines[i];
  const Tables tables, others;
  const auto x = tables.open("visits", forward);
  const auto y = others.open("visits", backward);
  for (const std::string unit : {"\"patient\"", "\"row\""}) {
    const SqlQuery q = query(
        "SELECT town, COUNT(*), AVG(cost), MEDIAN(days), COUNT(DISTINCT cost) FROM visits GROUP BY "
        "town",
        visits_schema(unit, unit == "\"row\"" ? "" : kFourRows), "2", "1e-6");
    const Answer a = answer(q, *x, 5);
    const Answer b = answer(q, *y, 5);
    ASSERT_EQ(a.rows.size(), b.rows.size());
    ASSERT_GT(a.rows.size(), 3u);
    for (std::size_t r = 0; r < a.rows.size(); ++r) {
      for (std::size_t c = 0; c < a.rows[r].size(); ++c) {
        EXPECT_EQ(a.rows[r][c].value, b.rows[r][c].value);
      }
    }
  }
}

// Columns of dates that nothing is asked of but themselves, whoever reads them.
TEST(SqlQuery, AnswersWhatIsAskedOfDatesAlone) {
  const Tables tables;
  std::string csv = "id,w,day,at\n";
  for (int i = 0; i < 600; ++i)
    csv += std::to_string(i) + "," + (i % 2 ? "a" : "b") + ",2024-0" + std::to_string(1 + i % 3) +
           "-10," + (i % 5 ? "2024-02-03 04:05:06" : "") + "\n";
  const auto source = tables.open("t", csv);
  for (const char* unit : {R"("row")", R"("id", "rows_per_unit": 1)"}) {
    const Schema schema = parse_schema(
        std::string(R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": )") + unit +
        R"(, "columns": {"id": {"type": "integer"}, "w": {"type": "text", "categories": ["a", "b"], "default": "a", "nulls": false},
           "day": {"type": "date", "lower": "2024-01-01", "upper": "2024-12-31", "nulls": false},
           "at": {"type": "timestamp", "lower": "2024-01-01", "upper": "2024-12-31"}}}}})");
    const auto ask = [&](const std::string& sql) {
      return answer(query(sql, schema, "1000"), *source, 1).rows;
    };
    EXPECT_EQ(ask("SELECT MEDIAN(day) FROM t")[0][0].value, Value(parse_date("2024-02-10")));
    EXPECT_EQ(ask("SELECT date_trunc('month', MEDIAN(day)) FROM t")[0][0].value,
              Value(parse_date("2024-02-01")));
    EXPECT_EQ(ask("SELECT extract(month FROM MEDIAN(day)) FROM t")[0][0].value,
              Value(std::int64_t{2}));
    EXPECT_EQ(ask("SELECT w FROM t GROUP BY w HAVING MEDIAN(at) > DATE '2025-01-01'").size(), 0u);
    EXPECT_EQ(ask("SELECT w FROM t GROUP BY w HAVING MEDIAN(at) < DATE '2025-01-01'").size(), 2u);
    EXPECT_NEAR(number(ask("SELECT COUNT(at) FROM t")[0][0]), 480, 1);
    for (const auto& row : ask("SELECT w, COUNT(at), MIN(day) FROM t GROUP BY w"))
      EXPECT_NEAR(number(row[1]), 240, 1);
  }
}

TEST(SqlQuery, ABucketOfNothingIsNothing) {
  const Tables tables;
  std::string csv = "x\n";
  for (int i = 0; i < 200; ++i) csv += i % 4 == 0 ? "\"\"\n" : "30\n";
  const Schema schema = parse_schema(
      R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row",
          "columns": {"x": {"type": "double", "lower": 0, "upper": 100}}}}})");
  const auto source = tables.open("t", csv);
  const auto rows =
      answer(query("SELECT COUNT(width_bucket(x, 0, 100, 4)) FROM t", schema, "1000"), *source, 1)
          .rows;
  EXPECT_NEAR(number(rows[0][0]), 150, 1);
}

// Gaussian noise is drawn in fractions, and the nearest whole number is shown: the bar around that one reaches every whole
// number that the sum may be, which is each within the radius of the noise.
TEST(SqlQuery, ReachesEveryWholeNumberThatASumMayBe) {
  const Schema schema =
      visits_schema("\"patient\"", ", \"rows_per_unit\": 64, \"rows_per_group\": 1");
  const SqlQuery q = query(
      "SELECT ward, days, SUM(days) AS s, SUM(days) * 2 + 1 AS t FROM visits GROUP BY ward, days",
      schema, "1", "1e-6");
  const MeasurementDesign design = design_measurements(q.plan(), 1, parse_ratio("1e-6"));
  ASSERT_EQ(design.measurements.size(), 1u);
  const Measurement& m = design.measurements[0];
  ASSERT_EQ(m.noise, Measurement::Noise::kGaussian);
  ASSERT_LT(m.exponent, 0);
  const std::int64_t one = std::int64_t{1} << -m.exponent,
                     stride = std::max<std::int64_t>(1, one >> 10);
  const double r = std::ldexp(radius(m, 0.05), m.exponent);
  double shortest = kInfinity;
  for (std::int64_t fraction = 0; fraction < one; fraction += stride) {
    const std::int64_t steps = 1000 * one + fraction;
    const double x = std::ldexp(static_cast<double>(steps), m.exponent);
    const Answer a = make_answer(
        q.plan(), design,
        {.keys = {{std::string("a"), std::int64_t{1}}}, .numbers = {{steps}}, .quantiles = {{}}});
    const auto& sum = a.rows.at(0).at(2);
    const auto& twice = a.rows.at(0).at(3);
    for (double truth = std::ceil(x - r); truth <= x + r; ++truth) {
      ASSERT_LE(std::abs(number(sum) - truth), *sum.half_width) << x;
      ASSERT_LE(std::abs(number(twice) - (2 * truth + 1)), *twice.half_width) << x;
    }
    ASSERT_LE(*sum.half_width, r + 0.5);
    shortest = std::min(shortest, *sum.half_width);
  }
  EXPECT_EQ(shortest, std::floor(r + 0.5));  // and no further than it must
}

// At the ends of what is answered at all: nothing that is computed on the way leaves the doubles.
TEST(SqlQuery, AnswersTheWidestAndTheNarrowestRangesInNumbers) {
  const Tables tables;
  for (const char* end : {"1e75", "2e-75"}) {
    const Schema schema = parse_schema(
        std::string(R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row", "columns": {
          "x": {"type": "double", "nulls": false, "lower": 0, "upper": )") +
        end + R"(}, "y": {"type": "double", "nulls": false, "lower": -)" + end +
        ", \"upper\": " + end + "}}}}}");
    std::string rows = "x,y\n";
    for (int i = 0; i < 1000; ++i) rows += (i % 2 == 0 ? end : "0") + std::string(",") + end + "\n";
    const auto source = tables.open("t", rows);
    const double most = std::stod(end);
    const auto cells =
        answer(query("SELECT VARIANCE(x), STDDEV(x), COVAR(x, y), CORR(x, y), AVG(x) "
                     "FROM t",
                     schema, "100"),
               *source, 1)
            .rows[0];
    for (const auto& cell : cells) EXPECT_TRUE(std::isfinite(*cell.half_width)) << end;
    for (const auto& cell : cells) EXPECT_GT(*cell.half_width, 0) << end;
    EXPECT_NEAR(number(cells[0]) / most / most, 0.25, 0.05) << end;
    EXPECT_NEAR(number(cells[1]) / most, 0.5, 0.05) << end;
    EXPECT_NEAR(number(cells[4]) / most, 0.5, 0.05) << end;
  }
}

// A number never stands without its error bar: where nobody knows, the bar has no end.
TEST(SqlQuery, SaysWhereNothingIsKnown) {
  const Tables tables;
  const Schema schema = parse_schema(
      R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row",
          "columns": {"x": {"type": "double", "lower": 0, "upper": 100, "nulls": false}}}}})");
  const auto source = tables.open("t", "x\n90\n");
  const auto cells =
      answer(query("SELECT AVG(x), SUM(x) / COUNT(*) FROM t", schema, "0.01"), *source, 1).rows[0];
  EXPECT_EQ(number(cells[0]), 50);
  EXPECT_NEAR(*cells[0].half_width, 50, 1e-6);
  EXPECT_TRUE(is_null(cells[1].value) || cells[1].half_width == kInfinity);
}

TEST(SqlQuery, FiltersSortsAndCutsReleasedValues) {
  const Tables tables;
  const auto source = tables.open("visits", visits());
  const Schema schema = visits_schema("\"patient\"", kFourRows);
  const Answer a = answer(query("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING "
                                "COUNT(*) > 100 ORDER BY n DESC LIMIT 1",
                                schema, "1000"),
                          *source, 1);
  ASSERT_EQ(a.rows.size(), 1u);
  EXPECT_EQ(a.rows[0][0].value, Value(std::string("b")));
  EXPECT_EQ(a.rows[0][1].value, Value(std::int64_t{600}));
  // A name is that of an output where it orders by itself; elsewhere a column of that name goes first.
  const auto first = [&](const std::string& rest) {
    const Answer sorted =
        answer(query("SELECT -days AS days, COUNT(*) AS n FROM visits GROUP BY visits.days " + rest,
                     schema, "1000"),
               *source, 1);
    return sorted.rows.empty() ? -100 : number(sorted.rows[0][0]);
  };
  EXPECT_EQ(first("ORDER BY days"), -10);
  EXPECT_EQ(first("ORDER BY days + 0"), 0);
  EXPECT_EQ(first("HAVING days > 7 ORDER BY days"), -10);
  EXPECT_EQ(first("HAVING n > 50 ORDER BY n + 0 LIMIT 0"), -100);
}

TEST(SqlQuery, PositionsInOrderByCountWhatWasWritten) {
  const Plan planned = plan_query(
      "SELECT PERCENTILE_CONT(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY days), ward, COUNT(*) AS n "
      "FROM visits GROUP BY ward ORDER BY 2, 3 DESC",
      visits_schema());
  ASSERT_EQ(planned.outputs.size(), 4u);
  EXPECT_EQ(planned.order_by[0].expression, planned.outputs[2].expression);
  EXPECT_EQ(planned.order_by[1].expression, planned.outputs[3].expression);
  EXPECT_ERROR(
      plan_query("SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 3", visits_schema()),
      ErrorCode::kUnsupported);
}

/// Every row is in one group, whatever is null where; `values` of two columns, of which the second may be null.
TEST(SqlQuery, LosesNoRowsOfKeysThatPassOverNulls) {
  const Tables tables;
  const Schema schema = parse_schema(
      R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "row", "columns": {
          "a": {"type": "integer", "lower": 5, "upper": 10, "nulls": false},
          "b": {"type": "integer", "lower": 0, "upper": 3},
          "word": {"type": "text", "categories": ["x", "y"]}}}}})");
  std::string csv = "a,b,word\n";
  for (int i = 0; i < 400; ++i)
    csv += std::string("8,") + (i % 2 == 0 ? "2" : "") +
           (i % 3 == 0   ? ",x\n"
            : i % 3 == 1 ? ",y\n"
                         : ",\n");
  const auto source = tables.open("t", csv);
  for (const std::string key :
       {"LEAST(a, b)", "GREATEST(b, a - 7, b)", "NULLIF(a, CASE WHEN b IS NULL THEN 8 END)",
        "concat(word, '!')", "word || '!'", "width_bucket(a + 3, 0, 22, 30)"}) {
    double rows = 0;
    const Answer a = answer(
        query("SELECT " + key + " AS k, COUNT(*) FROM t GROUP BY k", schema, "1000"), *source, 1);
    for (const auto& row : a.rows) {
      rows += number(row[1]);
      // a is 8: 11 is 15 of 30 thirtieths of 22 above 0.
      if (key.starts_with("width_bucket")) {
        EXPECT_EQ(number(row[1]), row[0].value == Value(std::int64_t{16}) ? 400 : 0);
      }
    }
    EXPECT_EQ(rows, 400) << key;
  }
}

// PostgreSQL writes out what sub-selects name, so a long conversion or expression is fenced off where much would repeat it.
TEST(SqlQuery, NamesWhatIsLongSoThatNoServerWritesItOut) {
  class Catalogue final : public Source {
   public:
    explicit Catalogue(const Dialect& dialect) : dialect_(dialect) {}
    const Dialect& dialect() const override { return dialect_; }
    std::vector<ColumnInfo> columns(const std::string&) override {
      std::vector<ColumnInfo> all;
      for (const char* name : {"patient", "ward", "town", "days", "cost"})
        all.push_back({name, Type::kText});
      return all;
    }
    std::unique_ptr<Stream> execute(const std::string&) override { return nullptr; }

   private:
    const Dialect& dialect_;
  };
  Catalogue postgres(postgres_dialect()), duckdb(duckdb_dialect());
  const auto sql = [](const std::string& expression, Source& source) {
    return rows_sql(plan_query("SELECT SUM(" + expression + ") FROM visits", visits_schema()),
                    source);
  };
  using ::testing::HasSubstr, ::testing::Not;
  std::string nested = "clamp(days, 0, 9)";
  for (int i = 0; i < 2; ++i) nested = "round(" + nested + " * 1.01, 2)";
  EXPECT_THAT(sql("days + 1", postgres), Not(HasSubstr("OFFSET")));
  EXPECT_THAT(sql(nested, duckdb), Not(HasSubstr("OFFSET")));
  const std::string fenced = sql(nested, postgres);
  EXPECT_THAT(fenced, HasSubstr("OFFSET 0) AS t1"));
  // Each conversion stands there once: of days, and of patient.
  EXPECT_LT(fenced.size(), 40'000u);
  // One more level is refused, and so are expressions that are long together, before anything is read or paid.
  EXPECT_ERROR(sql("round(" + nested + " * 1.01, 2) * " + nested, postgres),
               ErrorCode::kUnsupported);
  std::string sums = "COUNT(*)";
  for (int i = 0; i < 40; ++i)
    sums += ", SUM(" + nested + " + " + nested + " + " + nested + " + " + std::to_string(i) + ")";
  EXPECT_ERROR(rows_sql(plan_query("SELECT " + sums + " FROM visits", visits_schema()), postgres),
               ErrorCode::kUnsupported);
}

TEST(SqlQuery, ChoosesTheNoiseThatErrsLess) {
  const Schema many =
      visits_schema("\"patient\"", ", \"rows_per_unit\": 64, \"rows_per_group\": 1");
  const std::string sql = "SELECT ward, days, COUNT(*) FROM visits GROUP BY ward, days";
  const SqlQuery gaussian = query(sql, many, "1", "1e-6");
  EXPECT_THAT(gaussian.reason(), ::testing::StartsWith("Gaussian"));
  const SqlQuery laplace = query("SELECT COUNT(*) FROM visits", visits_schema(), "1", "1e-6");
  EXPECT_THAT(laplace.reason(), ::testing::StartsWith("Laplace"));
  const SqlQuery pure = query(sql, many, "1");
  // 33 groups: 33 against about sqrt(33) 4.2, both at 95 %
  EXPECT_LT(*gaussian.measurements()[0].half_width, 0.6 * *pure.measurements()[0].half_width);
}

TEST(SqlQuery, SplitsAMeanInsideItsOwnShare) {
  const Schema schema = visits_schema("\"row\"", "");
  const auto share = [&](const std::string& sql) {
    std::vector<std::string> shares;
    const SqlQuery q = query(sql, schema);
    for (const MeasurementInfo& info : q.measurements()) shares.push_back(info.share);
    return shares;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(share("SELECT AVG(days) FROM visits"), ElementsAre("50 %", "50 %"));
  EXPECT_THAT(share("SELECT COUNT(days), AVG(days) FROM visits"), ElementsAre("50 %", "50 %"));
  EXPECT_THAT(share("SELECT COUNT(*), SUM(days) FROM visits"), ElementsAre("50 %", "50 %"));
  EXPECT_THAT(share("SELECT SUM(days), AVG(days) FROM visits").size(), 2u);
}

// A sum beside a mean is centred sum + 5 count: both must hold at once, so each gets 2.5 %. The sum has two thirds
// of epsilon 1, asked for by two of three: scale 5/(2/3); the count the rest: scale 3. For discrete Laplace noise
// P(|X| > r) = 2 q^(r + 1) / (1 + q), q = e^(-1/scale).
TEST(SqlQuery, SharesTheFailuresOfACellAmongItsMeasurements) {
  const auto radius = [](double scale, double beta) {
    const double q = std::exp(-1 / scale);
    double r = 0;
    while (2 * std::pow(q, r + 1) / (1 + q) > beta) ++r;
    return r;
  };
  const Tables tables;
  const auto source = tables.open("visits", visits());
  const SqlQuery q =
      query("SELECT SUM(days), AVG(days), COUNT(days) FROM visits", visits_schema("\"row\"", ""));
  const Answer a = answer(q, *source, 1);
  ASSERT_EQ(q.measurements().size(), 2u);
  EXPECT_DOUBLE_EQ(*a.rows[0][0].half_width, radius(7.5, 0.025) + 5 * radius(3, 0.025));
  EXPECT_DOUBLE_EQ(*a.rows[0][2].half_width, radius(3, 0.05));
}

/// Sends numbers a million times too large.
class Exaggerating final : public Source {
 public:
  explicit Exaggerating(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  const Dialect& dialect() const override { return source_->dialect(); }
  std::vector<ColumnInfo> columns(const std::string& table) override {
    return source_->columns(table);
  }
  std::unique_ptr<Stream> execute(const std::string& sql) override {
    return std::make_unique<Large>(source_->execute(sql));
  }

 private:
  class Large final : public Stream {
   public:
    explicit Large(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
    bool next(Batch& batch) override {
      if (!stream_->next(batch)) return false;
      BatchColumn& value = batch.columns.back();
      values_.assign(value.integers.begin(), value.integers.end());
      for (std::int64_t& x : values_) x *= 1'000'000;
      value.integers = values_;
      return true;
    }

   private:
    std::unique_ptr<Stream> stream_;
    std::vector<std::int64_t> values_;
  };
  std::unique_ptr<Source> source_;
};

TEST(SqlQuery, KeepsWhatASourceSendsWithinItsPublicRange) {
  const Tables tables;
  Exaggerating source(tables.open("visits", std::string(kHeader) + "1,a,x,9,9\n2,a,x,9,9\n"));
  const SqlQuery q = query("SELECT SUM(days) FROM visits", visits_schema(), "1000000");
  EXPECT_EQ(number(answer(q, source, 1).rows[0][0]), 20);
}

// Sources leave some columns out: whoever sees such a column in the data is not told that there is none.
TEST(SqlQuery, SaysOfAColumnThatIsNotThereThatItsTypeMayBeLeftOut) {
  const Tables tables;
  const auto source = tables.open("visits", "patient_id,ward\n1,a\n");
  try {
    answer(query("SELECT SUM(days) FROM visits", visits_schema(), "1"), *source, 1);
    FAIL() << "a column of which nothing is there was answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnknownName);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("lists, structs"));
  }
}

TEST(SqlQuery, CancelsBeforeNoiseWhenProgressThrows) {
  const Tables tables;
  const auto source = tables.open("visits", visits());
  struct Cancelled {};
  const SqlQuery q(
      {.plan = plan_query("SELECT COUNT(*) FROM visits", visits_schema()), .epsilon = 1});
  SeededBits bits(1);
  Meter meter(q.event());
  const Watch watch{.progress = [](double, std::string_view) { throw Cancelled(); }};
  Context context{meter, bits, &watch};
  EXPECT_THROW(q.run(*source, context), Cancelled);
  EXPECT_TRUE(meter.charged().empty());
}

// From then on the answer is waited for: whoever stops a question stops it here at the latest.
TEST(SqlQuery, TellsOnceAndBeforeItChargesThatItBeginsToDraw) {
  const Tables tables;
  struct Cancelled {};
  for (const char* question : {"SELECT COUNT(*), MEDIAN(days) FROM visits",
                               "SELECT ward, COUNT(*) FROM visits GROUP BY ward"}) {
    for (const bool cancels : {false, true}) {
      const auto source = tables.open("visits", visits());
      const SqlQuery q = query(question, visits_schema(), "1");
      SeededBits bits(1);
      Meter meter(q.event());
      int told = 0;
      const Watch watch{.drawing = [&] {
        ++told;
        EXPECT_TRUE(meter.charged().empty());
        if (cancels) throw Cancelled();
      }};
      Context context{meter, bits, &watch};
      if (cancels)
        EXPECT_THROW(q.run(*source, context), Cancelled);
      else
        q.run(*source, context);
      EXPECT_EQ(told, 1);
      EXPECT_EQ(meter.charged().empty(), cancels);
    }
  }
}

}  // namespace
}  // namespace gauze::testing
