#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gauze/query/scanned_columns_internal.h"
#include "gauze/query/sql_query_internal.h"

namespace gauze::internal {

/// Rows of units from columns that a source hands out as they are stored; what `unit_rows_sql` asks for.
class ScannedUnits {
 public:
  /// Nothing where SQL must ask: where rows are more than columns of one table as they are.
  static std::optional<ScannedUnits> of(const SqlQuery::Options& options,
                                        const MeasurementDesign& design, bool by_key,
                                        Source& source);

  /// Each for one thread.
  std::vector<std::unique_ptr<Stream>>& streams() { return streams_; }

  /// What one thread makes of its batches.
  struct Converted {
    std::vector<KeyCodes::Dictionary> dictionaries;
    std::vector<std::uint32_t> groups;
    std::vector<std::int64_t> keys;
    std::vector<std::vector<std::int64_t>> values;
    std::vector<std::vector<std::uint8_t>> valid;
    GroupIndex::Ends ends;  ///< of all keys so far
  };
  /// Groups or keys, and cells, of a batch whose first column is the unit.
  void convert(const Batch& batch, Converted& converted, UnitRows& rows) const;

 private:
  void take_keys(const BatchColumn& column, Converted& converted) const;
  void take_groups(const Batch& batch, Converted& converted) const;

  std::vector<std::unique_ptr<Stream>> streams_;
  const Domain* number_ = nullptr;  // of the key, where keys are found in the rows
  std::vector<KeyCodes> keys_;
  std::vector<std::uint32_t> group_of_code_;
  std::vector<CellValues> cells_;
};

}  // namespace gauze::internal
