#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "gauze/base/on_threads.h"
#include "gauze/base/words.h"
#include "gauze/data/normalise.h"
#include "gauze/data/step_sum.h"
#include "gauze/data/table.h"
#include "gauze/query/relation_internal.h"
#include "gauze/query/sql_query_internal.h"

// What the SQL of `group_sums` computes, from columns of a table in memory, or from counts of a column's values: one cell of memory for each combination of keys,
// found by arithmetic, instead of a hash table.

namespace gauze::internal {
namespace {

constexpr std::size_t kBlockRows = 2048;
/// Work for less is done before another thread has started.
constexpr std::size_t kRowsPerThread = std::size_t{1} << 17;
constexpr std::size_t kMostCodes = std::size_t{1} << 20;
/// Sums of so many rows and so large values have 64 bits.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 32;
constexpr std::int64_t kLargestValue = std::int64_t{1} << 31;

/// A column of a table in memory, with what its schema promises.
struct Shown {
  const Column* column;
  const Domain* domain;
};

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

/// The same of a table in memory.
std::optional<Shown> shown(const RelationPtr& relation, std::size_t i, Source& source) {
  const auto from = declared_column(relation, i);
  const Table* table = from ? source.held(from->table) : nullptr;
  if (!table || table->rows() >= kMostRows) return std::nullopt;
  for (std::size_t c = 0; c < table->names().size(); ++c) {
    if (same_name(table->names()[c], from->column.name)) {
      return Shown{&table->columns()[c], &from->column.domain};
    }
  }
  return std::nullopt;
}

/// Rows in memory of which each stands for many.
struct WeightedRows {
  Column values;
  std::vector<std::uint64_t> weights;

  WeightedRows(Type type, ValueCounts counted) : weights(std::move(counted.counts)) {
    std::vector<std::uint8_t> valid(weights.size(), 1);
    valid.push_back(0);
    weights.push_back(counted.nulls);
    if (type == Type::kText) {
      std::vector<std::string_view> texts(counted.texts.begin(), counted.texts.end());
      texts.emplace_back();
      values = Column::of_texts(texts, valid);
    } else {
      counted.integers.push_back(0);
      values = Column::of_integers(type, std::move(counted.integers), valid);
    }
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

  static std::optional<KeyCodes> of(const KeyColumn& key, const Shown& from) {
    if (!exist(key, *from.domain) || from.domain->type != from.column->type()) return std::nullopt;
    KeyCodes codes(*from.column);
    key.type == Type::kText ? codes.take_texts(key, *from.domain)
                            : codes.take_range(key, *from.domain);
    return codes;
  }

  std::size_t size() const { return positions_.size(); }
  /// In the domain of the key; kNoGroup for what has no group.
  std::uint32_t position(std::size_t code) const { return positions_[code]; }
  bool is_range_without_nulls() const { return !texts_ && !column_->has_nulls(); }
  std::span<const std::int64_t> integers() const { return column_->integers(); }

  std::uint32_t code(std::int64_t x) const {
    const std::uint64_t above = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(lower_);
    if (above <= last_) return static_cast<std::uint32_t>(above);
    return x < lower_ ? 0 : last_;
  }

  /// codes = codes * size + code, of the rows from `from` on.
  void fold(std::size_t from, std::span<std::uint32_t> codes) const {
    const auto size = static_cast<std::uint32_t>(positions_.size());
    const auto each = [&](auto code_at) {
      for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = codes[i] * size + code_at(from + i);
    };
    const auto or_null = [&](auto code_at) {
      return [&, code_at](std::size_t row) { return column_->is_null(row) ? null_ : code_at(row); };
    };
    const auto number = [&](std::size_t row) { return code(column_->integers()[row]); };
    const auto text = [&](std::size_t row) {
      return code_of_text_[static_cast<std::size_t>(column_->codes()[row])];
    };
    const bool nulls = column_->has_nulls();
    if (texts_) nulls ? each(or_null(text)) : each(text);
    if (!texts_) nulls ? each(or_null(number)) : each(number);
  }

 private:
  explicit KeyCodes(const Column& column) : column_(&column) {}

  static std::uint64_t last_of(const Domain& domain) {
    return static_cast<std::uint64_t>(std::get<std::int64_t>(*domain.upper)) -
           static_cast<std::uint64_t>(std::get<std::int64_t>(*domain.lower));
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
    texts_ = true;
    const auto nowhere = static_cast<std::uint32_t>(key.domain->size());
    std::uint32_t null_place = nowhere;
    std::unordered_map<std::string_view, std::uint32_t> places;
    for (std::uint32_t p = 0; p < nowhere; ++p) {
      positions_.push_back(p);
      const auto* text = std::get_if<std::string>(&(*key.domain)[p]);
      text ? places[*text] = p : null_place = p;
    }
    positions_.push_back(UnitRows::kNoGroup);
    const auto place = [&](std::string_view text, std::uint32_t otherwise) {
      const auto found = places.find(text);
      return found == places.end() ? otherwise : found->second;
    };
    null_ = null_place;
    if (!domain.nullable) null_ = place(std::get<std::string>(null_substitute(domain)), nowhere);
    const std::uint32_t other =
        domain.fallback ? place(std::get<std::string>(*domain.fallback), nowhere) : null_;
    for (const std::string_view text : column_->dictionary()) {
      code_of_text_.push_back(place(text, other));
    }
  }

  const Column* column_;
  std::int64_t lower_ = 0;
  std::uint32_t last_ = 0;
  bool texts_ = false;
  std::vector<std::uint32_t> code_of_text_;
  std::uint32_t null_ = 0;
  std::vector<std::uint32_t> positions_;
};

/// A cell of the design that is a column in whole steps.
class CellValues {
 public:
  static std::optional<CellValues> of(const CellSpec& cell, const ValueColumn& value,
                                      const Shown& from) {
    const Domain& domain = *from.domain;
    if (cell.identity || domain.type != from.column->type() || !domain.lower || domain.categories) {
      return std::nullopt;
    }
    if (exact(*domain.lower) != *value.lower || exact(*domain.upper) != *value.upper) {
      return std::nullopt;
    }
    if (cell.lower < -kLargestValue || cell.upper > kLargestValue) return std::nullopt;
    CellValues values(*from.column, cell);
    values.null_is_lower_ = !domain.nullable;
    if (domain.type == Type::kInteger && value.integral && cell.exponent == 0) return values;
    if (domain.type != Type::kDouble || value.integral || cell.exponent > 960) return std::nullopt;
    StepSum sum{round_up(*value.lower), round_down(*value.upper), cell.exponent, std::nullopt};
    if (values.null_is_lower_) sum.for_null = sum.lower;
    if (sum.lower > sum.upper) return std::nullopt;
    values.rounding_.emplace(sum);
    return values;
  }

  /// Calls add(i, steps) for the rows from + i that have a value.
  template <class Add>
  void each(std::size_t from, std::size_t rows, Add add) const {
    const bool nulls = column_->has_nulls();
    for (std::size_t i = 0; i < rows; ++i) {
      const bool null = nulls && column_->is_null(from + i);
      if (rounding_) {
        (*rounding_)(null ? std::nan("") : column_->reals()[from + i],
                     [&](std::int64_t steps) { add(i, steps); });
      } else if (!null) {
        add(i, std::clamp(column_->integers()[from + i], lower_, upper_));
      } else if (null_is_lower_) {
        add(i, lower_);
      }
    }
  }

 private:
  CellValues(const Column& column, const CellSpec& cell)
      : column_(&column), lower_(cell.lower), upper_(cell.upper) {}

  const Column* column_;
  std::int64_t lower_, upper_;
  bool null_is_lower_ = false;
  std::optional<StepRounding> rounding_;
};

/// What one thread has added up, by code.
struct Tally {
  struct Sum {
    std::int64_t sum = 0, rows = 0;
  };
  std::vector<std::int64_t> rows;
  std::vector<std::vector<Sum>> cells;
};

class HeldSums {
 public:
  /// Whether the plan asks for nothing but sums of columns of one table that lies in memory, or for rows by the
  /// one column that a source counts.
  bool prepare(const Plan& plan, const MeasurementDesign& design, Source& source,
               const Progress& progress) {
    if (design.groups == 0 || !design.samples.empty() || plan.keys.empty()) return false;
    const bool simple =
        std::all_of(design.measures.begin(), design.measures.end(), [](const Measure& measure) {
          const std::uint32_t all = cells_of(measure) | measure.present;
          return measure.factors.size() <= 1 && (all == 0 || std::has_single_bit(all)) &&
                 (measure.offset == 0 || !measure.factors.empty());
        });
    if (!simple) return false;
    if (plan.keys.size() == 1 && design.cells.empty() && is_counted(plan, source, progress)) {
      return true;
    }
    for (std::size_t k = 0; k < plan.keys.size(); ++k) {
      const auto from = shown(plan.rows, k, source);
      auto codes = from ? KeyCodes::of(plan.keys[k], *from) : std::nullopt;
      if (!codes) return false;
      rows_ = from->column->size();
      code_count_ *= codes->size();
      if (code_count_ > kMostCodes) return false;
      keys_.push_back(std::move(*codes));
    }
    for (const CellSpec& cell : design.cells) {
      const auto from = shown(plan.rows, plan.keys.size() + cell.value, source);
      const auto values =
          from ? CellValues::of(cell, plan.values[cell.value], *from) : std::nullopt;
      if (!values) return false;
      cells_.push_back(*values);
    }
    return true;
  }

  LargeVector<WideInteger> run(const Plan& plan, const MeasurementDesign& design,
                               unsigned threads) const {
    const auto used = static_cast<unsigned>(
        std::min<std::size_t>(thread_count(threads), 1 + rows_ / kRowsPerThread));
    std::vector<Tally> tallies(used);
    on_threads(used, [&](unsigned i) {
      tallies[i].rows.resize(code_count_);
      tallies[i].cells.resize(cells_.size(), std::vector<Tally::Sum>(code_count_));
      count(rows_ * i / used, rows_ * (i + 1) / used, tallies[i]);
    });
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
  bool is_counted(const Plan& plan, Source& source, const Progress& progress) {
    const auto from = declared_column(plan.rows, 0);
    if (!from || source.held(from->table)) return false;
    const ColumnSchema& column = from->column;
    if (!KeyCodes::exist(plan.keys[0], column.domain)) return false;
    auto counted = source.value_counts(from->table, column.name, column.domain.type, progress);
    if (!counted) return false;
    weighted_.emplace(column.domain.type, std::move(*counted));
    keys_.push_back(*KeyCodes::of(plan.keys[0], {&weighted_->values, &column.domain}));
    rows_ = weighted_->weights.size();
    code_count_ = keys_[0].size();
    return true;
  }

  void count(std::size_t from, std::size_t to, Tally& tally) const {
    if (!weighted_ && keys_.size() == 1 && cells_.empty() && keys_[0].is_range_without_nulls()) {
      const std::span<const std::int64_t> numbers = keys_[0].integers();
      const KeyCodes key = keys_[0];
      std::int64_t* rows = tally.rows.data();
      for (std::size_t i = from; i < to; ++i) ++rows[key.code(numbers[i])];
      return;
    }
    std::array<std::uint32_t, kBlockRows> buffer;
    for (; from < to; from += kBlockRows) {
      const std::span<std::uint32_t> codes(buffer.data(), std::min(kBlockRows, to - from));
      std::fill(codes.begin(), codes.end(), 0);
      for (const KeyCodes& key : keys_) key.fold(from, codes);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        tally.rows[codes[i]] +=
            weighted_ ? static_cast<std::int64_t>(weighted_->weights[from + i]) : 1;
      }
      for (std::size_t c = 0; c < cells_.size(); ++c) {
        Tally::Sum* sums = tally.cells[c].data();
        cells_[c].each(from, codes.size(), [&](std::size_t i, std::int64_t steps) {
          Tally::Sum& own = sums[codes[i]];
          own.sum += steps;
          ++own.rows;
        });
      }
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
    const Tally::Sum& own = tally.cells[static_cast<std::size_t>(std::countr_zero(all))][code];
    if (measure.factors.empty()) return own.rows;
    return own.sum - own.rows * (WideInteger{measure.factors[0].centre} + measure.offset);
  }

  std::size_t rows_ = 0, code_count_ = 1;
  std::optional<WeightedRows> weighted_;
  std::vector<KeyCodes> keys_;
  std::vector<CellValues> cells_;
};

}  // namespace

LargeVector<WideInteger> held_sums(const SqlQuery::Options& options,
                                   const MeasurementDesign& design, Source& source) {
  HeldSums sums;
  if (!sums.prepare(options.plan, design, source, options.progress)) return {};
  return sums.run(options.plan, design, options.threads);
}

}  // namespace gauze::internal
