#include "gauze/learn/linear_model_task.h"

#include <gmock/gmock.h>

#include <memory>

#include "gauze/accounting/gaussian.h"
#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/learn/model.h"
#include "gauze/learn/register.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SeededBits;

const Schema& clinic() {
  static const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {"visits": {
    "unit": "person", "rows_per_unit": 2, "columns": {
      "person": {"type": "integer"},
      "age": {"type": "integer", "lower": 0, "upper": 100, "nulls": false},
      "ward": {"type": "text", "categories": ["a", "b"], "nulls": false},
      "remarks": {"type": "text"},
      "ill": {"type": "text", "categories": ["no", "yes"], "nulls": false}}}}})");
  return schema;
}

/// Two rows of each of 1,000 people: the old are ill.
std::unique_ptr<Source> visits() {
  std::vector<std::int64_t> people, ages;
  std::vector<std::string_view> wards, ill;
  for (std::int64_t i = 0; i < 2000; ++i) {
    people.push_back(i / 2);
    ages.push_back(i * 37 % 101);
    wards.emplace_back(i % 3 == 0 ? "a" : "b");
    ill.emplace_back(ages.back() > 50 ? "yes" : "no");
  }
  return open_tables(
      {{"visits", Table({"person", "age", "ward", "remarks", "ill"},
                        {Column::of_integers(Type::kInteger, people),
                         Column::of_integers(Type::kInteger, ages), Column::of_texts(wards),
                         Column::of_texts(wards), Column::of_texts(ill)})}});
}

Asked on_visits(nlohmann::json more = nlohmann::json::object(), const char* label = "ill") {
  nlohmann::json options = {{"epsilon", "50"}, {"expected_units", "1000"}};
  options.update(more);
  return {.options = options, .asks = {{"label", label}}, .schema = &clinic()};
}

Task task_of(const char* algorithm, const Asked& asked) {
  static const Registry registry(learn_families());
  return registry.find(algorithm).make(asked);
}

Release<Result> released(const Task& task) {
  const auto source = visits();
  SeededBits bits(1);
  Meter meter(task.event);
  Context context{meter, bits};
  Release<Result> release = task.run(std::ref(*source), context);
  EXPECT_EQ(meter.charged(), std::vector<Event>{task.event});
  return release;
}

/// How many of the ages 0 to 100 it gets right.
int right(const LinearModel& model) {
  std::vector<std::int64_t> ages(101);
  for (std::int64_t i = 0; i <= 100; ++i) ages[static_cast<std::size_t>(i)] = i;
  const Table table({"age", "ward"}, {Column::of_integers(Type::kInteger, ages),
                                      Column::of_texts(std::vector<std::string_view>(101, "b"))});
  RowFeatures features(model.map, table);
  int count = 0;
  for (std::size_t i = 0; i <= 100; ++i) {
    count += model.predicted(features.of(i)) == (i > 50 ? "yes" : "no") ? 1 : 0;
  }
  return count;
}

// At epsilon 50 the noise is small beside what there is to learn.
TEST(LinearModelTask, LearnsWhatThereIsToLearn) {
  for (const char* algorithm : {"logistic_regression", "linear_svm"}) {
    for (const char* method : {"auto", "bolt_on"}) {
      for (const char* delta : {"0", "1e-6"}) {
        const Task task = task_of(algorithm, on_visits({{"method", method}, {"delta", delta}}));
        const Release<Result> answer = released(task);
        ASSERT_TRUE(answer.value.artifact);
        EXPECT_EQ(answer.value.artifact->format, "linear_model");
        const LinearModel model = parse_model(answer.value.artifact->bytes);
        EXPECT_GE(right(model), 90) << algorithm << method << delta;
        EXPECT_EQ(model.algorithm, algorithm);
        EXPECT_EQ(model.guarantee.epsilon, 50);
        EXPECT_EQ(model.guarantee.unit, "person");
        EXPECT_THAT(model.map.names(), ElementsAre("age", "ward=a", "ward=b", "intercept"));
        EXPECT_EQ(answer.value.json["value"]["model"].dump(), to_json(model).dump());
        EXPECT_EQ(answer.value.json["value"]["method"], model.method);
        EXPECT_EQ(answer.value.json["value"]["dimension"], 4);
        EXPECT_EQ(answer.value.json["value"]["noise"]["mechanism"],
                  std::string(delta) == "0" ? "radial_laplace" : "gaussian");
        EXPECT_GT(answer.accuracy.half_width, 0);
      }
    }
  }
}

TEST(LinearModelTask, SaysHowLargeItsNoiseIs) {
  const auto noise = [](const char* delta) {
    return released(task_of("logistic_regression", on_visits({{"delta", delta}})))
        .value.json["value"]["noise"];
  };
  const auto pure = noise("0");
  EXPECT_DOUBLE_EQ(pure["scale"], pure["l2_sensitivity"].get<double>() / 50);
  const auto normal = noise("1e-6");
  const double mu = normal["l2_sensitivity"].get<double>() / normal["scale"].get<double>();
  EXPECT_NEAR(about_gaussian_delta(mu, 50), 1e-6, 1e-9);
}

TEST(LinearModelTask, StatesItsPriceAndWordsBeforeAnythingIsRead) {
  const Task one = task_of("logistic_regression", on_visits());
  EXPECT_EQ(one.event, (Event{events::Pure{50}, Relation::kAddRemove}));
  EXPECT_EQ(one.unit, "person");
  EXPECT_EQ(one.words, task_of("logistic_regression", on_visits()).words);
  EXPECT_NE(one.words, task_of("logistic_regression", on_visits({{"lambda", "0.5"}})).words);
  EXPECT_NE(one.words, task_of("logistic_regression", on_visits({{"scaling", "ball"}})).words);
  EXPECT_THAT(one.notes.at(0).text, HasSubstr("at most 2 rows of each person"));
  const auto source = visits();
  EXPECT_NO_THROW(one.check(*source));
}

TEST(LinearModelTask, LearnsFromTheNamedColumnsOnly) {
  for (const nlohmann::json& named : {nlohmann::json("age"), nlohmann::json({"age"})}) {
    Asked asked = on_visits();
    asked.asks["features"] = named;
    const Release<Result> answer = released(task_of("logistic_regression", asked));
    EXPECT_THAT(parse_model(answer.value.artifact->bytes).map.names(),
                ElementsAre("age", "intercept"));
  }
}

TEST(LinearModelTask, TakesAutoToTheWayThatIsProved) {
  const auto answer = released(task_of("logistic_regression", on_visits({{"method", "auto"}})));
  EXPECT_EQ(answer.value.json["value"]["method"], "bolt_on");
  // A minimiser may end with an error where far more units take part than were expected.
  EXPECT_ERROR(task_of("logistic_regression", on_visits({{"method", "output"}})),
               ErrorCode::kInvalidOption);
}

TEST(LinearModelTask, RefusesBeforeAnythingIsPaid) {
  const auto with = [](const nlohmann::json& options) {
    return task_of("logistic_regression", on_visits(options));
  };
  EXPECT_ERROR(task_of("logistic_regression", {.options = {{"epsilon", "1"}}}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({{"epsilon", "0"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({{"delta", "1"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({{"expected_units", "0"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({{"lambda", "-1"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({{"method", "magic"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({{"scaling", "cube"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with({{"method", "bolt_on"}, {"passes", "0"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(task_of("logistic_regression", on_visits(nlohmann::json::object(), "age")),
               ErrorCode::kMissingKnowledge);
  EXPECT_ERROR(task_of("logistic_regression", on_visits(nlohmann::json::object(), "nobody")),
               ErrorCode::kUnknownName);
  EXPECT_ERROR(task_of("linear_svm", on_visits({{"huber", "2"}})), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
