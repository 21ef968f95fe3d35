#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <future>
#include <mutex>
#include <optional>

#include "gauze/base/error.h"
#include "gauze/base/on_threads.h"
#include "gauze/query/groupable_rows_internal.h"
#include "gauze/query/read_ahead_internal.h"
#include "gauze/query/scanned_units_internal.h"
#include "gauze/query/sql_query_internal.h"

namespace gauze::internal {
namespace {

std::string name_of(char kind, std::size_t i) {
  return kind + std::to_string(i);
}

/// Beyond it twice the largest double would be needed for rounding.
constexpr int kMostExponent = 960;

/// What a cell is in SQL: whole steps, or the value as it is. `confined`: the value was moved into its
/// range last of all.
std::string cell_sql(const CellSpec& cell, const Plan& plan, const Dialect& dialect,
                     bool confined = false) {
  const std::string value = name_of('v', cell.value);
  const ValueColumn& column = plan.values[cell.value];
  if (cell.identity) return value;
  // The range was proved; this is the second line of defence, for the noise is sized by it.
  const Type type = column.integral ? Type::kInteger : Type::kDouble;
  const std::string bounded =
      confined ? value : dialect.clamp(value, type, *column.lower, *column.upper);
  if (column.integral && cell.exponent == 0) return bounded;
  if (column.integral || cell.exponent > kMostExponent) {
    return dialect.steps(bounded, type, cell.exponent);
  }
  return dialect.nearest_steps(bounded, cell.exponent);
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

/// How many rows have all these cells.
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

/// The source's own aggregate for each cell that it can add up by one: doubles of which nothing but sums and
/// counts of their own is wanted. "" for others.
std::vector<std::string> step_sums(const Plan& plan, const MeasurementDesign& design,
                                   const GroupableRows& rows, Source& source) {
  std::uint32_t others = 0;
  for (const Measure& measure : design.measures) {
    const std::uint32_t all = cells_of(measure) | measure.present;
    if (measure.factors.size() > 1 || !std::has_single_bit(all)) others |= all;
  }
  for (const Sample& sample : design.samples) {
    if (sample.distinct) others |= std::uint32_t{1} << sample.cell;
  }
  std::vector<std::string> names(design.cells.size());
  for (std::size_t c = 0; c < names.size(); ++c) {
    const CellSpec& cell = design.cells[c];
    const ValueColumn& column = plan.values[cell.value];
    if (others >> c & 1 || cell.identity || column.integral || cell.exponent > kMostExponent) {
      continue;
    }
    StepSum sum{round_up(*column.lower), round_down(*column.upper), cell.exponent, std::nullopt};
    if (rows.numbers[cell.value].null_is_lower) sum.for_null = sum.lower;
    if (sum.lower <= sum.upper) names[c] = source.step_sum(sum);
  }
  return names;
}

/// The cell of an integer column in a type as narrow as the column's; "" where another type is needed. A null that counts
/// as 0 stays null, as sums do not see the difference.
std::string narrow_cell(const Plan& plan, const MeasurementDesign& design,
                        const GroupableRows& rows, std::size_t c, const Dialect& dialect) {
  const CellSpec& cell = design.cells[c];
  const GroupableRows::Number& number = rows.numbers[cell.value];
  if (cell.identity || !number.is_column || cell.exponent != 0) return "";
  if (!plan.values[cell.value].integral) return "";
  for (const Measure& measure : design.measures) {
    const bool multiplied = measure.factors.size() > 1 || measure.offset != 0;
    if (multiplied && cells_of(measure) >> c & 1) return "";
  }
  const std::string value = dialect.clamp_narrow(name_of('w', cell.value), cell.lower, cell.upper);
  return number.null_is_lower && cell.lower != 0
             ? "COALESCE(" + value + ", " + std::to_string(cell.lower) + ")"
             : value;
}

/// The aggregates that compute a measure where every row is a unit; `measure_at` reads them. Null is 0 in the cells
/// `null_is_zero`.
std::vector<std::string> measure_sql(const Measure& measure, const Dialect& dialect,
                                     std::uint32_t null_is_zero) {
  if (measure.factors.empty()) return {count_sql(measure.present)};
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
  std::vector<std::string> result = {dialect.integer_sum(value)};
  if (is_centred_afterwards(measure)) {
    result.push_back(count_sql((measure.present | cells_of(measure)) & ~null_is_zero));
  }
  return result;
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

/// What `measure_sql`, or an aggregate of the source's own, computed, from column `at` on, which moves behind it.
WideInteger measure_at(const Measure& measure, bool in_steps, const Batch& batch, std::size_t row,
                       std::size_t& at) {
  if (in_steps) {
    const auto part = [&] { return batch.columns[at++].integers[row]; };
    const std::int64_t high = part();
    const auto low = static_cast<std::uint64_t>(part());
    const WideInteger count = part();
    if (measure.factors.empty()) return count;
    const WideInteger sum = WideInteger{high} * (WideInteger{1} << 64) + low;
    return sum - count * (WideInteger{measure.factors[0].centre} + measure.offset);
  }
  const WideInteger sum = wide_at(batch.columns[at++], row);
  if (!is_centred_afterwards(measure)) return sum;
  return sum - measure.factors[0].centre * wide_at(batch.columns[at++], row);
}

/// Batches of a stream, with a call back at most twenty times a second; it may throw to cancel.
class Watched {
 public:
  /// The stream outlives it.
  Watched(Stream& stream, const Progress& progress) : stream_(&stream), progress_(progress) {}
  Watched(std::unique_ptr<Stream> stream, const Progress& progress)
      : owned_(std::move(stream)), stream_(owned_.get()), progress_(progress) {}

  bool next(Batch& batch) {
    if (!progress_) return stream_->next(batch);
    const bool got = waited_ ? stream_->next(batch) : wait(batch);
    waited_ = true;
    const auto now = std::chrono::steady_clock::now();
    if (got && now - last_ >= kBetween) {
      last_ = now;
      progress_(stream_->progress());
    }
    return got;
  }

 private:
  static constexpr auto kBetween = std::chrono::milliseconds(50);

  /// The first batch: a source that adds up reads all rows before it comes.
  bool wait(Batch& batch) {
    auto got = std::async(std::launch::async, [&] { return stream_->next(batch); });
    try {
      while (got.wait_for(kBetween) != std::future_status::ready) progress_(stream_->progress());
    } catch (...) {
      stream_->cancel();
      got.wait();
      throw;
    }
    return got.get();
  }

  std::unique_ptr<Stream> owned_;
  Stream* stream_;
  const Progress& progress_;
  bool waited_ = false;
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

GroupSums group_sums(const Plan& plan, const MeasurementDesign& design, Source& source) {
  const Dialect& dialect = source.dialect();
  const GroupableRows rows = groupable_rows(plan, source);
  const std::vector<std::string> own = step_sums(plan, design, rows, source);
  std::uint32_t null_is_zero = 0;
  std::vector<std::string> narrow;
  for (std::size_t c = 0; c < design.cells.size(); ++c) {
    narrow.push_back(narrow_cell(plan, design, rows, c, dialect));
    const bool zero =
        rows.numbers[design.cells[c].value].null_is_lower && design.cells[c].lower == 0;
    if (!narrow.back().empty() && zero) null_is_zero |= std::uint32_t{1} << c;
  }

  GroupSums result;
  std::string sums = "COUNT(*) AS a0", outer_sums = "a0";
  std::size_t next = 1;
  const auto add = [&](const std::string& aggregate, std::initializer_list<const char*> parts) {
    const std::string name = name_of('a', next++);
    sums += ", " + aggregate + " AS " + name;
    for (const char* part : parts) outer_sums += ", " + name + part;
  };
  for (const Measure& measure : design.measures) {
    const std::uint32_t all = cells_of(measure) | measure.present;
    const auto cell = static_cast<std::size_t>(std::countr_zero(all));
    result.in_steps.push_back(all != 0 && !own[cell].empty());
    if (result.in_steps.back()) {
      add(own[cell] + "(" + name_of('c', cell) + ")", {".high", ".low", ".n"});
      continue;
    }
    for (const std::string& sql : measure_sql(measure, dialect, null_is_zero)) add(sql, {""});
  }
  // How many values are different in two groups says nothing about the group that they become.
  bool early = false;
  for (const Sample& sample : design.samples) {
    if (!sample.distinct) continue;
    early = true;
    add("COUNT(DISTINCT " + name_of('c', sample.cell) + ")", {""});
  }

  std::string cells, outer, keys;
  for (std::size_t k = 0; k < plan.keys.size(); ++k) {
    const std::string name = name_of('k', k);
    cells += (early ? rows.keys[k] : name) + " AS " + name + ", ";
    outer += (early ? name : rows.keys[k]) + ", ";
    keys += (k == 0 ? " GROUP BY " : ", ") + name;
  }
  for (std::size_t c = 0; c < design.cells.size(); ++c) {
    const CellSpec& cell = design.cells[c];
    const GroupableRows::Number& number = rows.numbers[cell.value];
    std::string sql = narrow[c];
    if (!own[c].empty()) sql = name_of(number.is_column ? 'w' : 'v', cell.value);
    if (sql.empty()) sql = cell_sql(cell, plan, dialect, number.confined);
    cells += sql + " AS " + name_of('c', c) + ", ";
  }
  if (cells.empty()) cells = "1 AS one, ";
  cells.resize(cells.size() - 2);
  result.sql = "SELECT " + outer + outer_sums + " FROM (SELECT " + keys_sql(plan, ", ") + sums +
               " FROM (SELECT " + cells + " FROM (" + rows.select + ") AS r) AS cells" + keys +
               ") AS sums";
  return result;
}

namespace {

/// Bounds the rows of units, in all threads.
class UnitRead {
 public:
  UnitRead(const SqlQuery::Options& options, const MeasurementDesign& design, GroupIndex& index,
           bool by_key, BitSource& bits, const Progress& progress)
      : options_(options),
        design_(design),
        index_(index),
        by_key_(by_key),
        bits_(bits),
        progress_(progress) {}

  void read(Source& source) {
    if (auto scanned = ScannedUnits::of(options_, design_, by_key_, source)) {
      return read(*scanned);
    }
    auto stream = source.execute(unit_rows_sql(options_.plan, design_, source));
    if (options_.threads != 1) stream = std::make_unique<ReadAhead>(std::move(stream));
    // Where groups are numbered as they come, one thread does it.
    const bool alone = design_.groups == 0 && !by_key_;
    in_threads(alone ? 1 : thread_count(options_.threads), [&](unsigned thread) {
      CellReader reader(design_);
      std::vector<std::uint32_t> groups;
      std::vector<std::int64_t> keys;
      GroupIndex::Ends ends;
      UnitRows rows;
      each(*stream, thread, [&](const Batch& batch) {
        const BatchColumn& unit = batch.columns[0];
        if (by_key_) {
          keys.resize(batch.rows);
          GroupIndex::numbers(batch.columns[1], keys, ends);
        } else {
          index_.assign(batch, 1, groups);
        }
        reader.read(batch, 1 + options_.plan.get().keys.size(), *aggregate_, rows.cells);
        rows.rows = batch.rows;
        rows.integer_units = unit.integers;
        rows.text_units = unit.texts;
        rows.unit_valid = unit.valid;
        rows.groups = groups;
        rows.keys = keys;
        aggregate_->add(rows, thread);
      });
      note(ends);
    });
  }

  /// Whether null and the number that stands for it both came up.
  bool is_ambiguous() const { return null_ && lowest_; }

  BoundedTotals finish() {
    if (!aggregate_) start(false);
    BoundedTotals totals = aggregate_->finish(index_.size(), tags_so_far());
    if (by_key_) index_.take(std::move(totals.keys), null_);
    return totals;
  }

 private:
  void read(ScannedUnits& scanned) {
    in_threads(static_cast<unsigned>(scanned.streams().size()), [&](unsigned thread) {
      ScannedUnits::Converted converted;
      UnitRows rows;
      each(*scanned.streams()[thread], thread, [&](const Batch& batch) {
        scanned.convert(batch, converted, rows);
        aggregate_->add(rows, thread);
      });
      note(converted.ends);
    });
  }

  template <class Work>
  void in_threads(unsigned threads, Work work) {
    on_threads(threads, [&](unsigned thread) {
      try {
        work(thread);
      } catch (...) {
        failed_ = true;  // the others need not go on
        // Where progress was what threw, others fail because of it.
        if (thread == 0 || !cancelled_) throw;
      }
    });
    if (progress_) progress_(1);
  }

  template <class Take>
  void each(Stream& stream, unsigned thread, Take take) {
    Progress progress;
    if (thread == 0 && progress_) {
      progress = [&](double done) {
        try {
          progress_(done);
        } catch (...) {
          cancelled_ = true;
          throw;
        }
      };
    }
    Watched watched(stream, progress);
    for (Batch batch; !failed_ && watched.next(batch);) {
      const BatchColumn& unit = batch.columns[0];
      if (unit.kind == BatchColumn::Kind::kReals)
        throw Error(ErrorCode::kInternal, "units came as real numbers");
      std::call_once(started_, [&] { start(unit.kind == BatchColumn::Kind::kTexts); });
      take(batch);
    }
  }

  void note(const GroupIndex::Ends& ends) {
    if (ends.null) null_ = true;
    if (ends.lowest) lowest_ = true;
  }

  void start(bool text_units) {
    aggregate_ = std::make_unique<BoundedAggregate>(
        BoundedAggregate::Options{.bounds = design_.bounds,
                                  .cells = static_cast<std::uint32_t>(design_.cells.size()),
                                  .measures = design_.measures,
                                  .samples = design_.samples,
                                  .text_units = text_units,
                                  .by_key = by_key_,
                                  .numbered = design_.groups != 0,
                                  .unit_keys = design_.groups == 0,
                                  .memory = options_.memory,
                                  .threads = options_.threads,
                                  .tags_so_far = [this] { return tags_so_far(); }},
        bits_);
    tags_so_far();  // all of them, where groups are public
  }

  /// One more thread than asks may ask only where groups are public: then there are no new ones.
  std::span<const std::uint64_t> tags_so_far() {
    const std::size_t known = tags_.size();
    if (by_key_ || known == index_.size()) return tags_;
    tags_.resize(index_.size());
    const bool many = tags_.size() - known > kManyTags;
    on_shares(many ? thread_count(options_.threads) : 1, tags_.size() - known,
              [&](std::size_t begin, std::size_t end) {
                for (std::size_t g = known + begin; g < known + end; ++g) {
                  const auto group = static_cast<std::uint32_t>(g);
                  tags_[g] = design_.groups == 0 ? aggregate_->tag(index_.content(group))
                                                 : aggregate_->tag(group);
                }
              });
    return tags_;
  }

  static constexpr std::size_t kManyTags = std::size_t{1} << 14;  // for one thread

  const SqlQuery::Options& options_;
  const MeasurementDesign& design_;
  GroupIndex& index_;
  bool by_key_;
  BitSource& bits_;
  const Progress& progress_;
  std::once_flag started_;
  std::unique_ptr<BoundedAggregate> aggregate_;
  LargeVector<std::uint64_t> tags_;
  std::atomic<bool> failed_ = false, cancelled_ = false, null_ = false, lowest_ = false;
};

}  // namespace

GroupTruth read_units(const SqlQuery::Options& options, const MeasurementDesign& design,
                      Source& source, GroupIndex& index, BitSource& bits,
                      const Progress& progress) {
  const auto totals = [&](bool by_key) -> std::optional<BoundedTotals> {
    UnitRead read(options, design, index, by_key, bits, progress);
    read.read(source);
    if (by_key && read.is_ambiguous()) return std::nullopt;
    return read.finish();
  };
  GroupTruth truth;
  auto bounded = totals(index.is_one_number());
  truth.totals = bounded ? std::move(*bounded) : *totals(false);
  truth.groups = index.size();
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
  Watched stream(
      source.execute("SELECT " + by + ", COUNT(*) FROM (" + cells_sql(plan, design, source) +
                     ") AS cells WHERE " + column + " IS NOT NULL GROUP BY " + by),
      progress);
  const CellSpec& spec = design.cells[cell];
  std::vector<std::vector<std::int64_t>> lists(group_count);
  std::vector<std::uint32_t> groups;
  for (Batch batch; stream.next(batch);) {
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

struct Sums {
  GroupTruth truth;
  std::vector<std::uint64_t> rows;  ///< of each group

  void fit(std::size_t groups, const MeasurementDesign& design) {
    truth.groups = groups;
    truth.totals.measures = design.measures.size();
    rows.resize(groups);
    truth.totals.sums.resize(groups * design.measures.size());
    truth.distinct.resize(design.samples.size());
    for (std::size_t s = 0; s < design.samples.size(); ++s) {
      if (design.samples[s].distinct) truth.distinct[s].resize(groups);
    }
  }
};

Sums added_up(const SqlQuery::Options& options, const MeasurementDesign& design, Source& source,
              GroupIndex& index, const Progress& progress) {
  const GroupSums asked = group_sums(options.plan, design, source);
  Watched stream(source.execute_few(asked.sql), progress);
  Sums sums;
  sums.fit(index.size(), design);
  std::vector<std::uint32_t> groups;
  for (Batch batch; stream.next(batch);) {
    index.assign(batch, 0, groups);
    sums.fit(index.size(), design);
    for (std::size_t i = 0; i < batch.rows; ++i) {
      const std::uint32_t g = groups[i];
      std::size_t column = options.plan.get().keys.size();
      const auto rows = static_cast<std::uint64_t>(wide_at(batch.columns[column++], i));
      if (g == UnitRows::kNoGroup) continue;
      sums.rows[g] += rows;
      for (std::size_t m = 0; m < design.measures.size(); ++m) {
        sums.truth.totals.sums[g * design.measures.size() + m] +=
            measure_at(design.measures[m], asked.in_steps[m], batch, i, column);
      }
      for (std::size_t s = 0; s < design.samples.size(); ++s) {
        if (!design.samples[s].distinct) continue;
        sums.truth.distinct[s][g] += wide_at(batch.columns[column++], i);
      }
    }
  }
  return sums;
}

}  // namespace

GroupTruth read_sums(const SqlQuery::Options& options, const MeasurementDesign& design,
                     Source& source, GroupIndex& index, const Progress& progress) {
  if (LargeVector<WideInteger> held = held_sums(options, design, source, progress); !held.empty()) {
    GroupTruth truth{index.size(), {}, {}};
    truth.totals.measures = design.measures.size();
    truth.totals.sums = std::move(held);
    return truth;
  }
  Sums sums = added_up(options, design, source, index, progress);
  GroupTruth truth = std::move(sums.truth);
  for (const Sample& sample : design.samples) {
    truth.totals.samples.push_back(sample.distinct
                                       ? GroupedValues{}
                                       : read_values(options.plan, design, sample.cell, source,
                                                     index, truth.groups, progress));
  }
  if (design.groups == 0) {
    // Every row is a unit with one key.
    UnitKeys& units = truth.totals.unit_keys;
    units.key_count = static_cast<std::uint32_t>(truth.groups);
    for (std::uint32_t g = 0; g < truth.groups; ++g) {
      units.keys.insert(units.keys.end(), sums.rows[g], g);
    }
    for (std::uint64_t i = 0; i <= units.keys.size(); ++i) units.offsets.push_back(i);
  }
  return truth;
}

}  // namespace gauze::internal
