#include <algorithm>
#include <array>
#include <ctime>

#include "gauze/base/error.h"
#include "gauze/ledger/log_internal.h"

namespace gauze::ledger {
namespace {

std::string columns() {
  std::string text;
  for (const auto& [column, member] : kFields) {
    text.append(text.empty() ? "" : ", ").append(column);
  }
  return text;
}

std::string now() {
  std::timespec time{};
  std::timespec_get(&time, TIME_UTC);
  std::tm parts{};
  gmtime_r(&time.tv_sec, &parts);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::string micros = std::to_string(1'000'000 + time.tv_nsec / 1000);
  micros[0] = '.';
  return std::string(text.data(), size) + micros + "Z";
}

}  // namespace

const std::vector<std::string>& schema() {
  // Partial indexes keep the cost of a settlement to one of them.
  static const std::vector<std::string> kStatements = {
      "CREATE TABLE gauze_ledger (id BIGINT PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, "
      "subject BIGINT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, caller TEXT NOT "
      "NULL, query TEXT NOT NULL, event TEXT NOT NULL, request TEXT NOT NULL, relation TEXT NOT "
      "NULL, currency TEXT NOT NULL, amount TEXT NOT NULL, delta TEXT NOT NULL, spent_amount TEXT "
      "NOT NULL, spent_delta TEXT NOT NULL, analyst_amount TEXT NOT NULL, analyst_delta TEXT NOT "
      "NULL, previous TEXT NOT NULL, hash TEXT NOT NULL)",
      "CREATE INDEX gauze_ledger_subject ON gauze_ledger (subject, id)",
      "CREATE INDEX gauze_ledger_datasets ON gauze_ledger (dataset, id) WHERE kind = 'dataset'",
      "CREATE INDEX gauze_ledger_shares ON gauze_ledger (dataset, analyst, id) WHERE kind = "
      "'share'",
      "CREATE INDEX gauze_ledger_spent ON gauze_ledger (dataset, id) WHERE kind = 'reserve'",
      "CREATE INDEX gauze_ledger_analysts ON gauze_ledger (dataset, analyst, id) WHERE kind = "
      "'reserve'",
      "CREATE INDEX gauze_ledger_interrupted ON gauze_ledger (request, id) WHERE kind = "
      "'interrupt'"};
  return kStatements;
}

Record append(Connection& connection, Record record) {
  const auto last = find_last(connection, "id > 0");
  record.id = std::to_string(last ? number_in(*last, last->id) + 1 : 1);
  record.time = now();
  if (record.kind == kind::kReserve) record.subject = record.id;
  record.previous = last ? last->hash : kNothing;
  record.hash = hash_of(record);
  std::string places;
  std::vector<std::string> values;
  for (const auto& [column, member] : kFields) {
    values.push_back(record.*member);
    places.append(values.size() == 1 ? "$" : ", $").append(std::to_string(values.size()));
  }
  const auto stored = connection.execute(
      "INSERT INTO gauze_ledger (" + columns() + ") VALUES (" + places + ") RETURNING hash",
      values);
  // A trigger, a rule or a policy on a server may have kept it out.
  if (stored.size() != 1 || stored[0] != Connection::Row{record.hash}) {
    damaged(record.id, "was not stored as it was written");
  }
  return record;
}

std::vector<Record> find(Connection& connection, const std::string& condition,
                         const std::vector<std::string>& parameters) {
  std::vector<Record> records;
  for (const auto& row : connection.execute(
           "SELECT " + columns() + " FROM gauze_ledger WHERE " + condition, parameters)) {
    records.push_back(record_from(row));
  }
  return records;
}

std::optional<Record> find_last(Connection& connection, const std::string& condition,
                                const std::vector<std::string>& parameters) {
  const auto records = find(connection, condition + " ORDER BY id DESC LIMIT 1", parameters);
  if (records.empty()) return std::nullopt;
  return records[0];
}

void each_record(Connection& connection, const std::function<void(const Record&)>& visit) {
  std::string after = "0";
  for (;;) {
    const auto page = find(connection, "id > $1 ORDER BY id LIMIT 1000", {after});
    if (page.empty()) return;
    for (const Record& record : page) visit(record);
    // A damaged table could send us around in circles.
    if (number_in(page.back(), page.back().id) <= std::stoull(after)) {
      damaged(page.back().id, "stands out of order");
    }
    after = page.back().id;
  }
}

Record dataset_record(Connection& connection, const std::string& dataset) {
  const auto record = find_last(connection, "kind = 'dataset' AND dataset = $1", {dataset});
  if (!record) {
    throw Error(ErrorCode::kUnknownName,
                "this ledger has no data set '" + dataset.substr(0, 40) +
                    "'; `gauze ledger show` names those it has, `gauze ledger add` adds one");
  }
  return *record;
}

}  // namespace gauze::ledger
