#include "gauze/learn/linear_model_task.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/bound.h"
#include "gauze/data/table.h"
#include "gauze/learn/bolt_on.h"
#include "gauze/learn/features.h"
#include "gauze/learn/model.h"
#include "gauze/learn/parameters.h"
#include "gauze/numeric/decimal_text.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"

namespace gauze {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kExpectedNorm = 10;  // of a good model for features in the unit ball

/// What is learned from: tables, and what of them.
struct Sample {
  TableSchema table;
  FeatureMap map;
  std::vector<std::string> read;  ///< columns, and the unit's where it is another
  TableBounds bounds;

  std::string unit() const { return bounds.unit->empty() ? "row" : bounds.unit.get(); }
};

Scaling scaling_of(const std::string& word) {
  require(word == "ball" || word == "sphere", "scaling: must be ball or sphere");
  return word == "ball" ? Scaling::kBall : Scaling::kSphere;
}

Sample sample_of(const OptionValues& values, const Asked& asked) {
  require(asked.schema != nullptr,
          "data: is missing; models are learned from a table with a schema");
  const OptionValues asks(features_kind().asks,
                          asked.asks.is_null() ? nlohmann::json::object() : asked.asks);
  const TableSchema& table = private_table(*asked.schema, asked.table);
  require(!table.is_public(), "table: it is public; learn from it without noise");
  std::vector<std::string> columns = asks.words("features");
  if (columns == std::vector<std::string>{"all"}) columns.clear();
  FeatureMap map = features_of({.table = table,
                                .label = asks.text("label"),
                                .columns = std::move(columns),
                                .scaling = scaling_of(values.text("scaling"))});
  TableBounds bounds = bounds_of(table);
  std::vector<ColumnSchema> kept = {*table.find(map.label)};
  for (const ColumnFeatures& each : map.columns) kept.push_back(*table.find(each.column));
  bounds.columns = kept;
  std::vector<std::string> read;
  for (const ColumnSchema& each : kept) read.push_back(each.name);
  const auto is_unit = [&](const std::string& name) { return same_name(name, bounds.unit.get()); };
  if (!bounds.unit->empty() && std::none_of(read.begin(), read.end(), is_unit))
    read.push_back(bounds.unit);
  return {table, std::move(map), std::move(read), std::move(bounds)};
}

/// How the model is trained, with its price known.
struct Learner {
  BoltOn way;
  std::string method;
  double l2_sensitivity;
  Json options;  ///< what it was trained with
};

/// The numbers that every way needs.
struct Numbers {
  Loss loss;
  std::uint32_t dimension;
  std::uint64_t records;
  std::uint64_t rows_per_unit;
  Ratio epsilon;
  Ratio delta;
  double given_lambda;  ///< 0: by rule

  double lambda(double change) const {
    if (given_lambda > 0) return given_lambda;
    return balanced_lambda(
        {.dimension = dimension, .records = records, .epsilon = epsilon, .delta = delta},
        loss.bounds(), change, kExpectedNorm);
  }
};

Learner by_bolt_on(const Numbers& n, const OptionValues& values) {
  const LossBounds loss = n.loss.bounds();
  const double lambda = n.lambda(2 * loss.lipschitz);
  const SgdPlan plan{.schedule = Schedule::strongly_convex(loss.smoothness + lambda, lambda),
                     .records = n.records,
                     .passes = values.whole("passes"),
                     .batch = std::min(values.whole("batch"), n.records),
                     .regularisation = lambda,
                     .radius = loss.lipschitz / lambda};
  BoltOn way({.loss = n.loss,
              .plan = plan,
              .dimension = n.dimension,
              .epsilon = n.epsilon,
              .relation = Relation::kAddRemove,
              .delta = n.delta,
              .rows_per_unit = n.rows_per_unit});
  const double sensitivity = way.sensitivity().total();
  return {std::move(way),
          "bolt_on",
          sensitivity,
          {{"lambda", lambda}, {"passes", plan.passes}, {"batch", plan.batch}}};
}

Learner learner_of(const Numbers& numbers, const OptionValues& values) {
  const std::string method = values.text("method");
  require(method == "auto" || method == "bolt_on", "method: must be auto or bolt_on");
  return by_bolt_on(numbers, values);
}

/// Everything public of a run.
struct Job {
  std::string algorithm;
  Sample sample;
  Learner learner;
  std::uint64_t records;
  Ratio epsilon, delta;

  Examples read(Source& source, Context& context) const {
    const auto progress = [&context](double done) { context.progress(std::min(done, 0.999)); };
    const BoundedTable table =
        bound(read_table(source, sample.table, sample.read, progress), sample.bounds, context.bits);
    return examples_of(sample.map, table);
  }
  Result result(std::vector<double> coefficients) const;
  /// Of the noise with density e^(-‖z‖/scale), or the standard deviation of a coordinate.
  double scale() const {
    if (delta == 0) return learner.l2_sensitivity / round_down(epsilon);
    const auto normal = std::get<events::DiscreteGaussian>(learner.way.event().kind);
    return learner.l2_sensitivity * round_up(normal.sigma / normal.l2_sensitivity);
  }
  Json noise() const {
    return {{"mechanism", delta > 0 ? "gaussian" : "radial_laplace"},
            {"scale", scale()},
            {"l2_sensitivity", learner.l2_sensitivity}};
  }
};

Result Job::result(std::vector<double> coefficients) const {
  LinearModel model;
  model.algorithm = algorithm;
  model.map = sample.map;
  model.coefficients = std::move(coefficients);
  model.guarantee = {round_up(epsilon), round_up(delta), Relation::kAddRemove, sample.unit()};
  model.method = learner.method;
  model.options = learner.options;
  Result result;
  result.title = model.map.label + " of " + sample.table.name;
  const Json json = to_json(model);
  result.json["value"] = {{"model", json},
                          {"method", learner.method},
                          {"options", learner.options},
                          {"dimension", sample.map.dimension()},
                          {"expected_units", records},
                          {"noise", noise()}};
  const std::vector<std::string> names = model.map.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    result.text += (i == 0 ? "" : "\n") + names[i] + "  " + nearest(model.coefficients[i]);
  }
  result.artifact = Artifact{.format = LinearModel::kFormat,
                             .version = LinearModel::kVersion,
                             .bytes = json.dump(2) + "\n"};
  result.notes = {{"method", learner.method + ", lambda " +
                                 nearest(learner.options.at("lambda").get<double>())}};
  return result;
}

}  // namespace

InputKind features_kind() {
  return {.name = "features",
          .plain = InputKind::Plain::kNone,
          .tables = true,
          .asks = {{"label", OptionSpec::Type::kText,
                    "what to predict: a boolean, or a column with two categories", ""},
                   {"features", OptionSpec::Type::kWords,
                    "columns to learn from: age,sex; all: every one with a range or categories",
                    "all"}}};
}

std::vector<OptionSpec> linear_model_options() {
  return {epsilon_option(),
          {"expected_units", OptionSpec::Type::kWhole,
           "about how many privacy units there are: a public number, never counted", ""},
          {"delta", OptionSpec::Type::kNumber,
           "chance to promise less, below 1; above 0: Gaussian noise", "0"},
          {"method", OptionSpec::Type::kText,
           "bolt_on: noise on what gradient descent finds; auto takes it", "auto"},
          {"lambda", OptionSpec::Type::kNumber,
           "weight of the regulariser, above 0; 0: by a rule from public numbers", "0"},
          {"passes", OptionSpec::Type::kWhole, "over the data", "10"},
          {"batch", OptionSpec::Type::kWhole, "units to a step", "50"},
          {"scaling", OptionSpec::Type::kText,
           "how rows come to length 1: ball, by a public constant, or sphere, each by itself",
           "sphere"}};
}

Task linear_model_task(const std::string& algorithm, const Loss& loss, const OptionValues& values,
                       const Asked& asked) {
  require(asked.confidence == 0.95, "--confidence: must be 0.95 here");
  Sample sample = sample_of(values, asked);
  const std::uint64_t records = values.whole("expected_units");
  require(records >= 1 && records <= 0xfffffffe, "expected_units: must lie in [1, 2^32 - 2]");
  const double lambda = values.real("lambda");
  require(lambda >= 0, "lambda: must be above 0, or 0 for the rule");
  const Numbers numbers{.loss = loss,
                        .dimension = sample.map.dimension(),
                        .records = records,
                        .rows_per_unit = sample.bounds.rows_per_unit,
                        .epsilon = values.number("epsilon"),
                        .delta = values.number("delta"),
                        .given_lambda = lambda};
  Learner learner = learner_of(numbers, values);
  const auto job = std::make_shared<const Job>(Job{algorithm, std::move(sample), std::move(learner),
                                                   records, numbers.epsilon, numbers.delta});
  Task task;
  task.tells_drawing = true;
  task.event = job->learner.way.event();
  task.accuracy = [job](std::uint64_t, double confidence) -> std::optional<Accuracy> {
    return job->learner.way.accuracy(confidence);
  };
  task.read = [job](const Input& input, Context& context) -> Task::Draw {
    Source& source = std::get<std::reference_wrapper<Source>>(input);
    const auto examples = std::make_shared<const Examples>(job->read(source, context));
    return [job, examples](Context& drawing) -> Release<Result> {
      auto released = job->learner.way.run(*examples, drawing);
      return {job->result(std::move(released.value)), std::move(released.accuracy),
              std::move(released.spent)};
    };
  };
  task.words = nlohmann::json({{"algorithm", algorithm},
                               {"method", job->learner.method},
                               {"options", job->learner.options},
                               {"lipschitz", loss.bounds().lipschitz},
                               {"smoothness", loss.bounds().smoothness},
                               {"expected_units", records},
                               {"table", job->sample.table.name},
                               {"label", job->sample.map.label},
                               {"scaling", values.text("scaling")},
                               {"features", job->sample.read}})
                   .dump();
  task.unit = job->sample.unit();
  task.notes = {{"counted", task.unit == "row"
                                ? "each row is a privacy unit of its own"
                                : "the mean of at most " + std::to_string(numbers.rows_per_unit) +
                                      " rows of each " + task.unit}};
  task.check = [job](Source& source) -> std::vector<Note> {
    expect_columns(source, job->sample.table, job->sample.read);
    return {};
  };
  return task;
}

}  // namespace gauze
