#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gauze/accounting/filter.h"
#include "gauze/ledger/ledger.h"

namespace gauze::ledger {

/// One line of the append-only log; everything the ledger knows is in such lines. All fields are
/// text, empty where they mean nothing for the kind. ledger.md says what each holds.
struct Record {
  std::string id;  ///< 1, 2, 3, ...
  std::string time;
  std::string kind;
  std::string subject = "0";  ///< the reservation that this is about; its own id if it is one
  std::string dataset, analyst, caller, query, event;
  std::string
      request;  ///< digest of data set, analyst, query and event: the identity of a question
  std::string relation, currency, amount, delta;
  std::string spent_amount, spent_delta;      ///< by all, on the data set, this record included
  std::string analyst_amount, analyst_delta;  ///< by this analyst, on the data set
  std::string previous;                       ///< hash of the record before
  std::string hash;
};

/// Columns in the order in which they are stored, hashed and exported.
inline constexpr std::array<std::pair<const char*, std::string Record::*>, 20> kFields = {
    {{"id", &Record::id},
     {"time", &Record::time},
     {"kind", &Record::kind},
     {"subject", &Record::subject},
     {"dataset", &Record::dataset},
     {"analyst", &Record::analyst},
     {"caller", &Record::caller},
     {"query", &Record::query},
     {"event", &Record::event},
     {"request", &Record::request},
     {"relation", &Record::relation},
     {"currency", &Record::currency},
     {"amount", &Record::amount},
     {"delta", &Record::delta},
     {"spent_amount", &Record::spent_amount},
     {"spent_delta", &Record::spent_delta},
     {"analyst_amount", &Record::analyst_amount},
     {"analyst_delta", &Record::analyst_delta},
     {"previous", &Record::previous},
     {"hash", &Record::hash}}};

namespace kind {
inline constexpr const char* kInit = "init";
inline constexpr const char* kDataset = "dataset";
inline constexpr const char* kSchema = "schema";
inline constexpr const char* kShare = "share";
inline constexpr const char* kReserve = "reserve";
inline constexpr const char* kSettle = "settle";
inline constexpr const char* kInterrupt = "interrupt";
inline constexpr const char* kResume = "resume";
inline constexpr const char* kDismiss = "dismiss";
}  // namespace kind

/// Version of the format, in the first record.
inline constexpr const char* kFormat = "gauze ledger 1";

/// What stands before the first record.
inline constexpr const char* kNothing =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// SHA-256, in hexadecimal, over the parts, each as a netstring (its length, a colon, its bytes, a
/// comma), so that no two lists of parts are hashed alike.
std::string digest(std::span<const std::string_view> parts);

/// The hash a record should have: the digest of all other fields in order.
std::string hash_of(const Record& record);
std::string request_of(const std::string& dataset, const std::string& analyst,
                       const std::string& query, const std::string& event);

/// From a row of all columns in order; throws `kLedgerDamaged` when it is too short or when its hash
/// is not that of its fields.
Record record_from(const std::vector<std::string>& row);

[[noreturn]] void damaged(std::string_view id, const std::string& why);

/// A whole number of a record; throws `kLedgerDamaged`.
std::uint64_t number_in(const Record& record, const std::string& field);

/// The budget in these fields; throws `kLedgerDamaged` when they hold none.
Budget budget_in(const Record& record);
Budget spent_in(const Record& record);
Budget analyst_spent_in(const Record& record);
Relation relation_in(const Record& record);
Event event_in(const Record& record);
CountedSchema schema_in(const Record& record);
/// Whether the text has the form of a SHA-256 in hexadecimal.
bool is_digest(std::string_view text);

Budget plus(const Budget& one, const Budget& other);

/// What the event is charged: its exact price, or the promise that was asked for where that is in
/// the budget's currency and covers the price at the delta it was asked at.
Budget price_of(const Event& event, Budget::Currency currency, const std::optional<Budget>& asked);

/// The price itself where adding it to the totals keeps their fractions short, else rounded up to
/// multiples of 10^-30.
Budget shortened(const Budget& price, std::span<const Budget> totals);

/// Whether a fraction is short enough to be a limit: below 10^30, too.
bool is_short(const Ratio& value);

}  // namespace gauze::ledger
