#include <algorithm>
#include <bit>
#include <chrono>

#include "gauze/base/error.h"
#include "gauze/query/sql_query_internal.h"

namespace gauze::internal {
namespace {

std::string name_of(char kind, std::size_t i) {
  return kind + std::to_string(i);
}

/// What a cell is in SQL: whole steps, or the value as it is.
std::string cell_sql(const CellSpec& cell, const Plan& plan, const Dialect& dialect) {
  const std::string value = name_of('v', cell.value);
  const ValueColumn& column = plan.values[cell.value];
  if (cell.identity) return value;
  // The range was proved; this is the second line of defence, for the noise is sized by it.
  const Type type = column.integral ? Type::kInteger : Type::kDouble;
  const std::string bounded = dialect.clamp(value, type, *column.lower, *column.upper);
  return column.integral && cell.exponent == 0 ? bounded
                                               : dialect.steps(bounded, type, cell.exponent);
}

std::string keys_sql(const Plan& plan, const char* end) {
  std::string text;
  for (std::size_t k = 0; k < plan.keys.size(); ++k) text += name_of('k', k) + end;
  return text;
}

/// (SELECT k0, ..., c0, ... FROM rows), with the unit where there is one.
std::string cells_sql(const Plan& plan, const MeasurementDesign& design, Source& source) {
  std::string list = plan.unit_is_row ? "" : "u, ";
  list += keys_sql(plan, ", ");
  for (std::size_t c = 0; c < design.cells.size(); ++c) {
    list += cell_sql(design.cells[c], plan, source.dialect()) + " AS " + name_of('c', c) + ", ";
  }
  if (list.empty()) list = "1 AS one, ";
  list.resize(list.size() - 2);
  return "SELECT " + list + " FROM (" + rows_sql(plan, source) + ") AS r";
}

std::string minus(const std::string& x, std::int64_t centre) {
  if (centre == 0) return x;
  return "(" + x + (centre < 0 ? " + " : " - ") +
         std::to_string(centre < 0 ? 0 - static_cast<std::uint64_t>(centre)
                                   : static_cast<std::uint64_t>(centre)) +
         ")";
}

std::string count_sql(std::uint32_t present) {
  std::string condition;
  for (std::uint32_t c = 0; c < 32; ++c) {
    if (present >> c & 1) {
      condition += (condition.empty() ? "" : " AND ") + name_of('c', c) + " IS NOT NULL";
    }
  }
  if (condition.empty()) return "COUNT(*)";
  if (std::has_single_bit(present)) {
    return "COUNT(" + name_of('c', static_cast<std::size_t>(std::countr_zero(present))) + ")";
  }
  return "COUNT(CASE WHEN " + condition + " THEN 1 END)";
}

/// Sums of one factor are centred afterwards, by the count of its rows: an operation less per row.
bool is_centred_afterwards(const Measure& measure) {
  return measure.factors.size() == 1 && measure.factors[0].centre != 0;
}

std::uint32_t cells_of(const Measure& measure) {
  std::uint32_t cells = 0;
  for (const Measure::Factor& factor : measure.factors) cells |= std::uint32_t{1} << factor.cell;
  return cells;
}

/// The aggregates that compute a measure where every row is a unit; `measure_at` reads them.
std::string measure_sql(const Measure& measure, const Dialect& dialect) {
  if (measure.factors.empty()) return count_sql(measure.present);
  std::string product, condition;
  for (const Measure::Factor& factor : measure.factors) {
    const std::string cell = name_of('c', factor.cell);
    product += (product.empty() ? "" : " * ") +
               (is_centred_afterwards(measure) ? cell : minus(cell, factor.centre));
  }
  const std::uint32_t others = measure.present & ~cells_of(measure);  // a null factor makes null
  for (std::uint32_t c = 0; c < 32; ++c) {
    if (others >> c & 1) {
      condition += (condition.empty() ? "" : " AND ") + name_of('c', c) + " IS NOT NULL";
    }
  }
  std::string value = minus(product, measure.offset);
  if (!condition.empty()) value = "CASE WHEN " + condition + " THEN " + value + " END";
  const std::string sum = dialect.integer_sum(value);
  if (!is_centred_afterwards(measure)) return sum;
  return sum + ", " + count_sql(measure.present | cells_of(measure));
}

WideInteger parse_wide(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  WideInteger value = 0;
  for (const char c : text.substr(negative ? 1 : 0)) {
    if (c < '0' || c > '9') break;
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

WideInteger wide_at(const BatchColumn& column, std::size_t row) {
  if (column.is_null(row)) return 0;
  if (column.kind == BatchColumn::Kind::kTexts) return parse_wide(column.texts[row]);
  return column.integers[row];
}

/// What `measure_sql` computed, from column `at` on, which moves behind it.
WideInteger measure_at(const Measure& measure, const Batch& batch, std::size_t row,
                       std::size_t& at) {
  const WideInteger sum = wide_at(batch.columns[at++], row);
  if (!is_centred_afterwards(measure)) return sum;
  return sum - measure.factors[0].centre * wide_at(batch.columns[at++], row);
}

/// Calls back at most twenty times a second.
class Ticker {
 public:
  explicit Ticker(const Progress& progress) : progress_(progress) {}
  void tick(const Stream& stream) {
    if (!progress_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    progress_(stream.progress());
  }

 private:
  const Progress& progress_;
  std::chrono::steady_clock::time_point last_;
};

/// The cells of a batch as integers within their public ranges, whatever the source sent.
class CellReader {
 public:
  explicit CellReader(const MeasurementDesign& design)
      : design_(design), values_(design.cells.size()) {}

  void read(const Batch& batch, std::size_t first, const BoundedAggregate& aggregate,
            std::vector<UnitRows::Cell>& cells) {
    cells.resize(design_.cells.size());
    for (std::size_t c = 0; c < design_.cells.size(); ++c) {
      const BatchColumn& column = batch.columns[first + c];
      const CellSpec& spec = design_.cells[c];
      std::vector<std::int64_t>& values = values_[c];
      values.resize(batch.rows);
      switch (column.kind) {
        case BatchColumn::Kind::kIntegers:
          for (std::size_t i = 0; i < batch.rows; ++i) {
            values[i] = std::clamp(column.integers[i], spec.lower, spec.upper);
          }
          break;
        case BatchColumn::Kind::kReals:
          for (std::size_t i = 0; i < batch.rows; ++i) {
            const double x = column.reals[i] == 0 ? 0.0 : column.reals[i];
            values[i] = std::clamp(std::bit_cast<std::int64_t>(x), spec.lower, spec.upper);
          }
          break;
        case BatchColumn::Kind::kTexts:
          for (std::size_t i = 0; i < batch.rows; ++i) {
            values[i] = column.is_null(i) ? 0 : aggregate.identity(column.texts[i]);
          }
          break;
      }
      cells[c] = {values, column.valid};
    }
  }

 private:
  const MeasurementDesign& design_;
  std::vector<std::vector<std::int64_t>> values_;
};

}  // namespace

std::string unit_rows_sql(const Plan& plan, const MeasurementDesign& design, Source& source) {
  return cells_sql(plan, design, source);
}

std::string group_sums_sql(const Plan& plan, const MeasurementDesign& design, Source& source) {
  std::string list = keys_sql(plan, ", ") + "COUNT(*)";
  for (const Measure& measure : design.measures) {
    list += ", " + measure_sql(measure, source.dialect());
  }
  for (const Sample& sample : design.samples) {
    if (sample.distinct) list += ", COUNT(DISTINCT " + name_of('c', sample.cell) + ")";
  }
  std::string text = "SELECT " + list + " FROM (" + cells_sql(plan, design, source) + ") AS cells";
  std::string keys = keys_sql(plan, ", ");
  if (!keys.empty()) text += " GROUP BY " + keys.substr(0, keys.size() - 2);
  return text;
}

GroupTruth read_units(const SqlQuery::Options& options, const MeasurementDesign& design,
                      Source& source, GroupIndex& index, BitSource& bits) {
  const Plan& plan = options.plan;
  const std::unique_ptr<Stream> stream = source.execute(unit_rows_sql(plan, design, source));
  std::unique_ptr<BoundedAggregate> aggregate;
  const auto start = [&](bool text_units) {
    aggregate = std::make_unique<BoundedAggregate>(
        BoundedAggregate::Options{.bounds = design.bounds,
                                  .cells = static_cast<std::uint32_t>(design.cells.size()),
                                  .measures = design.measures,
                                  .samples = design.samples,
                                  .text_units = text_units,
                                  .unit_keys = design.groups == 0,
                                  .memory = options.memory,
                                  .threads = options.threads},
        bits);
  };
  Ticker ticker(options.progress);
  CellReader reader(design);
  std::vector<std::uint32_t> groups;
  UnitRows rows;
  for (Batch batch; stream->next(batch);) {
    ticker.tick(*stream);
    const BatchColumn& unit = batch.columns[0];
    if (!aggregate) start(unit.kind == BatchColumn::Kind::kTexts);
    index.assign(batch, 1, groups);
    reader.read(batch, 1 + plan.keys.size(), *aggregate, rows.cells);
    rows.rows = batch.rows;
    rows.integer_units = unit.integers;
    rows.text_units = unit.texts;
    rows.unit_valid = unit.valid;
    rows.groups = groups;
    aggregate->add(rows);
  }
  if (!aggregate) start(false);

  GroupTruth truth;
  truth.groups = index.size();
  std::vector<std::uint64_t> tags;
  if (design.groups == 0) {
    for (std::uint32_t g = 0; g < truth.groups; ++g) {
      tags.push_back(aggregate->tag(index.content(g)));
    }
  }
  truth.totals = aggregate->finish(truth.groups, tags);
  for (std::size_t s = 0; s < design.samples.size(); ++s) {
    truth.distinct.emplace_back();
    if (!design.samples[s].distinct) continue;
    const std::vector<std::uint64_t>& offsets = truth.totals.samples[s].offsets;
    for (std::size_t g = 0; g < truth.groups; ++g) {
      truth.distinct[s].push_back(static_cast<WideInteger>(offsets[g + 1] - offsets[g]));
    }
  }
  return truth;
}

namespace {

/// How often each value of a cell occurs in each group, as sorted values.
GroupedValues read_values(const Plan& plan, const MeasurementDesign& design, std::uint32_t cell,
                          Source& source, GroupIndex& index, std::size_t group_count,
                          const Progress& progress) {
  const std::string column = name_of('c', cell);
  const std::string by = keys_sql(plan, ", ") + column;
  const auto stream =
      source.execute("SELECT " + by + ", COUNT(*) FROM (" + cells_sql(plan, design, source) +
                     ") AS cells WHERE " + column + " IS NOT NULL GROUP BY " + by);
  Ticker ticker(progress);
  const CellSpec& spec = design.cells[cell];
  std::vector<std::vector<std::int64_t>> lists(group_count);
  std::vector<std::uint32_t> groups;
  for (Batch batch; stream->next(batch);) {
    ticker.tick(*stream);
    index.assign(batch, 0, groups);
    for (std::size_t i = 0; i < batch.rows; ++i) {
      if (groups[i] >= group_count) continue;  // none, or new since the sums were read
      const std::int64_t value =
          std::clamp(batch.columns[plan.keys.size()].integers[i], spec.lower, spec.upper);
      const auto copies = static_cast<std::size_t>(batch.columns[plan.keys.size() + 1].integers[i]);
      lists[groups[i]].insert(lists[groups[i]].end(), copies, value);
    }
  }
  GroupedValues result;
  result.offsets.push_back(0);
  for (std::vector<std::int64_t>& list : lists) {
    std::sort(list.begin(), list.end());
    result.values.insert(result.values.end(), list.begin(), list.end());
    result.offsets.push_back(result.values.size());
    list = {};
  }
  return result;
}

}  // namespace

GroupTruth read_sums(const SqlQuery::Options& options, const MeasurementDesign& design,
                     Source& source, GroupIndex& index) {
  const Plan& plan = options.plan;
  const auto stream = source.execute(group_sums_sql(plan, design, source));
  Ticker ticker(options.progress);
  const std::size_t measures = design.measures.size();
  GroupTruth truth;
  truth.totals.measures = measures;
  truth.distinct.resize(design.samples.size());
  std::vector<std::uint64_t> rows;
  const auto fit = [&] {
    truth.groups = index.size();
    rows.resize(truth.groups);
    truth.totals.sums.resize(truth.groups * measures);
    for (std::size_t s = 0; s < design.samples.size(); ++s) {
      if (design.samples[s].distinct) truth.distinct[s].resize(truth.groups);
    }
  };
  fit();
  std::vector<std::uint32_t> groups;
  for (Batch batch; stream->next(batch);) {
    ticker.tick(*stream);
    index.assign(batch, 0, groups);
    fit();
    for (std::size_t i = 0; i < batch.rows; ++i) {
      const std::uint32_t g = groups[i];
      if (g == UnitRows::kNoGroup) continue;
      std::size_t column = plan.keys.size();
      rows[g] += static_cast<std::uint64_t>(wide_at(batch.columns[column++], i));
      for (std::size_t m = 0; m < measures; ++m) {
        truth.totals.sums[g * measures + m] += measure_at(design.measures[m], batch, i, column);
      }
      for (std::size_t s = 0; s < design.samples.size(); ++s) {
        if (design.samples[s].distinct) truth.distinct[s][g] += wide_at(batch.columns[column++], i);
      }
    }
  }
  for (const Sample& sample : design.samples) {
    truth.totals.samples.push_back(sample.distinct
                                       ? GroupedValues{}
                                       : read_values(plan, design, sample.cell, source, index,
                                                     truth.groups, options.progress));
  }
  if (design.groups == 0) {
    // Every row is a unit with one key.
    UnitKeys& units = truth.totals.unit_keys;
    units.key_count = static_cast<std::uint32_t>(truth.groups);
    for (std::uint32_t g = 0; g < truth.groups; ++g) {
      units.keys.insert(units.keys.end(), rows[g], g);
    }
    for (std::uint64_t i = 0; i <= units.keys.size(); ++i) units.offsets.push_back(i);
  }
  return truth;
}

}  // namespace gauze::internal
