#include "gauze/registry/entries.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "gauze/base/required.h"
#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/registry/auditing.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/neighbours.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/task.h"

namespace gauze {
namespace {

using nlohmann::json;
using testing::released;
using testing::SeededBits;

/// Adds one random bit to a sum of bounded numbers; tells what it does where a test listens.
class NoisySum {
 public:
  struct Options {
    Required<Ratio> epsilon;
    std::vector<std::string>* heard = nullptr;
  };
  explicit NoisySum(Options options) : options_(std::move(options)) {
    require(options_.epsilon.get() > 0, "epsilon: must be positive");
  }
  Event event() const { return {events::Approximate{options_.epsilon, 0}, Relation::kAddRemove}; }
  Accuracy accuracy(double confidence = 0.95) const { return {1, confidence, "the sum"}; }
  Release<double> run(const std::vector<double>& values, Context& context) const {
    if (options_.heard != nullptr) options_.heard->push_back("charge");
    context.meter.charge(event());
    double sum = static_cast<double>(context.bits.next() & 1);
    for (const double value : values) sum += value;
    return {sum, accuracy(), event()};
  }

 private:
  Options options_;
};

Algorithm about(std::string name, std::vector<OptionSpec> options) {
  return {.name = std::move(name),
          .summary = "A sum",
          .input = "one row per person",
          .guarantee = "None.",
          .accuracy = "Within 1.",
          .cost = "None.",
          .source = "Nobody.",
          .document = "page.md",
          .options = std::move(options)};
}

std::vector<OptionSpec> bounded_options() {
  return {{"lower", OptionSpec::Type::kNumber, "least", ""},
          {"upper", OptionSpec::Type::kNumber, "most", ""},
          epsilon_option(),
          relation_option("")};
}

MakeTask sum_of_numbers(std::vector<std::string>* heard = nullptr) {
  return [heard](const OptionValues& values) {
    return task_of(NoisySum({.epsilon = values.number("epsilon"), .heard = heard}), numbers);
  };
}

Algorithm column_sum(std::vector<std::string>* heard = nullptr) {
  return on_column(about("toy_sum", bounded_options()), sum_of_numbers(heard));
}

Algorithm words() {
  return on_column(about("toy_words", {epsilon_option(), relation_option("")}),
                   [](const OptionValues& values) {
                     const NoisySum mechanism({.epsilon = values.number("epsilon")});
                     return values_task(
                         mechanism.event(), {}, [mechanism](const Rows& rows) -> DrawValue {
                           return [mechanism, cells = rows.cells()](Context& context) {
                             context.meter.charge(mechanism.event());
                             return Release<json>{cells, {}, mechanism.event()};
                           };
                         });
                   },
                   {.nulls_count = true});
}

Algorithm echo(std::size_t width = 1) {
  return on_lines(
      about("toy_echo", {epsilon_option()}),
      [](const OptionValues& values) {
        return task_of(NoisySum({.epsilon = values.number("epsilon")}),
                       [](const Rows& rows) { return rows.vector(); });
      },
      [width](const OptionValues& values) -> LineByLine {
        const NoisySum mechanism({.epsilon = values.number("epsilon")});
        return {.start = [mechanism](Context& context) -> LineByLine::Answer {
                  context.meter.charge(mechanism.event());
                  return [](std::span<const double> line) {
                    return Said{line[0], "said " + lines_of_value(line[0]), line[0] < 0};
                  };
                },
                .width = width};
      });
}

const char* const kSchema = R"({"version": 1, "dataset": "d", "tables": {
  "t": {"unit": "person", "rows_per_unit": 3, "columns": {
    "person": {"type": "integer"},
    "age": {"type": "integer", "lower": 0, "upper": 99},
    "height": {"type": "double", "lower": 0, "upper": 3, "nulls": false},
    "weight": {"type": "double"},
    "name": {"type": "text"}}},
  "r": {"unit": "row", "columns": {"age": {"type": "integer", "lower": 0, "upper": 99}}},
  "w": {"public": true, "columns": {"bed": {"type": "integer", "lower": 0, "upper": 9}}}}})";

const Schema& schema() {
  static const Schema parsed = parse_schema(kSchema);
  return parsed;
}

Asked asked(json options, const char* table, json asks) {
  return {
      .options = std::move(options), .asks = std::move(asks), .schema = &schema(), .table = table};
}

Asked age_of_t(json options = {{"epsilon", 1}}) {
  return asked(std::move(options), "t", {{"column", "age"}});
}

Table two_people() {
  return Table({"person", "age", "height", "weight", "name"},
               {Column::of_values(Type::kInteger, {std::int64_t{1}, std::int64_t{2}}),
                Column::of_values(Type::kInteger, {std::int64_t{40}, Value()}),
                Column::of_values(Type::kDouble, {1.5, Value()}),
                Column::of_values(Type::kDouble, {70.25, 80.5}),
                Column::of_values(Type::kText, {std::string("Ann"), Value()})});
}

TEST(Entries, OptionsAreCheckedWhenTheTaskIsMade) {
  for (const Algorithm& each :
       {column_sum(), on_rows(about("x", bounded_options()), sum_of_numbers())}) {
    json options = {{"epsilon", 1}, {"lower", 0}, {"upper", 1}, {"relation", "add_remove"}};
    EXPECT_EQ(each.make({.options = options}).event,
              (Event{events::Approximate{1, 0}, Relation::kAddRemove}));
    options["epsilon"] = 0;
    EXPECT_ERROR(each.make({.options = options}), ErrorCode::kInvalidOption);
    options.erase("epsilon");
    EXPECT_ERROR(each.make({.options = options}), ErrorCode::kInvalidOption);
    options["epsilom"] = 1;
    EXPECT_ERROR(each.make({.options = options}), ErrorCode::kUnknownName);
    EXPECT_ERROR(each.make({.options = "epsilon"}), ErrorCode::kInvalidInput);
  }
}

TEST(Entries, ATableFillsInWhatTheSchemaKnows) {
  const Task task = column_sum().make(age_of_t());
  EXPECT_EQ(task.words,
            R"({"algorithm":"toy_sum","column":"age","options":{"epsilon":1,"lower":"0",)"
            R"("relation":"add_remove","upper":"99"},"table":"t"})");
  EXPECT_EQ(task.unit, "person");
  ASSERT_EQ(task.notes.size(), 1u);
  EXPECT_EQ(task.notes[0].label, "counted");
  EXPECT_EQ(task.notes[0].text,
            "one row of each person, chosen at random; rows without a value are left out");
  const Task by_row = column_sum().make(asked({{"epsilon", 1}}, "r", {{"column", "age"}}));
  EXPECT_EQ(by_row.unit, "row");
  EXPECT_EQ(by_row.notes[0].text,
            "each row is a privacy unit of its own; rows without a value are left out");
  const Task plain = column_sum().make(
      {.options = {{"epsilon", 1}, {"lower", 0}, {"upper", 1}, {"relation", "add_remove"}}});
  EXPECT_EQ(plain.words, "");
  EXPECT_TRUE(plain.notes.empty());
}

TEST(Entries, ATableRefusesWhatWouldBeWrong) {
  const auto refused = [](json options, const char* table, json asks, ErrorCode code) {
    EXPECT_ERROR(column_sum().make(asked(options, table, asks)), code);
  };
  const json fine = {{"epsilon", 1}};
  refused(fine, "t", json::object(), ErrorCode::kInvalidOption);
  refused(fine, "t", {{"column", 3}}, ErrorCode::kInvalidOption);
  refused(fine, "t", {{"column", "shoe"}}, ErrorCode::kUnknownName);
  refused(fine, "t", {{"column", "name"}}, ErrorCode::kInvalidOption);
  refused(fine, "t", {{"column", "weight"}}, ErrorCode::kMissingKnowledge);
  refused(fine, "w", {{"column", "bed"}}, ErrorCode::kInvalidOption);
  refused(fine, "", {{"column", "age"}}, ErrorCode::kInvalidOption);
  refused(fine, "nowhere", {{"column", "age"}}, ErrorCode::kUnknownName);
  refused({{"epsilon", 1}, {"relation", "replace"}}, "t", {{"column", "age"}},
          ErrorCode::kInvalidOption);
  refused({{"epsilon", 0}}, "t", {{"column", "age"}}, ErrorCode::kInvalidOption);
}

TEST(Entries, WhatTakesNoTablesSaysSo) {
  for (const Algorithm& each : {on_rows(about("x", bounded_options()), sum_of_numbers()), echo()}) {
    EXPECT_FALSE(each.kind.tables);
    EXPECT_ERROR(each.make(age_of_t()), ErrorCode::kInvalidOption);
    EXPECT_ERROR(expect_form_for_tables(each), ErrorCode::kInvalidOption);
  }
  expect_form_for_tables(column_sum());
}

TEST(Entries, AMissingColumnIsRefusedBeforeAnythingIsPaid) {
  const Task task = column_sum().make(age_of_t());
  const auto whole = open_tables({{"t", two_people()}});
  EXPECT_TRUE(task.check(*whole).empty());
  const auto other =
      open_tables({{"t", Table({"person"}, {Column::of_values(Type::kInteger, {})})}});
  EXPECT_ERROR(task.check(*other), ErrorCode::kUnknownName);
}

double sum_in(Source& source, const char* column) {
  SeededBits bits(1);
  const Task task = column_sum().make(asked({{"epsilon", 1}}, "t", {{"column", column}}));
  return std::floor(released(task, std::ref(source), bits).value.json.at("value").get<double>());
}

TEST(Entries, AColumnIsReadAsNumbersWithoutRowsThatHaveNone) {
  const auto source = open_tables({{"t", two_people()}});
  EXPECT_THAT(sum_in(*source, "age"), ::testing::AnyOf(40, 41));
  EXPECT_THAT(sum_in(*source, "height"), ::testing::AnyOf(1, 2)) << "null counts as 0 there";
}

TEST(Entries, AFileIsReadAsATableInMemoryIs) {
  std::string folder = ::testing::TempDir() + "gauze_entries_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/t.csv") << "person,age,height,weight,name\n1,40,1.5,70,Ann\n2,,1,80,\n";
  const auto source = open_files({{"t", folder + "/t.csv"}});
  EXPECT_THAT(sum_in(*source, "age"), ::testing::AnyOf(40, 41));
  std::filesystem::remove_all(folder);
}

TEST(Entries, NullsCountWhereTheEntrySaysSo) {
  const auto source = open_tables({{"t", two_people()}});
  const auto cells = [&](const char* column) {
    SeededBits bits(1);
    const Task task = words().make(asked({{"epsilon", 1}}, "t", {{"column", column}}));
    EXPECT_EQ(task.notes[0].text, "one row of each person, chosen at random");
    auto value = released(task, std::ref(*source), bits).value.json.at("value");
    auto listed = value.get<std::vector<std::string>>();
    std::sort(listed.begin(), listed.end());
    return listed;
  };
  EXPECT_EQ(cells("name"), (std::vector<std::string>{"", "Ann"}));
  EXPECT_EQ(cells("age"), (std::vector<std::string>{"", "40"}));
  EXPECT_EQ(cells("weight"), (std::vector<std::string>{"70.25", "80.5"}));
}

// Whoever stops a run when drawing begins has lost nothing.
TEST(Entries, TheWatchHearsReadingThenDrawingThenTheCharge) {
  std::vector<std::string> heard;
  const Task task = column_sum(&heard).make(age_of_t());
  const auto source = open_tables({{"t", two_people()}});
  Watch watch{.progress =
                  [&](double done, std::string_view) {
                    EXPECT_LT(done, 1);
                    heard.push_back("read");
                  },
              .drawing = [&] { heard.push_back("drawing"); }};
  SeededBits bits(1);
  released(task, std::ref(*source), bits, &watch);
  heard.erase(std::unique(heard.begin(), heard.end()), heard.end());
  if (heard.front() == "read") heard.erase(heard.begin());
  EXPECT_EQ(heard, (std::vector<std::string>{"drawing", "charge"}));

  struct Cancelled {};
  heard.clear();
  watch.drawing = [] { throw Cancelled(); };
  Meter meter(task.event);
  Context context{meter, bits, &watch};
  EXPECT_THROW(task.run(std::ref(*source), context), Cancelled);
  EXPECT_TRUE(meter.charged().empty());
}

TEST(Entries, ProgressIsHeardWhileATableIsRead) {
  std::vector<Value> people(300'000), ages(300'000);
  for (std::size_t i = 0; i < people.size(); ++i) people[i] = static_cast<std::int64_t>(i);
  std::fill(ages.begin(), ages.end(), Value(std::int64_t{1}));
  const auto source =
      open_tables({{"t", Table({"person", "age"}, {Column::of_values(Type::kInteger, people),
                                                   Column::of_values(Type::kInteger, ages)})}});
  struct Cancelled {};
  const Watch watch{.progress = [](double, std::string_view) { throw Cancelled(); }};
  const Task task = column_sum().make(age_of_t());
  SeededBits bits(1);
  Meter meter(task.event);
  Context context{meter, bits, &watch};
  EXPECT_THROW(task.run(std::ref(*source), context), Cancelled);
  EXPECT_TRUE(meter.charged().empty());
}

TEST(Entries, ErrorBarsAreAtTheConfidenceThatWasAsked) {
  Asked question = age_of_t();
  question.confidence = 0.5;
  const auto source = open_tables({{"t", two_people()}});
  SeededBits bits(1);
  const Task task = column_sum().make(question);
  EXPECT_EQ(released(task, std::ref(*source), bits).accuracy.confidence, 0.5);
  const Task plain = echo().make({.options = {{"epsilon", 1}}, .confidence = 0.75});
  EXPECT_EQ(released(plain, Rows({"1"}), bits).accuracy.confidence, 0.75);
}

TEST(Entries, ADialogueEndsWithTheLastAnswer) {
  const Task task = echo().make({.options = {{"epsilon", 1}}, .confidence = 0.5});
  const std::vector<double> lines = {3, 2, -1, 5};
  std::size_t read = 0;
  std::vector<std::string> told;
  Dialogue dialogue{
      [&]() -> std::optional<std::vector<double>> { return std::vector{lines.at(read++)}; },
      [&](const Said& said) {
        EXPECT_EQ(told.size() + 1, read) << "each line is answered before the next is read";
        told.push_back(said.text);
      }};
  std::size_t read_at_drawing = 1;
  const Watch watch{.drawing = [&] { read_at_drawing = read; }};
  SeededBits bits(1);
  const auto answer = released(task, std::ref(dialogue), bits, &watch);
  EXPECT_EQ(read_at_drawing, 0u) << "the price is spent before a line is read";
  EXPECT_EQ(read, 3u);
  EXPECT_EQ(told, (std::vector<std::string>{"said 3", "said 2", "said -1"}));
  EXPECT_EQ(answer.value.json.dump(), R"({"value":[3.0,2.0,-1.0]})");
  EXPECT_EQ(answer.value.text, "");
  EXPECT_EQ(answer.accuracy.confidence, 0.5);
  EXPECT_EQ(answer.spent, task.event);
}

TEST(Entries, ADialogueEndsWithItsInputAndRefusesLinesOfAnotherWidth) {
  const auto talk = [](std::size_t width, std::vector<std::vector<double>> lines) {
    std::size_t read = 0;
    Dialogue dialogue{[&]() -> std::optional<std::vector<double>> {
                        if (read == lines.size()) return std::nullopt;
                        return lines[read++];
                      },
                      [](const Said&) {}};
    SeededBits bits(1);
    const Task task = echo(width).make({.options = {{"epsilon", 1}}});
    return released(task, std::ref(dialogue), bits).value.json.at("value").size();
  };
  EXPECT_EQ(talk(1, {}), 0u);
  EXPECT_EQ(talk(2, {{1, 2}, {3, 4}}), 2u);
  EXPECT_ERROR(talk(2, {{1, 2}, {3}}), ErrorCode::kInvalidInput);
}

TEST(Entries, LinesAreAlsoTakenAllAtOnce) {
  SeededBits bits(1);
  const Task task = echo().make({.options = {{"epsilon", 1}}});
  const Release<Result> answer = released(task, Rows({"1", "2"}), bits);
  EXPECT_GE(answer.value.json.at("value").get<double>(), 3);
  EXPECT_FALSE(answer.value.text.empty());
}

TEST(Entries, AValueIsSaidInPlainWords) {
  EXPECT_EQ(lines_of_value(0.1), "0.1");
  EXPECT_EQ(lines_of_value(1.0 / 3), "0.3333333333");
  EXPECT_EQ(lines_of_value(7), "7");
  EXPECT_EQ(lines_of_value(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(lines_of_value("apple"), "apple");
  EXPECT_EQ(lines_of_value({"apple", "pear"}), "apple\npear");
  EXPECT_EQ(lines_of_value({{"lower", {1, 2}}, {"upper", 3}}), "lower  1 2\nupper  3");
  EXPECT_EQ(lines_of_value({{"released", true}, {"value", 3}}), "3");
  EXPECT_EQ(lines_of_value({{"released", false}}), "no value: none is clear enough on these rows");
}

TEST(Entries, ARegistryRefusesTwoOfOneName) {
  EXPECT_ERROR(Registry({{"Sums", {column_sum()}}, {"Others", {column_sum()}}}),
               ErrorCode::kInternal);
  const Registry registry({{"Sums", {column_sum()}}, {"Others", {echo()}}});
  EXPECT_EQ(registry.find("toy_echo").name, "toy_echo");
  EXPECT_EQ(registry.algorithms().size(), 2u);
  EXPECT_ERROR(registry.find("toy_eho"), ErrorCode::kUnknownName);
}

TEST(Entries, AnAuditNeedsToKnowNeighbours) {
  Algorithm algorithm = column_sum();
  const json options = {{"epsilon", 1}, {"lower", 0}, {"upper", 4}, {"relation", "replace"}};
  EXPECT_ERROR(neighbours_for(algorithm, options), ErrorCode::kUnsupported);
  algorithm.neighbours = people_within_bounds;
  const audit::LinePairs pairs = neighbours_for(algorithm, options);
  EXPECT_FALSE(pairs.empty());
  EXPECT_ERROR(
      neighbours_for(algorithm,
                     {{"epsilon", 0}, {"lower", 0}, {"upper", 4}, {"relation", "replace"}}),
      ErrorCode::kInvalidOption);
  const audit::Subject subject = audit_subject(algorithm, options, pairs);
  EXPECT_EQ(subject.pairs.size(), pairs.size());
  SeededBits bits(1);
  EXPECT_EQ(subject.draw(0, audit::Side::kFirst, 100, bits).size(), 100u);
}

}  // namespace
}  // namespace gauze
