#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gauze/base/on_threads.h"
#include "gauze/base/progress_ticks.h"
#include "gauze/base/words.h"
#include "gauze/query/scanned_columns_internal.h"
#include "gauze/query/sql_query_internal.h"

// What the SQL of `group_sums` computes, from columns that a source hands out as they are stored:
// one cell of memory for each combination of keys, found by arithmetic, instead of a hash table.

namespace gauze::internal {
namespace {

/// Sums of fewer than 2^32 rows and so large values have 64 bits.
constexpr std::int64_t kLargestValue = std::int64_t{1} << 31;

/// What one thread has added up, by code.
struct Tally {
  struct Cell {
    std::vector<std::int64_t> sums;
    std::vector<std::int64_t> missing;  ///< rows without a value
  };
  std::vector<std::int64_t> rows;
  std::vector<Cell> cells;

  std::vector<KeyCodes::Dictionary> dictionaries;  ///< of each key
  std::vector<std::uint32_t> codes;                ///< of the rows that came last
};

class HeldSums {
 public:
  explicit HeldSums(const Progress& progress) : progress_(progress) {}

  /// Whether the plan asks for nothing but sums of columns of one table that a source scans.
  bool prepare(const SqlQuery::Options& options, const MeasurementDesign& design, Source& source) {
    const Plan& plan = options.plan;
    if (design.groups == 0 || !design.samples.empty() || plan.keys.empty()) return false;
    const bool simple =
        std::all_of(design.measures.begin(), design.measures.end(), [](const Measure& measure) {
          const std::uint32_t all = cells_of(measure) | measure.present;
          return measure.factors.size() <= 1 && (all == 0 || std::has_single_bit(all)) &&
                 (measure.offset == 0 || !measure.factors.empty());
        });
    if (!simple) return false;
    std::vector<DeclaredColumn> columns;
    for (std::size_t k = 0; k < plan.keys.size(); ++k) {
      const auto from = declared_column(plan.rows, k);
      if (!from || !KeyCodes::exist(plan.keys[k], from->column.domain)) return false;
      columns.push_back(*from);
      keys_.emplace_back(plan.keys[k], from->column.domain);
      code_count_ *= keys_.back().size();
      if (code_count_ > kMostCodes) return false;
    }
    for (const CellSpec& cell : design.cells) {
      const auto from = declared_column(plan.rows, plan.keys.size() + cell.value);
      const auto values =
          from ? CellValues::of(cell, plan.values[cell.value], from->column.domain, kLargestValue)
               : std::nullopt;
      if (!values) return false;
      columns.push_back(*from);
      cells_.push_back(*values);
    }
    return is_scanned(columns, source, options);
  }

  LargeVector<WideInteger> run(const SqlQuery::Options& options, const MeasurementDesign& design) {
    const Plan& plan = options.plan;
    std::vector<Tally> tallies(streams_.size());
    for (Tally& tally : tallies) {
      tally.rows.resize(code_count_);
      tally.cells.resize(cells_.size(), {tally.rows, tally.rows});
      tally.dictionaries.resize(keys_.size());
    }
    scan(tallies);
    LargeVector<WideInteger> sums(design.groups * design.measures.size());
    for (std::size_t code = 0; code < code_count_; ++code) {
      const std::uint32_t group = group_of(code, keys_, plan);
      if (group == UnitRows::kNoGroup) continue;
      for (std::size_t m = 0; m < design.measures.size(); ++m) {
        for (const Tally& tally : tallies) {
          sums[group * design.measures.size() + m] += measured(design.measures[m], tally, code);
        }
      }
    }
    return sums;
  }

 private:
  bool is_scanned(const std::vector<DeclaredColumn>& columns, Source& source,
                  const SqlQuery::Options& options) {
    std::vector<ColumnInfo> wanted;
    for (const DeclaredColumn& each : columns) {
      if (each.table != columns[0].table) return false;
      wanted.push_back({each.column.name, each.column.domain.type});
    }
    streams_ = source.scan(columns[0].table, wanted, options.threads);
    return !streams_.empty();
  }

  void scan(std::vector<Tally>& tallies) {
    std::atomic<bool> failed = false;
    on_threads(static_cast<unsigned>(streams_.size()), [&](unsigned i) {
      ProgressTicks ticks(progress_);
      try {
        for (Batch batch; !failed && streams_[i]->next(batch);) {
          count(batch, tallies[i]);
          if (i == 0) ticks.tell(streams_[i]->progress());
        }
      } catch (...) {
        failed = true;  // the others need not go on
        throw;
      }
    });
  }

  void count(const Batch& batch, Tally& tally) const {
    std::int64_t* const rows = tally.rows.data();
    if (keys_.size() == 1 && cells_.empty()) {
      keys_[0].each(batch.columns[0], tally.dictionaries[0], batch.rows,
                    [&](std::size_t, std::uint32_t code) { ++rows[code]; });
      return;
    }
    tally.codes.resize(batch.rows);
    const std::span<std::uint32_t> codes = tally.codes;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      keys_[k].fold(batch.columns[k], k == 0, tally.dictionaries[k], codes);
    }
    for (const std::uint32_t code : codes) ++rows[code];
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      std::int64_t* const sums = tally.cells[c].sums.data();
      std::int64_t* const missing = tally.cells[c].missing.data();
      cells_[c].each(
          batch.columns[keys_.size() + c],
          [&](std::size_t i, std::int64_t steps) { sums[codes[i]] += steps; },
          [&](std::size_t i) { ++missing[codes[i]]; });
    }
  }

  static WideInteger measured(const Measure& measure, const Tally& tally, std::size_t code) {
    const std::uint32_t all = cells_of(measure) | measure.present;
    if (all == 0) return tally.rows[code];
    const Tally::Cell& own = tally.cells[static_cast<std::size_t>(std::countr_zero(all))];
    const std::int64_t rows = tally.rows[code] - own.missing[code];
    if (measure.factors.empty()) return rows;
    return own.sums[code] - rows * (WideInteger{measure.factors[0].centre} + measure.offset);
  }

  const Progress& progress_;
  std::size_t code_count_ = 1;
  std::vector<KeyCodes> keys_;
  std::vector<CellValues> cells_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace

LargeVector<WideInteger> held_sums(const SqlQuery::Options& options,
                                   const MeasurementDesign& design, Source& source,
                                   const Progress& progress) {
  HeldSums sums(progress);
  if (!sums.prepare(options, design, source)) return {};
  return sums.run(options, design);
}

}  // namespace gauze::internal
