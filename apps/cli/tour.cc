#include <algorithm>
#include <cmath>
#include <numeric>

#include "command.h"
#include "gauze/accounting/accountant.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/registry.h"
#include "gauze/engine/release.h"
#include "gauze/random/system_bits.h"
#include "plot.h"
#include "text.h"

namespace gauze::cli {
namespace {

constexpr int kPeople = 2000;

/// Ages of invented people: made by arithmetic, the same in every tour, so that the truth can be
/// shown.
std::vector<int> invented_ages() {
  std::vector<int> ages;
  for (int i = 0; i < kPeople; ++i) {
    const int a = (i * 37 + i * i % 101) % 61;
    const int b = (i * 53 + i * i % 89) % 41;
    ages.push_back(16 + (a + b) * 3 / 4);
  }
  return ages;
}

Rows as_rows(const std::vector<int>& ages) {
  std::vector<std::string> cells;
  for (const int age : ages) cells.push_back(std::to_string(age));
  return Rows(std::move(cells));
}

void step(int number, const std::string& title) {
  print_line();
  print_line(heading(std::to_string(number) + "  " + title));
}

struct Question {
  const char* words;
  const char* algorithm;
  nlohmann::json options;
  double truth;
};

/// Asks through the one door, and shows the answer beside the truth.
Event ask(const Question& question, const Rows& rows, BitSource& bits,
          std::vector<std::vector<std::string>>& answers) {
  const Job job = make_job(question.algorithm, question.options);
  const auto answer = release(job, rows, bits);
  const double value = answer.value.get<double>();
  const Accuracy accuracy = answer.accuracy;
  const std::string promise = glyph("± ", "+- ") + upward(accuracy.half_width, 3) +
                              (accuracy.of == "rank" ? " places" : "");
  answers.push_back(
      {question.words, question.algorithm, nearest(value, 5), promise, nearest(question.truth, 5)});
  return answer.spent;
}

void answers(std::vector<Event>& spent) {
  std::vector<int> ages = invented_ages();
  const Rows rows = as_rows(ages);
  std::sort(ages.begin(), ages.end());
  const double mean = std::accumulate(ages.begin(), ages.end(), 0.0) / kPeople;
  const nlohmann::json bounded = {
      {"epsilon", "0.1"}, {"lower", 0}, {"upper", 120}, {"relation", "add_remove"}};
  nlohmann::json middle = bounded;
  middle["granularity"] = 1;
  nlohmann::json ninth = middle;
  ninth["probability"] = "0.9";
  const std::vector<Question> questions = {
      {"How many people?", "count", {{"epsilon", "0.1"}, {"relation", "add_remove"}}, kPeople},
      {"How old, on average?", "mean", bounded, mean},
      {"How old is the middle one?", "median", middle, static_cast<double>(ages[kPeople / 2])},
      {"Nine in ten are younger than?", "quantile", ninth,
       static_cast<double>(ages[kPeople * 9 / 10])}};

  SystemBits bits;
  std::vector<std::vector<std::string>> lines = {
      {"", "algorithm", "answer", "19 times in 20 within", "(truth)"}};
  for (const Question& question : questions) spent.push_back(ask(question, rows, bits, lines));
  print(table(lines));
  print(wrap(
      "Run the tour again: the answers change, the truth does not. Nobody who sees one can tell "
      "whether you were among the " +
      std::to_string(kPeople) + ". (The truth is shown because these people are invented.)"));
}

void price_of(const std::vector<Event>& spent) {
  print(wrap("Each answer was paid for before its noise was drawn:"));
  for (const Event& event : spent) {
    print_line("  " + glyph("ε = ", "epsilon = ") + upward(epsilon_at({event}, 0).epsilon, 3) +
               "  " + describe(event));
  }
  const Guarantee total = epsilon_at(spent, 0);
  print_line("  " + glyph("ε = ", "epsilon = ") + upward(total.epsilon, 3) +
             "  together: " + std::string(verdict(band(total.epsilon))));
}

void training_run() {
  const Event step{events::Gaussian{ratio_of_decimal(1.1), 1}, Relation::kAddRemove};
  const Event run{events::PoissonSampled{ratio_of_decimal(0.0042666667), {step}},
                  Relation::kAddRemove, 14063};
  print(wrap(
      "A network is trained on 60,000 people: 14,063 steps, each on a random 256 of them, with "
      "Gaussian noise on every step."));
  std::vector<std::vector<std::string>> rows = {
      {"accountant", glyph("ε at δ = 10⁻⁵", "epsilon at delta = 1e-5")}};
  for (const Accountant each : {Accountant::kRdp, Accountant::kPld})
    rows.push_back({std::string(name(each)), upward(epsilon_at({run}, 1e-5, each).epsilon, 5)});
  print(table(rows));
  print(wrap(
      "Same run, same protection, better mathematics: both are upper bounds, the smaller one is "
      "tighter. `gauze account` takes any list of events."));
}

void meaning() {
  print_line("  With " + glyph("ε = 1", "epsilon = 1") +
             ", somebody who guesses whether your data was used, from even odds, is right");
  print_line("  at most " + nearest(100 * best_guess(1), 3) + " % of the time:");
  print_line();
  print(plot([](double x) { return highest_power(x, 1); },
             {.x = "false alarms", .y = "hits", .curve = "best test", .diagonal = "a coin"}));
}

void tour() {
  print_line(heading("Gauze: see the shape of the data, never the person."));
  std::vector<Event> spent;
  step(1, "Ask about " + std::to_string(kPeople) + " people");
  answers(spent);
  step(2, "What did that cost?");
  price_of(spent);
  step(3, "What does training cost?");
  training_run();
  step(4, "What does that mean for a person?");
  meaning();
  print_line();
  print_line(heading("Now you"));
  print_line(
      "  seq 100 | gauze release median --epsilon 1 --lower 0 --upper 200 --relation add_remove");
  print_line("  gauze calibrate gaussian --epsilon 1 --delta 1e-6 --l2-sensitivity 1");
  print_line("  gauze explain --epsilon 1          gauze list          gauze --help");
  print_line("  (from a checkout, write ./run for gauze)");
}

}  // namespace

void add_tour(CLI::App& app) {
  app.add_subcommand("tour", "Show in a minute what there is")->callback(tour);
}

}  // namespace gauze::cli
