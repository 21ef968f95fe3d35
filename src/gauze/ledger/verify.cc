#include "gauze/ledger/verify_internal.h"

namespace gauze::ledger {
namespace {

void expect(bool holds, const Record& record, const char* why) {
  if (!holds) damaged(record.id, why);
}

}  // namespace

void Replay::next(const Record& record) {
  expect(number_in(record, record.id) == count_ + 1, record,
         "is not the next one: records are missing or repeated");
  expect(record.previous == last_hash_, record, "does not continue the chain");
  expect(record.hash == hash_of(record), record, "was altered: its hash does not fit");
  if (record.kind == kind::kInit) {
    start(record);
  } else if (record.kind == kind::kDataset) {
    add_dataset(record);
  } else if (record.kind == kind::kSchema) {
    set_schema(record);
  } else if (record.kind == kind::kShare) {
    set_share(record);
  } else if (record.kind == kind::kReserve) {
    reserve(record);
  } else if (record.kind == kind::kDismiss) {
    run_of(record);
  } else {
    change_state(record);
  }
  expect(count_ > 0 || record.kind == kind::kInit, record, "is not the beginning of a ledger");
  ++count_;
  last_hash_ = record.hash;
}

void Replay::start(const Record& record) const {
  expect(count_ == 0 && record.query == kFormat, record, "is not the beginning of a ledger");
}

void Replay::add_dataset(const Record& record) {
  const Budget limit = budget_in(record);
  const Budget none{limit.currency, 0, 0};
  const bool is_new =
      datasets_.emplace(record.dataset, Limits{limit, relation_in(record), none, {}, {}, record.id})
          .second;
  expect(is_new, record, "repeats a data set");
}

void Replay::set_schema(const Record& record) {
  expect(record.subject == limits_of(record).id, record, "is about another data set");
  schema_in(record);
}

void Replay::set_share(const Record& record) {
  Limits& limits = limits_of(record);
  const Budget share = budget_in(record);
  expect(share.currency == limits.limit.currency, record, "is in another currency");
  limits.shares.insert_or_assign(record.analyst, share);
}

void Replay::reserve(const Record& record) {
  Limits& limits = limits_of(record);
  const Budget cost = budget_in(record);
  expect(cost.currency == limits.limit.currency, record, "is in another currency");
  expect(event_in(record).relation == limits.relation, record, "has another relation");
  expect(record.subject == record.id, record, "is about another reservation");
  expect(record.request == request_of(record.dataset, record.analyst, record.query, record.event),
         record, "is about another question");
  limits.spent = plus(limits.spent, cost);
  Budget& own =
      limits.spent_by.try_emplace(record.analyst, Budget{cost.currency, 0, 0}).first->second;
  own = plus(own, cost);
  expect(spent_in(record) == limits.spent && analyst_spent_in(record) == own, record,
         "has a wrong total");
  expect(limits.limit.covers(limits.spent), record, "exceeds the budget");
  if (!limits.shares.empty()) {
    const auto share = limits.shares.find(record.analyst);
    expect(share != limits.shares.end() && share->second.covers(own), record, "exceeds a share");
  }
  runs_[record.id] = {record.kind, record.request};
}

void Replay::change_state(const Record& record) {
  std::string& state = run_of(record).first;
  const bool running = state == kind::kReserve || state == kind::kResume;
  expect((running && (record.kind == kind::kSettle || record.kind == kind::kInterrupt)) ||
             (state == kind::kInterrupt && record.kind == kind::kResume),
         record, "does not follow from what came before");
  state = record.kind;
}

std::pair<std::string, std::string>& Replay::run_of(const Record& record) {
  const auto run = runs_.find(record.subject);
  expect(run != runs_.end() && run->second.second == record.request, record,
         "is about a run that never began");
  return run->second;
}

Replay::Limits& Replay::limits_of(const Record& record) {
  const auto dataset = datasets_.find(record.dataset);
  expect(dataset != datasets_.end(), record, "is about an unknown data set");
  return dataset->second;
}

}  // namespace gauze::ledger
