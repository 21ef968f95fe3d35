#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "folder.h"
#include "gauze/base/error.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/source.h"
#include "gauze/query/plan.h"
#include "gauze/query/sql_query_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/postgres_server.h"
#include "gauze/testing/seeded_bits.h"
#include "sql_test_file.h"

namespace gauze::sql_test {
namespace {

using Lines = std::vector<std::string>;

/// Cells as text. Reals to 12 digits: exp, ln and sqrt differ in the last bits between engines. What is almost 0 is 0:
/// PostgreSQL refuses underflow, so its products of tiny numbers are 0 (Dialect::multiply).
Lines rows_of(Source& source, const std::string& sql) {
  Lines lines;
  const auto stream = source.execute(sql);
  Batch batch;
  while (stream->next(batch))
    for (std::size_t row = 0; row < batch.rows; ++row) {
      std::string line;
      for (const BatchColumn& column : batch.columns) {
        char real[40] = "";
        if (column.kind == BatchColumn::Kind::kReals && !column.is_null(row))
          std::snprintf(real, sizeof real, "%.12g",
                        std::abs(column.reals[row]) < 1e-90 ? 0.0 : column.reals[row]);
        line += column.is_null(row)                           ? "null"
                : column.kind == BatchColumn::Kind::kIntegers ? std::to_string(column.integers[row])
                : column.kind == BatchColumn::Kind::kReals
                    ? std::string(real)
                    : std::string("'").append(column.texts[row]) + "'";
        line += "|";
      }
      lines.push_back(std::move(line));
    }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// The accepted questions of all files.
struct Question {
  Case source;
  Plan plan;
};

const std::vector<Question>& questions() {
  static const std::vector<Question> all = [] {
    std::vector<Question> result;
    const Schema schema = schema_named("hospital");
    for (const Case& each : all_cases())
      if (each.error.empty()) result.push_back({each, plan_query(each.query, schema)});
    return result;
  }();
  return all;
}

/// What each column may meet: `texts` in files and text columns, `typed` in columns of the declared type.
struct Hostile {
  Lines texts, typed;
};

Hostile hostile(const ColumnSchema& column) {
  const bool identifier = column.name.ends_with("_id");
  switch (column.domain.type) {
    case Type::kInteger:
      if (identifier && column.name != "region_id")
        return {{"1", "2", "3", "", "2", " 1", "x", "9223372036854775807", "1.0"},
                {"1", "2", "3", "NULL", "2", "9223372036854775807", "-9223372036854775808"}};
      return {{"3", "", "-7", "99999999999999999999999999", "1e300", "nan", "inf", "12", "0", "abc",
               "5.5", "50"},
              {"3", "NULL", "9223372036854775807", "-9223372036854775808", "0", "50", "366"}};
    case Type::kDouble:
    case Type::kDecimal:
      return {{"1.5", "", "nan", "inf", "-Infinity", "1e400", "2e-290", "-0.0", "4999.999",
               "1e-200", "zzz", "1,5", "1e308"},
              {"1.5", "NULL", "'NaN'", "'Infinity'", "'-Infinity'", "5e-324", "1e308", "-0.0",
               "1e-200", "4999.999"}};
    case Type::kBoolean:
      return {{"true", "f", "", "2", "YES", "nope"}, {"TRUE", "FALSE", "NULL"}};
    case Type::kDate:
      return {
          {"1980-02-29", "1981-02-29", "", "infinity", "9999-12-31", "0000-00-00", "10000-01-01",
           "1980.02.03", "-4000-01-01"},
          {"'1980-02-29'", "NULL", "'infinity'", "'-infinity'", "'9999-12-31'", "'0001-01-01'"}};
    case Type::kTimestamp:
      return {{"2021-05-06 12:30:45", "2021-13-06 00:00:00", "", "infinity", "2021-05-06",
               "2024-12-31 23:59:59.999999", "noon"},
              {"'2021-05-06 12:30:45'", "NULL", "'infinity'", "'-infinity'",
               "'2024-12-31 23:59:59.999999'", "'0001-01-01 00:00:00'"}};
    case Type::kText:
      break;
  }
  Hostile result{{"icu", "er", "", "f", "yes", "x'y", "a%b_c", "ü€", "ICU", " icu "}, {}};
  for (const std::string& text : result.texts) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
    result.typed.push_back(text.empty() ? "NULL" : quoted + "'");
  }
  return result;
}

constexpr std::size_t kRows = 60;

/// Row r of a column; strides differ so that combinations of odd values meet.
const std::string& at(const Lines& values, std::size_t row, std::size_t column) {
  return values[(row * (column + 1) + row / values.size() + column) % values.size()];
}

std::string create(const TableSchema& table, const std::string& name, const Dialect& dialect,
                   bool typed) {
  std::string columns, rows;
  for (const ColumnSchema& column : table.columns)
    columns += (columns.empty() ? "" : ", ") + dialect.identifier(column.name) + " " +
               dialect.type_name(typed ? column.domain.type : Type::kText);
  for (std::size_t r = 0; r < kRows; ++r) {
    std::string cells;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Hostile values = hostile(table.columns[c]);
      std::string cell;
      if (typed) {
        cell = "CAST(" + at(values.typed, r, c) + " AS " +
               dialect.type_name(table.columns[c].domain.type) + ")";
      } else {
        const std::string& text = at(values.texts, r, c);
        cell = text.empty() ? "NULL" : dialect.literal(text);
      }
      cells += (cells.empty() ? "" : ", ") + cell;
    }
    rows.append(rows.empty() ? "(" : ", (").append(cells).append(")");
  }
  return "CREATE TABLE " + name + " (" + columns + "); INSERT INTO " + name + " VALUES " + rows;
}

/// What a source adds up by itself, where every row is a unit: a line for each group that has rows.
Lines sums_of(const Plan& plan, Source& source) {
  const SqlQuery::Options options{.plan = plan, .epsilon = 1};
  const MeasurementDesign design = derive_measurements(plan);
  internal::GroupIndex index(plan);
  const internal::GroupTruth truth = internal::read_sums(options, design, source, index);
  Lines lines;
  for (std::uint32_t g = 0; g < truth.groups; ++g) {
    std::string line;
    bool any = false;
    for (const Value& key : index.key(g)) line += to_text(key) + "|";
    for (std::size_t m = 0; m < design.measures.size(); ++m) {
      const WideInteger total = truth.totals.sums[g * design.measures.size() + m];
      any = any || total != 0;
      line += std::to_string(static_cast<std::int64_t>(total >> 32)) + ":" +
              std::to_string(static_cast<std::int64_t>(total & 0xffffffff)) + "|";
    }
    for (std::size_t s = 0; s < design.samples.size(); ++s) {
      if (!design.samples[s].distinct) continue;
      line += std::to_string(static_cast<std::int64_t>(truth.distinct[s][g])) + "|";
    }
    if (any) lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Every accepted question on rows that hold everything that could make SQL fail, on both engines: no error, and the same
/// rows.
void compare_engines(bool typed) {
  const Schema schema = schema_named("hospital");
  const Folder folder;
  const testing::PostgresServer server;
  const std::string base = (folder.path / "base.duckdb").string();
  Lines statements = {"ATTACH '" + base + "' AS f"};
  std::map<std::string, std::string> tables;
  for (const TableSchema& table : schema.tables) {
    statements.push_back(create(table, "f." + table.name, duckdb_dialect(), typed));
    tables[table.name] = base + ":" + table.name;
    server.run(create(table, table.name, postgres_dialect(), typed));
  }
  internal::run_duckdb(statements);
  const auto duckdb = open_files(tables);
  const auto postgres = open_postgres(server.uri());
  std::size_t rows = 0, added = 0;
  for (const Question& question : questions()) {
    SCOPED_TRACE(question.source.where + ": " + question.source.query);
    try {
      const Lines one = rows_of(*duckdb, rows_sql(question.plan, *duckdb));
      const Lines other = rows_of(*postgres, rows_sql(question.plan, *postgres));
      rows += one.size();
      EXPECT_EQ(one, other) << rows_sql(question.plan, *duckdb) << "\n"
                            << rows_sql(question.plan, *postgres);
      if (!question.plan.unit_is_row) continue;
      const Lines sums = sums_of(question.plan, *duckdb);
      EXPECT_EQ(sums, sums_of(question.plan, *postgres));
      added += sums.size();
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n"
                    << rows_sql(question.plan, *duckdb) << "\n"
                    << rows_sql(question.plan, *postgres);
    }
  }
  EXPECT_GT(rows, 2000u);
  EXPECT_GT(added, 20u);
}

TEST(SqlRows, AreTheSameOnBothEnginesWhateverTextsTheyHold) {
  compare_engines(false);
}
TEST(SqlRows, AreTheSameOnBothEnginesWhateverTypedValuesTheyHold) {
  compare_engines(true);
}

/// Small random tables as files, with or without everything that belongs to the unit 7.
class Neighbours {
 public:
  explicit Neighbours(std::uint64_t seed) : bits_(seed) {
    for (std::uint64_t unit = 1; unit <= 7; ++unit) add_unit(unit);
    survey_ = "age,region_id,answer,income\n";
    for (int i = 0; i < 8; ++i)
      survey_ += number(100) + "," + number(6) + "," + (number(2) == "0" ? "yes" : "no") + "," +
                 number(1000) + "\n";
    survey_row_ = number(100) + "," + number(6) + ",yes," + number(1000) + "\n";
  }

  std::unique_ptr<Source> open(const Folder& folder, bool with) const {
    std::map<std::string, std::string> tables;
    const auto write = [&](const std::string& name, const std::string& text) {
      const auto path = folder.path / (name + (with ? "_with.csv" : "_without.csv"));
      std::ofstream(path) << text;
      tables[name] = path.string();
    };
    write("patients", "patient_id,sex,birth,height,smoker\n" + pick(patients_, with));
    write("visits", "patient_id,visit_id,ward,diagnosis,region_id,admitted,cost,days,note\n" +
                        pick(visits_, with));
    write("drugs", "visit_id,drug,dose\n" + pick(drugs_, with));
    write("survey", survey_ + (with ? survey_row_ : ""));
    write("regions",
          "region_id,name,coastal\n1,north,true\n2,south,false\n3,east,\n3,again,true\n");
    return open_files(tables);
  }

 private:
  std::string number(std::uint64_t below) { return std::to_string(uniform_below(bits_, below)); }

  void add_unit(std::uint64_t unit) {
    const std::string id = std::to_string(unit);
    for (std::uint64_t i = uniform_below(bits_, 3); i > 0; --i)
      patients_.emplace_back(unit, id + "," + (number(2) == "0" ? "f" : "m") + ",19" +
                                       std::to_string(20 + uniform_below(bits_, 80)) + "-01-02,1." +
                                       number(9) + ",true\n");
    for (std::uint64_t i = uniform_below(bits_, 5); i > 0; --i) {
      const std::string visit = std::to_string(unit * 100 + i);
      static constexpr const char* kWards[] = {"icu", "er", "surgery", "other"};
      visits_.emplace_back(unit, id + "," + visit + "," + kWards[uniform_below(bits_, 4)] + ",d" +
                                     number(4) + "," + number(6) + ",2021-0" +
                                     std::to_string(1 + uniform_below(bits_, 9)) + "-03 04:05:06," +
                                     number(6000) + "," + number(9) + ",n" + number(3) + "\n");
      for (std::uint64_t k = uniform_below(bits_, 3); k > 0; --k)
        drugs_.emplace_back(unit, visit + ",drug" + number(3) + "," + number(4) + "\n");
    }
  }

  static std::string pick(const std::vector<std::pair<std::uint64_t, std::string>>& rows,
                          bool with) {
    std::string text;
    for (const auto& [unit, row] : rows)
      if (with || unit != 7) text += row;
    return text;
  }

  testing::SeededBits bits_;
  std::vector<std::pair<std::uint64_t, std::string>> patients_, visits_, drugs_;
  std::string survey_, survey_row_;
};

/// Whether the two lists of rows differ by rows of unit 7 alone; without units, by one row more.
bool differ_by_one_unit(const Lines& without, const Lines& with, bool unit_is_row) {
  Lines more, less;
  std::set_difference(with.begin(), with.end(), without.begin(), without.end(),
                      std::back_inserter(more));
  std::set_difference(without.begin(), without.end(), with.begin(), with.end(),
                      std::back_inserter(less));
  if (unit_is_row) return less.empty() && more.size() <= 1;
  const auto others = [](const std::string& line) { return !line.starts_with("7|"); };
  return less.empty() && std::none_of(more.begin(), more.end(), others);
}

TEST(SqlRows, OfNeighboursDifferByTheRowsOfOneUnit) {
  std::size_t changed = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Neighbours data(seed);
    const Folder folder;
    const auto without = data.open(folder, false), with = data.open(folder, true);
    for (const Question& question : questions()) {
      const std::string sql = rows_sql(question.plan, *without);
      const Lines a = rows_of(*without, sql), b = rows_of(*with, sql);
      EXPECT_TRUE(differ_by_one_unit(a, b, question.plan.unit_is_row))
          << question.source.where << ": " << question.source.query << "\n"
          << sql;
      changed += a != b;
    }
  }
  EXPECT_GT(changed, 200u);
}

// The twins that the test above must catch: rows that depend on other units' rows, and rows that a join repeats.
TEST(SqlRows, OfQuestionsThatMixUnitsAreCaught) {
  std::size_t caught_counts = 0, caught_repeats = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Neighbours data(seed);
    const Folder folder;
    const auto without = data.open(folder, false), with = data.open(folder, true);
    const std::string counts =
        "SELECT CAST(patient_id AS BIGINT) AS u, CAST(COUNT(*) OVER () AS BIGINT) AS v0 FROM "
        "visits";
    const std::string repeats =
        "SELECT CAST(s.age AS BIGINT) AS k0 FROM survey AS s JOIN regions AS r ON r.region_id = "
        "'3'";
    caught_counts += !differ_by_one_unit(rows_of(*without, counts), rows_of(*with, counts), false);
    caught_repeats +=
        !differ_by_one_unit(rows_of(*without, repeats), rows_of(*with, repeats), true);
  }
  EXPECT_GE(caught_counts, 3u);
  EXPECT_EQ(caught_repeats, 6u);
}

}  // namespace
}  // namespace gauze::sql_test
