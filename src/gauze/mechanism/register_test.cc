#include "gauze/mechanism/register.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/task.h"

namespace gauze {
namespace {

using testing::released;
using testing::SeededBits;

const char* const kNullableColumns = R"({"version": 1, "dataset": "d", "tables": {"t": {
  "unit": "person", "rows_per_unit": 3, "columns": {
    "person": {"type": "integer"},
    "age": {"type": "integer", "lower": 0, "upper": 99},
    "weight": {"type": "double", "lower": 0, "upper": 100},
    "height": {"type": "double", "lower": 0, "upper": 100, "nulls": false},
    "smokes": {"type": "boolean"},
    "day": {"type": "date"},
    "at": {"type": "timestamp"}}}}})";

/// 100 people with a row each; every second has a person's id and nothing else.
Table half_known() {
  std::vector<Value> person, age, weight, smokes, day, at;
  for (std::int64_t i = 0; i < 100; ++i) {
    const bool known = i % 2 == 0;
    const auto or_null = [&](Value value) { return known ? value : Value(); };
    person.emplace_back(i);
    age.push_back(or_null(std::int64_t{50}));
    weight.push_back(or_null(50.0));
    smokes.push_back(or_null(true));
    day.push_back(or_null(Date{19723}));
    at.push_back(or_null(Timestamp{19723 * std::int64_t{86'400'000'000}}));
  }
  return Table({"person", "age", "weight", "height", "smokes", "day", "at"},
               {Column::of_values(Type::kInteger, person), Column::of_values(Type::kInteger, age),
                Column::of_values(Type::kDouble, weight), Column::of_values(Type::kDouble, weight),
                Column::of_values(Type::kBoolean, smokes), Column::of_values(Type::kDate, day),
                Column::of_values(Type::kTimestamp, at)});
}

const Registry& registry() {
  static const Registry all(mechanism_families());
  return all;
}

/// Options that suit any algorithm on tables; noise at epsilon 100,000 is nothing but for a probability below e^-1000.
nlohmann::json suitable_options(const std::string& algorithm) {
  nlohmann::json options;
  const std::map<std::string, const char*> known = {
      {"epsilon", "100000"},   {"delta", "0.01"}, {"blocks", "5"},      {"k", "1"},
      {"lower", "0"},          {"upper", "100"},  {"granularity", "1"}, {"probability", "0.5"},
      {"probabilities", "0.5"}};
  for (const OptionSpec& option : registry().find(algorithm).options)
    if (const auto found = known.find(option.name); found != known.end())
      options[option.name] = found->second;
  return options;
}

Task column_task(const std::string& algorithm, const std::string& column,
                 const nlohmann::json& options) {
  const Schema schema = parse_schema(kNullableColumns);
  return registry().find(algorithm).make(
      {.options = options, .asks = {{"column", column}}, .schema = &schema, .table = "t"});
}

Task column_task(const std::string& algorithm, const std::string& column) {
  return column_task(algorithm, column, suitable_options(algorithm));
}

nlohmann::json released_of(const std::string& algorithm, const std::string& column) {
  SeededBits bits(1);
  const auto source = open_tables({{"t", half_known()}});
  return released(column_task(algorithm, column), std::ref(*source), bits).value.json.at("value");
}

TEST(ColumnTask, RowsWithoutAValueAreLeftOut) {
  for (const char* column : {"age", "weight"}) {
    for (const char* algorithm : {"mean", "median"})
      EXPECT_NEAR(released_of(algorithm, column).get<double>(), 50, 1) << algorithm << column;
    EXPECT_NEAR(released_of("variance", column).get<double>(), 0, 1) << column;
    EXPECT_NEAR(released_of("sum", column).get<double>(), 2500, 1) << column;
  }
  EXPECT_EQ(released_of("mode", "age"), 50);
  EXPECT_EQ(released_of("count", "age"), 100) << "people, whatever is known of them";
  EXPECT_EQ(released_of("count", ""), 100);
  EXPECT_NEAR(released_of("mean", "height").get<double>(), 25, 1) << "the schema says what null is";
}

TEST(ColumnTask, AWordIsWrittenAsItIsInTheData) {
  EXPECT_EQ(released_of("stable_mode", "age").at("value"), "50");
  EXPECT_EQ(released_of("stable_mode", "day").at("value"), "2024-01-01");
  EXPECT_EQ(released_of("stable_mode", "at").at("value"), to_text(Timestamp{1704067200'000'000}));
  EXPECT_EQ(released_of("stable_mode", "smokes").at("value"), "true");
}

// Leaving rows out changes their number: none may be public.
TEST(ColumnTask, EveryAlgorithmIsForOneUnitMoreOrLess) {
  int checked = 0;
  for (const Algorithm* each : registry().algorithms()) {
    if (!each->kind.tables) continue;
    ++checked;
    EXPECT_EQ(column_task(each->name, "weight").event.relation, Relation::kAddRemove) << each->name;
    nlohmann::json options = suitable_options(each->name);
    options["relation"] = "replace";
    EXPECT_ERROR(column_task(each->name, "weight", options), ErrorCode::kInvalidOption);
  }
  EXPECT_GE(checked, 14);
}

// Whoever stops a release stops it here at the latest, and has lost nothing.
TEST(ColumnTask, AsksOnceMoreBeforeNoiseIsDrawn) {
  struct Cancelled {};
  int ends = 0;
  const Watch watch{.drawing = [&] {
    ++ends;
    throw Cancelled();
  }};
  const Task task = column_task("mean", "age");
  SeededBits bits(1);
  Meter meter(task.event);
  Context context{meter, bits, &watch};
  const auto source = open_tables({{"t", half_known()}});
  EXPECT_THROW(task.run(std::ref(*source), context), Cancelled);
  EXPECT_TRUE(meter.charged().empty());
  EXPECT_EQ(ends, 1);
}

// From then on the answer is waited for.
TEST(ColumnTask, BeginsToDrawOnceAndLast) {
  std::vector<double> heard;
  const Watch watch{.progress = [&](double done, std::string_view) { heard.push_back(done); },
                    .drawing = [&] { heard.push_back(1); }};
  SeededBits bits(1);
  const auto source = open_tables({{"t", half_known()}});
  released(column_task("mean", "age"), std::ref(*source), bits, &watch);
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(std::count(heard.begin(), heard.end(), 1.0), 1);
  EXPECT_EQ(heard.back(), 1);
}

TEST(ColumnTask, OnlyACountNeedsNoColumn) {
  for (const char* algorithm : {"mean", "stable_mode"})
    EXPECT_ERROR(column_task(algorithm, ""), ErrorCode::kInvalidOption);
}

TEST(ColumnTask, TheUnitsColumnIsReadOnceHoweverItIsSpelt) {
  EXPECT_NEAR(released_of("count", "PERSON").get<double>(), 100, 0);
}

}  // namespace
}  // namespace gauze
