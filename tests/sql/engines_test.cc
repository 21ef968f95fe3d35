#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "folder.h"
#include "gauze/base/error.h"
#include "gauze/testing/postgres_server.h"
#include "measured.h"
#include "random_questions.h"

// Random questions, on DuckDB and on PostgreSQL.

namespace gauze::sql_test {
namespace {

/// Makes the tables of a source of DuckDB files in PostgreSQL.
void copy_tables(const RandomData& data, Source& from, const testing::PostgresServer& server) {
  for (const RandomTable& table : data.tables()) {
    std::string columns, list;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::string name = "\"" + table.columns[c] + "\"", comma = c ? ", " : "";
      const std::string& type = table.engine[c];
      columns += comma + name + " " + (type == "DOUBLE" ? "DOUBLE PRECISION" : type);
      list += comma + "CAST(" + name + " AS VARCHAR)";
    }
    server.run("DROP TABLE IF EXISTS " + table.name + "; CREATE TABLE " + table.name + " (" +
               columns + ")");
    const auto stream = from.execute("SELECT " + list + " FROM " + from.table_sql(table.name));
    for (Batch batch; stream->next(batch);)
      for (std::size_t row = 0; row < batch.rows; ++row) {
        std::string values;
        for (const BatchColumn& column : batch.columns) {
          if (!values.empty()) values += ", ";
          values += column.is_null(row)
                        ? "NULL"
                        : postgres_dialect().literal(Value(std::string(column.texts[row])));
        }
        server.run("INSERT INTO " + table.name + " VALUES (" + values + ")");
      }
  }
}

/// Reals to 10 digits, for engines differ in the last bits; what is almost 0 is 0
/// (Dialect::multiply). Which letters beyond A to Z are upper case depends on the server's locale.
std::vector<std::string> lines_of(const Plan& plan, Source& source) {
  std::vector<std::string> lines;
  const auto stream = source.execute(rows_sql(plan, source));
  for (Batch batch; stream->next(batch);)
    for (std::size_t row = 0; row < batch.rows; ++row) {
      std::string line;
      for (const BatchColumn& column : batch.columns) {
        const bool zero = column.kind == BatchColumn::Kind::kReals && !column.is_null(row) &&
                          std::abs(column.reals[row]) < 1e-90;
        line += (zero ? "0" : cell_text(column, row, 10)) + "|";
      }
      for (std::size_t at; (at = line.find("ü")) != std::string::npos;) line.replace(at, 2, "Ü");
      lines.push_back(std::move(line));
    }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Where sums may differ in the last bits, and keys in letters as above.
bool may_differ(const std::string& sql) {
  const std::vector<std::string> inexact = {"exp(",   "ln(",  "sqrt(",  " / ",
                                            "round(", "AVG(", "upper(", "lower("};
  return std::any_of(inexact.begin(), inexact.end(),
                     [&](const std::string& each) { return sql.find(each) != std::string::npos; });
}

TEST(Engines, HaveTheSameRowsOfRandomQuestionsAndMeasureTheSame) {
  const testing::PostgresServer server;
  std::size_t rows = 0, alike = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const RandomData data(seed, true);
    const Schema schema = parse_schema(data.schema());
    const Folder folder;
    const auto duckdb = data.open(folder.path, std::nullopt);
    copy_tables(data, *duckdb, server);
    const auto postgres = open_postgres(server.uri());
    RandomQuestions questions(seed * 13 + 1);
    for (int q = 0; q < 60; ++q) {
      const std::string sql = questions.next();
      std::optional<Plan> plan;
      MeasurementDesign design;
      try {
        plan = plan_query(sql, schema);
        design = derive_measurements(*plan);
      } catch (const Error&) {
        continue;
      }
      if (design.groups > 200'000) continue;
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + sql);
      const std::vector<std::string> own = lines_of(*plan, *duckdb);
      ASSERT_EQ(own, lines_of(*plan, *postgres)) << data.describe();
      rows += own.size();
      if (may_differ(sql)) continue;
      ASSERT_TRUE(measured(*plan, design, *duckdb, seed, 1) ==
                  measured(*plan, design, *postgres, seed, 1))
          << data.describe();
      alike += own.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(rows, 1000u);
  EXPECT_GT(alike, 30u);
}

}  // namespace
}  // namespace gauze::sql_test
