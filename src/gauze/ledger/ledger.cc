#include "gauze/ledger/ledger.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/ledger/log_internal.h"
#include "gauze/ledger/verify_internal.h"

namespace gauze {
namespace {

using ledger::append;
using ledger::Connection;
using ledger::find;
using ledger::find_last;
using ledger::plus;
using ledger::Record;
using ledger::Transaction;

constexpr std::size_t kNameBytes = 200;
constexpr std::size_t kQueryBytes = 1'000'000;

void check_text(const std::string& text, const char* what, std::size_t bytes) {
  if (text.size() > bytes) {
    throw Error(ErrorCode::kInvalidOption,
                std::string(what) + ": must have at most " + std::to_string(bytes) + " bytes");
  }
  // What no database stores as text, and no JSON carries.
  const auto drop_bad = nlohmann::json::error_handler_t::ignore;
  if (text.find('\0') != std::string::npos ||
      nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, drop_bad)) != text) {
    throw Error(ErrorCode::kInvalidInput,
                std::string(what) + ": must be UTF-8 text without zero bytes");
  }
}

void check_name(const std::string& text, const char* what) {
  check_text(text, what, kNameBytes);
  if (text.empty()) {
    throw Error(ErrorCode::kInvalidOption, std::string(what) + ": must not be empty");
  }
}

void check_request(const Request& request) {
  check_name(request.dataset, "dataset");
  check_text(request.analyst, "analyst", kNameBytes);
  check_text(request.caller, "caller", kNameBytes);
  check_text(request.text, "text", kQueryBytes);
}

void check_limit(const Budget& limit) {
  require(limit.amount >= 0 && limit.delta >= 0 && limit.delta < 1,
          "budget: epsilon or rho must not be negative, and delta must be at least 0 and below 1");
  require(limit.currency != Budget::Currency::kPure || limit.delta == 0,
          "budget: a pure epsilon has no delta; use Budget::approximate");
  require(ledger::is_short(limit.amount) && ledger::is_short(limit.delta),
          "budget: must be a number below 10^30 with at most 30 decimal places, like 3 or 1/7");
}

void set_amount(Record& record, const Budget& budget) {
  record.currency = name(budget.currency);
  record.amount = to_string(budget.amount);
  record.delta = to_string(budget.delta);
}

Budget nothing(Budget::Currency currency) {
  return {currency, 0, 0};
}

Budget spent_on(Connection& connection, const std::string& dataset, Budget::Currency currency) {
  const auto last = find_last(connection, "kind = 'reserve' AND dataset = $1", {dataset});
  return last ? spent_in(*last) : nothing(currency);
}

Budget spent_by(Connection& connection, const std::string& dataset, const std::string& analyst,
                Budget::Currency currency) {
  const auto last = find_last(connection, "kind = 'reserve' AND dataset = $1 AND analyst = $2",
                              {dataset, analyst});
  return last ? analyst_spent_in(*last) : nothing(currency);
}

/// The analyst's share, nothing where the data set has no shares; throws `kUnknownName` where others
/// have one and she has not.
std::optional<Budget> share_of(Connection& connection, const std::string& dataset,
                               const std::string& analyst) {
  const auto own =
      find_last(connection, "kind = 'share' AND dataset = $1 AND analyst = $2", {dataset, analyst});
  if (own) return budget_in(*own);
  if (!find_last(connection, "kind = 'share' AND dataset = $1", {dataset})) return std::nullopt;
  throw Error(
      ErrorCode::kUnknownName,
      (analyst.empty() ? "no analyst is named"
                       : "the analyst '" + analyst.substr(0, 40) + "' has no share") +
          ", and '" + dataset.substr(0, 40) +
          "' is for analysts with a share; the steward gives one with `gauze ledger share`");
}

/// As it is where that is short, else six digits, rounded to the side that `whole` rounds to.
std::string in_digits(const Ratio& value, Integer (*whole)(const Ratio&)) {
  std::string text = to_string(value);
  if (text.size() <= 12 || value <= 0) return text;
  const auto exponent = static_cast<int>(std::floor(std::log10(round_up(value))));
  const Ratio unit = parse_ratio("1e" + std::to_string(exponent - 5));
  return to_string(Ratio(Ratio(whole(Ratio(value / unit))) * unit));
}

std::string in_words(const Budget& budget, Integer (*whole)(const Ratio&)) {
  const bool rho = budget.currency == Budget::Currency::kZcdp;
  std::string text = (rho ? "rho " : "epsilon ") + in_digits(budget.amount, whole);
  if (budget.delta > 0) text += ", delta " + in_digits(budget.delta, whole);
  return text;
}

Budget rest(const Budget& limit, const Budget& spent) {
  return Account{"", "", limit, spent}.left();
}

void expect_covered(const Budget& limit, const Budget& spent, const Budget& cost,
                    const std::string& whose) {
  if (limit.covers(plus(spent, cost))) return;
  const Budget left = rest(limit, spent);
  const std::string refused = "; nothing was charged and no row was read. ";
  if (cost.amount > left.amount) {
    throw Error(ErrorCode::kBudgetExceeded, "this costs " + in_words(cost, ceil) + ", but only " +
                                                in_words(left, floor) + " is left of " + whose +
                                                refused + "Ask at a smaller epsilon");
  }
  throw Error(ErrorCode::kBudgetExceeded,
              "this needs a delta of " + in_digits(cost.delta, ceil) + ", and " + whose +
                  (limit.delta > 0 ? " has only " + in_digits(left.delta, floor) + " left" +
                                         refused + "Ask at a smaller delta, or at 0"
                                   : " was set without one" + refused + "Ask at delta 0") +
                  " about groups that have a public list");
}

Record question(const Request& request, const Event& event) {
  Record record;
  record.kind = ledger::kind::kReserve;
  record.dataset = request.dataset;
  record.analyst = request.analyst;
  record.caller = request.caller;
  record.query = request.text;
  record.event = to_json(event).dump();
  record.request = ledger::request_of(record.dataset, record.analyst, record.query, record.event);
  record.relation = name(event.relation);
  return record;
}

/// Interruptions after which nothing of such a kind happened to the same reservation.
std::string interruptions(const char* which, const char* later_kind) {
  return std::string("kind = 'interrupt' AND ") + which +
         " AND NOT EXISTS (SELECT 1 FROM gauze_ledger AS later WHERE later.subject = "
         "gauze_ledger.subject AND later.id > gauze_ledger.id AND later.kind " +
         later_kind + ")";
}

/// Every failure, whatever became of the question since, but for those that the steward dismissed.
std::vector<Record> failures_on(Connection& connection, const std::string& dataset) {
  // Every request is a digest; comparing it makes both engines take the index of interruptions.
  return find(connection,
              interruptions("request > '' AND dataset = $1", "= 'dismiss'") + " ORDER BY id",
              {dataset});
}

/// The same reservation, now in another state.
Record changed(Connection& connection, Record record, const char* kind, const std::string& caller) {
  record.kind = kind;
  record.caller = caller;
  return append(connection, std::move(record));
}

/// Whether a question fails may tell about rows, also one that is asked again; so only a few may.
void expect_answered(Connection& connection, const std::string& dataset) {
  if (failures_on(connection, dataset).size() < Ledger::kUnanswered) return;
  throw Error(
      ErrorCode::kBudgetExceeded,
      "questions about '" + dataset.substr(0, 40) + "' ended without an answer " +
          std::to_string(Ledger::kUnanswered) +
          " times, and why they did may tell about rows; nothing was charged and no row was "
          "read. The steward looks at `gauze ledger history` and goes on with `gauze ledger "
          "dismiss`; then what was paid for can be asked again at no further cost");
}

/// Takes the reservation of the same question that was interrupted and not used again since: the record that it is in use again.
std::optional<Record> take_over(Connection& connection, const Record& question) {
  const auto interrupted =
      find_last(connection, interruptions("request = $1", "<> 'dismiss'"), {question.request});
  if (!interrupted) return std::nullopt;
  return changed(connection, *interrupted, ledger::kind::kResume, question.caller);
}

/// Fills in what the question costs and the totals with it, or throws `kBudgetExceeded`.
void charge(Connection& connection, Record& record, const Budget& price, const Budget& limit,
            const std::optional<Budget>& share) {
  const Budget spent = spent_on(connection, record.dataset, limit.currency);
  const Budget own = spent_by(connection, record.dataset, record.analyst, limit.currency);
  const Budget cost = ledger::shortened(price, std::array{spent, own});
  expect_covered(limit, spent, cost, "the budget of '" + record.dataset + "'");
  if (share) expect_covered(*share, own, cost, "the share of '" + record.analyst + "'");
  set_amount(record, cost);
  record.spent_amount = to_string(Ratio(spent.amount + cost.amount));
  record.spent_delta = to_string(Ratio(spent.delta + cost.delta));
  record.analyst_amount = to_string(Ratio(own.amount + cost.amount));
  record.analyst_delta = to_string(Ratio(own.delta + cost.delta));
}

Record append_dataset(Connection& connection, const DatasetBudget& dataset) {
  check_name(dataset.dataset, "dataset");
  check_limit(dataset.budget);
  require(dataset.budget.amount > 0, "budget: epsilon or rho must be above 0");
  if (find_last(connection, "kind = 'dataset' AND dataset = $1", {dataset.dataset})) {
    throw Error(ErrorCode::kInvalidOption, "this ledger has a data set '" +
                                               dataset.dataset.substr(0, 40) +
                                               "' already; its budget cannot be changed");
  }
  Record record;
  record.kind = ledger::kind::kDataset;
  record.dataset = dataset.dataset;
  record.relation = name(dataset.relation);
  set_amount(record, dataset.budget);
  return append(connection, record);
}

/// The last schema of the data set whose limit this record set.
std::optional<CountedSchema> schema_of(Connection& connection, const Record& dataset) {
  const auto last = find_last(connection, "subject = $1 AND kind = 'schema'", {dataset.id});
  return last ? std::optional(ledger::schema_in(*last)) : std::nullopt;
}

Record append_schema(Connection& connection, const Record& dataset, const CountedSchema& schema,
                     const std::string& caller) {
  check_text(caller, "caller", kNameBytes);
  check_text(schema.file, "schema", kQueryBytes / 4);
  check_text(schema.database, "database", kQueryBytes / 4);
  require(ledger::is_digest(schema.digest), "schema: must be a digest of 64 hexadecimal digits");
  Record record;
  record.kind = ledger::kind::kSchema;
  record.subject = dataset.id;
  record.dataset = dataset.dataset;
  record.caller = caller;
  record.query =
      nlohmann::ordered_json{
          {"digest", schema.digest}, {"file", schema.file}, {"database", schema.database}}
          .dump();
  return append(connection, record);
}

/// A data set with its schema, if it has one.
Record append_whole(Connection& connection, const DatasetBudget& dataset) {
  Record last = append_dataset(connection, dataset);
  return dataset.schema ? append_schema(connection, last, *dataset.schema, "") : last;
}

/// The steward may have changed it since the question was planned.
void expect_schema(Connection& connection, const Request& request) {
  if (request.schema.empty()) return;
  const auto counted = schema_of(connection, dataset_record(connection, request.dataset));
  if (!counted || counted->digest == request.schema) return;
  throw Error(ErrorCode::kInvalidOption,
              "the data set '" + request.dataset.substr(0, 40) +
                  "' is counted by another schema than the one of this question; nothing was "
                  "charged and no row was read. Begin anew with the steward's schema");
}

Entry entry_of(const Record& record, Entry::State state) {
  return {.id = number_in(record, record.id),
          .dataset = record.dataset,
          .analyst = record.analyst,
          .caller = record.caller,
          .text = record.query,
          .time = record.time,
          .event = event_in(record),
          .cost = budget_in(record),
          .state = state,
          .hash = record.hash};
}

}  // namespace

std::string_view name(Entry::State state) {
  switch (state) {
    case Entry::State::kReserved:
      return "reserved";
    case Entry::State::kSettled:
      return "settled";
    case Entry::State::kInterrupted:
      break;
  }
  return "interrupted";
}

std::string_view name(Budget::Currency currency) {
  switch (currency) {
    case Budget::Currency::kPure:
      return "epsilon";
    case Budget::Currency::kZcdp:
      return "rho";
    case Budget::Currency::kApproximate:
      break;
  }
  return "epsilon_delta";
}

Budget Account::left() const {
  return {limit.currency, std::max(Ratio(0), Ratio(limit.amount - spent.amount)),
          std::max(Ratio(0), Ratio(limit.delta - spent.delta))};
}

Ledger::Ledger(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::open(const std::string& where, std::chrono::milliseconds patience) {
  auto connection = is_server_address(where)
                        ? ledger::open_postgres(where, patience)
                        : ledger::open_sqlite(where, ledger::schema(), patience);
  const auto first = find_last(*connection, "id = 1");
  if (!first || first->kind != ledger::kind::kInit || first->query != ledger::kFormat) {
    ledger::damaged("1", "is not the beginning of a ledger");
  }
  return Ledger(std::move(connection));
}

Ledger Ledger::create(const std::string& where, const std::vector<DatasetBudget>& datasets,
                      std::chrono::milliseconds patience) {
  const auto setup = [&](Connection& connection) {
    for (const std::string& statement : ledger::schema()) connection.execute(statement);
    Record record;
    record.kind = ledger::kind::kInit;
    record.query = ledger::kFormat;
    Record last = append(connection, record);
    for (const DatasetBudget& dataset : datasets) last = append_whole(connection, dataset);
    return last;
  };
  is_server_address(where) ? ledger::create_postgres(where, setup, patience)
                           : ledger::create_sqlite(where, setup, patience);
  return open(where, patience);
}

void Ledger::add_dataset(const DatasetBudget& dataset) {
  Transaction transaction(*connection_, Connection::Access::kWrite);
  transaction.commit(append_whole(*connection_, dataset));
}

void Ledger::set_schema(const std::string& dataset, const CountedSchema& schema,
                        const std::string& caller) {
  Transaction transaction(*connection_, Connection::Access::kWrite);
  const Record counted = dataset_record(*connection_, dataset);
  transaction.commit(append_schema(*connection_, counted, schema, caller));
}

void Ledger::set_share(const std::string& dataset, const std::string& analyst,
                       const Budget& share) {
  check_name(analyst, "analyst");
  check_limit(share);
  Transaction transaction(*connection_, Connection::Access::kWrite);
  const Record whole = dataset_record(*connection_, dataset);
  if (budget_in(whole).currency != share.currency) {
    throw Error(ErrorCode::kInvalidOption, "share: must be in the currency of the data set, " +
                                               whole.currency +
                                               "; give --epsilon and --delta, or "
                                               "--rho, as it was initialised");
  }
  Record record;
  record.kind = ledger::kind::kShare;
  record.dataset = dataset;
  record.analyst = analyst;
  set_amount(record, share);
  transaction.commit(append(*connection_, record));
}

Budget Ledger::price(const Request& request, const Event& event) const {
  check_request(request);
  event.validate();
  const Record dataset = dataset_record(*connection_, request.dataset);
  if (relation_in(dataset) != event.relation) {
    throw Error(ErrorCode::kCannotCompose, "the budget of this data set is kept under " +
                                               dataset.relation + ", the question's price under " +
                                               std::string(name(event.relation)));
  }
  return ledger::price_of(event, budget_in(dataset).currency, request.asked);
}

Grant Ledger::reserve(const Request& request, const Event& event) {
  // A data set never changes, so it is read, and the event priced, before anybody has to wait.
  const Budget price = this->price(request, event);
  const Budget limit = budget_in(dataset_record(*connection_, request.dataset));

  Transaction transaction(*connection_, Connection::Access::kWrite);
  const auto share = share_of(*connection_, request.dataset, request.analyst);
  expect_answered(*connection_, request.dataset);
  expect_schema(*connection_, request);
  Record record = question(request, event);
  std::optional<Record> reserved;
  if (const auto resumed = take_over(*connection_, record)) {
    reserved = find_last(*connection_, "id = $1", {resumed->subject});
    if (!reserved) ledger::damaged(resumed->subject, "is missing");
    transaction.commit(*resumed);
  } else {
    charge(*connection_, record, price, limit, share);
    reserved = append(*connection_, record);
    transaction.commit(*reserved);
  }
  return {number_in(*reserved, reserved->id), reserved->hash, event};
}

void Ledger::conclude(const Grant& grant, const char* kind) {
  const std::string id = std::to_string(grant.id_);
  Transaction transaction(*connection_, Connection::Access::kWrite);
  const auto reserved = find_last(*connection_, "id = $1", {id});
  const auto last = find_last(*connection_, "subject = $1 AND kind <> 'dismiss'", {id});
  if (!reserved || !last || reserved->hash != grant.hash_ ||
      (last->kind != ledger::kind::kReserve && last->kind != ledger::kind::kResume)) {
    throw Error(ErrorCode::kInvalidOption, "grant: belongs to another ledger, or ended before");
  }
  Record record;
  record.kind = kind;
  record.subject = id;
  record.dataset = reserved->dataset;
  record.analyst = reserved->analyst;
  record.request = reserved->request;
  transaction.commit(append(*connection_, record));
}

void Ledger::settle(Grant grant) {
  conclude(grant, ledger::kind::kSettle);
}

void Ledger::interrupt(Grant grant) {
  conclude(grant, ledger::kind::kInterrupt);
}

std::size_t Ledger::dismiss(const std::string& dataset, const std::string& caller) {
  check_text(caller, "caller", kNameBytes);
  Transaction transaction(*connection_, Connection::Access::kWrite);
  dataset_record(*connection_, dataset);
  const auto failures = failures_on(*connection_, dataset);
  std::set<std::string> dismissed;
  Record last;
  for (const Record& each : failures) {
    if (dismissed.insert(each.subject).second)
      last = changed(*connection_, each, ledger::kind::kDismiss, caller);
  }
  if (!failures.empty()) transaction.commit(last);
  return failures.size();
}

std::size_t Ledger::unanswered(const std::string& dataset) const {
  return failures_on(*connection_, dataset).size();
}

std::vector<DatasetBudget> Ledger::datasets() const {
  std::vector<DatasetBudget> all;
  for (const Record& record : find(*connection_, "kind = 'dataset' ORDER BY id")) {
    all.push_back(
        {record.dataset, budget_in(record), relation_in(record), schema_of(*connection_, record)});
  }
  return all;
}

std::optional<CountedSchema> Ledger::schema(const std::string& dataset) const {
  return schema_of(*connection_, dataset_record(*connection_, dataset));
}

std::vector<Account> Ledger::accounts() const {
  const Transaction transaction(*connection_, Connection::Access::kRead);
  std::vector<Account> all;
  for (const DatasetBudget& each : datasets()) {
    const auto currency = each.budget.currency;
    all.push_back({each.dataset, "", each.budget, spent_on(*connection_, each.dataset, currency),
                   each.relation});
    std::map<std::string, Budget> shares;  // the last one counts
    for (const Record& record :
         find(*connection_, "kind = 'share' AND dataset = $1 ORDER BY id", {each.dataset})) {
      shares.insert_or_assign(record.analyst, budget_in(record));
    }
    for (const auto& [analyst, share] : shares) {
      all.push_back({each.dataset, analyst, share,
                     spent_by(*connection_, each.dataset, analyst, currency), each.relation});
    }
  }
  return all;
}

Budget Ledger::left(const std::string& dataset, const std::string& analyst) const {
  const Transaction transaction(*connection_, Connection::Access::kRead);
  const Budget limit = budget_in(dataset_record(*connection_, dataset));
  const Budget whole = rest(limit, spent_on(*connection_, dataset, limit.currency));
  if (analyst.empty()) return whole;
  const auto share = share_of(*connection_, dataset, analyst);
  if (!share) return whole;
  const Budget own = rest(*share, spent_by(*connection_, dataset, analyst, limit.currency));
  return {limit.currency, std::min(whole.amount, own.amount), std::min(whole.delta, own.delta)};
}

std::vector<Entry> Ledger::history(const std::string& dataset) const {
  const Transaction transaction(*connection_, Connection::Access::kRead);
  if (!dataset.empty()) dataset_record(*connection_, dataset);
  std::vector<Entry> entries;
  std::map<std::string, std::size_t> places;
  ledger::each_record(*connection_, [&](const Record& record) {
    if (!dataset.empty() && record.dataset != dataset) return;
    if (record.kind == ledger::kind::kReserve) {
      places.emplace(record.id, entries.size());
      entries.push_back(entry_of(record, Entry::State::kReserved));
    } else if (const auto place = places.find(record.subject);
               place != places.end() && record.kind != ledger::kind::kDismiss) {
      entries[place->second].state = record.kind == ledger::kind::kSettle ? Entry::State::kSettled
                                     : record.kind == ledger::kind::kInterrupt
                                         ? Entry::State::kInterrupted
                                         : Entry::State::kReserved;
    }
  });
  return entries;
}

Head Ledger::head() const {
  const auto last = find_last(*connection_, "id > 0");
  if (!last) ledger::damaged("1", "is missing");
  return {number_in(*last, last->id), last->hash};
}

bool Ledger::contains(const std::string& hash) const {
  return find_last(*connection_, "hash = $1", {hash}).has_value();
}

void Ledger::verify() const {
  const Transaction transaction(*connection_, Connection::Access::kRead);
  connection_->check();
  ledger::Replay replay;
  ledger::each_record(*connection_, [&](const Record& record) { replay.next(record); });
}

void Ledger::export_lines(const std::function<void(const std::string&)>& write) const {
  const Transaction transaction(*connection_, Connection::Access::kRead);
  ledger::each_record(*connection_, [&](const Record& record) {
    nlohmann::ordered_json line;
    for (const auto& [column, member] : ledger::kFields) line[column] = record.*member;
    write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

}  // namespace gauze
