#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/table.h"
#include "gauze/query/sql_query_internal.h"
#include "gauze/query/sql_query_test_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

// Sums of columns of tables in memory, without SQL, beside what SQL makes of them.

namespace gauze::testing {
namespace {

using internal::GroupIndex;

Schema held_schema() {
  return schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "d", "tables": {"t": {"unit": "row", "columns": {
        "g": {"type": "integer", "lower": -1, "upper": 2, "nulls": false},
        "n": {"type": "integer", "lower": 5, "upper": 7},
        "c": {"type": "text", "categories": ["b", "a"]},
        "e": {"type": "text", "categories": ["b", "a"], "default": "a"},
        "f": {"type": "text", "categories": ["b", "a"], "nulls": false},
        "x": {"type": "integer", "lower": 0, "upper": 10},
        "w": {"type": "integer", "lower": -7, "upper": 10, "nulls": false},
        "l": {"type": "integer", "lower": 0, "upper": 9000000000000000000},
        "y": {"type": "double", "lower": -1, "upper": 1000},
        "z": {"type": "double", "lower": -0.1, "upper": 10, "nulls": false}}}}})"));
}

/// Rows in and out of their domains, with nulls, NaN and infinities, and texts of which one is
/// `odd`.
Table hard_rows(std::size_t rows, const std::string& odd = "\xff") {
  SeededBits bits(7);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(uniform_below(bits, n));
  };
  const auto integers = [&](std::vector<std::int64_t> from, bool nulls) {
    std::vector<std::int64_t> values(rows);
    std::vector<std::uint8_t> valid(nulls ? rows : 0);
    for (std::int64_t& value : values) value = from[below(from.size())];
    for (std::uint8_t& each : valid) each = below(5) != 0;
    return Column::of_integers(Type::kInteger, values, valid);
  };
  const auto reals = [&](std::vector<double> from) {
    std::vector<double> values(rows);
    std::vector<std::uint8_t> valid(rows);
    for (double& value : values) value = from[below(from.size())];
    for (std::uint8_t& each : valid) each = below(5) != 0;
    return Column::of_reals(Type::kDouble, values, valid);
  };
  const auto texts = [&] {
    std::vector<std::int32_t> codes(rows);
    std::vector<std::uint8_t> valid(rows);
    for (std::int32_t& code : codes) code = static_cast<std::int32_t>(below(5));
    for (std::uint8_t& each : valid) each = below(5) != 0;
    return Column::of_texts(codes, {"a", "z", "b", odd, "a"}, valid);
  };
  return Table({"g", "n", "c", "e", "f", "x", "w", "l", "y", "z"},
               {integers({INT64_MIN, -2, -1, 0, 1, 2, 3, INT64_MAX}, true),
                integers({4, 5, 6, 7, 8, INT64_MAX}, true), texts(), texts(), texts(),
                integers({-1, 0, 3, 10, 11}, false), integers({INT64_MIN, -7, 4, 99}, true),
                integers({0, 8'999'999'999'999'999'999}, true),
                reals({0.1, 2.5, -7, 1e300, HUGE_VAL, -HUGE_VAL, std::nan(""), 5e-324, -0.0}),
                reals({0.1, -0.1, 3.3333, std::nan(""), HUGE_VAL})});
}

struct BothWays {
  LargeVector<WideInteger> held, sql;
};

BothWays both_ways(const std::string& question, Source& source, unsigned threads = 1) {
  const SqlQuery::Options options{
      .plan = plan_query(question, held_schema()), .epsilon = 1, .threads = threads};
  const MeasurementDesign design = derive_measurements(options.plan);
  OnlySql only_sql(source);
  GroupIndex index(options.plan);
  return {internal::held_sums(options, design, source),
          internal::read_sums(options, design, only_sql, index).totals.sums};
}

constexpr const char* kQuestions[] = {
    "SELECT g, COUNT(*) FROM t GROUP BY g",
    "SELECT n, COUNT(*) FROM t GROUP BY n",
    "SELECT c, COUNT(*) FROM t GROUP BY c",
    "SELECT e, COUNT(*) FROM t GROUP BY e",
    "SELECT f, COUNT(*) FROM t GROUP BY f",
    "SELECT x, COUNT(*), SUM(w) FROM t GROUP BY x",
    "SELECT g, f, n, COUNT(*), AVG(x) FROM t GROUP BY g, f, n",
    "SELECT c, e, SUM(x), AVG(w), SUM(y), AVG(z) FROM t GROUP BY c, e",
    "SELECT g, AVG(y), COUNT(n), AVG(n) FROM t GROUP BY g",
    "SELECT g, SUM(y), SUM(z), SUM(w) FROM (SELECT g, y, z, w FROM t) AS s GROUP BY g"};

TEST(HeldSums, AreThoseOfSqlWhateverTheRowsHold) {
  const auto source = open_tables({{"t", hard_rows(5000)}});
  for (const char* question : kQuestions) {
    const BothWays sums = both_ways(question, *source);
    EXPECT_FALSE(sums.held.empty()) << question;
    EXPECT_EQ(sums.held, sums.sql) << question;
  }
}

/// A file of Parquet, gone at the end.
class File {
 public:
  ~File() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() /
                       ("gauze_held_sums_" + std::to_string(::getpid()) + ".parquet"))
                          .string();
};

// A file goes through SQL, with texts that are none: its sums are those of the same rows in memory.
TEST(HeldSums, OfFilesAreThoseOfTheSameRowsInMemory) {
  const File file;
  write_table(hard_rows(5000, "odd!"), file.path());
  std::ifstream in(file.path(), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  in.close();
  std::size_t found = 0;
  for (std::size_t at = 0; (at = bytes.find("odd!", at)) != std::string::npos; ++found)
    bytes.replace(at, 4, "\xff\xfe\xfd\xfc");
  EXPECT_GE(found, 3u);
  std::ofstream(file.path(), std::ios::binary) << bytes;
  const auto read = open_files({{"t", file.path()}});
  const auto held = open_tables({{"t", hard_rows(5000, "\xff\xfe\xfd\xfc")}});
  for (const char* question : kQuestions) {
    const BothWays of_file = both_ways(question, *read);
    EXPECT_TRUE(of_file.held.empty()) << question;
    EXPECT_EQ(of_file.sql, both_ways(question, *held).held) << question;
  }
}

// A row group that is damaged is not left out: there is no answer.
TEST(HeldSums, OfDamagedFilesAreNoAnswer) {
  const File file;
  for (const char* packed : {"snappy", "zstd", "gzip", "lz4_raw"}) {
    internal::run_duckdb(
        {"COPY (SELECT (i % 3)::BIGINT AS g, i % 7 AS x FROM range(50000) t(i)) "
         "TO '" +
         file.path() + "' (ROW_GROUP_SIZE 10000, COMPRESSION " + packed + ")"});
    std::ifstream in(file.path(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    in.close();
    std::ofstream(file.path(), std::ios::binary) << bytes.replace(4, 16, 16, '\xff');
    for (const char* question :
         {"SELECT g, COUNT(*) AS n FROM t GROUP BY g", "SELECT g, SUM(x) AS s FROM t GROUP BY g"}) {
      const SqlQuery q = query(question, held_schema(), "1000000");
      EXPECT_ERROR(full_groups(q, *open_files({{"t", file.path()}})), ErrorCode::kIo);
    }
  }
}

/// A table whose scan never ends.
class Endless final : public Source {
 public:
  const Dialect& dialect() const override { return duckdb_dialect(); }
  std::vector<ColumnInfo> columns(const std::string&) override { return {{"g", Type::kInteger}}; }
  std::unique_ptr<Stream> execute(const std::string&) override { return nullptr; }
  std::vector<std::unique_ptr<Stream>> scan(const std::string&, std::span<const ColumnInfo>,
                                            unsigned threads) override {
    std::vector<std::unique_ptr<Stream>> streams;
    for (unsigned i = 0; i < threads; ++i) streams.push_back(std::make_unique<Rows>());
    return streams;
  }

 private:
  class Rows final : public Stream {
   public:
    bool next(Batch& batch) override {
      batch.rows = 1;
      batch.columns.assign(1, {});
      batch.columns[0].integers = row_;
      return true;
    }
    double progress() const override { return 0.25; }

   private:
    std::vector<std::int64_t> row_ = {1};
  };
};

// Whoever watches hears how much is done, and may stop it: all threads.
TEST(HeldSums, AreCancelledByWhoeverWatches) {
  Endless source;
  struct Enough {};
  double last = -1;
  const SqlQuery::Options options{
      .plan = plan_query("SELECT g, COUNT(*) FROM t GROUP BY g", held_schema()),
      .epsilon = 1,
      .threads = 2};
  const auto watch = [&](double done) {
    last = done;
    throw Enough();
  };
  EXPECT_THROW(internal::held_sums(options, derive_measurements(options.plan), source, watch),
               Enough);
  EXPECT_EQ(last, 0.25);
}

TEST(HeldSums, AreLeftToSqlWhereTheyAreMoreThanSumsOfColumns) {
  const auto source = open_tables({{"t", hard_rows(500)}});
  for (const char* question :
       {"SELECT g, COUNT(*) FROM t WHERE x > 3 GROUP BY g",
        "SELECT g, SUM(x + 1) FROM t GROUP BY g", "SELECT g, VARIANCE(x) FROM t GROUP BY g",
        "SELECT COUNT(*) FROM t", "SELECT g, SUM(l) FROM t GROUP BY g",
        "SELECT g + 1, COUNT(*) FROM t GROUP BY g + 1"}) {
    EXPECT_TRUE(both_ways(question, *source).held.empty()) << question;
  }
}

// Enough rows for several threads, and a last block that is not full.
TEST(HeldSums, AreTheSameForAnyNumberOfThreads) {
  const auto source = open_tables({{"t", hard_rows(400'001)}});
  const char* question = "SELECT g, COUNT(*), SUM(y) FROM t GROUP BY g";
  const BothWays sums = both_ways(question, *source, 1);
  EXPECT_EQ(sums.held, sums.sql);
  EXPECT_EQ(both_ways(question, *source, 3).held, sums.held);
  const auto plain = open_tables(
      {{"t", Table({"g"},
                   {Column::of_integers(Type::kInteger, std::vector<std::int64_t>(400'001, 2))})}});
  EXPECT_EQ(both_ways("SELECT g, COUNT(*) FROM t GROUP BY g", *plain, 3).held,
            (LargeVector<WideInteger>{0, 0, 0, 400'001}));
}

// By hand, through the door that everybody uses: -9 counts as -1, 9 as 2, null as -1 and "?" as
// null.
TEST(HeldSums, AnswerQuestions) {
  const auto source = open_tables(
      {{"t", Table({"g", "c", "x"},
                   {Column::of_integers(Type::kInteger, {-9, 0, 9, 2, 0}, {1, 1, 1, 1, 0}),
                    Column::of_texts({"a", "b", "?", "a", "a"}),
                    Column::of_integers(Type::kInteger, {1, 2, 3, 400, 5})})}});
  const SqlQuery q = query("SELECT g, c, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g, c",
                           held_schema(), "1000000");
  EXPECT_EQ(
      full_groups(q, *source),
      (Groups{{"-1a", {2, 6}}, {"0b", {1, 2}}, {"2a", {1, 10}}, {"2" + to_text(Value{}), {1, 3}}}));
}

}  // namespace
}  // namespace gauze::testing
