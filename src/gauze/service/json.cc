#include "gauze/service/json.h"

#include <string>
#include <utility>

#include "gauze/accounting/event.h"
#include "gauze/service/digest.h"

namespace gauze::service {
namespace {

bool is_rho(const Budget& budget) {
  return budget.currency == Budget::Currency::kZcdp;
}

/// The guarantee, and beside it what a budget in rho is charged.
Json cost_json(const Cost& cost) {
  Json json = {{"epsilon", finite(cost.epsilon)}, {"delta", cost.delta}};
  if (is_rho(cost.price)) json["rho"] = decimal(cost.price.amount, round_up);
  return json;
}

/// Infinity has no JSON number.
Json printable(const Json& value) {
  if (!value.is_structured())
    return value.is_number_float() ? Json(finite(value.get<double>())) : value;
  Json copy = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array())
      copy.push_back(printable(item));
    else
      copy[key] = printable(item);
  }
  return copy;
}

void add(Json& json, const char* key, Json value) {
  if (!json.contains(key)) json[key] = std::move(value);
}

void add_what_is_asked(Json& json, const Quote& quote) {
  add(json, "cost", cost_json(quote.cost));
  add(json, "unit", quote.task.unit);
  if (!quote.dataset.empty()) add(json, "dataset", quote.dataset);
  Json notes = json.contains("notes") ? json["notes"] : Json::array();
  for (const Note& note : quote.notes) notes.push_back(note.text);
  json["notes"] = std::move(notes);
}

}  // namespace

Json budget_json(const Budget& budget) {
  return {{is_rho(budget) ? "rho" : "epsilon", decimal(budget.amount, round_down)},
          {"delta", decimal(budget.delta, round_down)}};
}

Json as_json(const Quote& quote) {
  Json json = quote.task.explain ? printable(quote.task.explain().json) : Json::object();
  add_what_is_asked(json, quote);
  return json;
}

Json as_json(const Outcome& outcome) {
  const Release<Result>& release = outcome.release;
  Json json = printable(release.value.json);
  if (release.accuracy.confidence > 0)
    add(json, "accuracy",
        {{"half_width", finite(release.accuracy.half_width)},
         {"confidence", release.accuracy.confidence},
         {"of", release.accuracy.of}});
  add_what_is_asked(json, outcome.quote);
  if (outcome.left) json["left"] = budget_json(*outcome.left);
  if (const auto& artifact = release.value.artifact)
    json["artifact"] = {{"format", artifact->format},
                        {"version", artifact->version},
                        {"bytes", artifact->bytes.size()},
                        {"checksum", digest_of(artifact->bytes)}};
  add(json, "spent", Json::parse(to_json(release.spent).dump()));
  return json;
}

}  // namespace gauze::service
