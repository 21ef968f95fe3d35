#include "gauze/ledger/ledger.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "command.h"
#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/service/ledger_lookup.h"
#include "gauze/service/workspace.h"
#include "text.h"

namespace gauze::cli {
namespace {

struct Options {
  std::string where;
  std::string dataset;
  std::string analyst;
  std::optional<std::string> epsilon;
  std::optional<std::string> rho;
  std::optional<std::string> delta;
  std::string relation = "add_remove";
  std::optional<std::string> head;
  std::string schema;  ///< "": the one beside the ledger that names the data set
  std::string data;    ///< the address of the database that holds the rows, if one does
  bool json = false;
};

Budget budget_of(const Options& options) {
  const Ratio delta = options.delta ? exact(*options.delta, "--delta") : Ratio(0);
  require(options.epsilon.has_value() != options.rho.has_value(),
          "give --epsilon (with --delta, if Gaussian noise is to be allowed), or --rho");
  require(delta >= 0 && delta < 1, "--delta: must be at least 0 and below 1, like 1e-6");
  if (options.rho) return Budget::zcdp(exact(*options.rho, "--rho"), delta);
  const Ratio epsilon = exact(*options.epsilon, "--epsilon");
  return delta > 0 ? Budget::approximate(epsilon, delta) : Budget::pure(epsilon);
}

/// Six digits, rounded towards the side that `whole` rounds to.
std::string digits(const Ratio& value, Integer (*whole)(const Ratio&)) {
  if (value <= 0) return "0";
  const auto exponent = static_cast<int>(std::floor(std::log10(round_up(value))));
  const Ratio unit = parse_ratio("1e" + std::to_string(exponent - 5));
  return to_string(Ratio(whole(value / unit)) * unit);
}

std::string words(const Budget& budget, Integer (*whole)(const Ratio&)) {
  const bool rho = budget.currency == Budget::Currency::kZcdp;
  std::string text =
      (rho ? glyph("ρ ", "rho ") : glyph("ε ", "epsilon ")) + digits(budget.amount, whole);
  const bool has_delta = budget.currency == Budget::Currency::kApproximate || budget.delta > 0;
  if (has_delta) text += glyph(", δ ", ", delta ") + digits(budget.delta, whole);
  return text;
}

std::string bar(const Account& account) {
  const auto part = [](const Ratio& spent, const Ratio& limit) {
    if (limit <= 0) return spent > 0 ? Ratio(1) : Ratio(0);
    return std::min(Ratio(1), Ratio(spent / limit));
  };
  const Ratio used = std::max(part(account.spent.amount, account.limit.amount),
                              part(account.spent.delta, account.limit.delta));
  constexpr int kCells = 20;
  const auto full = ceil(used * kCells).convert_to<int>();
  std::string text;
  for (int i = 0; i < kCells; ++i) text += i < full ? glyph("█", "#") : glyph("░", ".");
  return text + " " + ceil(used * 100).str() + " %";
}

/// One line of what may come from anybody: nothing in it can steer the terminal.
std::string harmless(const std::string& text, std::size_t width = 60) {
  std::string line;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool starts = (byte & 0xC0) != 0x80;
    if (starts && ++columns > width) return line + glyph("…", "...");
    // U+0080 to U+009F are control characters too.
    const bool second_control =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (second_control) ++i;
    line += byte < 0x20 || byte == 0x7F || second_control ? ' ' : text[i];
  }
  return line;
}

/// A number where JSON has it exactly, else the fraction as text.
Json exact_json(const Ratio& value) {
  const std::string text = to_string(value);
  return text.find('/') == std::string::npos ? Json::parse(text) : Json(text);
}

Json as_json(const Budget& budget) {
  const bool rho = budget.currency == Budget::Currency::kZcdp;
  Json json = {{rho ? "rho" : "epsilon", exact_json(budget.amount)}};
  if (budget.currency != Budget::Currency::kPure) json["delta"] = exact_json(budget.delta);
  return json;
}

/// `left` is what may still be asked for: of a share no more than of the whole.
Json as_json(const Account& account, const Budget& left) {
  Json json = {{"dataset", account.dataset}};
  if (!account.analyst.empty()) json["analyst"] = account.analyst;
  json["relation"] = name(account.relation);
  json["budget"] = as_json(account.limit);
  json["spent"] = as_json(account.spent);
  json["left"] = as_json(left);
  return json;
}

void print_head(const Options& options, const Head& head) {
  print_line();
  print_line("  " + std::to_string(head.records) + " records; the last one's hash is");
  print_line("  " + head.hash);
  print(wrap("Note it down somewhere else: `gauze ledger verify " + shown_address(options.where) +
             " --head HASH` then shows whether the record was cut off or written anew."));
}

void print_schemas(const Options& options, const Ledger& ledger) {
  const auto datasets = ledger.datasets();
  if (!datasets.empty()) print_line();
  for (const DatasetBudget& each : datasets) {
    const std::string name = harmless(each.dataset, 200);
    if (!each.schema) {
      print(wrap("'" + name + "' is counted by whatever schema names it; `gauze ledger schema " +
                 shown_address(options.where) + " --dataset " + name +
                 " --schema FILE` says which."));
      continue;
    }
    std::string place;
    for (const std::string& part : {each.schema->file, each.schema->database})
      if (!part.empty()) place += ", " + harmless(part, 200);
    print_line("  " + name + " is counted by the schema " + each.schema->digest.substr(0, 12) +
               place);
  }
}

void print_unanswered(const Options& options, const Ledger& ledger,
                      const std::vector<Account>& accounts) {
  for (const Account& account : accounts) {
    const std::size_t count = account.analyst.empty() ? ledger.unanswered(account.dataset) : 0;
    if (count == 0) continue;
    print_line();
    const std::string name = harmless(account.dataset, 200);
    print(wrap("Questions about '" + name + "' ended without an answer " + std::to_string(count) +
               (count == 1 ? " time" : " times") +
               "; asked again in the same words, such a question costs nothing more. " +
               (count < Ledger::kUnanswered
                    ? "After " + std::to_string(Ledger::kUnanswered) + " times"
                    : std::string("Therefore")) +
               " nothing is answered until `gauze ledger dismiss " + shown_address(options.where) +
               " --dataset " + name + "`."));
  }
}

void show(const Options& options) {
  const Ledger ledger = Ledger::open(options.where);
  const auto accounts = ledger.accounts();
  const Head head = ledger.head();
  if (options.json) {
    Json all = Json::array();
    for (const Account& account : accounts) {
      all.push_back(as_json(account, ledger.left(account.dataset, account.analyst)));
      if (!account.analyst.empty()) continue;
      all.back()["unanswered"] = ledger.unanswered(account.dataset);
      if (const auto counted = ledger.schema(account.dataset)) {
        all.back()["schema"] = {{"digest", counted->digest}, {"file", counted->file}};
        if (!counted->database.empty()) all.back()["schema"]["database"] = counted->database;
      }
    }
    return print_json({{"accounts", all}, {"records", head.records}, {"head", head.hash}});
  }
  std::vector<std::vector<std::string>> rows = {{"", "budget", "spent", "left", ""}};
  for (const Account& account : accounts) {
    rows.push_back({account.analyst.empty() ? harmless(account.dataset, 30)
                                            : "  " + harmless(account.analyst, 28),
                    words(account.limit, floor), words(account.spent, ceil),
                    words(ledger.left(account.dataset, account.analyst), floor), bar(account)});
  }
  print(table(rows));
  if (accounts.empty()) {
    print_line("  no data set yet; `gauze ledger add " + shown_address(options.where) +
               " --dataset NAME --epsilon 3` adds one");
  }
  print_schemas(options, ledger);
  print_unanswered(options, ledger, accounts);
  print_head(options, head);
}

void history(const Options& options) {
  const auto entries = Ledger::open(options.where).history(options.dataset);
  if (options.json) {
    Json all = Json::array();
    for (const Entry& entry : entries) {
      all.push_back({{"id", entry.id},
                     {"time", entry.time},
                     {"dataset", entry.dataset},
                     {"analyst", entry.analyst},
                     {"caller", entry.caller},
                     {"text", entry.text},
                     {"event", to_json(entry.event)},
                     {"cost", as_json(entry.cost)},
                     {"state", name(entry.state)},
                     {"hash", entry.hash}});
    }
    return print_json(all);
  }
  if (entries.empty()) return print_line("  nothing was asked yet");
  std::vector<std::vector<std::string>> rows = {
      {"", "time (UTC)", "data set", "analyst", "cost", "state", "question"}};
  for (const Entry& entry : entries) {
    std::string time = entry.time.substr(0, 19);
    std::replace(time.begin(), time.end(), 'T', ' ');
    rows.push_back({std::to_string(entry.id), time, harmless(entry.dataset, 20),
                    harmless(entry.analyst, 20), words(entry.cost, ceil),
                    std::string(name(entry.state)), harmless(entry.text)});
  }
  print(table(rows, "  ", "rlllrll"));
}

void export_record(const Options& options) {
  Ledger::open(options.where).export_lines([](const std::string& line) { print_line(line); });
}

void verify(const Options& options) {
  require(!options.head || !options.head->empty(),
          "--head: is empty; give the hash that was noted down, or leave it out");
  const Ledger ledger = Ledger::open(options.where);
  ledger.verify();
  if (options.head && !ledger.contains(*options.head)) {
    throw Error(ErrorCode::kLedgerDamaged,
                "no record has the hash given with --head: the record was cut off or written anew "
                "since it was noted down, or it is another ledger's");
  }
  const Head head = ledger.head();
  if (options.json) {
    return print_json({{"ok", true}, {"records", head.records}, {"head", head.hash}});
  }
  print_line("  every hash, state and sum of " + std::to_string(head.records) + " records fits");
  if (!options.head) return print_head(options, head);
  print_line("  the record contains " + *options.head);
}

/// What the ledger is to remember of the schema and, where the rows are in a database, of that.
std::optional<CountedSchema> schema_of(const Options& options) {
  require(options.data.empty() || is_server_address(options.data),
          "--data: is for the address of a database; which files hold the tables the schema says");
  const std::string path =
      options.schema.empty() ? schema_beside(options.where, options.dataset) : options.schema;
  if (path.empty()) {
    require(options.data.empty(), "--schema: is missing; it says which relations hold the tables");
    return std::nullopt;
  }
  CountedSchema counted = counted_schema(options.where, options.dataset, path);
  if (!options.data.empty()) counted.database = open_postgres(options.data)->database();
  return counted;
}

DatasetBudget dataset_of(const Options& options) {
  return {options.dataset, budget_of(options), parse_relation(options.relation),
          schema_of(options)};
}

void init(const Options& options) {
  Ledger::create(options.where, {dataset_of(options)});
  show(options);
}

void add(const Options& options) {
  const DatasetBudget dataset = dataset_of(options);
  Ledger::open(options.where).add_dataset(dataset);
  show(options);
}

void set_schema(const Options& options) {
  Ledger::open(options.where).set_schema(options.dataset, *schema_of(options), caller());
  show(options);
}

void share(const Options& options) {
  Budget budget = budget_of(options);
  Ledger ledger = Ledger::open(options.where);
  // A delta of 0 that was given is a share of a data set's delta, too.
  for (const Account& account : ledger.accounts()) {
    if (options.delta && account.dataset == options.dataset && account.analyst.empty() &&
        account.limit.currency == Budget::Currency::kApproximate &&
        budget.currency == Budget::Currency::kPure)
      budget.currency = Budget::Currency::kApproximate;
  }
  ledger.set_share(options.dataset, options.analyst, budget);
  show(options);
}

void dismiss(const Options& options) {
  const std::size_t count = Ledger::open(options.where).dismiss(options.dataset, caller());
  if (options.json) return print_json({{"dataset", options.dataset}, {"dismissed", count}});
  print_line("  " + std::to_string(count) +
             (count == 1 ? " failure no longer counts" : " failures no longer count") +
             "; questions may be asked, and those that failed cost nothing more");
}

struct Command {
  const char* name;
  const char* summary;
  void (*run)(const Options& options);
  bool sets_budget;
  bool names_analyst;
};

constexpr Command kCommands[] = {
    {"init", "Make a ledger with a data set and its budget", init, true, false},
    {"add", "Add a data set with its budget to a ledger", add, true, false},
    {"schema", "Say by which schema a data set is counted from now on", set_schema, false, false},
    {"share", "Give an analyst a share of a data set's budget", share, true, true},
    {"show", "Budget, spent and left, and the hash of the last record", show, false, false},
    {"history", "Every question, with its cost and state", history, false, false},
    {"dismiss", "After a look at why questions failed: let new ones be asked", dismiss, false,
     false},
    {"export", "Every record as a line of JSON, with its hash", export_record, false, false},
    {"verify", "Recompute every hash, state and sum", verify, false, false},
};

void add_budget_options(CLI::App& sub, Options& options, bool is_share) {
  sub.add_option("--dataset", options.dataset, "Which data set")->required();
  CLI::Option* epsilon = sub.add_option(
      "--epsilon", options.epsilon,
      is_share ? "What she may spend; both it and the data set's budget must cover a question"
               : "What all answers together may cost, above 0");
  sub.add_option("--delta", options.delta,
                 "And at which delta; without it, only pure noise is allowed with --epsilon");
  sub.add_option("--rho", options.rho, "Instead of --epsilon: rho of zero-concentrated privacy")
      ->excludes(epsilon);
}

void add_command(CLI::App& parent, const Command& command) {
  CLI::App* sub = parent.add_subcommand(command.name, command.summary);
  auto options = std::make_shared<Options>();
  sub->add_option("ledger", options->where, "A file, or postgresql://...")->required();
  if (command.sets_budget) add_budget_options(*sub, *options, command.names_analyst);
  if (command.names_analyst) {
    sub->add_option("--analyst", options->analyst, "Whose share")->required();
  } else if (command.sets_budget) {
    sub->add_option("--relation", options->relation,
                    "What makes data sets neighbours (add_remove)");
  }
  if (command.run == set_schema)
    sub->add_option("--dataset", options->dataset, "Which data set")->required();
  if (command.run == init || command.run == add || command.run == set_schema) {
    CLI::Option* schema = sub->add_option(
        "--schema", options->schema,
        "By which schema questions go (the one beside the ledger that names the data set)");
    if (command.run == set_schema) schema->required();
    sub->add_option("--data", options->data,
                    "postgresql://... where a database holds the rows: no other counts then");
  }
  if (command.run == history) {
    sub->add_option("--dataset", options->dataset, "Of this data set only");
  }
  if (command.run == dismiss) {
    sub->add_option("--dataset", options->dataset, "Which data set")->required();
  }
  if (command.run == verify) {
    sub->add_option("--head", options->head, "A hash noted down earlier, which must be there");
  }
  sub->add_flag("--json", options->json,
                "Print JSON; an amount that is no double is a fraction in quotes, like \"1/3\"");
  sub->callback([options, &command] { command.run(*options); });
}

}  // namespace

void add_ledger(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("ledger", "Set budgets, and see what was asked and what it cost");
  command->require_subcommand(1);
  for (const Command& each : kCommands) add_command(*command, each);
  command->footer(
      "Examples:\n"
      "  gauze ledger init people.ledger --dataset people --epsilon 3 --delta 1e-6\n"
      "  gauze ledger schema people.ledger --dataset people --schema people.schema.json\n"
      "  gauze ledger share people.ledger --dataset people --analyst ada --epsilon 1 --delta 3e-7\n"
      "  gauze ledger show people.ledger\n"
      "  gauze ledger history people.ledger --json\n"
      "  gauze ledger dismiss people.ledger --dataset people\n"
      "  gauze ledger export people.ledger > people.jsonl\n"
      "  gauze ledger verify people.ledger --head 7d0c...\n"
      "  gauze ledger init postgresql://steward@server/budgets --dataset people --rho 0.5\n"
      "A ledger that exists is never overwritten, and the budget of a data set cannot be raised.\n"
      "A later share replaces an earlier one; whatever it is, the data set's budget must cover a\n"
      "question, too.");
}

}  // namespace gauze::cli
