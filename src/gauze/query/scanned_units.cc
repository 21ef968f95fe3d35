#include "gauze/base/words.h"
#include "gauze/query/scanned_units_internal.h"

namespace gauze::internal {
namespace {

constexpr std::int64_t kLargestStep = (std::int64_t{1} << 51) - 1;

/// The table that a relation shows columns of; nothing where it does more, or where units have no column.
const RelationNode* owned_table(const RelationPtr& relation) {
  const RelationNode* node = relation.get();
  while (node->kind == RelationNode::Kind::kProject) node = node->inputs[0].get();
  return node->kind == RelationNode::Kind::kScan && node->owner == Owner::kUnit ? node : nullptr;
}

/// Where it is not the unit's, which nothing is done to whatever the schema says.
std::optional<DeclaredColumn> column_of(const Plan& plan, std::size_t i,
                                        const RelationNode& table) {
  const auto from = declared_column(plan.rows, i);
  if (from && same_name(from->column.name, table.table.unit.column)) return std::nullopt;
  return from;
}

}  // namespace

std::optional<ScannedUnits> ScannedUnits::of(const SqlQuery::Options& options,
                                             const MeasurementDesign& design, bool by_key,
                                             Source& source) {
  const Plan& plan = options.plan;
  const RelationNode* table = owned_table(plan.rows);
  if (table == nullptr || (design.groups == 0 && !by_key)) return std::nullopt;
  ScannedUnits result;
  std::vector<ColumnInfo> wanted;
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    const ColumnSchema& column = table->table.columns[i];
    if (table->columns[i].is_unit) wanted.push_back({column.name, column.domain.type});
  }
  if (wanted.size() != 1 || wanted[0].type != plan.rows->unit_type) return std::nullopt;
  std::size_t codes = 1;
  for (std::size_t k = 0; k < plan.keys.size(); ++k) {
    const auto from = column_of(plan, k, *table);
    if (!from) return std::nullopt;
    const Domain& domain = from->column.domain;
    if (by_key) {
      if (domain.type != Type::kInteger || plan.keys[k].type != domain.type || domain.categories) {
        return std::nullopt;
      }
      result.number_ = &domain;
    } else {
      if (!KeyCodes::exist(plan.keys[k], domain)) return std::nullopt;
      result.keys_.emplace_back(plan.keys[k], domain);
      codes *= result.keys_.back().size();
      if (codes > kMostCodes) return std::nullopt;
    }
    wanted.push_back({from->column.name, domain.type});
  }
  for (const CellSpec& cell : design.cells) {
    const auto from = column_of(plan, plan.keys.size() + cell.value, *table);
    const auto values =
        from ? CellValues::of(cell, plan.values[cell.value], from->column.domain, kLargestStep)
             : std::nullopt;
    if (!values) return std::nullopt;
    result.cells_.push_back(*values);
    wanted.push_back({from->column.name, from->column.domain.type});
  }
  for (std::size_t code = 0; code < codes && !by_key; ++code) {
    result.group_of_code_.push_back(group_of(code, result.keys_, plan));
  }
  result.streams_ = source.scan(table->table.name, wanted, options.threads);
  if (result.streams_.empty()) return std::nullopt;
  return result;
}

void ScannedUnits::convert(const Batch& batch, Converted& converted, UnitRows& rows) const {
  if (number_ != nullptr) {
    converted.keys.resize(batch.rows);
    take_keys(batch.columns[1], converted);
  } else {
    converted.groups.resize(batch.rows);
    take_groups(batch, converted);
  }
  const std::size_t first = 1 + (number_ != nullptr ? 1 : keys_.size());
  converted.values.resize(cells_.size());
  converted.valid.resize(cells_.size());
  rows.cells.resize(cells_.size());
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    converted.values[c].resize(batch.rows);
    converted.valid[c].assign(batch.rows, 1);
    cells_[c].each(
        batch.columns[first + c],
        [&](std::size_t i, std::int64_t steps) { converted.values[c][i] = steps; },
        [&](std::size_t i) { converted.values[c][i] = converted.valid[c][i] = 0; });
    rows.cells[c] = {converted.values[c], converted.valid[c]};
  }
  rows.rows = batch.rows;
  rows.integer_units = batch.columns[0].integers;
  rows.text_units = batch.columns[0].texts;
  rows.unit_valid = batch.columns[0].valid;
  rows.groups = converted.groups;
  rows.keys = converted.keys;
}

void ScannedUnits::take_keys(const BatchColumn& column, Converted& converted) const {
  const auto end = [](const std::optional<Value>& value, std::int64_t otherwise) {
    return value ? std::get<std::int64_t>(*value) : otherwise;
  };
  const std::int64_t lower = end(number_->lower, INT64_MIN), upper = end(number_->upper, INT64_MAX);
  const std::int64_t for_null = number_->nullable
                                    ? GroupIndex::kNullNumber
                                    : std::get<std::int64_t>(null_substitute(*number_));
  bool lowest = false, null = false;
  for (std::size_t i = 0; i < converted.keys.size(); ++i) {
    const bool absent = column.is_null(i);
    const std::int64_t key = absent ? for_null : std::clamp(column.integers[i], lower, upper);
    converted.keys[i] = key;
    null |= absent;
    lowest |= !absent && key == GroupIndex::kNullNumber;
  }
  converted.ends.null |= null && number_->nullable;
  converted.ends.lowest |= lowest || (null && !number_->nullable && for_null == INT64_MIN);
}

void ScannedUnits::take_groups(const Batch& batch, Converted& converted) const {
  converted.dictionaries.resize(keys_.size());
  if (keys_.empty()) std::fill(converted.groups.begin(), converted.groups.end(), 0);
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    keys_[k].fold(batch.columns[1 + k], k == 0, converted.dictionaries[k], converted.groups);
  }
  for (std::uint32_t& code : converted.groups) code = group_of_code_[code];
}

}  // namespace gauze::internal
