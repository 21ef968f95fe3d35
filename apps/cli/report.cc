#include "report.h"

#include <cmath>
#include <ctime>

#include "chart.h"
#include "gauze/engine/meaning.h"
#include "html.h"
#include "numbers.h"

namespace gauze::cli {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --paper: #fcfbf8; --card: #f3f1ea; --ink: #20262e; --soft: #626a73; --rule: #e1ded5;
  --c0: #2a7f78; --c1: #d08a2e; --c2: #6a5aa8; --c3: #b5485d; --c4: #5b8c3a; --c5: #4b7fb5; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181c; --card: #1e2329; --ink: #e8e6e0; --soft: #9aa2ab; --rule: #2d343c;
    --c0: #4fb3aa; --c1: #e0a458; --c2: #9d8fdc; --c3: #dd7a8c; --c4: #8fbf6d; --c5: #7fb0e0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", "Helvetica Neue", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.01em; }
h2 { font-size: 1.05rem; margin: 2.6rem 0 .8rem; padding-top: 1.2rem; border-top: 1px solid var(--rule); }
p { margin: .5rem 0; max-width: 44rem; }
pre { background: var(--card); border-radius: 8px; padding: .9rem 1.1rem; margin: 0; overflow-x: auto; font: .88rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
pre.question { white-space: pre-wrap; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; margin: 1.2rem 0 2.2rem; }
.cards div { background: var(--card); border-radius: 8px; padding: .8rem 1rem; }
.cards b { display: block; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.cards span, .note { color: var(--soft); font-size: .88rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .93rem; min-width: 50%; }
th, td { text-align: left; padding: .38rem 1.4rem .38rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; font-size: .85rem; color: var(--soft); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td small { color: var(--soft); font-size: .85em; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media print { body { background: none; } main { padding: 0; } }
)";

std::string paragraph(const std::string& text) {
  return element("p", "", text) + "\n";
}

std::string card(const std::string& value, const std::string& label) {
  return "<div><b>" + escaped(value) + "</b><span>" + escaped(label) + "</span></div>\n";
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

std::string cards(const Answered& answered) {
  const Quote& quote = answered.quote;
  const double epsilon = round_up(quote.epsilon), delta = round_up(quote.delta);
  std::string result =
      card("ε = " + upward(epsilon) + (delta > 0 ? ", δ = " + upward(delta, 3) : ""),
           "what this answer cost: " + std::string(verdict(band(epsilon))));
  result += card(percent(best_guess(epsilon, delta)),
                 "how often the best guess whether somebody took part is right; a coin: 50 %");
  if (answered.left) result += card(budget_text(*answered.left), "left in the budget");
  return "<div class=\"cards\">\n" + result + "</div>\n";
}

std::string answer_table(const Answer& answer) {
  std::vector<std::string> head;
  std::string sides;
  for (const Answer::Column& column : answer.columns) {
    head.push_back(escaped(column.name));
    sides += column.is_key && !is_numeric(column.type) ? 'l' : 'r';
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : answer.rows) {
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string width = half_width_text(row[i]);
      rows.back().push_back(escaped(value_text(row[i], answer.columns[i].type)) +
                            (width.empty() ? "" : " <small>" + escaped(width) + "</small>"));
    }
  }
  return html_table(head, rows, sides.empty() ? "l" : sides) +
         element("p", "class=\"note\"",
                 "± : the answer without noise lies within, 19 times in 20. What the bounds below "
                 "leave "
                 "out is not part of it.") +
         "\n";
}

/// What nobody can learn, in words and numbers that need no training.
std::string meaning(const Quote& quote) {
  const double epsilon = round_up(quote.epsilon), delta = round_up(quote.delta);
  const std::string unit = escaped(unit_noun(quote.query.plan()));
  const Closeness tenth = close_probabilities(0.1, epsilon, delta);
  const GroupGuarantee five = group_guarantee(5, epsilon, delta);
  std::string text = paragraph("Compare two worlds: in one the rows of one " + unit +
                               " were used, in the other they were left out. Whatever anybody "
                               "concludes from this page, they "
                               "conclude it in one world at most " +
                               upward(std::exp(epsilon), 3) + " times as often as in the other" +
                               (delta > 0 ? ", δ = " + upward(delta, 3) + " aside" : "") + ".");
  text += paragraph(
      "A conclusion that would be drawn with probability 10 % without those rows is drawn "
      "with a probability between " +
      percent(tenth.lowest) + " and " + percent(tenth.highest) + " with them.");
  return text +
         paragraph("Five together are protected less: ε = " + upward(five.epsilon) +
                   ". What can be learned about somebody from other people's rows is the same in "
                   "both worlds. Answers to other questions about the same data add to the cost.");
}

std::string making(const Quote& quote) {
  const SqlQuery& query = quote.query;
  std::vector<std::vector<std::string>> rows;
  for (const MeasurementInfo& each : query.measurements()) {
    rows.push_back({escaped(each.of), escaped(each.sensitivity), escaped(each.noise),
                    escaped(each.share),
                    each.half_width ? "± " + upward(*each.half_width, 3) : "–"});
  }
  std::string text = paragraph("Counted: " + escaped(bounds_text(query.plan())) +
                               ". More rows than that are left out at random.");
  if (!query.reason().empty()) text += paragraph(escaped(query.reason()) + ".");
  text += html_table({"released", "how far one privacy unit moves it", "noise", "share", "95 %"},
                     rows, "lllrr");
  return text + "<br><pre>" + escaped(describe(query.plan())) + "</pre>\n";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

}  // namespace

std::string report(const Answered& answered) {
  const Plan& plan = answered.quote.query.plan();
  std::string body = element("h1", "", "A private answer about " + escaped(plan.dataset)) + "\n";
  body += element("pre", "class=\"question\"", escaped(plan.sql)) + "\n" + cards(answered);
  body += charts(answered.answer);
  body += element("h2", "", "The answer") + "\n" + answer_table(answered.answer);
  body += element("h2", "", "What this means for a person") + "\n" + meaning(answered.quote);
  body += element("h2", "", "How it was made") + "\n" + making(answered.quote);
  body += element("footer", "",
                  "Gauze " GAUZE_VERSION " · " + today() +
                      " · see the shape of the data, never the person") +
          "\n";
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escaped("A private answer about " + plan.dataset) + "</title>\n<style>" +
         std::string(kStyle) + std::string(chart_style()) + "</style>\n</head>\n<body>\n<main>\n" +
         body + "</main>\n</body>\n</html>\n";
}

}  // namespace gauze::cli
