#include "gauze/learn/model.h"

#include <cmath>

#include "gauze/base/error.h"

namespace gauze {

namespace {

using Json = nlohmann::ordered_json;
using Kind = ColumnFeatures::Kind;

constexpr std::size_t kMostBytes = std::size_t{1} << 26;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidInput, "model: " + what);
}

[[noreturn]] void refuse_field(const char* field, const char* what) {
  refuse(std::string(1, '\'').append(field).append("' ").append(what));
}

void add_features(const ColumnFeatures& features, Json& list) {
  const auto type = std::string(name(features.type));
  switch (features.kind) {
    case Kind::kNumber:
      list.push_back({{"name", features.column},
                      {"column", features.column},
                      {"kind", "number"},
                      {"type", type},
                      {"lower", features.lower},
                      {"upper", features.upper}});
      break;
    case Kind::kBoolean:
      list.push_back({{"name", features.column},
                      {"column", features.column},
                      {"kind", "boolean"},
                      {"type", type}});
      break;
    case Kind::kCategories:
      for (const std::string& category : features.categories) {
        list.push_back({{"name", features.column + "=" + category},
                        {"column", features.column},
                        {"kind", "category"},
                        {"type", type},
                        {"category", category}});
      }
  }
  if (features.nullable) {
    list.push_back({{"name", features.column + " is null"},
                    {"column", features.column},
                    {"kind", "null"},
                    {"type", type}});
  }
}

const Json& field(const Json& json, const char* key) {
  if (!json.is_object()) refuse_field(key, "is missing, and the object around it");
  const auto found = json.find(key);
  if (found == json.end()) refuse_field(key, "is missing");
  return *found;
}

std::string text(const Json& json, const char* key) {
  const Json& value = field(json, key);
  if (!value.is_string()) refuse_field(key, "must be a text");
  return value.get<std::string>();
}

double number(const Json& value, const char* what) {
  if (!value.is_number()) refuse_field(what, "must be a number");
  const double result = value.get<double>();
  if (!std::isfinite(result)) refuse_field(what, "must be finite");
  return result;
}

const Json& list(const Json& json, const char* key) {
  const Json& value = field(json, key);
  if (!value.is_array()) refuse_field(key, "must be a list");
  return value;
}

Type type_in(const Json& json) {
  try {
    return parse_type(text(json, "type"));
  } catch (const Error&) {
    refuse("a 'type' is none of a column");
  }
}

/// A feature that no earlier one of its column goes with.
ColumnFeatures begun(const Json& json, const std::string& kind) {
  ColumnFeatures features{.column = text(json, "column"), .type = type_in(json)};
  const bool is_text = features.type == Type::kText;
  if (kind == "number") {
    if (is_text || features.type == Type::kBoolean) refuse("a text has no range");
    features.lower = number(field(json, "lower"), "lower");
    features.upper = number(field(json, "upper"), "upper");
    if (features.lower > features.upper) refuse("'lower' must not be above 'upper'");
  } else if (kind == "boolean") {
    if (features.type != Type::kBoolean) refuse("kind boolean is for booleans");
    features.kind = Kind::kBoolean;
  } else if (kind == "category") {
    features.kind = Kind::kCategories;
    features.categories.push_back(text(json, "category"));
  } else {
    refuse("a feature has no known 'kind'");
  }
  return features;
}

void read_features(const Json& features, FeatureMap& map) {
  for (const Json& json : features) {
    const std::string kind = text(json, "kind");
    ColumnFeatures* last = map.columns.empty() ? nullptr : &map.columns.back();
    const bool goes_on = last != nullptr && !last->nullable && last->column == text(json, "column");
    if (kind == "null") {
      if (!goes_on) refuse("a 'null' must follow its column's features");
      last->nullable = true;
    } else if (kind == "category" && goes_on && last->kind == Kind::kCategories) {
      last->categories.push_back(text(json, "category"));
    } else {
      const std::string column = text(json, "column");
      for (const ColumnFeatures& known : map.columns) {
        if (known.column == column) refuse("the features of a column must stand together");
      }
      ColumnFeatures begins = begun(json, kind);
      begins.first = map.dimension() - 1;
      map.columns.push_back(std::move(begins));
    }
  }
}

FeatureMap read_map(const Json& json) {
  FeatureMap map;
  const Json& label = field(json, "label");
  map.label = text(label, "column");
  map.label_type = type_in(label);
  for (const Json& each : list(label, "classes")) {
    if (!each.is_string()) refuse("'classes' must be texts");
    map.classes.push_back(each.get<std::string>());
  }
  if (map.classes.size() != 2) refuse("'classes' must be two");
  const std::string scaling = text(json, "scaling");
  if (scaling != "ball" && scaling != "sphere") refuse("'scaling' must be ball or sphere");
  map.scaling = scaling == "ball" ? Scaling::kBall : Scaling::kSphere;
  read_features(list(json, "features"), map);
  if (map.columns.empty()) refuse("'features' must not be empty");
  return map;
}

/// The one list of one list.
std::vector<double> read_coefficients(const Json& json) {
  const Json& classes = list(json, "coefficients");
  const Json& intercepts = list(json, "intercepts");
  if (classes.size() != 1 || !classes.front().is_array() || intercepts.size() != 1) {
    refuse("'coefficients' and 'intercepts' must be those of one class");
  }
  std::vector<double> coefficients;
  for (const Json& each : classes.front()) coefficients.push_back(number(each, "coefficients"));
  coefficients.push_back(number(intercepts.front(), "intercepts"));
  return coefficients;
}

ModelGuarantee read_guarantee(const Json& json) {
  ModelGuarantee guarantee;
  guarantee.epsilon = number(field(json, "epsilon"), "epsilon");
  guarantee.delta = number(field(json, "delta"), "delta");
  try {
    guarantee.relation = parse_relation(text(json, "relation"));
  } catch (const Error&) {
    refuse("'relation' is not known");
  }
  guarantee.unit = text(json, "unit");
  return guarantee;
}

}  // namespace

double LinearModel::score(const std::vector<Entry>& row) const {
  double sum = 0;
  for (const Entry& entry : row) sum += coefficients[entry.index] * entry.value;
  return sum;
}

double LinearModel::probability(const std::vector<Entry>& row) const {
  return 1 / (1 + std::exp(-score(row)));
}

Json to_json(const LinearModel& model) {
  Json features = Json::array();
  for (const ColumnFeatures& each : model.map.columns) add_features(each, features);
  const std::vector<double> slopes(model.coefficients.begin(), model.coefficients.end() - 1);
  return {{"version", LinearModel::kVersion},
          {"algorithm", model.algorithm},
          {"label",
           {{"column", model.map.label},
            {"type", std::string(name(model.map.label_type))},
            {"classes", model.map.classes}}},
          {"scaling", model.map.scaling == Scaling::kBall ? "ball" : "sphere"},
          {"features", std::move(features)},
          {"coefficients", Json::array({slopes})},
          {"intercepts", Json::array({model.coefficients.back()})},
          {"guarantee",
           {{"epsilon", model.guarantee.epsilon},
            {"delta", model.guarantee.delta},
            {"relation", std::string(name(model.guarantee.relation))},
            {"unit", model.guarantee.unit}}},
          {"method", model.method},
          {"options", model.options}};
}

LinearModel parse_model(std::string_view text_of_model) {
  if (text_of_model.size() > kMostBytes) refuse("is larger than 64 MiB");
  const Json json = Json::parse(text_of_model, nullptr, false);
  if (json.is_discarded() || !json.is_object()) refuse("is no JSON object");
  const Json& version = field(json, "version");
  if (!version.is_number_unsigned()) refuse("'version' must be a whole number");
  if (version.get<std::uint64_t>() != LinearModel::kVersion) {
    refuse("is of a version that this program does not know; take a newer one");
  }
  LinearModel model;
  model.algorithm = text(json, "algorithm");
  model.map = read_map(json);
  model.coefficients = read_coefficients(json);
  if (model.coefficients.size() != model.map.dimension()) {
    refuse("there must be as many coefficients as features");
  }
  model.guarantee = read_guarantee(field(json, "guarantee"));
  model.method = text(json, "method");
  model.options = field(json, "options");
  if (!model.options.is_object()) refuse("'options' must be an object");
  return model;
}

}  // namespace gauze
