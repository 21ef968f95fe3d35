#include "gauze/marginal/synthetic_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/marginal/register.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/registry_options.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

const Schema& people() {
  static const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {
    "people": {"unit": "person", "rows_per_unit": 2, "columns": {
      "person": {"type": "integer"},
      "age": {"type": "integer", "lower": 0, "upper": 99},
      "height": {"type": "double", "lower": 100, "upper": 200, "nulls": false},
      "born": {"type": "date", "lower": "1900-01-01", "upper": "2020-12-31"},
      "ward": {"type": "text", "categories": ["a", "b", "rare"]}}},
    "notes": {"unit": "row", "columns": {"text": {"type": "text"}, "n": {"type": "integer", "lower": 0, "upper": 3}}}}})");
  return schema;
}

/// Many rows; the last one has the only rare ward.
std::unique_ptr<Source> rows(std::size_t count) {
  std::vector<std::int64_t> person, age, born;
  std::vector<double> height;
  std::vector<std::string_view> ward;
  std::vector<std::uint8_t> valid;
  for (std::size_t i = 0; i < count; ++i) {
    person.push_back(static_cast<std::int64_t>(i / 2));
    age.push_back(static_cast<std::int64_t>(i % 100));
    height.push_back(100 + static_cast<double>(i % 100));
    born.push_back(static_cast<std::int64_t>(i % 10'000));
    valid.push_back(i % 5 != 0);
    ward.emplace_back(i + 1 == 2000 ? "rare" : i % 100 < 50 ? "a" : "b");
  }
  return open_tables(
      {{"people", Table({"person", "age", "height", "born", "ward"},
                        {Column::of_integers(Type::kInteger, person),
                         Column::of_integers(Type::kInteger, age, valid),
                         Column::of_reals(Type::kDouble, height),
                         Column::of_integers(Type::kDate, born), Column::of_texts(ward)})}});
}

Algorithm mst() {
  return marginal_families().at(0).algorithms.at(0);
}

Asked asked(std::vector<std::string> columns = {}) {
  Asked asked{.options = {{"epsilon", "5"}, {"delta", 1e-6}, {"bins", 10}},
              .schema = &people(),
              .table = "people"};
  if (!columns.empty()) asked.asks["columns"] = std::move(columns);
  return asked;
}

Release<Result> released(const Task& task, const Input& input, std::uint64_t seed = 1) {
  SeededBits bits(seed);
  Meter meter(task.event);
  Context context{meter, bits};
  Release<Result> release = task.run(input, context);
  EXPECT_TRUE(meter.exhausted());
  return release;
}

TEST(SyntheticTask, MakesUpATableOfTheSchemasColumns) {
  const auto source = rows(2000);
  const Task task = mst().make(asked());
  EXPECT_EQ(task.unit, "person");
  const Result result = released(task, std::ref(*source)).value;
  ASSERT_TRUE(result.table);
  std::vector<std::string> names;
  for (const auto& column : result.table->columns) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"age", "height", "born", "ward"}));
  EXPECT_EQ(result.table->columns[2].type, Type::kDate);
  EXPECT_NEAR(static_cast<double>(result.table->rows.size()), 2000, 60);
  std::size_t nulls = 0, agree = 0;
  for (const auto& row : result.table->rows) {
    nulls += std::holds_alternative<std::monostate>(row[0].value);
    const double height = std::get<double>(row[1].value);
    EXPECT_GE(height, 100);
    EXPECT_LT(height, 200);
    agree += row[3].value == Value(std::string(height < 150 ? "a" : "b"));
  }
  const auto all = static_cast<double>(result.table->rows.size());
  EXPECT_NEAR(static_cast<double>(nulls) / all, 0.2, 0.03);
  EXPECT_GT(static_cast<double>(agree) / all, 0.9);
}

TEST(SyntheticTask, SaysInJsonWhatWasMeasuredAndPaid) {
  const auto source = rows(2000);
  const Result result = released(mst().make(asked({"age", "ward"})), std::ref(*source)).value;
  std::vector<std::string> keys;
  for (const auto& [key, value] : result.json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"method", "synthetic", "columns", "total", "rho",
                                            "measured", "model", "fit", "quality"}));
  EXPECT_EQ(
      result.json["columns"][0],
      (nlohmann::ordered_json{
          {"name", "age"}, {"type", "integer"}, {"cells", 11}, {"nulls", true}, {"by", "equal"}}));
  EXPECT_EQ(result.json["columns"][1]["by"], "categories");
  EXPECT_EQ(result.json["measured"].size(), 3u);
  EXPECT_EQ(result.json["measured"][2]["columns"], (nlohmann::json{"age", "ward"}));
  EXPECT_EQ(result.json["model"]["cliques"].size(), 1u);
  double rho = 0;
  for (const auto& each : result.json["measured"]) rho += each["rho"].get<double>();
  EXPECT_NEAR(rho, result.json["rho"]["measured"].get<double>(), 1e-12);
  EXPECT_LE(rho, result.json["rho"]["budget"].get<double>());
  // Two rows of a person: sigma is twice that of one.
  EXPECT_NEAR(result.json["measured"][0]["rho"].get<double>(),
              2 / std::pow(result.json["measured"][0]["sigma"].get<double>(), 2), 1e-9);
  EXPECT_EQ(result.json["fit"].size(), 1u);
}

TEST(SyntheticTask, HeaderNeverDependsOnARareValue) {
  for (const std::size_t count : {0u, 1u, 1999u, 2000u}) {
    const auto source = rows(count);
    Asked question = asked();
    question.options["rows"] = 7;
    const Result result = released(mst().make(question), std::ref(*source)).value;
    EXPECT_EQ(result.table->rows.size(), 7u);
    EXPECT_EQ(result.table->columns.size(), 4u);
    EXPECT_EQ(result.json["columns"][3]["cells"], 4);
  }
}

TEST(SyntheticTask, ShowsPeopleTenRows) {
  const auto source = rows(2000);
  Asked question = asked();
  question.wanted = Asked::Wanted::kText;
  const Result result = released(mst().make(question), std::ref(*source)).value;
  EXPECT_EQ(result.table->rows.size(), 10u);
  EXPECT_FALSE(result.summary);
}

TEST(SyntheticTask, ChecksTheSourceBeforeAnythingIsPaid) {
  const Task task = mst().make(asked());
  const auto source =
      open_tables({{"people", Table({"person"}, {Column::of_integers(Type::kInteger, {1})})}});
  EXPECT_ERROR(task.check(*source), ErrorCode::kUnknownName);
}

TEST(SyntheticTask, RefusesWhatTheSchemaCannotAnswer) {
  const auto refused = [](const Asked& question, ErrorCode code) {
    EXPECT_ERROR(mst().make(question), code);
  };
  refused(asked({"weight"}), ErrorCode::kUnknownName);
  refused(asked({"age", "AGE"}), ErrorCode::kInvalidOption);
  Asked question = asked();
  question.table = "notes";
  refused(question, ErrorCode::kMissingKnowledge);
  question.asks["columns"] = "n";
  EXPECT_NO_THROW(mst().make(question));
  question.options["rows_per_unit"] = 2;
  refused(question, ErrorCode::kInvalidOption);
  question = asked();
  question.options["delta"] = 0;
  refused(question, ErrorCode::kInvalidOption);
  question = asked();
  question.options["cells"] = 3;
  refused(question, ErrorCode::kInvalidOption);
  question = asked();
  question.options["bins"] = 100'000;
  refused(question, ErrorCode::kInvalidOption);
}

Asked on_codes() {
  return {
      .options = {{"epsilon", 100}, {"delta", "0.001"}, {"rows_per_unit", 1}, {"cells", "2,3"}}};
}

TEST(SyntheticTask, TakesRowsOfCodesWhateverTheyHold) {
  const Rows lines({"1,2", "1,2", "x,99", "", "1", "-1,2,3", "99999999999999999999999,1"});
  const Task task = mst().make(on_codes());
  const Result result = released(task, lines).value;
  EXPECT_EQ(result.table->columns[1].name, "column_2");
  EXPECT_NEAR(static_cast<double>(result.table->rows.size()), 7, 2);
  for (const auto& row : result.table->rows) {
    EXPECT_LT(std::get<std::int64_t>(row[0].value), 2);
    EXPECT_LT(std::get<std::int64_t>(row[1].value), 3);
  }
}

TEST(SyntheticTask, ReadsAFileOfCodes) {
  const auto path = std::filesystem::temp_directory_path() / "gauze_synthetic_task_test.csv";
  {
    std::ofstream file(path);
    for (int i = 0; i < 200; ++i) file << (i % 2) << "," << (i % 2 == 0 ? 0 : 2) << "\r\n";
  }
  const Task task = mst().make(on_codes());
  const Result result = released(task, PlainFile{path.string()}).value;
  std::filesystem::remove(path);
  EXPECT_NEAR(static_cast<double>(result.table->rows.size()), 200, 3);
  std::size_t alike = 0;
  for (const auto& row : result.table->rows)
    alike +=
        (std::get<std::int64_t>(row[0].value) == 0) == (std::get<std::int64_t>(row[1].value) == 0);
  EXPECT_GT(alike, 190u);
  EXPECT_ERROR(released(task, PlainFile{path.string()}), ErrorCode::kIo);
}

TEST(SyntheticTask, EveryEntryHasWhatAFrontEndNeeds) {
  for (const Family& family : marginal_families()) {
    for (const Algorithm& algorithm : family.algorithms) {
      EXPECT_FALSE(algorithm.summary.empty() || algorithm.when.empty() || algorithm.source.empty());
      const nlohmann::json options = testing::required_options(algorithm, {{"cells", "2,2"}});
      const auto pairs = algorithm.neighbours(OptionValues(algorithm.options, options));
      EXPECT_EQ(pairs.size(), 4u);
      Asked question{.options = options, .wanted = Asked::Wanted::kValue};
      const Task task = algorithm.make(question);
      std::set<std::size_t> widths;
      for (const auto& pair : pairs)
        for (const auto* lines : {&pair.first, &pair.second})
          for (std::uint64_t seed = 0; seed < 5; ++seed)
            widths.insert(released(task, Rows(*lines), seed).value.json["value"].size());
      EXPECT_EQ(widths.size(), 1u) << algorithm.name;
    }
  }
}

}  // namespace
}  // namespace gauze
