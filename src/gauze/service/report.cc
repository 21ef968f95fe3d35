#include "gauze/service/report.h"

#include <variant>
#include <vector>

#include "gauze/numeric/decimal_text.h"
#include "gauze/registry/wording.h"
#include "gauze/service/charts.h"
#include "gauze/service/html.h"
#include "gauze/service/page.h"
#include "gauze/service/wording.h"

namespace gauze::service {
namespace {

/// A page has room for so many rows; files have for all.
constexpr std::size_t kMostRows = 2000;

std::string section(const char* title, const std::string& html) {
  return html.empty() ? "" : element("h2", "", title) + "\n" + html;
}

std::string note(const std::string& text) {
  return element("p", "class=\"note\"", escaped(text)) + "\n";
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
    if (rows.size() == kMostRows) break;
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string width = half_width_text(row[i]);
      rows.back().push_back(escaped(value_text(row[i], answer.columns[i].type)) +
                            (width.empty() ? "" : " <small>" + escaped(width) + "</small>"));
    }
  }
  std::string html = html_table(head, rows, sides.empty() ? "l" : sides);
  if (rows.size() < answer.rows.size())
    html += note("And " + many(answer.rows.size() - rows.size(), "row") + " more.");
  return html + note(
                    "± : the answer without noise lies within, 19 times in 20. What the bounds "
                    "below leave "
                    "out is not part of it.");
}

std::string figures(const Result& result) {
  std::string html;
  for (const Figure& figure : result.figures) {
    if (!html.empty() && !figure.title.empty())
      html += element("h2", "", escaped(figure.title)) + "\n";
    html += figure_html(figure);
  }
  if (result.figures.empty() && result.table) html += charts(*result.table);
  return html;
}

std::string plan_html(const Explanation& plan) {
  std::string html;
  for (const auto& part : plan.parts) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      html += text->find('\n') == std::string::npos ? paragraph(escaped(*text))
                                                    : element("pre", "", escaped(*text)) + "<br>\n";
      continue;
    }
    const auto& table = std::get<Explanation::Table>(part);
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : table.rows) {
      rows.emplace_back();
      for (const std::string& cell : row) rows.back().push_back(escaped(cell));
    }
    if (rows.empty()) continue;
    const std::vector<std::string> head = rows.front();
    rows.erase(rows.begin());
    html += html_table(head, rows, table.sides.empty() ? "l" : table.sides) + "<br>\n";
  }
  return html;
}

/// "Counted: at most 12 rows of each patient."
std::string sentence(const Note& note) {
  std::string label = note.label;
  if (!label.empty() && label[0] >= 'a' && label[0] <= 'z')
    label[0] = static_cast<char>(label[0] - 'a' + 'A');
  return paragraph(escaped(label + ": " + note.text) + ".");
}

std::string making(const Outcome& outcome) {
  const Quote& quote = outcome.quote;
  const Result& result = outcome.release.value;
  std::string method = quote.algorithm->name;
  for (const Note& each : result.notes)
    if (each.label == "method") method += ": " + each.text;
  std::string html = sentence({"method", method});
  for (const auto* notes : {&quote.task.notes, &quote.notes, &result.notes})
    for (const Note& each : *notes)
      if (each.label != "method") html += sentence(each);
  if (!quote.task.explain) return html + sentence({"released by", describe(outcome.release.spent)});
  const Explanation plan = quote.task.explain();
  for (const Note& each : plan.notes) html += sentence(each);
  return html + plan_html(plan);
}

}  // namespace

std::string report(const Outcome& outcome) {
  const Quote& quote = outcome.quote;
  const Result& result = outcome.release.value;
  const Cost& cost = quote.cost;
  const std::string title =
      "A private answer about " + (!result.title.empty()   ? result.title
                                   : quote.dataset.empty() ? quote.algorithm->name
                                                           : quote.dataset);
  std::string body = element("h1", "", escaped(title)) + "\n";
  if (!quote.task.words.empty())
    body += element("pre", "class=\"question\"", escaped(quote.task.words)) + "\n";
  body += cost_cards(cost_text(cost), cost.epsilon, cost.delta,
                     outcome.left ? budget_text(*outcome.left) : "");
  if (!result.text.empty()) body += element("pre", "", escaped(result.text)) + "\n";
  body += figures(result);
  if (const auto& table = result.summary ? result.summary : result.table)
    body += section("The answer", answer_table(*table));
  body += section("What this means for a person",
                  meaning_text(cost.epsilon, cost.delta, quote.task.unit));
  body += section("How it was made", making(outcome));
  return page(title, body, std::string(chart_style()));
}

}  // namespace gauze::service
