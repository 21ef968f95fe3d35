#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gauze/data/source.h"
#include "gauze/query/bounded_aggregate.h"
#include "gauze/query/measurement.h"
#include "gauze/query/plan.h"
#include "gauze/query/sql_query.h"

namespace gauze::internal {

/// Numbers for group keys: positions in a public domain, or in order of appearance.
class GroupIndex {
 public:
  explicit GroupIndex(const Plan& plan);
  ~GroupIndex();
  GroupIndex(GroupIndex&&) noexcept;

  /// The group of each row; the keys are the columns from `first` on. A key outside its public domain
  /// has none: UnitRows::kNoGroup.
  void assign(const Batch& batch, std::size_t first, std::vector<std::uint32_t>& groups);

  /// Whether keys are one number each and found in the rows: then `numbers` says which, and `take` which there were.
  bool is_one_number() const;
  /// What stands for null, too.
  static constexpr std::int64_t kNullNumber = INT64_MIN;
  /// Which of null and kNullNumber came up.
  struct Ends {
    bool null = false, lowest = false;
  };
  /// The number of each row.
  static void numbers(const BatchColumn& column, std::vector<std::int64_t>& numbers, Ends& ends);
  /// The keys of groups 0, 1, ..., each of another number; `null`: kNullNumber stands for null.
  void take(std::vector<std::int64_t> numbers, bool null);

  std::size_t size() const;
  /// Bytes that tell a group from all others, whatever its number.
  std::string content(std::uint32_t group) const;
  std::vector<Value> key(std::uint32_t group) const;
  /// All groups in the order of answers: of the domains, or sorted by key.
  std::vector<std::uint32_t> in_order(unsigned threads = 1) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// What the rows hold, bounded: private.
struct GroupTruth {
  std::size_t groups = 0;
  BoundedTotals totals;
  std::vector<std::vector<WideInteger>> distinct;  ///< [sample][group], of samples that count
};

/// Runs now and then between batches; may throw to cancel. Empty where nobody watches.
using Progress = std::function<void(double done)>;

/// The SQL that reads units, keys and cells.
std::string unit_rows_sql(const Plan& plan, const MeasurementDesign& design, Source& source);
/// The SQL that adds up in the source, where every row is a unit.
struct GroupSums {
  std::string sql;             ///< of keys, COUNT(*) and, for each measure, one or more columns
  std::vector<bool> in_steps;  ///< [measure]: three columns, of an aggregate of the source's own
};
GroupSums group_sums(const Plan& plan, const MeasurementDesign& design, Source& source);

/// The cells whose values a measure adds up.
inline std::uint32_t cells_of(const Measure& measure) {
  std::uint32_t cells = 0;
  for (const Measure::Factor& factor : measure.factors) cells |= std::uint32_t{1} << factor.cell;
  return cells;
}

/// What `group_sums` asks for, of group g and measure i at [g * measures + i], from a table in memory or from what a
/// source counts without SQL; empty where the source must be asked.
LargeVector<WideInteger> held_sums(const SqlQuery::Options& options,
                                   const MeasurementDesign& design, Source& source,
                                   const Progress& progress = {});

/// Streams rows and bounds them here.
GroupTruth read_units(const SqlQuery::Options& options, const MeasurementDesign& design,
                      Source& source, GroupIndex& index, BitSource& bits,
                      const Progress& progress = {});
/// Lets the source add up: every row is its own unit.
GroupTruth read_sums(const SqlQuery::Options& options, const MeasurementDesign& design,
                     Source& source, GroupIndex& index, const Progress& progress = {});

}  // namespace gauze::internal
