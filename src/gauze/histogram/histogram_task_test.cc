#include "gauze/histogram/histogram_task.h"

#include <gmock/gmock.h>

#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/histogram/register.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using ::testing::HasSubstr;
using testing::SeededBits;
using Wanted = Asked::Wanted;

const Schema& people() {
  static const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {"people": {
    "unit": "person", "rows_per_unit": 3, "columns": {
      "person": {"type": "integer"},
      "age": {"type": "integer", "lower": 0, "upper": 99, "nulls": false},
      "height": {"type": "double", "lower": 100, "upper": 200, "nulls": false},
      "ward": {"type": "text", "categories": ["a", "b"], "default": "b", "nulls": false}}}}})");
  return schema;
}

std::unique_ptr<Source> rows() {
  const auto texts = Column::of_texts({"a", "a", "b"});
  return open_tables(
      {{"people", Table({"person", "age", "height", "ward"},
                        {Column::of_integers(Type::kInteger, {1, 1, 2}),
                         Column::of_integers(Type::kInteger, {10, 11, 50}),
                         Column::of_reals(Type::kDouble, {110, 110, 190}), texts})}});
}

Asked on_people(std::vector<std::string> columns) {
  return {.options = {{"epsilon", "100000"}},
          .asks = {{"columns", std::move(columns)}},
          .schema = &people()};
}

Task task(const char* method, const Asked& asked) {
  return histogram_task(std::make_shared<const HistogramEntry>(find_histogram(method)), asked);
}

Release<Result> released(const Task& task, const Input& input, const Watch* watch = nullptr) {
  SeededBits bits(1);
  Meter meter(task.event);
  Context context{meter, bits, watch};
  Release<Result> release = task.run(input, context);
  EXPECT_FALSE(meter.charged().empty());
  return release;
}

Result on_rows(const char* method, const Asked& asked) {
  const auto source = rows();
  return released(task(method, asked), std::ref(*source)).value;
}

/// A file of counts.
Rows counts(std::vector<std::int64_t> cells) {
  return Rows::of_integers(std::move(cells));
}

std::string note(const std::vector<Note>& notes, std::string_view label) {
  for (const Note& each : notes)
    if (each.label == label) return each.text;
  return "";
}

TEST(HistogramTask, SaysInJsonAllCellsAndHowTheyWereMade) {
  Asked asked = on_people({"ward"});
  const Result result = on_rows("flat_histogram", asked);
  std::vector<std::string> keys;
  for (const auto& [key, value] : result.json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"method", "total", "rows"}));
  EXPECT_EQ(result.json["method"]["algorithm"], "flat_histogram");
  EXPECT_EQ(result.json["total"]["n"], 3);
  ASSERT_EQ(result.json["rows"].size(), 2u);
  EXPECT_EQ(result.json["rows"][0]["ward"], "a");
  EXPECT_EQ(result.json["rows"][0]["n"], 2);
  EXPECT_TRUE(result.json["rows"][0].contains("n_half_width"));
  EXPECT_TRUE(result.json["rows"][0].contains("n_variance"));
  EXPECT_EQ(result.title, "ward of people");
  ASSERT_TRUE(result.table && result.summary);
  EXPECT_EQ(result.table->rows.size(), 2u);
  EXPECT_THAT(note(result.notes, "in all"), HasSubstr(" in 2 cells"));
  EXPECT_EQ(note(result.notes, "error"), "± holds the noise 19 times in 20");
}

TEST(HistogramTask, AnswersRangesAndConditionsInsteadOfAllCells) {
  Asked asked = on_people({"age"});
  asked.options["cells"] = "10";
  asked.asks["ranges"] = {"10:19", "15:55"};
  asked.asks["where"] = {"age >= 50"};
  const Result result = on_rows("flat_histogram", asked);
  EXPECT_FALSE(result.json.contains("rows"));
  EXPECT_EQ(result.json["ranges"][0]["age"], "10 to 19");
  EXPECT_EQ(result.json["ranges"][0]["n"], 2);
  EXPECT_TRUE(result.json["ranges"][1].contains("n_variance"));
  EXPECT_EQ(result.json["where"][0]["condition"], "age >= 50");
  EXPECT_EQ(result.json["where"][0]["n"], 1);
  EXPECT_EQ(result.json["notes"].size(), 1u);
  EXPECT_EQ(note(result.notes, "range"),
            "'15:55' was widened to 10 to 59: cells are counted whole");
  ASSERT_TRUE(result.summary);
  EXPECT_EQ(result.summary->rows.size(), 3u);
  EXPECT_EQ(result.figures.back().title, "Asked");
}

TEST(HistogramTask, TwoOrderedAxesAreAMap) {
  Asked asked = on_people({"age", "height"});
  asked.options["cells"] = "5,5";
  const Result result = on_rows("flat_histogram", asked);
  EXPECT_FALSE(result.summary);
  ASSERT_EQ(result.figures.size(), 2u);
  EXPECT_EQ(std::get<Figure::Heat>(result.figures[0].drawing).values.size(), 25u);
  asked.options["cells"] = "5,4";
  EXPECT_TRUE(on_rows("flat_histogram", asked).summary);
}

TEST(HistogramTask, PointsAreShownByTheMethodsOwnBoxes) {
  Asked asked = on_people({"age", "height"});
  asked.asks["whole"] = true;
  const Result result = on_rows("quadtree", asked);
  EXPECT_THAT(note(result.notes, "in all"), HasSubstr("box"));
  EXPECT_THAT(note(result.notes, "error"), HasSubstr("spreading a box evenly"));
}

// What is recorded in a ledger, and what a ledger compares with.
TEST(HistogramTask, ItsWordsAreTheQuestionWithAllOptions) {
  Asked asked = on_people({"ward"});
  asked.options["epsilon"] = 0.5;  // as a job has it
  const Task made = task("flat_histogram", asked);
  EXPECT_EQ(made.words,
            R"({"algorithm":"flat_histogram","columns":["ward"],"options":{"cells":"0",)"
            R"("epsilon":"0.5","rows_per_unit":"3"},"table":"people"})");
  EXPECT_EQ(made.unit, "person");
  EXPECT_EQ(note(made.notes, "counted"), "at most 3 rows of each person");
  asked.asks["columns"] = "ward";
  asked.options["epsilon"] = "0.5";
  EXPECT_EQ(task("flat_histogram", asked).words, made.words);
}

TEST(HistogramTask, RangesBecomeTheWorkloadThatIsAsked) {
  Asked asked = on_people({"age"});
  asked.options["workload"] = "asked";
  EXPECT_ERROR(task("hdmm", asked), ErrorCode::kInvalidOption);
  asked.asks["ranges"] = {"18:65", "20:29"};
  const Task made = task("hdmm", asked);
  EXPECT_THAT(made.words, HasSubstr(R"("asked":"18,65,20,29")"));
  const auto source = rows();
  EXPECT_THAT(note(released(made, std::ref(*source)).value.notes, "error"),
              HasSubstr("no question tells apart"));
  asked.asks["where"] = {"age < 5"};
  EXPECT_ERROR(task("hdmm", asked), ErrorCode::kInvalidOption);
}

TEST(HistogramTask, WhatTheCatalogueRefusesIsRefusedBeforeAnythingIsPaid) {
  const Task made = task("flat_histogram", on_people({"age"}));
  const auto source =
      open_tables({{"people", Table({"person"}, {Column::of_integers(Type::kInteger, {1})})}});
  EXPECT_ERROR(made.check(*source), ErrorCode::kUnknownName);
}

TEST(HistogramTask, ItsQuestionsAreRefusedWhenItIsMade) {
  Asked asked = on_people({"age"});
  asked.asks["ranges"] = {"65:18"};
  EXPECT_ERROR(task("flat_histogram", asked), ErrorCode::kInvalidOption);
  asked.asks = {{"columns", {"age"}}, {"where", {"salary > 3"}}};
  EXPECT_ERROR(task("flat_histogram", asked), ErrorCode::kUnknownName);
  asked.asks = {{"columns", {"age"}}, {"rangs", {"1:2"}}};
  EXPECT_ERROR(task("flat_histogram", asked), ErrorCode::kUnknownName);
  asked = on_people({"age"});
  asked.confidence = 0.9;
  EXPECT_ERROR(task("flat_histogram", asked), ErrorCode::kInvalidOption);
}

TEST(HistogramTask, CountsOfAFileAreCells) {
  Asked asked{.options = {{"epsilon", 100000}, {"rows_per_unit", 1}, {"cells", {2, 2}}}};
  asked.asks["ranges"] = {"1,:"};
  const Task made = task("flat_histogram", asked);
  EXPECT_EQ(made.words, "");
  EXPECT_EQ(made.unit, "person");
  EXPECT_EQ(note(made.notes, "counted"), "at most 1 row of a person, if the counts were made so");
  const Result result = released(made, counts({1, 2, 3, 4})).value;
  EXPECT_EQ(result.json["ranges"][0]["n"], 7);
  SeededBits bits(1);
  Meter meter(made.event);
  Context context{meter, bits};
  EXPECT_ERROR(made.run(counts({1, 2}), context), ErrorCode::kInvalidInput);
  EXPECT_TRUE(meter.charged().empty());
}

TEST(HistogramTask, MakesNoMoreThanWhatSomebodyLooksAt) {
  Asked asked{.options = {{"epsilon", 100000}, {"rows_per_unit", 1}, {"cells", 3}}};
  asked.wanted = Wanted::kValue;
  const Rows rows = counts({1, 2, 3});
  const Result value = released(task("flat_histogram", asked), rows).value;
  EXPECT_EQ(value.json.dump(), R"({"value":[1.0,2.0,3.0]})");
  EXPECT_FALSE(value.table || value.summary);
  asked.wanted = Wanted::kText;
  const Result text = released(task("flat_histogram", asked), rows).value;
  EXPECT_FALSE(text.table || text.json.contains("rows"));
  EXPECT_TRUE(text.summary);
}

TEST(HistogramTask, TellsTheWatchBetweenReadingAndDrawing) {
  const auto source = rows();
  int told = 0;
  double last = 0;
  const Watch watch{.progress =
                        [&](double done, std::string_view) {
                          EXPECT_EQ(told, 0);
                          last = done;
                        },
                    .drawing = [&] { ++told; }};
  released(task("flat_histogram", on_people({"age"})), std::ref(*source), &watch);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(last, 1);
}

TEST(HistogramFamilies, EveryEntryHasTextsAnExampleAndNeighbours) {
  std::size_t count = 0;
  for (const Family& family : histogram_families()) {
    for (const Algorithm& each : family.algorithms) {
      ++count;
      EXPECT_FALSE(each.summary.empty() || each.document.empty() || each.example.empty());
      EXPECT_EQ(each.kind.name, "points");
      EXPECT_TRUE(each.make && each.neighbours) << each.name;
    }
  }
  EXPECT_EQ(count, histogram_entries().size());
  const Algorithm flat = histogram_families()[0].algorithms[2];
  EXPECT_EQ(flat.name, "flat_histogram");
  const OptionValues values(flat.options, {{"epsilon", 1}, {"rows_per_unit", 2}, {"cells", "3"}});
  for (const auto& pair : flat.neighbours(values)) EXPECT_EQ(pair.first.size(), 3u);
  const OptionValues many(flat.options, {{"epsilon", 1}, {"rows_per_unit", 1}, {"cells", "65,64"}});
  EXPECT_ERROR(flat.neighbours(many), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
