#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/learn/features.h"

namespace gauze {

/// What was promised of the people a model was made from.
struct ModelGuarantee {
  double epsilon = 0;
  double delta = 0;
  Relation relation = Relation::kAddRemove;
  std::string unit;  ///< whose loss is bounded: "patient_id", "row"
  bool operator==(const ModelGuarantee&) const = default;
};

/// A released linear model of two classes, with all it takes to predict from a row. Nothing in it is private any
/// more.
///
///     const LinearModel model = parse_model(bytes);
///     RowFeatures features(model.map, table);
///     const double sure = model.probability(features.of(0));
///
/// Argument   model.md describes the file.
struct LinearModel {
  static constexpr std::uint32_t kVersion = 1;
  static constexpr const char* kFormat = "linear_model";  ///< as an artifact

  std::string algorithm;  ///< "logistic_regression"
  FeatureMap map;
  std::vector<double> coefficients;  ///< of every feature of a scaled row, the intercept last
  ModelGuarantee guarantee;
  std::string method;
  nlohmann::ordered_json options = nlohmann::ordered_json::object();

  /// Above 0 the second class is likelier.
  double score(const std::vector<Entry>& row) const;
  /// Of the second class, as logistic regression means it.
  double probability(const std::vector<Entry>& row) const;
  /// The class.
  const std::string& predicted(const std::vector<Entry>& row) const {
    return map.classes[score(row) > 0 ? 1 : 0];
  }
  bool operator==(const LinearModel&) const = default;
};

nlohmann::ordered_json to_json(const LinearModel& model);

/// Reads what `to_json` wrote to an equal model. Throws `kInvalidInput` for anything else, naming the field, and for
/// a newer version.
LinearModel parse_model(std::string_view text);

}  // namespace gauze
