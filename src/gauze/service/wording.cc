#include "gauze/service/wording.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "gauze/service/values.h"

namespace gauze::service {
namespace {

std::string delta_part(const std::string& delta) {
  return ", δ = " + delta;
}

std::string short_or_upward(double value) {
  const std::string text = nearest(value, 6);
  return std::strtod(text.c_str(), nullptr) == value ? text : upward(value);
}

}  // namespace

std::string amount_text(const Ratio& amount, double (*safe)(const Ratio&)) {
  const double value = decimal(amount, safe);
  if (std::isfinite(value) && ratio_of_decimal(value) == amount) return nearest(value, 17);
  if (safe == round_up) return upward(value, 6);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  if (std::strtod(buffer, nullptr) <= value) return buffer;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 5);
  std::snprintf(buffer, sizeof buffer, "%.6g", value - unit);
  return buffer;
}

std::string cost_text(const Cost& cost) {
  return "ε = " + short_or_upward(cost.epsilon) +
         (cost.delta > 0 ? delta_part(short_or_upward(cost.delta)) : "");
}

std::string price_text(const Budget& price) {
  const bool rho = price.currency == Budget::Currency::kZcdp;
  return std::string(rho ? "ρ = " : "ε = ") + amount_text(price.amount, round_up) +
         (price.delta > 0 ? delta_part(amount_text(price.delta, round_up)) : "");
}

std::string budget_text(const Budget& left) {
  const bool rho = left.currency == Budget::Currency::kZcdp;
  return std::string(rho ? "ρ = " : "ε = ") + amount_text(left.amount, round_down) +
         (left.delta > 0 ? delta_part(amount_text(left.delta, round_down)) : "");
}

std::string change_text(const Event& event, const std::string& unit) {
  return event.relation == Relation::kAddRemove ? "for one " + unit + " more or less"
         : event.relation == Relation::kReplace ? "for another " + unit + " in one's place"
                                                : "under " + std::string(name(event.relation));
}

std::string describe(const Event& event) {
  const nlohmann::json json = to_json(event);
  std::string inside;
  const auto add = [&](const std::string& part) { inside += (inside.empty() ? "" : ", ") + part; };
  for (const auto& [key, value] : json.items()) {
    if (key == "type" || key == "relation" || key == "count" || key == "event" || key == "events")
      continue;
    add(key + " " +
        (value.is_string()   ? nearest(round_up(parse_ratio(value.get<std::string>())), 6)
         : value.is_number() ? nearest(value.get<double>(), 17)
                             : value.dump()));
  }
  const auto parts = [&](const std::vector<Event>& events) {
    for (const Event& part : events) add(describe(part));
  };
  if (const auto* e = std::get_if<events::PoissonSampled>(&event.kind)) parts(e->events);
  if (const auto* e = std::get_if<events::SampledWithoutReplacement>(&event.kind)) parts(e->events);
  if (const auto* e = std::get_if<events::Composed>(&event.kind)) parts(e->events);
  const std::string times = event.count == 1 ? "" : std::to_string(event.count) + " × ";
  return times + std::string(type_name(event)) + "(" + inside + ")";
}

}  // namespace gauze::service
