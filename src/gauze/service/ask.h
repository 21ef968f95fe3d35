#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gauze/accounting/filter.h"
#include "gauze/ledger/ledger.h"
#include "gauze/random/bit_source.h"
#include "gauze/registry/algorithm.h"
#include "gauze/service/cost.h"

namespace gauze::service {

class Workspace;

/// What a front end asks, in the one spelling of the command line and of jobs.
///
///     Quote price = quote(registry, workspace, {.algorithm = "median",
///                                               .options = {{"epsilon", 1}, {"column", "age"}}});
///     Outcome outcome = ask(workspace, std::move(price), bits, {});
///     deliver(outcome, [&] { std::puts(as_json(outcome).dump().c_str()); });
struct Question {
  std::string algorithm;  ///< a name of the registry; SQL is "sql"
  /// By name: options of the algorithm, what its kind of input asks, and `common_options`.
  nlohmann::json options = nlohmann::json::object();
  std::string table = {};  ///< "": the only private one
  Asked::Wanted wanted = Asked::Wanted::kAll;
};

/// What can be said of every release besides, but for what the algorithm has an option of its own for.
std::vector<OptionSpec> common_options(const Algorithm& algorithm);
/// Everything that can be said of a release, in the order in which it is listed.
std::vector<OptionSpec> all_options(const Algorithm& algorithm);

/// A question that is priced: nothing has been read or spent.
struct Quote {
  const Algorithm* algorithm = nullptr;
  Task task;
  Cost cost;
  double confidence = 0.95;
  std::vector<Note> notes = {};     ///< what to say of the data
  std::optional<Budget> left = {};  ///< in the ledger, before
  std::string ledger = {};          ///< how it is called; "" where nobody keeps count
  std::string dataset = {};         ///< "" for plain values
  Request request = {};             ///< what the ledger records
  std::string digest = {};          ///< of the question: the same for the same question
};

/// On tables. Refuses what would leak, what the catalogue alone can refuse, and weak guarantees that
/// nobody insisted on.
Quote quote(const Registry& registry, Workspace& workspace, const Question& question);
/// On plain values, which no ledger counts.
Quote quote(const Registry& registry, const Question& question);

/// An answer with everything there is to say about it.
struct Outcome {
  Quote quote;
  Release<Result> release;
  std::optional<Budget> left = {};  ///< afterwards; nothing where nobody knows
};

/// Asks through the one door: price, reserve, read, charge, draw, settle. With the workspace's ledger if it
/// has one. What fails after the reservation says what it costs.
Outcome ask(Workspace& workspace, Quote quote, BitSource& bits, const Watch& watch);
/// The same on plain values: nothing to reserve.
Outcome ask(const Input& input, Quote quote, BitSource& bits, const Watch& watch);

/// Shows or writes what was released. Where that fails, the message says that it was released, and with a
/// ledger that it is paid for.
void deliver(const Outcome& outcome, const std::function<void()>& show);

}  // namespace gauze::service
