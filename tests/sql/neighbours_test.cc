#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "folder.h"
#include "gauze/base/error.h"
#include "gauze/query/relation_internal.h"
#include "gauze/query/sql_query_test_internal.h"
#include "measured.h"
#include "random_questions.h"

// Tries to refute the sensitivities that questions claim: random questions on random tables with
// and without one unit.

namespace gauze::sql_test {
namespace {

/// The rows of a plan, sorted.
struct PlanRows {
  std::vector<std::string> lines;
  std::string broken;  ///< what lies outside the ranges and domains that the plan states
};

/// Whether a value is one that the plan allows.
bool allowed(const ValueColumn& value, const BatchColumn& column, std::size_t row) {
  if (column.is_null(row)) return value.nullable;
  if (!value.lower || column.kind == BatchColumn::Kind::kTexts) return true;
  const bool real = column.kind == BatchColumn::Kind::kReals;
  if (real && !std::isfinite(column.reals[row])) return false;
  const Ratio x = real ? ratio_of_bits(column.reals[row]) : Ratio(column.integers[row]);
  return x >= *value.lower && x <= *value.upper;
}

PlanRows rows_of(const Plan& plan, Source& source) {
  PlanRows result;
  const auto stream = source.execute(rows_sql(plan, source));
  internal::GroupIndex index(plan);
  const std::size_t keys = plan.unit_is_row ? 0 : 1, values = keys + plan.keys.size();
  std::vector<std::uint32_t> groups;
  for (Batch batch; stream->next(batch);) {
    index.assign(batch, keys, groups);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      std::string line;
      for (const BatchColumn& column : batch.columns) line += cell_text(column, row, 17) + "|";
      for (std::size_t v = 0; v < plan.values.size(); ++v)
        if (!allowed(plan.values[v], batch.columns[values + v], row))
          result.broken = plan.values[v].text + " in " + line;
      if (groups[row] == UnitRows::kNoGroup) result.broken = "a key in " + line;
      result.lines.push_back(std::move(line));
    }
  }
  std::sort(result.lines.begin(), result.lines.end());
  return result;
}

/// Rows that came or went and are not one unit's; "" where there are none.
std::string mixed(const PlanRows& with, const PlanRows& without, bool unit_is_row) {
  std::vector<std::string> more, less;
  std::set_difference(with.lines.begin(), with.lines.end(), without.lines.begin(),
                      without.lines.end(), std::back_inserter(more));
  std::set_difference(without.lines.begin(), without.lines.end(), with.lines.begin(),
                      with.lines.end(), std::back_inserter(less));
  if (!less.empty()) return "without the unit there is " + less[0];
  const auto unit = [](const std::string& line) { return line.substr(0, line.find('|')); };
  for (std::size_t i = 1; i < more.size(); ++i)
    if (unit_is_row || unit(more[i]) != unit(more[0])) return more[0] + " and " + more[i];
  return "";
}

struct Tally {
  std::size_t accepted = 0, private_keys = 0, of_rows = 0;
  std::size_t differ = 0;   ///< neighbours whose rows are not the same
  std::size_t reached = 0;  ///< neighbours that would refute one less than is claimed
};

/// Questions on a dataset and on some of its neighbours.
class Round {
 public:
  Round(std::uint64_t seed, Tally& tally)
      : seed_(seed), tally_(tally), dice_(seed + 77), data_(seed), questions_(seed * 31 + 5) {
    whole_ = data_.open(folder_.path / "whole", std::nullopt);
    for (int i = 0; i < 2; ++i) add_neighbour({.unit = dice_.of(data_.units())}, false);
    for (const RandomTable& table : data_.tables())
      for (int i = 0; table.by_row && i < 2; ++i)
        add_neighbour({.table = table.name, .row = dice_.below(table.rows.size())}, true);
  }

  /// What is wrong with one of so many questions; "" where nothing is.
  std::string ask(int questions) {
    for (; questions > 0; --questions) {
      const std::string sql = questions_.next();
      std::string wrong;
      try {
        wrong = wrong_with(sql);
      } catch (const std::exception& error) {
        wrong = error.what();
      }
      if (!wrong.empty())
        return "seed " + std::to_string(seed_) + ": " + wrong + "\n" + sql + "\n" +
               data_.describe();
    }
    return "";
  }

 private:
  struct Neighbour {
    Without without;
    bool by_row;
    std::unique_ptr<Source> source;
  };

  void add_neighbour(const Without& without, bool by_row) {
    const auto folder = folder_.path / std::to_string(neighbours_.size());
    neighbours_.push_back({without, by_row, data_.open(folder, without)});
  }

  /// Nothing where the question is refused.
  std::optional<Plan> planned(const std::string& sql) {
    PlanOptions options;
    if (dice_.chance(25)) options.rows_per_unit = dice_.between(1, 9);
    if (dice_.chance(20)) options.groups_per_unit = dice_.between(1, 5);
    if (dice_.chance(20)) options.rows_per_group = dice_.between(1, 4);
    try {
      Plan plan = plan_query(sql, parse_schema(data_.schema()), options);
      rows_sql(plan, *whole_);
      return derive_measurements(plan).groups > 200'000 ? std::nullopt : std::optional(plan);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::string wrong_with(const std::string& sql) {
    const std::optional<Plan> plan = planned(sql);
    if (!plan) return "";
    const MeasurementDesign design = derive_measurements(*plan);
    const Limits limits(*plan, design);
    ++tally_.accepted;
    tally_.private_keys += design.groups == 0 ? 1 : 0;
    tally_.of_rows += plan->unit_is_row ? 1 : 0;
    if (dice_.chance(4)) {
      const std::string less = too_little_noise(*plan, design, limits);
      if (!less.empty()) return "noise: " + less;
    }
    const std::uint64_t seed = dice_.below(1'000'000);
    const PlanRows rows = rows_of(*plan, *whole_);
    if (!rows.broken.empty()) return "a broken promise: " + rows.broken;
    const Measured whole = measured(*plan, design, *whole_, seed, threads());
    testing::OnlySql only_sql(*whole_);
    if (whole != measured(*plan, design, only_sql, seed, 1)) return "SQL measures something else";
    for (const Neighbour& neighbour : neighbours_) {
      if (neighbour.by_row != plan->unit_is_row) continue;
      const Without& without = neighbour.without;
      const std::string name = " without " + without.unit + without.table +
                               (neighbour.by_row ? " " + std::to_string(without.row) : "");
      const PlanRows others = rows_of(*plan, *neighbour.source);
      if (!others.broken.empty()) return "a broken promise" + name + ": " + others.broken;
      const std::string mixture = mixed(rows, others, plan->unit_is_row);
      if (!mixture.empty()) return "rows of several units went" + name + ": " + mixture;
      const Measured other = measured(*plan, design, *neighbour.source, seed, threads());
      const std::string further = refuted(whole, other, design, limits);
      if (!further.empty()) return "sensitivity" + name + ": " + further;
      tally_.differ += rows.lines != others.lines ? 1 : 0;
      tally_.reached += refuted(whole, other, design, limits, true).empty() ? 0 : 1;
    }
    return "";
  }

  unsigned threads() { return dice_.chance(20) ? 2 : 1; }

  /// Of designs with noise, which take long to find.
  static std::string too_little_noise(const Plan& plan, const MeasurementDesign& design,
                                      const Limits& limits) {
    for (const auto& [epsilon, delta] :
         {std::pair{Ratio(1), Ratio(0)}, std::pair{Ratio(1, 3), Ratio(1, 1000000)}}) {
      if (delta == 0 && design.groups == 0) continue;
      std::optional<MeasurementDesign> noisy;
      try {
        noisy = design_measurements(plan, epsilon, delta);
      } catch (const Error&) {
        continue;
      }
      const std::string less = sql_test::too_little_noise(*noisy, limits);
      if (!less.empty()) return less;
    }
    return "";
  }

  std::uint64_t seed_;
  Tally& tally_;
  Dice dice_;
  RandomData data_;
  RandomQuestions questions_;
  Folder folder_;
  std::unique_ptr<Source> whole_;
  std::vector<Neighbour> neighbours_;
};

TEST(Neighbours, MoveWhatIsMeasuredNoFurtherThanIsClaimed) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Round round(seed, tally);
    ASSERT_EQ(round.ask(25), "");
  }
  EXPECT_GT(tally.accepted, 300u);
  EXPECT_GT(tally.private_keys, 80u);
  EXPECT_GT(tally.of_rows, 80u);
  EXPECT_GT(tally.differ, 300u);
  EXPECT_GT(tally.reached, 150u);
}

/// Many rows of few units or many, a third of them of one unit.
struct ManyRows {
  explicit ManyRows(std::uint64_t seed) : dice(seed) {
    const std::size_t rows = 150'000 + dice.below(150'000), units = dice.of({300, 40'000});
    const std::int64_t apart = dice.of({1, 1'000'000'007});
    texts = dice.chance(40);
    const auto id = [&](std::size_t unit) {
      return texts ? Value("name" + std::to_string(unit))
                   : Value(static_cast<std::int64_t>(unit) * apart);
    };
    const auto number = [&](std::size_t below) {
      return static_cast<std::int64_t>(dice.below(below));
    };
    std::vector<Value> u, g, h, x, y;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t unit = dice.chance(33) ? 7 : dice.below(units);
      if (unit != 7) others.push_back(i);
      u.push_back(id(unit));
      g.push_back(number(40));
      h.push_back(dice.chance(2) ? Value() : Value(number(200) - 3));
      x.push_back(number(1000));
      y.push_back(static_cast<double>(number(100'000)) / 7);
    }
    table = Table({"u", "g", "h", "x", "y"},
                  {Column::of_values(texts ? Type::kText : Type::kInteger, u),
                   Column::of_values(Type::kInteger, g), Column::of_values(Type::kInteger, h),
                   Column::of_values(Type::kInteger, x), Column::of_values(Type::kDouble, y)});
  }
  Schema schema() {
    return parse_schema(
        R"({"version": 1, "dataset": "d", "tables": {"t": {"unit": "u", "rows_per_unit": )" +
        std::to_string(dice.between(1, 60)) + R"(, "groups_per_unit": )" +
        std::to_string(dice.between(1, 30)) + R"(, "rows_per_group": )" +
        std::to_string(dice.between(1, 9)) + R"(, "columns": {
          "u": {"type": ")" +
        (texts ? "text" : "integer") + R"("}, "h": {"type": "integer"},
          "g": {"type": "integer", "lower": 0, "upper": 39},
          "x": {"type": "integer", "lower": 0, "upper": 900},
          "y": {"type": "double", "lower": -1, "upper": 10000}}}}})");
  }

  Dice dice;
  bool texts = false;
  Table table;
  std::vector<std::size_t> others;  ///< rows without those of the large unit
};

TEST(Neighbours, OfManyRowsInLittleMemoryMoveNoFurtherEither) {
  for (const std::uint64_t seed : {1, 2}) {
    ManyRows rows(seed);
    const Schema schema = rows.schema();
    const auto with = open_tables({{"t", rows.table}});
    const auto without = open_tables({{"t", rows.table.take(rows.others)}});
    for (const char* sql : {"SELECT g, COUNT(*), SUM(y) FROM t GROUP BY g",
                            "SELECT h, COUNT(*), AVG(x) FROM t GROUP BY h",
                            "SELECT g, MEDIAN(x), COUNT(DISTINCT h) FROM t GROUP BY g",
                            "SELECT g, h, SUM(x), COUNT(DISTINCT u) FROM t GROUP BY g, h",
                            "SELECT COALESCE(h, 5), VAR_POP(y) FROM t WHERE x > 10 GROUP BY 1"}) {
      const Plan plan = plan_query(sql, schema);
      const MeasurementDesign design = derive_measurements(plan);
      const Limits limits(plan, design);
      const std::uint64_t memory = std::uint64_t{1} << rows.dice.between(18, 25);
      const Measured a = measured(plan, design, *with, seed, 2, memory);
      const Measured b = measured(plan, design, *without, seed, 1, memory << 4);
      EXPECT_EQ(refuted(a, b, design, limits), "") << sql << " seed " << seed;
      EXPECT_TRUE(a == measured(plan, design, *with, seed, 1)) << sql << " seed " << seed;
      EXPECT_NE(refuted(a, b, design, limits, true), "") << sql << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gauze::sql_test
