#include <algorithm>
#include <fstream>
#include <iterator>

#include "gauze/data/run_duckdb_internal.h"
#include "gauze/query/sql_query_internal.h"
#include "gauze/query/sql_query_test_internal.h"
#include "gauze/testing/matchers.h"

// Sums that the source computes where every row is a unit: keys confined after grouping, doubles added up as such.

namespace gauze::testing {
namespace {

using internal::GroupIndex;
using internal::GroupTruth;

/// A Parquet file, gone at the end.
class Parquet {
 public:
  explicit Parquet(const std::string& select)
      : path_(std::filesystem::temp_directory_path() /
              ("gauze_pushed_" + std::to_string(::getpid()) + "_" + std::to_string(next_++) +
               ".parquet")) {
    internal::run_duckdb({"COPY (" + select + ") TO '" + path_.string() +
                          "' (FORMAT parquet, COMPRESSION uncompressed)"});
  }
  ~Parquet() { std::filesystem::remove(path_); }

  std::unique_ptr<Source> open() const {
    return open_files({{"t", path_.string()}}, {.threads = 1, .memory = 0, .temp_directory = ""});
  }

  /// Puts another double where `from` stands; the statistics keep what they say.
  void replace(double from, double to) const {
    const auto bytes_of = [](const double& x) {
      return std::string_view(reinterpret_cast<const char*>(&x), sizeof x);
    };
    EXPECT_EQ(replace(bytes_of(from), bytes_of(to)), 1u);
  }

  /// How often `from` stood there.
  std::size_t replace(std::string_view from, std::string_view to) const {
    std::ifstream in(path_, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    std::size_t found = 0;
    for (std::size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
      bytes.replace(at, to.size(), to);
      ++found;
    }
    std::ofstream(path_, std::ios::binary) << bytes;
    return found;
  }

 private:
  static inline int next_ = 0;
  std::filesystem::path path_;
};

Schema schema() {
  return schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "d", "tables": {"t": {"unit": "row", "columns": {
        "g": {"type": "integer", "lower": 0, "upper": 2, "nulls": false},
        "c": {"type": "text", "categories": ["a", "b"], "default": "b"},
        "x": {"type": "integer", "lower": 0, "upper": 10},
        "y": {"type": "double", "lower": -1, "upper": 1000},
        "w": {"type": "integer", "lower": -7, "upper": 10, "nulls": false},
        "v": {"type": "integer", "lower": -7, "upper": 10},
        "q": {"type": "integer", "lower": 0, "upper": 10, "nulls": false},
        "z": {"type": "double", "lower": -1, "upper": 10, "nulls": false}}}}})"));
}

GroupTruth sums_of(const std::string& sql, Source& source) {
  const SqlQuery::Options options{.plan = plan_query(sql, schema()), .epsilon = 1};
  const MeasurementDesign design = derive_measurements(options.plan);
  GroupIndex index(options.plan);
  return internal::read_sums(options, design, source, index);
}

// -1 and 7 are moved to the ends and null to 0; "z" is "b" by default and null stays null.
TEST(PushedSums, KeysOutsideTheirDomainsJoinTheGroupTheyBelongTo) {
  const Parquet file(
      "SELECT * FROM (VALUES (0, 'a', 1), (-1, 'a', 2), (NULL, 'a', 3), (2, 'z', 4), (7, 'b', 50), "
      "(1, NULL, -5), (1, NULL, NULL)) AS v(g, c, x), (SELECT 1.5::DOUBLE AS y)");
  const auto source = file.open();
  const SqlQuery q =
      query("SELECT g, c, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g, c", schema(), "1000000");
  EXPECT_EQ(
      full_groups(q, *source),
      (Groups{{"0a", {3, 6}}, {"2b", {2, 14}}, {std::string(1, '1') + to_text(Value{}), {2, 0}}}));
}

TEST(PushedSums, DifferentValuesAreCountedInTheGroupsOfTheAnswer) {
  const Parquet file(
      "SELECT g, 'a' AS c, x, 0.0::DOUBLE AS y FROM (VALUES (2, 1), (3, 1), (4, 1)) AS v(g, x)");
  const auto source = file.open();
  const SqlQuery q =
      query("SELECT g, COUNT(DISTINCT x) AS n FROM t GROUP BY g", schema(), "1000000");
  EXPECT_EQ(number(answer(q, *source, 1).rows[2][1]), 1);
}

// Keys inside, outside, null and not UTF-8.
TEST(PushedSums, RowsAreCountedAsSqlCountsThem) {
  const Parquet file(
      "SELECT (hash(i) % 7)::INT - 2 AS g, (CASE hash(i + 1) % 5 WHEN 0 THEN 'a' WHEN 1 THEN 'b' "
      "WHEN 2 "
      "THEN 'z' WHEN 3 THEN 'bad_text' END) AS c, CASE WHEN i % 3 = 0 THEN NULL ELSE (hash(i + 2) "
      "% "
      "20)::BIGINT - 5 END AS x, i AS w FROM range(50000) AS r(i)");
  file.replace("bad_text", "bad\xff\xfe\xfd\xfc\xfb");
  const auto own = file.open();
  const auto opened = file.open();
  OnlySql sql(*opened);  // without aggregates of its own
  for (const char* key : {"g", "c", "x"}) {
    const std::string question =
        std::string("SELECT ") + key + ", COUNT(*) AS n FROM t GROUP BY " + key;
    const GroupTruth truth = sums_of(question, *own);
    EXPECT_EQ(truth.totals.sums, sums_of(question, sql).totals.sums) << key;
    WideInteger rows = 0;
    for (const WideInteger sum : truth.totals.sums) rows += sum;
    EXPECT_EQ(rows, 50000) << key;
  }
  for (const char* question :
       {"SELECT g, COUNT(*) AS n FROM t WHERE x > 3 GROUP BY g",
        "SELECT g, COUNT(x) AS n FROM t GROUP BY g",
        "SELECT g, c, COUNT(*) AS n FROM t GROUP BY g, c", "SELECT COUNT(*) AS n FROM t"})
    EXPECT_EQ(sums_of(question, *own).totals.sums, sums_of(question, sql).totals.sums) << question;
}

// Text that is not UTF-8 is met after rows have come: the question begins again.
TEST(PushedSums, UnitsAreReadAgainWhereAFileMustBeMended) {
  const Parquet file(
      "SELECT i AS u, CASE WHEN i = 399999 THEN 'bad_text' WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS "
      "c "
      "FROM range(400000) AS r(i)");
  file.replace("bad_text", "bad\xff\xfe\xfd\xfc\xfb");
  const Schema units = schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "d", "tables": {"t": {"unit": "u", "rows_per_unit": 1, "columns": {
        "u": {"type": "integer"},
        "c": {"type": "text", "categories": ["a", "b"], "nulls": false, "default": "a"}}}}})"));
  const auto source = file.open();
  const SqlQuery q = query("SELECT c, COUNT(*) AS n FROM t GROUP BY c", units, "1000000");
  const Answer got = answer(q, *source, 1);
  EXPECT_EQ(number(got.rows[0][1]), 200001);
  EXPECT_EQ(number(got.rows[1][1]), 199999);
}

// A step is 2^-18 (28 bits for 1000): each value is taken to the nearest, ties to even, then added.
TEST(PushedSums, DoublesAddUpExactlyAndAsIntegersWould) {
  const Parquet file(
      "SELECT (i % 3)::INT AS g, 'a' AS c, 1 AS x, CASE WHEN i % 7 = 0 THEN NULL ELSE (hash(i) % "
      "1000003) / 997.0 + (i % 4) * 0.00000190734863281250 END AS y FROM range(5000) AS r(i)");
  const std::string sql = "SELECT g, AVG(y) AS a, COUNT(*) AS n FROM t GROUP BY g";
  std::vector<WideInteger> expected(3);
  {
    const auto rows = file.open()->execute("SELECT CAST(g AS BIGINT), y FROM t");
    for (Batch batch; rows->next(batch);) {
      for (std::size_t i = 0; i < batch.rows; ++i) {
        if (batch.columns[1].is_null(i)) continue;
        const double y = std::clamp(batch.columns[1].reals[i], -1.0, 1000.0);
        expected[static_cast<std::size_t>(batch.columns[0].integers[i])] +=
            static_cast<WideInteger>(std::nearbyint(std::ldexp(y, 18)));
      }
    }
  }
  const auto source = file.open();
  const GroupTruth fast = sums_of(sql, *source);
  const auto opened = file.open();
  OnlySql plain_sql(*opened);
  const GroupTruth slow = sums_of(sql, plain_sql);
  EXPECT_EQ(fast.totals.sums, slow.totals.sums);

  const MeasurementDesign design = derive_measurements(plan_query(sql, schema()));
  const auto sum = std::find_if(design.measures.begin(), design.measures.end(),
                                [](const Measure& m) { return !m.factors.empty(); });
  const auto count =
      std::find_if(design.measures.begin(), design.measures.end(),
                   [](const Measure& m) { return m.factors.empty() && m.present != 0; });
  ASSERT_TRUE(sum != design.measures.end() && count != design.measures.end());
  ASSERT_EQ(design.cells[sum->factors[0].cell].exponent, -18);
  for (std::size_t g = 0; g < 3; ++g) {
    const WideInteger* own = &fast.totals.sums[g * design.measures.size()];
    EXPECT_TRUE(own[sum - design.measures.begin()] +
                    own[count - design.measures.begin()] * sum->factors[0].centre ==
                expected[g])
        << g;
  }
}

// Out of range, infinite, null, NaN; a column that may be null and one whose nulls are its lower end; expressions; sums of products.
TEST(PushedSums, BothWaysAgreeOnValuesThatAreHardToRead) {
  const Parquet file(
      "SELECT i % 3 AS g, 'a' AS c, ([1, -4, NULL, 90])[i % 4 + 1]::SMALLINT AS x, ([NULL, -40, 5, "
      "90])[i % 4 + "
      "1]::INT AS w, (['nan', '2.5', NULL, '1e300', '-inf'])[i % 5 + 1]::DOUBLE AS v, (['0.5', "
      "'-7', '1e300', 'inf', '-inf', 'nan', NULL, "
      "'1000.0000001', '5e-324', '-0.0'])[i % 10 + 1]::DOUBLE AS y, (['0.5', '-7', 'nan', NULL, "
      "'2e9'])[i % 5 + 1]::DOUBLE AS z FROM "
      "range(1000) AS r(i)");
  for (const char* what :
       {"COUNT(y), SUM(y)", "COUNT(z), SUM(z)", "AVG(y), AVG(z)", "SUM(y + z)",
        "SUM(CASE WHEN y > 1 THEN y END), COUNT(*)", "VARIANCE(y), AVG(z)", "SUM(x), AVG(w)",
        "COUNT(w), SUM(w)", "SUM(x * 3), SUM(w + x)", "SUM(v), COUNT(v)", "VARIANCE(x), AVG(v)"}) {
    const std::string sql = std::string("SELECT g, ") + what + " FROM t GROUP BY g";
    const auto source = file.open();
    const auto opened = file.open();
    OnlySql plain_sql(*opened);
    EXPECT_EQ(sums_of(sql, *source).totals.sums, sums_of(sql, plain_sql).totals.sums) << what;
  }
  // By hand: 100 and 200 of each.
  const auto source = file.open();
  const auto ask = [&](const char* sql) {
    return number(answer(query(sql, schema(), "1000000"), *source, 1).rows[0][0]);
  };
  EXPECT_EQ(ask("SELECT COUNT(y) FROM t"), 800);
  EXPECT_NEAR(ask("SELECT SUM(y) FROM t"), 100 * (0.5 - 1 + 1000 + 1000 - 1 + 1000), 0.01);
  EXPECT_EQ(ask("SELECT SUM(w) FROM t"), 250 * (-7 - 7 + 5 + 10));
  EXPECT_EQ(ask("SELECT COUNT(x) FROM t"), 750);
  EXPECT_EQ(ask("SELECT COUNT(z) FROM t"), 1000);
  EXPECT_NEAR(ask("SELECT SUM(z) FROM t"), 200 * (0.5 - 1 - 1 - 1 + 10), 0.01);
}

// Rows in which q is null count as 0: in the sum, in the count, and in what is centred by the count.
TEST(PushedSums, NullsThatCountAsZeroCount) {
  const Parquet file(
      "SELECT 0 AS g, ([NULL, -40, 5, 90])[i % 4 + 1]::INT AS q, ([1, NULL])[i % 2 + 1]::INT AS x "
      "FROM range(1000) AS r(i)");
  const auto source = file.open();
  const auto ask = [&](const char* sql) {
    return number(answer(query(sql, schema(), "1000000"), *source, 1).rows[0][0]);
  };
  EXPECT_EQ(ask("SELECT SUM(q) FROM t"), 250 * (5 + 10));
  EXPECT_EQ(ask("SELECT COUNT(q) FROM t"), 1000);
  EXPECT_NEAR(ask("SELECT AVG(q) FROM t"), (5 + 10) / 4.0, 0.001);
  EXPECT_NEAR(ask("SELECT VAR_POP(q) FROM t"), (25 + 100) / 4.0 - 15 * 15 / 16.0, 0.01);
  EXPECT_NEAR(ask("SELECT COVAR_POP(q, x) FROM t"), 0, 0.001);
}

/// A table with the column x twice, in both cases.
class TwoCases final : public Source {
 public:
  const Dialect& dialect() const override { return postgres_dialect(); }
  std::vector<ColumnInfo> columns(const std::string&) override {
    return {{"X", Type::kInteger}, {"x", Type::kInteger}};
  }
  std::unique_ptr<Stream> execute(const std::string&) override { return nullptr; }
};

TEST(PushedSums, ColumnsThatDifferInCaseOnlyAreRefusedBeforeARowIsRead) {
  TwoCases source;
  const Plan plan = plan_query("SELECT SUM(x) FROM t", schema());
  EXPECT_ERROR(rows_sql(plan, source), ErrorCode::kInvalidInput);
}

// Statistics of Parquet files leave NaN out, and the embedded engine believes them: without a look at the rows
// one NaN would turn a sum into NaN, and whether a condition holds for it would depend on other rows.
TEST(PushedSums, ANaNThatStatisticsLeaveOutIsNull) {
  const Parquet file(
      "SELECT (i % 3)::INT AS g, 'a' AS c, 1 AS x, (1 + i / 8.0)::DOUBLE AS y FROM range(30) AS "
      "r(i)");
  file.replace(2.125, std::nan(""));
  const auto source = file.open();
  const auto ask = [&](const std::string& sql) {
    return number(answer(query(sql, schema(), "1000000"), *source, 1).rows[0][0]);
  };
  EXPECT_EQ(ask("SELECT COUNT(y) FROM t"), 29);
  EXPECT_EQ(ask("SELECT COUNT(*) FROM t WHERE y > 3"), 13);
  EXPECT_EQ(ask("SELECT COUNT(*) FROM t WHERE y < 900"), 29);
  EXPECT_NEAR(ask("SELECT SUM(y) FROM t"), 30 + 435 / 8.0 - 2.125, 0.01);
  EXPECT_NEAR(ask("SELECT AVG(y) FROM t"), (30 + 435 / 8.0 - 2.125) / 29, 0.001);
}

}  // namespace
}  // namespace gauze::testing
