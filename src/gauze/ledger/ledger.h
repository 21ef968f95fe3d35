#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gauze/accounting/filter.h"

namespace gauze {

class LedgerStore;

/// What a data set may lose in all, to all analysts together.
struct DatasetBudget {
  std::string dataset;
  Budget budget;
  Relation relation = Relation::kAddRemove;
};

/// Who asks what.
struct Request {
  std::string dataset;
  std::string analyst;  ///< "" where the ledger has no shares
  std::string caller;   ///< program and user, for the record
  std::string text;     ///< the query or job as it was asked
  Event event;          ///< its price
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
  Grant(std::uint64_t id, Event reserved) : id_(id), reserved_(std::move(reserved)) {}
  std::uint64_t id_;
  Event reserved_;
};

/// One line of the record.
struct Entry {
  enum class State : std::uint8_t {
    kReserved,  ///< paid; the run has not ended, or its process died
    kSettled,   ///< the answer was handed out
    kInterrupted,  ///< ended before any noise was drawn; the same question may be asked again at no further cost
  };
  std::uint64_t id = 0;
  std::string dataset, analyst, caller, text, time;
  Event event;
  Budget cost;
  State state = State::kReserved;
  std::string hash;
};

/// The durable record of what every data set has lost.
class Ledger {
 public:
  /// A path (SQLite) or postgresql://... Throws `kIo`, `kLedgerDamaged`, `kBusy`, `kUnavailable`.
  static Ledger open(const std::string& where);
  static Ledger create(const std::string& where);
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  void add_dataset(const DatasetBudget& dataset);
  void set_share(const std::string& dataset, const std::string& analyst, const Budget& share);

  /// Durable before it returns. Throws `kBudgetExceeded`, `kUnknownName`, `kCannotCompose`, ...
  Grant reserve(const Request& request);
  void settle(Grant grant);
  /// The run ended without drawing noise: the same request may use the reservation again.
  void interrupt(Grant grant);

  std::vector<DatasetBudget> datasets() const;
  Budget left(const std::string& dataset, const std::string& analyst = "") const;
  std::vector<Entry> history(const std::string& dataset = "") const;
  /// Recomputes every hash and every sum. Throws `kLedgerDamaged`, naming the first bad entry.
  void verify() const;

 private:
  explicit Ledger(std::unique_ptr<LedgerStore> store);
  std::unique_ptr<LedgerStore> store_;
};

}  // namespace gauze
