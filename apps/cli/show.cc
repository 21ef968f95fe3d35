#include "show.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "answer_text.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/random/system_bits.h"
#include "gauze/service/artifact.h"
#include "gauze/service/json.h"
#include "gauze/service/wording.h"
#include "pictures.h"

namespace gauze::cli {
namespace {

/// Broken into lines where somebody reads them.
void print_field(const std::string& name, const std::string& text) {
  const std::size_t width =
      isatty(STDOUT_FILENO) != 0 ? std::min<std::size_t>(terminal_width(), 100) : SIZE_MAX;
  std::string wrapped = wrap(shown(text), "             ", width);
  const std::string label = shown(name).substr(0, 10);
  wrapped.replace(2, label.size(), label);
  print(wrapped);
}

void print_notes(const std::vector<Note>& notes) {
  for (const Note& note : notes) print_field(note.label, note.text);
}

void print_cost(const Quote& quote) {
  const Cost& cost = quote.cost;
  print_field("cost", cost_text(cost) + " " + change_text(quote.task.event, quote.task.unit) +
                          ": " + std::string(verdict(band(cost.epsilon, cost.delta))));
  if (cost.price.currency == Budget::Currency::kZcdp)
    print_field("charged", price_text(cost.price));
}

std::string left_text(const Outcome& outcome) {
  const Quote& quote = outcome.quote;
  if (outcome.left) return budget_text(*outcome.left) + " in " + quote.ledger;
  if (!quote.ledger.empty())
    return "unknown: " + quote.ledger + " does not answer; this is paid for";
  return quote.dataset.empty()
             ? "nobody keeps count of plain values; --data and `gauze ledger init` do"
             : "nobody keeps count; `gauze ledger init` sets a budget";
}

/// What people look at first.
void print_result(const Result& result) {
  if (!result.text.empty()) print_line(shown(result.text));
  const auto* heat =
      result.figures.empty() ? nullptr : std::get_if<Figure::Heat>(&result.figures.front().drawing);
  if (result.summary)
    print(bars_text(*result.summary, terminal_width()));
  else if (heat != nullptr)
    print(heat_text(*heat, terminal_width()));
  else if (result.table)
    print(answer_text(*result.table, terminal_width(), terminal_rows()));
  for (const Figure& figure : result.figures)
    if (const auto* curve = std::get_if<Figure::Curve>(&figure.drawing))
      print(curve_text(*curve, figure.title));
}

void print_answer(const Outcome& outcome) {
  const Quote& quote = outcome.quote;
  const auto& [result, accuracy, spent] = outcome.release;
  print_result(result);
  print_line();
  // A table states its own error bars.
  const bool is_table = quote.algorithm->kind.writes_table;
  if (!is_table && accuracy.confidence > 0)
    print_field("accuracy", accuracy.of + " within ± " + upward(accuracy.half_width) +
                                " with probability " + nearest(accuracy.confidence));
  print_notes(result.notes);
  print_cost(quote);
  if (!is_table) print_field("spent", describe(spent));
  print_notes(quote.task.notes);
  print_notes(quote.notes);
  print_field("left", left_text(outcome));
}

void print_quote(const Quote& quote) {
  const Explanation plan = quote.task.explain ? quote.task.explain() : Explanation{};
  for (const auto& part : plan.parts) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      print(text->find('\n') == std::string::npos
                ? wrap(shown(*text), "  ", std::min<std::size_t>(terminal_width(), 100))
                : shown(*text));
    } else {
      auto [rows, sides] = std::get<Explanation::Table>(part);
      for (auto& row : rows)
        for (std::string& cell : row) cell = shown(cell);
      print(table(rows, "  ", sides));
    }
    print_line();
  }
  print_notes(plan.notes);
  print_cost(quote);
  print_notes(quote.task.notes);
  print_notes(quote.notes);
  if (quote.left)
    print_field("left", budget_text(*quote.left) + " in " + quote.ledger +
                            (quote.left->covers(quote.cost.price) ? "" : ": too little for this"));
  print_line("  Nothing was read and nothing was spent.");
}

void hand_out(const Outcome& outcome, const Delivery& delivery) {
  deliver(outcome, [&] {
    if (delivery.json)
      print_json(as_json(outcome));
    else
      print_answer(outcome);
    const std::vector<std::string> written = write_files(outcome, delivery.files);
    for (const std::string& each : written)
      if (!delivery.json) print_line("  written    " + each);
    expect_printed();
  });
}

/// The run is watched and, where a file for that is named, goes on from where it was stopped.
template <class Ask>
Outcome watched(std::optional<Progress>& progress, const Quote& quote, const Delivery& delivery,
                Ask ask) {
  Watch watch;
  watch.progress = [&](double done, std::string_view doing) {
    if (progress) progress->show(done, doing);
  };
  // From here on a signal ends the program, but where a ledger has charged the answer: it is waited for.
  watch.drawing = [&progress, charged = !quote.ledger.empty()] {
    if (!progress) return;
    if (charged)
      progress->expect_answer();
    else
      progress.reset();
  };
  std::optional<Checkpoint> checkpoint;
  if (!delivery.checkpoint.empty()) {
    checkpoint.emplace(delivery.checkpoint, quote.digest);
    checkpoint->keep_for(watch);
  }
  outlive_readers();
  Outcome outcome = ask(watch);
  if (checkpoint) checkpoint->remove();
  hand_out(outcome, delivery);
  return outcome;
}

}  // namespace

Asked::Wanted wanted_for(const Delivery& delivery) {
  const bool files = !delivery.files.output.empty() || !delivery.files.report.empty();
  return delivery.json || files ? Asked::Wanted::kAll : Asked::Wanted::kText;
}

Outcome answer(Workspace& workspace, Quote quote, const Delivery& delivery) {
  SystemBits bits;
  std::optional<Progress> progress(std::in_place);
  const Quote& priced = quote;
  return watched(progress, priced, delivery,
                 [&](const Watch& watch) { return ask(workspace, std::move(quote), bits, watch); });
}

Outcome answer(const Input& input, Quote quote, const Delivery& delivery) {
  SystemBits bits;
  std::optional<Progress> none;
  const Quote& priced = quote;
  return watched(none, priced, delivery,
                 [&](const Watch& watch) { return ask(input, std::move(quote), bits, watch); });
}

void explain(const Quote& quote, const Delivery& delivery) {
  require(delivery.files.output.empty() && delivery.files.report.empty(),
          "output and report: explaining makes no answer to write; leave them out, or leave out "
          "EXPLAIN");
  return delivery.json ? print_json(as_json(quote)) : print_quote(quote);
}

}  // namespace gauze::cli
