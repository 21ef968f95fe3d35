#include "gauze/learn/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using Json = nlohmann::ordered_json;

LinearModel model() {
  LinearModel model;
  model.algorithm = "logistic_regression";
  model.map.columns = {{.column = "age", .type = Type::kInteger, .lower = 20, .upper = 60},
                       {.column = "sex",
                        .type = Type::kText,
                        .kind = ColumnFeatures::Kind::kCategories,
                        .categories = {"f", "m"},
                        .nullable = true,
                        .first = 1},
                       {.column = "member",
                        .type = Type::kBoolean,
                        .kind = ColumnFeatures::Kind::kBoolean,
                        .first = 4}};
  model.map.label = "ill";
  model.map.label_type = Type::kText;
  model.map.classes = {"no", "yes"};
  model.coefficients = {0.5, -1, 1, 0.1, 1.0 / 3, -0.25};
  model.guarantee = {1, 1e-6, Relation::kAddRemove, "id"};
  model.method = "bolt_on";
  model.options = {{"lambda", 0.01}};
  return model;
}

TEST(Model, IsReadBackAsItWasWritten) {
  LinearModel written = model();
  EXPECT_EQ(parse_model(to_json(written).dump()), written);
  written.map.scaling = Scaling::kSphere;
  EXPECT_EQ(parse_model(to_json(written).dump(2)), written);
}

TEST(Model, NamesItsFeaturesInOrder) {
  const Json json = to_json(model());
  std::vector<std::string> names;
  for (const Json& each : json["features"]) names.push_back(each["name"]);
  names.emplace_back("intercept");
  EXPECT_EQ(names, model().map.names());
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["coefficients"][0].size(), 5u);
  EXPECT_EQ(json["intercepts"][0], -0.25);
}

// A man of 60 who is a member, in the ball of radius 1 for three columns and an intercept.
TEST(Model, PredictsFromARow) {
  const Table table({"age", "sex", "member"},
                    {Column::of_integers(Type::kInteger, {60, 20}),
                     Column::of_texts(std::vector<std::string_view>{"m", "x"}),
                     Column::of_integers(Type::kBoolean, {1, 0})});
  const LinearModel m = model();
  RowFeatures features(m.map, table);
  const double score = (0.5 + 1 + 1.0 / 3 - 0.25) / 2;
  EXPECT_DOUBLE_EQ(m.score(features.of(0)), score);
  EXPECT_DOUBLE_EQ(m.probability(features.of(0)), 1 / (1 + std::exp(-score)));
  EXPECT_EQ(m.predicted(features.of(0)), "yes");
  // An unknown category has no feature.
  EXPECT_DOUBLE_EQ(m.score(features.of(1)), (-0.5 - 1.0 / 3 - 0.25) / 2);
  EXPECT_EQ(m.predicted(features.of(1)), "no");
}

TEST(Model, RefusesDamagedAndNewerFiles) {
  const std::string whole = to_json(model()).dump();
  EXPECT_ERROR(parse_model(""), ErrorCode::kInvalidInput);
  EXPECT_ERROR(parse_model("[]"), ErrorCode::kInvalidInput);
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    EXPECT_ERROR(parse_model(whole.substr(0, length)), ErrorCode::kInvalidInput);
  }
  const Json json = to_json(model());
  for (const auto& [key, value] : json.items()) {
    Json without = json;
    without.erase(key);
    SCOPED_TRACE(key);
    EXPECT_ERROR(parse_model(without.dump()), ErrorCode::kInvalidInput);
    for (const Json& other : {Json(), Json(7.5), Json("x"), Json::array(), Json::array({1, 2})}) {
      Json changed = json;
      changed[key] = other;
      if (key == "algorithm" || key == "method") continue;
      EXPECT_ERROR(parse_model(changed.dump()), ErrorCode::kInvalidInput);
    }
  }
  const auto with = [&](auto change) {
    Json changed = json;
    change(changed);
    return parse_model(changed.dump());
  };
  EXPECT_ERROR(with([](Json& j) { j["version"] = 2; }), ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["features"].erase(0); }), ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["features"][0]["kind"] = "null"; }), ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["features"][0]["lower"] = 99; }), ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["features"][4]["column"] = "age"; }), ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["features"][0]["type"] = "x"; }), ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["coefficients"][0][0] = nullptr; }), ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["label"]["classes"].push_back("c"); }),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(with([](Json& j) { j["guarantee"]["relation"] = "x"; }), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
