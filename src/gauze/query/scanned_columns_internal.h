#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gauze/data/normalise.h"
#include "gauze/data/source.h"
#include "gauze/data/step_sum.h"
#include "gauze/query/bounded_aggregate.h"
#include "gauze/query/measurement.h"
#include "gauze/query/relation_internal.h"

// Keys and cells of a plan from columns that a source hands out as they are stored: what SQL makes of them, without SQL.

namespace gauze::internal {

constexpr std::size_t kMostCodes = std::size_t{1} << 20;

/// A column of a table as its schema has it.
struct DeclaredColumn {
  const std::string& table;
  const ColumnSchema& column;
};

/// What column `i` of a relation shows, where that is a column of a table as it is.
inline std::optional<DeclaredColumn> declared_column(const RelationPtr& relation, std::size_t i) {
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

  /// The codes of a dictionary, of one stream; empty before its first batch.
  using Dictionary = std::vector<std::uint32_t>;

  /// Calls take(row, code) for each row.
  template <class Take>
  void each(const BatchColumn& column, Dictionary& known, std::size_t rows, Take take) const {
    const auto each_or_null = [&](auto code_at) {
      if (column.valid.empty()) {
        for (std::size_t i = 0; i < rows; ++i) take(i, code_at(i));
      } else {
        for (std::size_t i = 0; i < rows; ++i) take(i, column.valid[i] == 0 ? null_ : code_at(i));
      }
    };
    if (column.kind == BatchColumn::Kind::kIntegers) {
      each_or_null([&](std::size_t row) { return code(column.integers[row]); });
    } else if (column.codes.empty()) {
      each_or_null([&](std::size_t row) { return code(column.texts[row]); });
    } else {
      if (known.empty())
        for (const std::string_view text : column.dictionary) known.push_back(code(text));
      each_or_null([&](std::size_t row) { return known[column.codes[row]]; });
    }
  }

  /// codes = codes * size + code; for the first of the keys, codes = code.
  void fold(const BatchColumn& column, bool is_first, Dictionary& known,
            std::span<std::uint32_t> codes) const {
    const auto size = static_cast<std::uint32_t>(positions_.size());
    if (is_first) {
      each(column, known, codes.size(),
           [&](std::size_t i, std::uint32_t code) { codes[i] = code; });
    } else {
      each(column, known, codes.size(),
           [&](std::size_t i, std::uint32_t code) { codes[i] = codes[i] * size + code; });
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
  /// Nothing where it is more than a column, or where steps may exceed `largest`, below 2^51.
  static std::optional<CellValues> of(const CellSpec& cell, const ValueColumn& value,
                                      const Domain& domain, std::int64_t largest) {
    if (cell.identity || !domain.lower || domain.categories) return std::nullopt;
    if (domain.type != Type::kInteger && domain.type != Type::kDouble) return std::nullopt;
    if (exact(*domain.lower) != *value.lower || exact(*domain.upper) != *value.upper) {
      return std::nullopt;
    }
    if (cell.lower < -largest || cell.upper > largest) return std::nullopt;
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

/// The group of a combination of codes, the last key's counting fastest; kNoGroup for what has none.
inline std::uint32_t group_of(std::size_t code, const std::vector<KeyCodes>& keys,
                              const Plan& plan) {
  std::uint32_t group = 0, scale = 1;
  for (std::size_t k = keys.size(); k-- > 0;) {
    const std::uint32_t position = keys[k].position(code % keys[k].size());
    if (position == UnitRows::kNoGroup) return position;
    group += position * scale;
    scale *= static_cast<std::uint32_t>(plan.keys[k].domain->size());
    code /= keys[k].size();
  }
  return group;
}

}  // namespace gauze::internal
