#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "gauze/base/on_threads.h"
#include "gauze/base/progress_ticks.h"
#include "gauze/base/words.h"
#include "gauze/data/normalise.h"
#include "gauze/data/step_sum.h"
#include "gauze/query/relation_internal.h"
#include "gauze/query/sql_query_internal.h"

// What the SQL of `group_sums` computes, from columns that a source hands out as they are stored, or from counts of a column's values: one cell
// of memory for each combination of keys, found by arithmetic, instead of a hash table.

namespace gauze::internal {
namespace {

constexpr std::size_t kMostCodes = std::size_t{1} << 20;
/// Sums of fewer than 2^32 rows and so large values have 64 bits.
constexpr std::int64_t kLargestValue = std::int64_t{1} << 31;

/// A column of a table as its schema has it.
struct DeclaredColumn {
  const std::string& table;
  const ColumnSchema& column;
};

/// What column `i` of a relation shows, where that is a column of a table as it is.
std::optional<DeclaredColumn> declared_column(const RelationPtr& relation, std::size_t i) {
  const RelationNode* node = relation.get();
  while (node->kind == RelationNode::Kind::kProject) {
    const Expression& expression = node->expressions[i];
    if (expression.kind != Expression::Kind::kColumn) return std::nullopt;
    i = expression.column;
    node = node->inputs[0].get();
  }
  if (node->kind != RelationNode::Kind::kScan || !node->columns[i].keys.empty()) {
    return std::nullopt;
  }
  return DeclaredColumn{node->table.name, node->table.columns[i]};
}

/// Values of which each stands for many rows.
struct CountedValues {
  ValueCounts counts;
  std::vector<std::string_view> texts;
  std::vector<std::uint8_t> valid;

  explicit CountedValues(ValueCounts counted) : counts(std::move(counted)) {
    valid.assign(counts.counts.size(), 1);
    valid.push_back(0);
    counts.counts.push_back(counts.nulls);
    texts.assign(counts.texts.begin(), counts.texts.end());
    texts.resize(valid.size());
    counts.integers.resize(valid.size());
  }

  Batch batch(Type type) const {
    BatchColumn column;
    column.kind = type == Type::kText ? BatchColumn::Kind::kTexts : BatchColumn::Kind::kIntegers;
    column.integers = counts.integers;
    column.texts = texts;
    column.valid = valid;
    return {valid.size(), {column}, nullptr};
  }
};

/// A key as numbers from 0 on, one for each value of its domain; the last is for what has no group.
class KeyCodes {
 public:
  /// Whether a column of the type that was declared has codes.
  static bool exist(const KeyColumn& key, const Domain& domain) {
    if (!key.domain || key.type != domain.type) return false;
    if (domain.type == Type::kText) return domain.categories.has_value();
    return domain.type == Type::kInteger && !domain.categories && domain.lower &&
           last_of(domain) < kMostCodes;
  }

  /// They must exist. Shows texts of the key.
  KeyCodes(const KeyColumn& key, const Domain& domain) {
    key.type == Type::kText ? take_texts(key, domain) : take_range(key, domain);
  }

  std::size_t size() const { return positions_.size(); }
  /// In the domain of the key; kNoGroup for what has no group.
  std::uint32_t position(std::size_t code) const { return positions_[code]; }

  /// The codes of the dictionary that came last, of one stream.
  struct Dictionary {
    std::uint64_t number = 0;
    std::vector<std::uint32_t> codes;
  };

  /// codes = codes * size + code; for the first of the keys, codes = code.
  void fold(const BatchColumn& column, bool is_first, Dictionary& known,
            std::span<std::uint32_t> codes) const {
    const auto size = static_cast<std::uint32_t>(positions_.size());
    const auto each = [&](auto code_at) {
      if (is_first) {
        for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code_at(i);
      } else {
        for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = codes[i] * size + code_at(i);
      }
    };
    const auto each_or_null = [&](auto code_at) {
      if (column.valid.empty()) return each(code_at);
      each([&](std::size_t row) { return column.valid[row] == 0 ? null_ : code_at(row); });
    };
    if (column.kind == BatchColumn::Kind::kIntegers) {
      each_or_null([&](std::size_t row) { return code(column.integers[row]); });
    } else if (column.codes.empty()) {
      each_or_null([&](std::size_t row) { return code(column.texts[row]); });
    } else {
      if (known.number != column.dictionary_number) {
        known.number = column.dictionary_number;
        known.codes.clear();
        for (const std::string_view text : column.dictionary) known.codes.push_back(code(text));
      }
      each_or_null([&](std::size_t row) { return known.codes[column.codes[row]]; });
    }
  }

 private:
  static std::uint64_t last_of(const Domain& domain) {
    return static_cast<std::uint64_t>(std::get<std::int64_t>(*domain.upper)) -
           static_cast<std::uint64_t>(std::get<std::int64_t>(*domain.lower));
  }

  std::uint32_t code(std::int64_t x) const {
    const std::uint64_t above = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(lower_);
    if (above <= last_) return static_cast<std::uint32_t>(above);
    return x < lower_ ? 0 : last_;
  }

  std::uint32_t code(std::string_view text) const {
    const auto found = places_.find(text);
    return found == places_.end() ? other_ : found->second;
  }

  void take_range(const KeyColumn& key, const Domain& domain) {
    lower_ = std::get<std::int64_t>(*domain.lower);
    last_ = static_cast<std::uint32_t>(last_of(domain));
    positions_.assign(last_ + std::size_t{2}, UnitRows::kNoGroup);
    null_ = domain.nullable ? last_ + 1 : 0;
    for (std::uint32_t p = 0; p < key.domain->size(); ++p) {
      const auto* number = std::get_if<std::int64_t>(&(*key.domain)[p]);
      positions_[number ? code(*number) : last_ + std::size_t{1}] = p;
    }
  }

  void take_texts(const KeyColumn& key, const Domain& domain) {
    const auto nowhere = static_cast<std::uint32_t>(key.domain->size());
    other_ = null_ = nowhere;
    for (std::uint32_t p = 0; p < nowhere; ++p) {
      positions_.push_back(p);
      const auto* text = std::get_if<std::string>(&(*key.domain)[p]);
      text ? places_[*text] = p : null_ = p;
    }
    positions_.push_back(UnitRows::kNoGroup);
    if (!domain.nullable) null_ = code(std::get<std::string>(null_substitute(domain)));
    other_ = domain.fallback ? code(std::get<std::string>(*domain.fallback)) : null_;
  }

  std::int64_t lower_ = 0;
  std::uint32_t last_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> places_;
  std::uint32_t null_ = 0, other_ = 0;
  std::vector<std::uint32_t> positions_;
};

/// A cell of the design that is a column in whole steps.
class CellValues {
 public:
  static std::optional<CellValues> of(const CellSpec& cell, const ValueColumn& value,
                                      const Domain& domain) {
    if (cell.identity || !domain.lower || domain.categories) return std::nullopt;
    if (exact(*domain.lower) != *value.lower || exact(*domain.upper) != *value.upper) {
      return std::nullopt;
    }
    if (cell.lower < -kLargestValue || cell.upper > kLargestValue) return std::nullopt;
    CellValues values(cell, !domain.nullable);
    if (domain.type == Type::kInteger && value.integral && cell.exponent == 0) return values;
    if (domain.type != Type::kDouble || value.integral || cell.exponent > 960) return std::nullopt;
    StepSum sum{round_up(*value.lower), round_down(*value.upper), cell.exponent, std::nullopt};
    if (values.null_is_lower_) sum.for_null = sum.lower;
    if (sum.lower > sum.upper) return std::nullopt;
    values.rounding_.emplace(sum);
    return values;
  }

  /// Calls add(i, steps) for the rows that have a value, and miss(i) for the others.
  template <class Add, class Miss>
  void each(const BatchColumn& column, Add add, Miss miss) const {
    if (rounding_) {
      const StepRounding rounding = *rounding_;
      each_or_null(column, column.reals, std::nan(""), [&](std::size_t i, double x) {
        bool there = false;
        rounding(x, [&](std::int64_t steps) {
          add(i, steps);
          there = true;
        });
        if (!there) miss(i);
      });
    } else if (null_is_lower_ || column.valid.empty()) {
      each_or_null(column, column.integers, lower_,
                   [&](std::size_t i, std::int64_t x) { add(i, std::clamp(x, lower_, upper_)); });
    } else {
      for (std::size_t i = 0; i < column.integers.size(); ++i) {
        column.valid[i] == 0 ? miss(i) : add(i, std::clamp(column.integers[i], lower_, upper_));
      }
    }
  }

 private:
  CellValues(const CellSpec& cell, bool null_is_lower)
      : lower_(cell.lower), upper_(cell.upper), null_is_lower_(null_is_lower) {}

  template <class T, class Take>
  static void each_or_null(const BatchColumn& column, std::span<const T> values, T null,
                           Take take) {
    if (column.valid.empty()) {
      for (std::size_t i = 0; i < values.size(); ++i) take(i, values[i]);
    } else {
      for (std::size_t i = 0; i < values.size(); ++i)
        take(i, column.valid[i] == 0 ? null : values[i]);
    }
  }

  std::int64_t lower_, upper_;
  bool null_is_lower_;
  std::optional<StepRounding> rounding_;
};

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
  /// Whether the plan asks for nothing but sums of columns of one table that a source scans, or for rows by the one
  /// column that it counts.
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
          from ? CellValues::of(cell, plan.values[cell.value], from->column.domain) : std::nullopt;
      if (!values) return false;
      columns.push_back(*from);
      cells_.push_back(*values);
    }
    return is_counted(columns, source, options.progress) || is_scanned(columns, source, options);
  }

  LargeVector<WideInteger> run(const SqlQuery::Options& options, const MeasurementDesign& design) {
    const Plan& plan = options.plan;
    std::vector<Tally> tallies(std::max<std::size_t>(streams_.size(), 1));
    for (Tally& tally : tallies) {
      tally.rows.resize(code_count_);
      tally.cells.resize(cells_.size(), {tally.rows, tally.rows});
      tally.dictionaries.resize(keys_.size());
    }
    if (counted_) count(counted_->batch(type_), counted_->counts.counts, tallies[0]);
    if (!counted_) scan(options.progress, tallies);
    LargeVector<WideInteger> sums(design.groups * design.measures.size());
    for (std::size_t code = 0; code < code_count_; ++code) {
      const std::uint32_t group = group_of(code, plan);
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
  bool is_counted(const std::vector<DeclaredColumn>& columns, Source& source,
                  const Progress& progress) {
    if (columns.size() != 1) return false;
    const ColumnSchema& column = columns[0].column;
    auto counted = source.value_counts(columns[0].table, column.name, column.domain.type, progress);
    if (!counted) return false;
    type_ = column.domain.type;
    counted_.emplace(std::move(*counted));
    return true;
  }

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

  void scan(const Progress& progress, std::vector<Tally>& tallies) {
    std::atomic<bool> failed = false;
    on_threads(static_cast<unsigned>(streams_.size()), [&](unsigned i) {
      ProgressTicks ticks(progress);
      try {
        for (Batch batch; !failed && streams_[i]->next(batch);) {
          count(batch, {}, tallies[i]);
          if (i == 0) ticks.tell(streams_[i]->progress());
        }
      } catch (...) {
        failed = true;  // the others need not go on
        throw;
      }
    });
  }

  void count(const Batch& batch, std::span<const std::uint64_t> weights, Tally& tally) const {
    tally.codes.resize(batch.rows);
    const std::span<std::uint32_t> codes = tally.codes;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      keys_[k].fold(batch.columns[k], k == 0, tally.dictionaries[k], codes);
    }
    std::int64_t* const rows = tally.rows.data();
    if (weights.empty()) {
      for (const std::uint32_t code : codes) ++rows[code];
    } else {
      for (std::size_t i = 0; i < codes.size(); ++i)
        rows[codes[i]] += static_cast<std::int64_t>(weights[i]);
    }
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      std::int64_t* const sums = tally.cells[c].sums.data();
      std::int64_t* const missing = tally.cells[c].missing.data();
      cells_[c].each(
          batch.columns[keys_.size() + c],
          [&](std::size_t i, std::int64_t steps) { sums[codes[i]] += steps; },
          [&](std::size_t i) { ++missing[codes[i]]; });
    }
  }

  std::uint32_t group_of(std::size_t code, const Plan& plan) const {
    std::uint32_t group = 0, scale = 1;
    for (std::size_t k = keys_.size(); k-- > 0;) {
      const std::uint32_t position = keys_[k].position(code % keys_[k].size());
      if (position == UnitRows::kNoGroup) return position;
      group += position * scale;
      scale *= static_cast<std::uint32_t>(plan.keys[k].domain->size());
      code /= keys_[k].size();
    }
    return group;
  }

  static WideInteger measured(const Measure& measure, const Tally& tally, std::size_t code) {
    const std::uint32_t all = cells_of(measure) | measure.present;
    if (all == 0) return tally.rows[code];
    const Tally::Cell& own = tally.cells[static_cast<std::size_t>(std::countr_zero(all))];
    const std::int64_t rows = tally.rows[code] - own.missing[code];
    if (measure.factors.empty()) return rows;
    return own.sums[code] - rows * (WideInteger{measure.factors[0].centre} + measure.offset);
  }

  std::size_t code_count_ = 1;
  std::vector<KeyCodes> keys_;
  std::vector<CellValues> cells_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::optional<CountedValues> counted_;
  Type type_ = Type::kInteger;  ///< of what was counted
};

}  // namespace

LargeVector<WideInteger> held_sums(const SqlQuery::Options& options,
                                   const MeasurementDesign& design, Source& source) {
  HeldSums sums;
  if (!sums.prepare(options, design, source)) return {};
  return sums.run(options, design);
}

}  // namespace gauze::internal
