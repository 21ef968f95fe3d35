#include <cstdio>
#include <filesystem>

#include "answer_text.h"
#include "command.h"
#include "example_data.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/random/system_bits.h"
#include "gauze/service/ask.h"
#include "gauze/service/ledger_lookup.h"
#include "gauze/service/report.h"
#include "gauze/service/wording.h"
#include "gauze/service/workspace.h"
#include "progress.h"
#include "text.h"

namespace gauze::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::uint64_t kRowsPerPatient = 12;  // as hospital.schema.json says

struct Step {
  const char* words;
  const char* sql;
  const char* epsilon;
  const char* delta;
  const char* afterwards;
};

constexpr Step kSteps[] = {
    {"How much does a visit cost, by ward?",
     "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward", "0.5", "0",
     "Every number has its error bar: small wards have wide ones. The noise hides any one patient, "
     "and nothing else."},
    {"How long do people stay, month by month?",
     "SELECT date_trunc('month', day) AS month, MEDIAN(length_of_stay) AS nights FROM visits GROUP "
     "BY 1",
     "0.5", "0",
     "The months come from the schema's range of days, so each is there, empty or not."},
    {"Which diagnoses are most common?",
     "SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY diagnosis "
     "ORDER BY patients DESC LIMIT 8",
     "0.5", "1e-7",
     "Nobody declared the list of diagnoses, so a rare one could point at a person. Only those "
     "that "
     "many patients share are named, and that choice is paid for, too: it needs a delta."},
    {"How full are the buildings?",
     "SELECT building, SUM(length_of_stay) AS nights, COUNT(*) AS visits FROM visits "
     "JOIN wards USING (ward) GROUP BY building",
     "0.5", "0", "The table of wards is public: joining it costs nothing."},
};

constexpr const char* kRefused = "SELECT * FROM visits WHERE diagnosis = 'lymphoma' AND age = 34";

void step(int number, const std::string& title, const std::string& cost) {
  const std::string left = std::to_string(number) + "  " + title;
  const std::string right = shown(cost);
  print_line();
  const std::string gap(right.empty() ? 0 : kWidth - columns(left) - columns(right), ' ');
  print_line(heading(left) + gap + right);
}

/// The last that a tour writes.
std::string page_in(const std::string& folder) {
  return folder + "/cost-by-ward.html";
}

/// The folder as commands should name it.
ExampleFiles prepare(const std::string& folder, const std::vector<Visit>& visits) {
  const std::string ledger = folder + "/hospital.ledger";
  if (std::filesystem::exists(ledger) && !std::filesystem::exists(page_in(folder))) {
    throw Error(ErrorCode::kInvalidOption,
                "there is a ledger '" + ledger +
                    "' already that is not from the tour; choose another folder");
  }
  const ExampleFiles files = write_example(folder, visits);
  // The budget of invented people may begin anew.
  for (const char* part : {"", "-wal", "-shm"}) std::remove((ledger + part).c_str());
  Ledger::create(ledger, {{.dataset = "hospital",
                           .budget = Budget::approximate(3, Ratio(1, 1'000'000)),
                           .schema = counted_schema(ledger, "hospital", files.schema)}});
  return files;
}

/// The tour, with what it needs to ask.
struct Guide {
  const Registry& registry;
  Workspace& workspace;

  Quote quoted(const char* sql, const char* epsilon, const char* delta) const {
    return quote(
        registry, workspace,
        {.algorithm = "sql", .options = {{"sql", sql}, {"epsilon", epsilon}, {"delta", delta}}});
  }
};

Outcome answer(const Guide& guide, const Step& step) {
  print(wrap(step.sql, "   ", kWidth));
  print_line();
  SystemBits bits;
  outlive_readers();
  Progress progress;
  const Watch watch{
      .progress = [&](double done, std::string_view doing) { progress.show(done, doing); }};
  Outcome outcome =
      ask(guide.workspace, guide.quoted(step.sql, step.epsilon, step.delta), bits, watch);
  deliver(outcome, [&] {
    print(answer_text(outcome.release.value.table.value(), kWidth, 20, "   "));
    expect_printed();
  });
  print_line();
  return outcome;
}

std::string cost_of(const Step& step) {
  return price_text(
      Budget::approximate(exact(step.epsilon, "--epsilon"), exact(step.delta, "--delta")));
}

/// These patients are invented, so for once the truth can be told.
void count_visits(const Guide& guide, const std::vector<Visit>& visits) {
  constexpr Step kCount = {"How many visits were there?", "SELECT COUNT(*) AS visits FROM visits",
                           "0.1", "0", ""};
  step(1, kCount.words, cost_of(kCount));
  answer(guide, kCount);
  std::vector<std::uint64_t> of_patient;
  std::uint64_t counted = 0;
  for (const Visit& visit : visits) {
    of_patient.resize(std::max<std::size_t>(of_patient.size(), visit.patient + 1));
    if (++of_patient[visit.patient] <= kRowsPerPatient) ++counted;
  }
  print(wrap("The file has " + grouped(visits.size()) +
                 " rows; at most 12 of each patient count, " + grouped(counted) +
                 ". That, too, protects the few who come every other week. (We can tell because "
                 "nobody here exists.) Run the tour again: the answer changes, the truth does not.",
             "   ", kWidth));
}

void refuse(const Guide& guide, int number) {
  step(number, "Who is the lymphoma patient of 34?", "refused");
  print(wrap(kRefused, "   ", kWidth));
  print_line();
  try {
    guide.quoted(kRefused, "0.5", "0");
  } catch (const Error& error) {
    print(wrap("gauze: " + shown(error.what()) + " [" + name(error.code()) + "]", "   ", kWidth));
  }
  print_line();
  print(wrap("Refused before a row was read, so it cost nothing.", "   ", kWidth));
}

void account(Workspace& workspace, int number) {
  step(number, "What is left?", "");
  std::vector<std::vector<std::string>> rows = {{"", shown("ε"), shown("δ"), "question"}};
  for (const Entry& entry : workspace.ledger()->history()) {
    std::string text = entry.text;
    if (text.size() > 66) text = text.substr(0, 64) + "...";
    rows.push_back({std::to_string(rows.size()), amount_text(entry.cost.amount, round_up),
                    amount_text(entry.cost.delta, round_up), text});
  }
  print(table(rows, "   ", "rrrl"));
  print_line();
  print(wrap(
      shown("Of the steward's ε = 3, δ = 1e-06 there is " + budget_text(*workspace.left()) +
            " left. The ledger writes a question down before it is answered, and refuses what the "
            "budget does not cover. After all of ε = 3, somebody who guesses from even odds "
            "whether you were a patient here would be right at most " +
            nearest(100 * best_guess(3, 1e-6), 3) + " % of the time, whatever else they know."),
      "   ", kWidth));
}

void go_on(const std::string& folder, const std::string& page) {
  print_line();
  print_line(heading("Now you"));
  print(table({{"gauze sql --data " + folder + " --epsilon 0.1", "ask more, in a conversation"},
               {"gauze ledger show " + folder + "/hospital.ledger", "the budget and who spent it"},
               {"xdg-open " + page, "question 2 as a page with charts"},
               {"gauze schema template YOUR.csv", "begin with your own data: docs/schema.md"},
               {"gauze --help", "everything else"}},
              "  ", "l"));
  print_line("  (from a checkout, write ./run for gauze)");
}

void tour(const Registry& registry, const std::string& folder) {
  print_line(heading("Gauze: see the shape of the data, never the person."));
  print_line();
  const std::vector<Visit> visits = invented_visits();
  const ExampleFiles files = prepare(folder, visits);
  print(wrap(
      shown("An invented hospital: " + grouped(visits.size()) + " visits of 60,000 patients in " +
            files.visits + ". Its steward wrote down what is publicly known (" + files.schema +
            ") and allows ε = 3, δ = 1e-06 in all, to everybody together."),
      "", kWidth));
  DataOptions options;
  options.data = {folder};
  Workspace workspace(options);
  const Guide guide{registry, workspace};
  count_visits(guide, visits);
  int number = 1;
  const std::string page = page_in(folder);
  for (const Step& each : kSteps) {
    step(++number, each.words, cost_of(each));
    const Outcome outcome = answer(guide, each);
    print(wrap(each.afterwards, "   ", kWidth));
    if (number == 2) write_all(page, report(outcome));
  }
  refuse(guide, ++number);
  account(workspace, ++number);
  go_on(folder, page);
}

}  // namespace

void add_tour(CLI::App& app, const Registry& registry) {
  CLI::App* command = app.add_subcommand("tour", "Show in a minute what there is");
  auto folder = std::make_shared<std::string>("gauze-tour");
  command->add_option("folder", *folder, "Where the invented hospital is put (gauze-tour)");
  command->callback([folder, &registry] { tour(registry, *folder); });
}

}  // namespace gauze::cli
