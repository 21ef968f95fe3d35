#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gauze/accounting/filter.h"

namespace gauze {

namespace ledger {
class Connection;
}  // namespace ledger

/// The schema by which a data set is counted, and where its rows are.
struct CountedSchema {
  std::string digest;         ///< of the schema: 64 hexadecimal digits
  std::string file = {};      ///< the schema as seen from the ledger's folder; "": nobody said
  std::string database = {};  ///< which database of a server holds the rows; "": nobody said
  bool operator==(const CountedSchema&) const = default;
};

/// What a data set may lose in all, to all analysts together.
struct DatasetBudget {
  std::string dataset;
  Budget budget;
  Relation relation = Relation::kAddRemove;
  std::optional<CountedSchema> schema = {};
};

/// Who asks what. Texts are UTF-8; names have at most 200 bytes, the query at most 1,000,000.
struct Request {
  std::string dataset;
  std::string analyst = {};  ///< "" where the data set has no shares
  std::string caller = {};   ///< program and user, for the record
  std::string text = {};     ///< the query or job as it was asked
  /// The (epsilon, delta) that the question was asked at. A data set whose budget is kept in
  /// (epsilon, delta) is charged this when the event keeps the promise and needs a delta for it;
  /// without it, Gaussian noise has no price there. Other currencies do not look at it.
  std::optional<Budget> asked = {};
  /// Digest of the schema that the question goes by; "": it goes by none, and the ledger does not compare.
  std::string schema = {};
};

/// The right to one run, already paid for. Move-only; a grant that is dropped stays spent.
class Grant {
 public:
  Grant(Grant&&) noexcept = default;
  Grant& operator=(Grant&&) noexcept = default;
  std::uint64_t id() const { return id_; }
  const Event& reserved() const { return reserved_; }

 private:
  friend class Ledger;
  Grant(std::uint64_t id, std::string hash, Event reserved)
      : id_(id), hash_(std::move(hash)), reserved_(std::move(reserved)) {}
  std::uint64_t id_;
  std::string hash_;
  Event reserved_;
};

/// One question in the record.
struct Entry {
  enum class State : std::uint8_t {
    kReserved,     ///< paid; the run has not ended, its process died, or nobody could write that it
                   ///< ended: count the answer as seen
    kSettled,      ///< the answer was handed out
    kInterrupted,  ///< ended before any noise was drawn; the same question may be asked again at no
                   ///< further cost
  };
  std::uint64_t id = 0;
  std::string dataset, analyst, caller, text, time;  ///< time of the reservation, UTC, ISO 8601
  Event event;
  Budget cost;
  State state = State::kReserved;
  std::string hash;
};

/// `reserved`, `settled`, `interrupted`.
std::string_view name(Entry::State state);

/// `epsilon`, `rho`, `epsilon_delta`: what a currency is called in the ledger and in JSON.
std::string_view name(Budget::Currency currency);

/// A limit and what is used up of it.
struct Account {
  std::string dataset;
  std::string analyst;  ///< "" for the data set as a whole
  Budget limit;
  Budget spent;
  Relation relation = Relation::kAddRemove;

  /// Never negative: a share may have been lowered below what was spent.
  Budget left() const;
};

/// The last line of the record. Whoever noted it down elsewhere can tell later whether it is still
/// part of the ledger.
struct Head {
  std::uint64_t records = 0;
  std::string hash;
};

/// The durable record of what every data set has lost: an append-only log in which each line carries
/// the hash of the one before. Argument, file format and what the hashes cannot show: ledger.md
///
/// Amounts are exact fractions. Prices whose fractions are long are rounded up to multiples of
/// 10^-30, so that every operation but `history`, `each_record` and `verify` takes a time that does
/// not grow with the record (but for the depth of a B-tree).
///
/// One object is for one thread at a time and does not survive a fork; open as many as you like.
/// All functions throw `kIo`, `kLedgerDamaged`, `kBusy` (somebody else held the ledger for longer
/// than `patience`) and `kUnavailable` (the database server is gone).
class Ledger {
 public:
  static constexpr std::chrono::milliseconds kPatience{30'000};
  /// So often may questions about a data set end without an answer, the same one again included; then nobody may ask
  /// until the steward has dismissed these failures.
  static constexpr std::size_t kUnanswered = 10;

  /// A path (SQLite) or postgresql://... A file on a full disk, or in a folder that cannot be written, is read as it is
  /// now, and whatever would write to it throws `kIo`.
  static Ledger open(const std::string& where, std::chrono::milliseconds patience = kPatience);
  /// A new ledger with these data sets, complete or not at all. Throws `kInvalidOption` where there
  /// is something already, and what `add_dataset` throws.
  static Ledger create(const std::string& where, const std::vector<DatasetBudget>& datasets = {},
                       std::chrono::milliseconds patience = kPatience);
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  /// Throws `kInvalidOption` when there is a data set of this name, or for a budget that is not
  /// positive or has more than 30 decimal places.
  void add_dataset(const DatasetBudget& dataset);

  /// From now on the data set is counted by this schema. Throws `kUnknownName` for the data set and
  /// `kInvalidOption` for what is no digest.
  void set_schema(const std::string& dataset, const CountedSchema& schema,
                  const std::string& caller = "");

  /// Limits an analyst under the data set's own limit; both must cover what she asks. From the first
  /// share on, only analysts with a share may ask about this data set. What she spent before counts.
  /// A later share replaces an earlier one; shares may add up to more than the whole. Throws
  /// `kUnknownName` for the data set, `kInvalidOption` for another currency.
  void set_share(const std::string& dataset, const std::string& analyst, const Budget& share);

  /// What a question costs here, in the currency of its data set. Throws `kUnknownName` and `kCannotCompose`.
  Budget price(const Request& request, const Event& event) const;

  /// Takes the event's price, durably before it returns, or throws and leaves everything as it was:
  /// `kBudgetExceeded`, also after `kUnanswered` questions that failed; `kUnknownName` for a data
  /// set or an analyst without a share; `kInvalidOption` for another schema than the steward's;
  /// `kCannotCompose` for an event without a price here. A question that was interrupted and is
  /// asked again by the same analyst in the same words, with the same event, takes over what was
  /// reserved then.
  Grant reserve(const Request& request, const Event& event);
  /// The answer is handed out.
  void settle(Grant grant);
  /// The run ended without drawing noise: the same question may use the reservation again.
  void interrupt(Grant grant);
  /// The failures of questions about a data set no longer count, and questions may be asked, those that were interrupted at no
  /// further cost. Returns how many there were. For the steward, who saw why they failed.
  std::size_t dismiss(const std::string& dataset, const std::string& caller);

  /// How often questions about the data set ended without an answer since the steward last dismissed that.
  std::size_t unanswered(const std::string& dataset) const;

  std::vector<DatasetBudget> datasets() const;
  /// The schema by which a data set is counted; nothing where the steward named none.
  std::optional<CountedSchema> schema(const std::string& dataset) const;
  /// Each data set, followed by its analysts with shares.
  std::vector<Account> accounts() const;
  /// What may still be asked for: of the data set, and by the analyst if she has a share.
  Budget left(const std::string& dataset, const std::string& analyst = "") const;
  /// All questions, oldest first; of one data set if it is named.
  std::vector<Entry> history(const std::string& dataset = "") const;
  Head head() const;
  /// Whether a record has this hash: a head that was noted down must stay part of the record.
  bool contains(const std::string& hash) const;

  /// Recomputes every hash, every state and every sum. Throws `kLedgerDamaged`, naming the first bad
  /// record.
  void verify() const;
  /// Every record as one JSON object per line, oldest first.
  void export_lines(const std::function<void(const std::string& line)>& write) const;

 private:
  explicit Ledger(std::unique_ptr<ledger::Connection> connection);
  void conclude(const Grant& grant, const char* kind);

  std::unique_ptr<ledger::Connection> connection_;
};

}  // namespace gauze
