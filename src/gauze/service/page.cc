#include "gauze/service/page.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/numeric/decimal_text.h"
#include "gauze/service/html.h"

namespace gauze::service {
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
.cards b { display: block; overflow-wrap: anywhere; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
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

std::string card(const std::string& value, const std::string& label) {
  return "<div><b>" + escaped(value) + "</b><span>" + escaped(label) + "</span></div>\n";
}

std::string rounded_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
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

std::string page(const std::string& title, const std::string& body, const std::string& style) {
  const std::string footer = element("footer", "",
                                     "Gauze " GAUZE_VERSION " · " + today() +
                                         " · see the shape of the data, never the person") +
                             "\n";
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escaped(title) + "</title>\n<style>" + std::string(kStyle) + style +
         "</style>\n</head>\n<body>\n<main>\n" + body + footer + "</main>\n</body>\n</html>\n";
}

void check_page_name(const std::string& path) {
  require(path.ends_with(".html") || path.ends_with(".htm"),
          "report: must end in .html or .htm, for it is a page");
}

std::string cost_cards(const std::string& cost, double epsilon, double delta,
                       const std::string& left) {
  std::string result =
      card(cost, "what this answer cost: " + std::string(verdict(band(epsilon, delta))));
  result +=
      card(rounded_percent(best_guess(epsilon, delta)),
           "how often, at most, the best guess whether somebody took part is right; a coin: 50 %");
  if (!left.empty()) result += card(left, "left in the budget");
  return "<div class=\"cards\">\n" + result + "</div>\n";
}

std::string meaning_text(double epsilon, double delta, const std::string& unit) {
  const Closeness tenth = close_probabilities(0.1, epsilon, delta);
  const GroupGuarantee five = group_guarantee(5, epsilon, delta);
  std::string text = paragraph("Compare two worlds: in one the rows of one " + escaped(unit) +
                               " were used, in the other they were left out. Whatever anybody "
                               "concludes from this page, they "
                               "conclude it in one world at most " +
                               upward(std::exp(epsilon), 3) + " times as often as in the other" +
                               (delta > 0 ? ", δ = " + upward(delta, 3) + " aside" : "") + ".");
  text += paragraph(
      "A conclusion that would be drawn with probability 10 % without those rows is drawn "
      "with a probability between " +
      rounded_percent(tenth.lowest) + " and " + rounded_percent(tenth.highest) + " with them.");
  return text +
         paragraph("Five together are protected less: ε = " + upward(five.epsilon) +
                   ". What can be learned about somebody from other people's rows is the same in "
                   "both worlds. Answers to other questions about the same data add to the cost.");
}

}  // namespace gauze::service
