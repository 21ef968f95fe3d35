#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "gauze/data/source.h"
#include "gauze/query/sql_query.h"
#include "gauze/testing/seeded_bits.h"

// Tables and questions for the tests of SqlQuery.

namespace gauze::testing {

/// A source that knows SQL and nothing else: neither scans nor aggregates of its own.
class OnlySql final : public Source {
 public:
  /// The source outlives it.
  explicit OnlySql(Source& source) : source_(source) {}
  const Dialect& dialect() const override { return source_.dialect(); }
  std::vector<ColumnInfo> columns(const std::string& table) override {
    return source_.columns(table);
  }
  std::string table_sql(const std::string& table) override { return source_.table_sql(table); }
  std::unique_ptr<Stream> execute(const std::string& sql) override { return source_.execute(sql); }

 private:
  Source& source_;
};

/// A folder with one CSV per table, gone at the end.
class Tables {
 public:
  Tables()
      : folder_(std::filesystem::temp_directory_path() /
                ("gauze_query_" + std::to_string(::getpid()) + "_" + std::to_string(next_++))) {
    std::filesystem::create_directories(folder_);
  }
  ~Tables() { std::filesystem::remove_all(folder_); }
  std::unique_ptr<Source> open(const std::string& table, const std::string& csv) const {
    return open_all({{table, csv}});
  }
  std::unique_ptr<Source> open_all(const std::map<std::string, std::string>& tables) const {
    std::map<std::string, std::string> files;
    for (const auto& [table, csv] : tables) {
      files[table] = (folder_ / (table + ".csv")).string();
      std::ofstream(files[table]) << csv;
    }
    return open_files(files, {.threads = 1, .memory = 0, .temp_directory = ""});
  }

 private:
  static inline int next_ = 0;
  std::filesystem::path folder_;
};

/// Answers a question that was asked before from memory, so that many releases cost little.
class Replay final : public Source {
 public:
  explicit Replay(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  const Dialect& dialect() const override { return source_->dialect(); }
  std::vector<ColumnInfo> columns(const std::string& table) override {
    auto& known = columns_[table];
    if (known.empty()) known = source_->columns(table);
    return known;
  }
  std::string table_sql(const std::string& table) override { return source_->table_sql(table); }
  std::unique_ptr<Stream> execute(const std::string& sql) override {
    auto [it, fresh] = answers_.try_emplace(sql);
    if (fresh) record(*source_->execute(sql), it->second);
    return std::make_unique<Again>(it->second);
  }

 private:
  struct Column {
    BatchColumn::Kind kind;
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string> texts;
    std::vector<std::string_view> views;
    std::vector<std::uint8_t> valid;
  };
  struct Kept {
    std::size_t rows = 0;
    std::vector<Column> columns;
  };
  class Again final : public Stream {
   public:
    explicit Again(Kept& kept) : kept_(kept) {}
    bool next(Batch& batch) override {
      if (done_ || kept_.rows == 0) return false;
      done_ = true;
      batch.rows = kept_.rows;
      batch.columns.clear();
      for (Column& c : kept_.columns) {
        c.views.assign(c.texts.begin(), c.texts.end());
        batch.columns.push_back({c.kind, c.integers, c.reals, c.views, c.valid});
      }
      return true;
    }

   private:
    Kept& kept_;
    bool done_ = false;
  };
  static void record(Stream& stream, Kept& kept) {
    for (Batch batch; stream.next(batch);) {
      kept.columns.resize(batch.columns.size());
      kept.rows += batch.rows;
      for (std::size_t c = 0; c < batch.columns.size(); ++c) {
        const BatchColumn& from = batch.columns[c];
        Column& to = kept.columns[c];
        to.kind = from.kind;
        to.integers.insert(to.integers.end(), from.integers.begin(), from.integers.end());
        to.reals.insert(to.reals.end(), from.reals.begin(), from.reals.end());
        for (std::size_t i = 0; i < batch.rows; ++i) {
          if (from.kind == BatchColumn::Kind::kTexts) {
            to.texts.emplace_back(from.is_null(i) ? "" : from.texts[i]);
          }
          to.valid.push_back(!from.is_null(i));
        }
      }
    }
  }

  std::unique_ptr<Source> source_;
  std::map<std::string, Kept> answers_;
  std::map<std::string, std::vector<ColumnInfo>> columns_;
};

inline Schema visits_schema(const std::string& unit = "\"patient\"",
                            const std::string& bounds = ", \"rows_per_unit\": 4") {
  return schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "hospital", "tables": {"visits": {"unit": )" +
                                                unit + bounds + R"(, "columns": {
        "patient": {"type": "integer"},
        "ward": {"type": "text", "categories": ["a", "b", "c"], "nulls": false},
        "town": {"type": "text"},
        "days": {"type": "integer", "lower": 0, "upper": 10},
        "cost": {"type": "double", "lower": 0, "upper": 1000}}}}})"));
}

inline constexpr const char* kHeader = "patient,ward,town,days,cost\n";
inline constexpr const char* kFourRows = ", \"rows_per_unit\": 4, \"rows_per_group\": 2";

/// 300 patients, three visits each; every eleventh cost is missing.
inline std::string visits() {
  std::string csv = kHeader;
  for (int i = 0; i < 900; ++i) {
    const int patient = i % 300;
    csv += std::to_string(patient) + "," + "abb"[(i + i / 300) % 3] + ",town" +
           std::to_string(patient % 5) + "," + std::to_string(i % 10) + "," +
           (i % 11 == 0 ? "" : std::to_string(100 + (i * 37) % 800)) + "\n";
  }
  return csv;
}

inline SqlQuery query(const std::string& sql, const Schema& schema,
                      const std::string& epsilon = "1", const std::string& delta = "0") {
  return SqlQuery({
      .plan = plan_query(sql, schema),
      .epsilon = parse_ratio(epsilon),
      .delta = parse_ratio(delta),
      .threads = 1,
  });
}

inline Answer answer(const SqlQuery& query, Source& source, std::uint64_t seed) {
  SeededBits bits(seed);
  Meter meter(query.event());
  Context context{meter, bits};
  return query.run(source, context).value;
}

inline double number(const Answer::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(cell.value);
}

using Groups = std::map<std::string, std::pair<double, double>>;

/// Of a question with two keys, a count and a sum: those of every group with rows.
inline Groups full_groups(const SqlQuery& question, Source& source) {
  Groups found;
  for (const auto& row : answer(question, source, 1).rows) {
    if (number(row[2]) == 0) continue;
    found[to_text(row[0].value) + to_text(row[1].value)] = {number(row[2]), number(row[3])};
  }
  return found;
}

inline const std::string kManyAggregates =
    "SELECT ward, COUNT(*) AS n, COUNT(cost) AS m, COUNT(DISTINCT patient) AS p, SUM(cost) AS s, "
    "AVG(cost) AS a, AVG(days) AS d, VAR_POP(cost) AS v, STDDEV(cost) AS sd, "
    "COVAR_POP(cost, days) AS cv, CORR(cost, days) AS r, SUM(days) * 2 + 1 AS e FROM visits GROUP "
    "BY "
    "ward";

/// The answer without noise, by plain SQL on the rows that count. The table fits its bounds, so all do.
struct Truth {
  std::map<std::string, std::vector<double>> by_ward;
};

inline Truth plain_answers() {
  std::map<std::string, std::vector<std::vector<double>>> rows;  // days, cost or NaN, patient
  for (int i = 0; i < 900; ++i) {
    const double cost = i % 11 == 0 ? std::nan("") : 100.0 + (i * 37) % 800;
    rows[std::string(1, "abb"[(i + i / 300) % 3])].push_back(
        {static_cast<double>(i % 10), cost, static_cast<double>(i % 300)});
  }
  rows["c"] = {};
  Truth truth;
  for (const auto& [ward, own] : rows) {
    double n = 0, m = 0, days = 0, sum = 0, squares = 0, product = 0, days_there = 0, days2 = 0;
    std::map<double, int> patients;
    for (const auto& row : own) {
      ++n;
      days += row[0];
      ++patients[row[2]];
      if (std::isnan(row[1])) continue;
      ++m;
      sum += row[1];
      squares += row[1] * row[1];
      product += row[1] * row[0];
      days_there += row[0];
      days2 += row[0] * row[0];
    }
    const double mean = sum / m;
    const double variance = squares / m - mean * mean;
    const double covariance = product / m - mean * days_there / m;
    const double variance_days = days2 / m - days_there / m * days_there / m;
    truth.by_ward[ward] = {n,
                           m,
                           static_cast<double>(patients.size()),
                           sum,
                           mean,
                           days / n,
                           variance,
                           std::sqrt(variance * m / (m - 1)),
                           covariance,
                           covariance / std::sqrt(variance * variance_days),
                           days * 2 + 1};
  }
  return truth;
}

}  // namespace gauze::testing
