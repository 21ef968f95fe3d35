#include "report.h"

#include "chart.h"
#include "html.h"
#include "numbers.h"
#include "page.h"

namespace gauze::cli {
namespace {

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

std::string making(const Quote& quote) {
  const SqlQuery& query = quote.query;
  std::vector<std::vector<std::string>> rows;
  for (const MeasurementInfo& each : query.measurements()) {
    rows.push_back({escaped(each.of), escaped(each.sensitivity), escaped(each.noise),
                    escaped(each.share), escaped(error_text(each))});
  }
  std::string text = paragraph("Counted: " + escaped(bounds_text(query.plan())) +
                               ". More rows than that are left out at random.");
  if (!query.reason().empty()) text += paragraph(escaped(query.reason()) + ".");
  text += html_table({"released", "how far one privacy unit moves it", "noise", "share", "95 %"},
                     rows, "lllrr");
  return text + "<br><pre>" + escaped(describe(query.plan())) + "</pre>\n";
}

}  // namespace

std::string report(const Answered& answered) {
  const Plan& plan = answered.quote.query.plan();
  const double epsilon = decimal(answered.quote.epsilon, round_up);
  const Budget& price = answered.quote.price;
  const bool rho = price.currency == Budget::Currency::kZcdp;
  const double delta = decimal(rho ? answered.quote.delta : price.delta, round_up);
  std::string body = element("h1", "", "A private answer about " + escaped(plan.dataset)) + "\n";
  body += element("pre", "class=\"question\"", escaped(plan.sql)) + "\n";
  body += cost_cards(epsilon, delta, answered.left ? budget_text(*answered.left) : "");
  body += charts(answered.answer);
  body += element("h2", "", "The answer") + "\n" + answer_table(answered.answer);
  body += element("h2", "", "What this means for a person") + "\n" +
          meaning_text(epsilon, delta, unit_noun(plan));
  body += element("h2", "", "How it was made") + "\n" + making(answered.quote);
  return page("A private answer about " + plan.dataset, body, std::string(chart_style()));
}

}  // namespace gauze::cli
