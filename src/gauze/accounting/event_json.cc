#include <limits>
#include <nlohmann/json.hpp>

#include "gauze/accounting/event.h"
#include "gauze/base/error.h"

namespace gauze {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr int kMaxDepth = 16;

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidInput, message);
}

json number(const Ratio& value) {
  const double nearest = value.convert_to<double>();
  if (std::isfinite(nearest) && ratio_of_decimal(nearest) == value) return nearest;
  return value.str();
}

/// Reads an object's fields and remembers which were asked for, so that a misspelt one is an error
/// and not a default.
class Fields {
 public:
  Fields(const json& object, std::string type) : object_(object), type_(std::move(type)) {}

  Ratio ratio(const char* key) {
    const json& value = at(key);
    if (value.is_string()) return parse_ratio(value.get_ref<const std::string&>(), label(key));
    if (!value.is_number()) invalid(label(key) + ": must be a number or a string like \"7/3\"");
    if (value.is_number_unsigned()) return Ratio(Integer(value.get<std::uint64_t>()));
    if (value.is_number_integer()) return Ratio(Integer(value.get<std::int64_t>()));
    return ratio_of_decimal(value.get<double>(), label(key));
  }

  std::uint64_t whole(const char* key) {
    const json& value = at(key);
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    // 1e6 is a float to JSON and a whole number to people.
    if (value.is_number_float()) {
      const double number = value.get<double>();
      if (number >= 0 && number < 0x1p63 && std::floor(number) == number)
        return static_cast<std::uint64_t>(number);
    }
    invalid(label(key) + ": must be a whole number from 0 to 2^63");
  }
  std::uint64_t whole_or(const char* key, std::uint64_t fallback) {
    seen_.push_back(key);
    return object_.contains(key) ? whole(key) : fallback;
  }

  std::vector<double> list(const char* key) {
    const json& value = at(key);
    if (!value.is_array()) invalid(label(key) + ": must be a list of numbers");
    std::vector<double> result;
    for (const json& item : value) {
      if (item.is_string() && item.get_ref<const std::string&>() == "inf") {
        result.push_back(std::numeric_limits<double>::infinity());
      } else if (item.is_number()) {
        result.push_back(item.get<double>());
      } else {
        invalid(label(key) + ": must be a list of numbers");
      }
    }
    return result;
  }

  Relation relation_or(Relation fallback) {
    seen_.push_back("relation");
    if (!object_.contains("relation")) return fallback;
    if (!object_["relation"].is_string()) invalid(label("relation") + ": must be a string");
    return parse_relation(object_["relation"].get_ref<const std::string&>());
  }

  const json& at(const char* key) {
    seen_.push_back(key);
    const auto found = object_.find(key);
    if (found == object_.end()) invalid(type_ + ": the field '" + key + "' is missing");
    return *found;
  }
  bool has(const char* key) const { return object_.contains(key); }

  void reject_the_rest() const {
    for (const auto& [key, value] : object_.items()) {
      bool known = key == "type";
      for (const std::string& seen : seen_) known = known || seen == key;
      if (!known) {
        std::string fields;
        for (const std::string& seen : seen_) fields += (fields.empty() ? "" : ", ") + seen;
        throw Error(ErrorCode::kUnknownName,
                    type_ + ": has no field '" + key.substr(0, 40) + "'; it has " + fields);
      }
    }
  }

 private:
  std::string label(const char* key) const { return type_ + ": " + key; }

  const json& object_;
  std::string type_;
  std::vector<std::string> seen_;
};

Event read(const json& object, int depth);

std::vector<Event> read_parts(Fields& fields, int depth) {
  if (fields.has("event")) return {read(fields.at("event"), depth + 1)};
  const json& list = fields.at("events");
  if (!list.is_array()) invalid("events: must be a list");
  std::vector<Event> parts;
  for (const json& part : list) parts.push_back(read(part, depth + 1));
  return parts;
}

Event::Kind read_kind(const std::string& type, Fields& f, int depth) {
  if (type == "laplace") return events::Laplace{f.ratio("scale"), f.ratio("l1_sensitivity")};
  if (type == "discrete_laplace")
    return events::DiscreteLaplace{f.ratio("scale"), f.ratio("l1_sensitivity")};
  if (type == "gaussian") return events::Gaussian{f.ratio("sigma"), f.ratio("l2_sensitivity")};
  if (type == "discrete_gaussian") {
    return events::DiscreteGaussian{f.ratio("sigma"), f.ratio("l2_sensitivity"),
                                    f.whole_or("dimension", 0)};
  }
  if (type == "pure") return events::Pure{f.ratio("epsilon")};
  if (type == "approximate") return events::Approximate{f.ratio("epsilon"), f.ratio("delta")};
  if (type == "zcdp") return events::Zcdp{f.ratio("rho")};
  if (type == "rdp") return events::Rdp{f.list("orders"), f.list("epsilons")};
  if (type == "randomized_response")
    return events::RandomizedResponse{f.ratio("p"), f.whole_or("options", 2)};
  if (type == "exponential") return events::Exponential{f.ratio("epsilon")};
  if (type == "permute_and_flip") return events::PermuteAndFlip{f.ratio("epsilon")};
  if (type == "sparse_vector") {
    return events::SparseVector{f.ratio("threshold_epsilon"), f.ratio("positive_epsilon"),
                                f.whole_or("positives", 1)};
  }
  if (type == "poisson_sampled")
    return events::PoissonSampled{f.ratio("rate"), read_parts(f, depth)};
  if (type == "sampled_without_replacement") {
    return events::SampledWithoutReplacement{f.whole("sample"), f.whole("population"),
                                             read_parts(f, depth)};
  }
  if (type == "composed") return events::Composed{read_parts(f, depth)};
  throw Error(ErrorCode::kUnknownName,
              "event type '" + type.substr(0, 40) +
                  "' is unknown; choose laplace, discrete_laplace, gaussian, discrete_gaussian, "
                  "pure, approximate, zcdp, "
                  "rdp, randomized_response, exponential, permute_and_flip, sparse_vector, "
                  "poisson_sampled, "
                  "sampled_without_replacement or composed");
}

/// The relation of an event that does not name one. A wrapper takes its first part's.
Relation usual_relation(const Event::Kind& kind) {
  if (std::holds_alternative<events::RandomizedResponse>(kind)) return Relation::kLocal;
  if (std::holds_alternative<events::SampledWithoutReplacement>(kind)) return Relation::kReplace;
  if (const auto* composed = std::get_if<events::Composed>(&kind)) {
    if (!composed->events.empty()) return composed->events.front().relation;
  }
  return Relation::kAddRemove;
}

/// Parts of a wrapper that name no relation take the wrapper's.
void inherit(const json& object, std::vector<Event>& parts, Relation relation);

void inherit_into(const json& object, Event& part, Relation relation) {
  if (object.contains("relation")) return;
  part.relation = relation;
  if (auto* sampled = std::get_if<events::PoissonSampled>(&part.kind))
    inherit(object, sampled->events, relation);
  if (auto* sampled = std::get_if<events::SampledWithoutReplacement>(&part.kind)) {
    inherit(object, sampled->events, relation);
  }
  if (auto* composed = std::get_if<events::Composed>(&part.kind))
    inherit(object, composed->events, relation);
}

void inherit(const json& object, std::vector<Event>& parts, Relation relation) {
  if (object.contains("event")) {
    inherit_into(object["event"], parts[0], relation);
  } else {
    for (std::size_t i = 0; i < parts.size(); ++i)
      inherit_into(object["events"][i], parts[i], relation);
  }
}

Event read(const json& object, int depth) {
  if (depth > kMaxDepth) invalid("events are nested more than 16 deep");
  if (!object.is_object()) invalid("an event must be an object like {\"type\": \"laplace\", ...}");
  if (!object.contains("type") || !object["type"].is_string())
    invalid("an event needs a \"type\" (a string)");
  const std::string type = object["type"].get<std::string>();
  Fields fields(object, type);
  Event event{.kind = read_kind(type, fields, depth), .relation = Relation::kAddRemove};
  event.relation = fields.relation_or(usual_relation(event.kind));
  event.count = fields.whole_or("count", 1);
  fields.reject_the_rest();
  if (auto* sampled = std::get_if<events::PoissonSampled>(&event.kind))
    inherit(object, sampled->events, event.relation);
  if (auto* sampled = std::get_if<events::SampledWithoutReplacement>(&event.kind)) {
    inherit(object, sampled->events, event.relation);
  }
  if (auto* composed = std::get_if<events::Composed>(&event.kind))
    inherit(object, composed->events, event.relation);
  return event;
}

struct Write {
  json& out;

  void operator()(const events::Laplace& e) const {
    out["scale"] = number(e.scale);
    out["l1_sensitivity"] = number(e.l1_sensitivity);
  }
  void operator()(const events::DiscreteLaplace& e) const {
    out["scale"] = number(e.scale);
    out["l1_sensitivity"] = number(e.l1_sensitivity);
  }
  void operator()(const events::Gaussian& e) const {
    out["sigma"] = number(e.sigma);
    out["l2_sensitivity"] = number(e.l2_sensitivity);
  }
  void operator()(const events::DiscreteGaussian& e) const {
    out["sigma"] = number(e.sigma);
    out["l2_sensitivity"] = number(e.l2_sensitivity);
    if (e.dimension != 0) out["dimension"] = e.dimension;
  }
  void operator()(const events::Pure& e) const { out["epsilon"] = number(e.epsilon); }
  void operator()(const events::Approximate& e) const {
    out["epsilon"] = number(e.epsilon);
    out["delta"] = number(e.delta);
  }
  void operator()(const events::Zcdp& e) const { out["rho"] = number(e.rho); }
  void operator()(const events::Rdp& e) const {
    out["orders"] = e.orders;
    out["epsilons"] = json::array();
    for (const double epsilon : e.epsilons) {
      out["epsilons"].push_back(std::isinf(epsilon) ? json("inf") : json(epsilon));
    }
  }
  void operator()(const events::RandomizedResponse& e) const {
    out["p"] = number(e.p);
    out["options"] = e.options;
  }
  void operator()(const events::Exponential& e) const { out["epsilon"] = number(e.epsilon); }
  void operator()(const events::PermuteAndFlip& e) const { out["epsilon"] = number(e.epsilon); }
  void operator()(const events::SparseVector& e) const {
    out["threshold_epsilon"] = number(e.threshold_epsilon);
    out["positive_epsilon"] = number(e.positive_epsilon);
    out["positives"] = e.positives;
  }
  void operator()(const events::PoissonSampled& e) const {
    out["rate"] = number(e.rate);
    parts(e.events);
  }
  void operator()(const events::SampledWithoutReplacement& e) const {
    out["sample"] = e.sample;
    out["population"] = e.population;
    parts(e.events);
  }
  void operator()(const events::Composed& e) const { parts(e.events); }

  void parts(const std::vector<Event>& events) const {
    out["events"] = json::array();
    for (const Event& event : events) out["events"].push_back(to_json(event));
  }
};

}  // namespace

json to_json(const Event& event) {
  json out{{"type", type_name(event)}, {"relation", name(event.relation)}, {"count", event.count}};
  std::visit(Write{out}, event.kind);
  return out;
}

json to_json(const std::vector<Event>& events) {
  json list = json::array();
  for (const Event& event : events) list.push_back(to_json(event));
  return {{"version", kVersion}, {"events", std::move(list)}};
}

Event event_from_json(const json& object) {
  Event event = read(object, 0);
  event.validate();
  return event;
}

std::vector<Event> events_from_json(const json& input) {
  if (input.is_object() && input.contains("type")) return {event_from_json(input)};
  if (input.is_object() && input.contains("version")) {
    const json& version = input["version"];
    if (!version.is_number_integer() || version != kVersion) {
      invalid("version: this program reads version 1 of the event format");
    }
  }
  if (!input.is_array() &&
      !(input.is_object() && input.contains("events") && input["events"].is_array())) {
    invalid("expected {\"events\": [...]}, a list of events or one event");
  }
  std::vector<Event> events;
  for (const json& item : input.is_array() ? input : input["events"])
    events.push_back(event_from_json(item));
  return events;
}

}  // namespace gauze
