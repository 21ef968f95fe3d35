#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gauze/accounting/filter.h"
#include "gauze/random/bit_source.h"
#include "gauze/registry/algorithm.h"
#include "gauze/service/cost.h"
#include "gauze/service/workspace.h"

namespace gauze::service {

/// What a front end asks, in the one spelling of the command line and of jobs.
struct Question {
  std::string algorithm;  ///< a name of the registry; SQL is "sql"
  nlohmann::json options = nlohmann::json::object();
  nlohmann::json asks = nlohmann::json::object();  ///< of its kind of input: columns, ranges
  std::string table = {};                          ///< "": the only private one
  std::string confidence = "0.95";
  std::string quote_delta = {};  ///< at which the cost is quoted; "": by the rule of cost.h
  bool accept_weak = false;
};

/// A question that is priced: nothing has been read or spent.
struct Quote {
  const Algorithm* algorithm = nullptr;
  Task task;
  Cost cost;
  std::vector<Note> notes = {};         ///< what to say of the data
  std::optional<Budget> left = {};      ///< in the ledger, before
  std::string ledger = {};              ///< how it is called; "" where nobody keeps count
  std::string dataset = {};             ///< "" for plain values
  Request request = {};                 ///< what the ledger records
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
Outcome ask(const Input& input, Quote quote, BitSource& bits, const Watch& watch);

/// Shows or writes what was released. Where that fails, the message says that it was released, and with a
/// ledger that it is paid for.
void deliver(const Outcome& outcome, const std::function<void()>& show);

/// A quote and an outcome as JSON: the result's own keys, then cost, unit, what was spent, what is left.
Json as_json(const Quote& quote);
Json as_json(const Outcome& outcome);

/// Where an answer goes besides.
struct AnswerFiles {
  std::string output;  ///< .csv, .json, .parquet of the table, or the artifact
  std::string report;  ///< a page
};
/// Before anything is spent: refuses what could not be written, and what would replace a file for which
/// `reads` holds.
void check_files(const AnswerFiles& files, const std::function<bool(const std::string&)>& reads);
void write_files(const Outcome& outcome, const AnswerFiles& files);

}  // namespace gauze::service
