#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "gauze/ledger/record_internal.h"

namespace gauze::ledger {

/// Goes through the records from the first on and keeps its own sums and states, apart from those
/// that are written down.
class Replay {
 public:
  /// Throws `kLedgerDamaged`, naming the record, unless it may follow those before it.
  void next(const Record& record);

 private:
  struct Limits {
    Budget limit;
    Relation relation;
    Budget spent;
    std::map<std::string, Budget> shares;
    std::map<std::string, Budget> spent_by;
    std::string id;  ///< of the record that set the limit
  };

  void start(const Record& record) const;
  void add_dataset(const Record& record);
  void set_schema(const Record& record);
  void set_share(const Record& record);
  void reserve(const Record& record);
  void change_state(const Record& record);
  Limits& limits_of(const Record& record);
  std::pair<std::string, std::string>& run_of(const Record& record);

  std::uint64_t count_ = 0;
  std::string last_hash_ = kNothing;
  std::map<std::string, Limits> datasets_;
  std::unordered_map<std::string, std::pair<std::string, std::string>> runs_;  // kind, request
};

}  // namespace gauze::ledger
