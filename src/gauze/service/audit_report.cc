#include "gauze/service/audit_report.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "gauze/numeric/decimal_text.h"
#include "gauze/service/html.h"
#include "gauze/service/page.h"

namespace gauze::service {
namespace {

using audit::Report;
using audit::Side;

std::string verdict(const Report& report) {
  if (report.violation()) return "VIOLATION FOUND: " + report.name + " does not keep its claim";
  return "No violation found: " + report.name +
         (report.exact ? ", on these inputs" : ", in " + grouped(report.runs) + " runs");
}

/// `99.9 %`
std::string exact_percent(double share) {
  return nearest(100 * share, 6) + " %";
}

audit::Claim::Point claimed(const Report& report) {
  return report.finding.claimed;
}

/// A lower bound is rounded down: half a unit in the last place less.
std::string at_least(double epsilon) {
  if (!std::isfinite(epsilon)) return "infinite";
  return nearest(std::floor(epsilon * 1000) / 1000, 6);
}

std::string claim_text(const audit::Claim::Point& point) {
  std::string text = "ε = " + nearest(point.epsilon, 5);
  if (point.delta > 0) text += " at δ = " + nearest(point.delta, 5);
  return text;
}

std::string shown_text(const Report& report) {
  const double delta = claimed(report).delta;
  std::string text = report.exact ? "ε is " : "ε is at least ";
  text += at_least(report.finding.epsilon);
  if (delta > 0) text += " at δ = " + nearest(delta, 5);
  return text + (report.exact ? ", computed"
                              : ", with " + exact_percent(report.confidence) + " confidence");
}

std::string frequency_text(const audit::Frequency& seen) {
  if (seen.runs == 0) return nearest(seen.low, 4);
  const double share = static_cast<double>(seen.hits) / static_cast<double>(seen.runs);
  return nearest(share, 4) + "  (between " + nearest(seen.low, 4) + " and " +
         nearest(seen.high, 4) + "; " + grouped(seen.hits) + " of " + grouped(seen.runs) + " runs)";
}

std::string svg(const Report& report) {
  constexpr double kSize = 300;
  const auto polyline = [&](const std::string& name, const std::function<double(double)>& f) {
    std::string points;
    for (int i = 0; i <= 100; ++i) {
      const double x = i / 100.0;
      points +=
          coordinate(kSize * x) + "," + coordinate(kSize * (1 - std::clamp(f(x), 0.0, 1.0))) + " ";
    }
    return "<polyline class=\"" + name + "\" points=\"" + points + "\"/>\n";
  };
  return "<svg class=\"curve\" viewBox=\"-2 -2 304 304\" role=\"img\" aria-label=\"detections "
         "against false alarms\">\n<rect class=\"frame\" width=\"300\" height=\"300\"/>\n" +
         polyline("coin", [](double x) { return x; }) +
         polyline("claimed", [&](double x) { return report.claim.most_power(x); }) +
         polyline("seen", [&](double x) { return seen_power(report, x); }) + "</svg>\n";
}

constexpr const char* kStyle = R"(
.curve { width: 100%; max-width: 22rem; display: block; margin: 1rem 0; }
.curve polyline { fill: none; stroke-width: 2; }
.curve .frame { fill: none; stroke: var(--rule); }
.curve .coin { stroke: var(--rule); } .curve .claimed { stroke: var(--c1); stroke-dasharray: 5 4; } .curve .seen { stroke: var(--c0); }
.bad { color: var(--c3); }
)";

}  // namespace

AuditWords words_of(const Report& report) {
  const audit::Finding& found = report.finding;
  const audit::PairText& pair = report.pairs[found.pair];
  const bool first = found.likely_side == Side::kFirst;
  return {.verdict = verdict(report),
          .claimed = claim_text(claimed(report)),
          .shown = shown_text(report),
          .inputs = pair.name,
          .likely = first ? pair.first : pair.second,
          .unlikely = first ? pair.second : pair.first,
          .on_likely = frequency_text(found.likely),
          .on_unlikely = frequency_text(found.unlikely)};
}

/// The straight lines between the points of the curve.
double seen_power(const Report& report, double false_alarms) {
  const auto& curve = report.curve;
  const auto next = std::upper_bound(
      curve.begin(), curve.end(), false_alarms,
      [](double x, const audit::CurvePoint& point) { return x < point.false_alarms; });
  if (next == curve.begin()) return 0;
  const audit::CurvePoint& from = *(next - 1);
  if (next == curve.end()) return from.power;
  const double width = next->false_alarms - from.false_alarms;
  const double share = width > 0 ? (false_alarms - from.false_alarms) / width : 0;
  return from.power + share * (next->power - from.power);
}

Json audit_json(const Report& report) {
  const audit::Finding& found = report.finding;
  const AuditWords words = words_of(report);
  const auto frequency = [](const audit::Frequency& seen) {
    return Json{{"hits", seen.hits}, {"runs", seen.runs}, {"low", seen.low}, {"high", seen.high}};
  };
  Json claim = Json::array();
  for (const auto& [epsilon, delta] : report.claim.points)
    claim.push_back({{"epsilon", finite(epsilon)}, {"delta", delta}});
  Json curve = Json::array();
  for (const audit::CurvePoint& point : report.curve)
    curve.push_back({point.false_alarms, point.power});
  return {{"subject", report.name},
          {"violation_found", report.violation()},
          {"claim", claim},
          {"claimed", {{"epsilon", finite(found.claimed.epsilon)}, {"delta", found.claimed.delta}}},
          {"epsilon_at_least", finite(found.epsilon)},
          {"confidence", report.confidence},
          {"runs", report.runs},
          {"exact", report.exact},
          {"inputs", {{"name", words.inputs}, {"a", words.likely}, {"b", words.unlikely}}},
          {"event", found.event},
          {"on_a", frequency(found.likely)},
          {"on_b", frequency(found.unlikely)},
          {"notes", report.notes},
          {"curve", curve}};
}

std::string audit_page(const Report& report) {
  const audit::Finding& found = report.finding;
  const AuditWords words = words_of(report);
  const auto card = [](const std::string& value, const std::string& label) {
    return "<div><b>" + escaped(value) + "</b><span>" + escaped(label) + "</span></div>\n";
  };
  std::string body =
      element("h1", report.violation() ? "class=\"bad\"" : "", escaped(words.verdict));
  body += "<div class=\"cards\">" + card(words.claimed, "claimed") +
          card("ε " + std::string(report.exact ? "= " : "≥ ") + at_least(found.epsilon),
               report.exact ? "computed"
                            : "shown, with " + exact_percent(report.confidence) + " confidence") +
          card(grouped(report.runs), "runs") + "</div>\n";
  body += element("h2", "", "The inputs and the event that tell most");
  body += element("p", "", escaped(words.inputs));
  body += html_table({"", "input", "how often the event happened"},
                     {{"A", escaped(words.likely), escaped(words.on_likely)},
                      {"B", escaped(words.unlikely), escaped(words.on_unlikely)}},
                     "lll");
  body += element("p", "", "The event: " + escaped(found.event) + ".");
  for (const std::string& note : report.notes) body += element("p", "", escaped(note));
  if (report.curve.size() > 1) {
    body += element("h2", "", "How well A is told from B");
    body += svg(report);
    body += element("p", "class=\"note\"",
                    "Detections (upwards) against false alarms (to the right). Solid: as seen. "
                    "Dashed: the most that the claim allows. Thin: a coin.");
  }
  body += element("p", "", kAuditCaution);
  return page("Audit of " + report.name, body, kStyle);
}

}  // namespace gauze::service
