#include "gauze/query/bounded_aggregate.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "gauze/base/error.h"
#include "gauze/base/on_threads.h"
#include "gauze/query/bounded_aggregate_hash_internal.h"
#include "gauze/query/bounded_aggregate_rows_internal.h"

namespace gauze {

using internal::KeyedHash;
using internal::mix;
using internal::on_threads;
using internal::PartitionedRows;
using internal::thread_count;

Bounds tightened(Bounds b) {
  require(b.rows_per_unit >= 1 && b.groups_per_unit >= 1 && b.rows_per_group >= 1,
          "rows_per_unit, groups_per_unit and rows_per_group must be at least 1");
  b.groups_per_unit = std::min(b.groups_per_unit, b.rows_per_unit);
  b.rows_per_group = std::min(b.rows_per_group, b.rows_per_unit);
  const Integer all = Integer(b.groups_per_unit) * Integer(b.rows_per_group);
  if (all < Integer(b.rows_per_unit)) b.rows_per_unit = all.convert_to<std::uint64_t>();
  return b;
}

Integer l1_rows(const Bounds& bounds) {
  return Integer(tightened(bounds).rows_per_unit);
}

Integer l2_squared_rows(const Bounds& bounds) {
  const Bounds b = tightened(bounds);
  const Integer m = b.rows_per_unit;
  const Integer r = b.rows_per_group;
  const Integer full = m / r;  // <= groups_per_unit, as m <= k r
  const Integer rest = m - full * r;
  return Integer(full * r * r + rest * rest);
}

namespace {

/// What a unit adds is held in parts of 2^-20: rounded to whole numbers, four of ten rows of each
/// unit that counts for one would be nothing at all. No sum exceeds 128 bits below 2^43 rows.
constexpr int kPartBits = 20;
constexpr WideInteger kWhole = WideInteger{1} << kPartBits;

WideInteger nearest_whole(WideInteger parts) {
  return (parts + kWhole / 2) >> kPartBits;
}

/// sum * kept / n, to the nearest part, halves up.
WideInteger scaled(WideInteger sum, std::uint64_t kept, std::uint64_t n) {
  if (kept == n) return sum * kWhole;
  const auto wide_n = static_cast<WideInteger>(n);
  const auto wide_kept = static_cast<WideInteger>(kept);
  WideInteger quotient = sum / wide_n;
  WideInteger rest = sum % wide_n;
  if (rest < 0) {
    rest += wide_n;
    --quotient;
  }
  return quotient * wide_kept * kWhole + (2 * rest * wide_kept * kWhole + wide_n) / (2 * wide_n);
}

WideInteger contribution(const Measure& measure, const std::uint64_t* cells, std::uint32_t nulls) {
  if ((nulls & measure.present) != 0) return 0;
  std::int64_t product = 1;
  for (const Measure::Factor& factor : measure.factors) {
    product *= static_cast<std::int64_t>(cells[factor.cell]) - factor.centre;
  }
  return product - measure.offset;
}

struct GroupValue {
  std::uint32_t group;
  std::int64_t value;
};

/// The groups of unit u are groups[ends[u - 1]] .. groups[ends[u] - 1].
struct KeptGroups {
  std::vector<std::uint64_t> units, ends;
  std::vector<std::uint32_t> groups;
};

/// What one thread has added up.
struct Partial {
  LargeVector<WideInteger> sums;  // in parts
  std::vector<std::vector<GroupValue>> samples;
  KeptGroups kept;
};

struct Setting {
  const BoundedAggregate::Options& options;
  Bounds bounds;
  KeyedHash hash;
  std::size_t groups;
  std::span<const std::uint64_t> tags;
  std::size_t blocks_per_wave;

  std::uint64_t tag(std::uint32_t group) const {
    return tags.empty() ? hash.group(group) : tags[group];
  }
  /// Tags of many groups lie far from each other; this one will be wanted soon.
  void ask_for_tag(std::uint32_t group) const {
    if (!tags.empty()) __builtin_prefetch(&tags[group]);
  }
};

/// For each unit of a partition that has as many groups as count: its words, and the largest hash of those groups.
using Limits = std::vector<std::uint64_t>;

/// Bounds the units of one partition after another. A partition comes in waves; between waves each
/// unit's groups of smallest hash are kept with their sums so far, which loses nothing: a group that
/// is among the smallest of all is among the smallest of every part. Once a unit has as many groups as count,
/// its rows in groups of larger hash are passed over.
template <std::size_t kUnitWords>
class Worker {
 public:
  explicit Worker(const Setting& setting)
      : s_(setting), measures_(setting.options.measures.size()) {
    out_.sums.resize(s_.groups * measures_);
    out_.samples.resize(s_.options.samples.size());
    sums_.resize(measures_);
  }

  void process(PartitionedRows& store, std::size_t partition, const Limits& limits) {
    begin(store, limits);
    for (bool last = false; !last;) {
      PartitionedRows::Wave wave = store.take(partition, s_.blocks_per_wave);
      last = wave.last;
      blocks_ = std::move(wave.blocks);
      gather(wave.rows);
      reduce(last);
    }
    settle();
  }

  /// Leaves those rows in memory that may still count when more have come.
  void shrink(PartitionedRows& store, std::size_t partition, Limits& limits) {
    begin(store, limits);
    const std::uint64_t rows = store.rows_held(partition);
    blocks_ = store.lend(partition);
    const std::span<const Candidate> candidates = gather(rows);
    limit();
    std::uint32_t kept = 0;
    for (const Candidate& c : candidates) {
      if (c.entry.order > last_orders_[c.owner]) continue;
      std::copy_n(row(c.entry.row), words_, row(kept++));
    }
    store.give_back(partition, std::move(blocks_), kept);
    dropped_ += rows - kept;
    limits.clear();
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (last_orders_[u] == UINT64_MAX) continue;
      limits.insert(limits.end(), units_[u].id.begin(), units_[u].id.end());
      limits.push_back(last_orders_[u]);
    }
  }

  Partial& result() { return out_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  static constexpr std::uint32_t kCarried = 1u << 31;
  static constexpr std::size_t kMostDue = 32;
  struct Unit {
    std::array<std::uint64_t, kUnitWords> id;
    bool operator==(const Unit& other) const {
      return id[0] == other.id[0] && id[kUnitWords - 1] == other.id[kUnitWords - 1];
    }
  };
  struct Entry {
    std::uint64_t order;  // the keyed hash by which a unit's groups compete
    std::uint32_t group;
    std::uint32_t row;  // in this wave, or kCarried + position among the carried
  };
  struct Candidate {
    Entry entry;
    std::uint32_t owner;
  };
  struct Carried {
    Entry entry;
    std::uint32_t owner;
    std::uint64_t rows;
  };

  std::uint64_t* row(std::uint32_t i) const {
    return blocks_[i / rows_per_block_].get() + (i % rows_per_block_) * words_;
  }
  static Unit unit_of(const std::uint64_t* row) {
    Unit unit;
    std::copy_n(row, kUnitWords, unit.id.begin());
    return unit;
  }

  std::uint32_t number(const Unit& unit) {
    if (units_.size() * 2 >= slots_.size()) grow();
    std::size_t at = unit.id[0] & (slots_.size() - 1);
    while (slots_[at] != 0 && units_[slots_[at] - 1] != unit) at = (at + 1) & (slots_.size() - 1);
    if (slots_[at] == 0) {
      units_.push_back(unit);
      last_orders_.push_back(UINT64_MAX);
      slots_[at] = static_cast<std::uint32_t>(units_.size());
    }
    return slots_[at] - 1;
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(1024, slots_.size() * 4), 0);
    for (std::size_t i = 0; i < units_.size(); ++i) {
      std::size_t at = units_[i].id[0] & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }

  void begin(const PartitionedRows& store, const Limits& limits) {
    words_ = store.words_per_row();
    rows_per_block_ = store.rows_per_block();
    std::fill(slots_.begin(), slots_.end(), 0);
    units_.clear();
    last_orders_.clear();
    carried_.clear();
    carried_sums_.clear();
    for (std::size_t i = 0; i < limits.size(); i += kUnitWords + 1) {
      last_orders_[number(unit_of(&limits[i]))] = limits[i + kUnitWords];
    }
  }

  /// Puts the entries of a unit, rows that may count and carried groups, side by side.
  std::span<const Candidate> gather(std::uint64_t rows) {
    const std::span<const Candidate> candidates = find_candidates(rows);
    starts_.assign(units_.size(), 0);
    for (const Candidate& c : candidates) ++starts_[c.owner];
    for (const Carried& c : carried_) ++starts_[c.owner];
    std::uint32_t before = 0;
    for (std::uint32_t& start : starts_) before += std::exchange(start, before);
    entries_.resize(before);
    for (const Candidate& c : candidates) entries_[starts_[c.owner]++] = c.entry;
    for (const Carried& c : carried_) entries_[starts_[c.owner]++] = c.entry;
    return candidates;
  }

  /// In order of rows. All are written, for no branch foresees which will be passed over.
  std::span<const Candidate> find_candidates(std::uint64_t rows) {
    if (candidates_.size() < rows) candidates_.resize(rows);
    std::size_t found = 0;
    std::uint32_t i = 0;
    for (const PartitionedRows::Block& block : blocks_) {
      const auto here = std::min<std::size_t>(rows - i, rows_per_block_);
      find_orders(block.get(), here);
      const std::uint64_t* r = block.get();
      for (std::size_t j = 0; j < here; ++j, ++i, r += words_) {
        const std::uint32_t owner = number(unit_of(r));
        candidates_[found] = {{orders_[j], static_cast<std::uint32_t>(r[kUnitWords]), i}, owner};
        found += orders_[j] <= last_orders_[owner] ? 1 : 0;
      }
    }
    return {candidates_.data(), found};
  }

  /// Apart from what depends on them, as tags may have to be waited for.
  void find_orders(const std::uint64_t* r, std::size_t rows) {
    constexpr std::size_t kAhead = 16;
    orders_.resize(rows_per_block_);
    for (std::size_t j = 0; j < rows; ++j, r += words_) {
      if (j + kAhead < rows)
        s_.ask_for_tag(static_cast<std::uint32_t>(r[kAhead * words_ + kUnitWords]));
      orders_[j] = mix(r[0] + s_.tag(static_cast<std::uint32_t>(r[kUnitWords])));
    }
  }

  /// visit(unit, its entries, sorted)
  template <class Visit>
  void for_each_unit(Visit visit) {
    std::uint32_t begin = 0;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      const std::uint32_t end = starts_[u];  // `gather` moved each start to the next
      const std::span<Entry> rows(entries_.data() + begin, end - begin);
      begin = end;
      sort(rows);
      visit(u, rows);
    }
  }

  void limit() {
    for_each_unit([&](std::uint32_t u, std::span<const Entry> rows) {
      std::uint64_t groups = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0 && rows[i].order == rows[i - 1].order) continue;
        if (++groups == s_.bounds.groups_per_unit) last_orders_[u] = rows[i].order;
      }
    });
  }

  void reduce(bool last) {
    std::vector<Carried> kept;
    std::vector<WideInteger> kept_sums;
    for_each_unit([&](std::uint32_t u, std::span<const Entry> rows) {
      std::uint64_t left = s_.bounds.rows_per_unit;
      std::uint64_t groups = 0;
      for (std::size_t from = 0; from < rows.size() && groups < s_.bounds.groups_per_unit;
           ++groups) {
        std::size_t to = from + 1;
        while (to < rows.size() && rows[to].order == rows[from].order) ++to;
        const std::uint64_t n = add_up(rows.subspan(from, to - from));
        if (last) {
          left -= clip(rows.subspan(from, to - from), n, left);
          if (left == 0) break;
        } else {
          const auto place = static_cast<std::uint32_t>(kCarried + kept.size());
          kept.push_back({{rows[from].order, rows[from].group, place}, u, n});
          kept_sums.insert(kept_sums.end(), sums_.begin(), sums_.end());
          if (groups + 1 == s_.bounds.groups_per_unit) last_orders_[u] = rows[from].order;
        }
        from = to;
      }
      if (last && s_.options.unit_keys) {
        out_.kept.units.push_back(units_[u].id[0]);
        out_.kept.ends.push_back(out_.kept.groups.size());
      }
    });
    carried_ = std::move(kept);
    carried_sums_ = std::move(kept_sums);
  }

  /// Few entries are counted into their places: hashes leave nothing for branches to foresee.
  static void sort(std::span<Entry> rows) {
    constexpr std::size_t kFew = 24;
    if (rows.size() > kFew) {
      std::sort(rows.begin(), rows.end(),
                [](const Entry& a, const Entry& b) { return a.order < b.order; });
      return;
    }
    std::array<Entry, kFew> sorted;
    std::array<std::uint32_t, kFew> place{};
    for (std::uint32_t i = 1; i < rows.size(); ++i) {
      const std::uint64_t order = rows[i].order;
      std::uint32_t before = 0;
      for (std::uint32_t j = 0; j < i; ++j) {
        const bool later = order < rows[j].order;
        place[j] += later;
        before += !later;
      }
      place[i] = before;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) sorted[place[i]] = rows[i];
    std::copy_n(sorted.begin(), rows.size(), rows.begin());
  }

  /// How many rows these entries of one unit and group stand for; their sums go to `sums_`.
  std::uint64_t add_up(std::span<const Entry> entries) {
    std::fill(sums_.begin(), sums_.end(), 0);
    std::uint64_t n = 0;
    for (const Entry& entry : entries) {
      if (entry.row >= kCarried) {
        const std::size_t c = entry.row - kCarried;
        n += carried_[c].rows;
        for (std::size_t i = 0; i < measures_; ++i) sums_[i] += carried_sums_[c * measures_ + i];
        continue;
      }
      ++n;
      if (counts_only()) continue;
      const std::uint64_t* r = row(entry.row) + kUnitWords;
      const auto nulls = static_cast<std::uint32_t>(r[0] >> 32);
      for (std::size_t i = 0; i < measures_; ++i) {
        sums_[i] += contribution(s_.options.measures[i], r + 1, nulls);
      }
    }
    // Without cells every row adds the same.
    if (counts_only()) {
      for (std::size_t i = 0; i < measures_; ++i) {
        sums_[i] = (1 - s_.options.measures[i].offset) * static_cast<WideInteger>(n);
      }
    }
    return n;
  }

  bool counts_only() const { return words_ == kUnitWords + 1; }

  /// Adds what the unit may add to this group; says how many rows that were.
  std::uint64_t clip(std::span<const Entry> entries, std::uint64_t n, std::uint64_t left) {
    const std::uint32_t group = entries.front().group;
    const std::uint64_t kept = std::min({n, s_.bounds.rows_per_group, left});
    if (due_.size() == kMostDue) settle();
    due_.push_back(group);
    __builtin_prefetch(out_.sums.data() + group * measures_, 1);
    for (std::size_t i = 0; i < measures_; ++i) {
      due_sums_.push_back(s_.options.measures[i].units ? kWhole : scaled(sums_[i], kept, n));
    }
    for (std::size_t i = 0; i < s_.options.samples.size(); ++i) choose(i, entries, kept);
    if (s_.options.unit_keys) out_.kept.groups.push_back(group);
    return kept;
  }

  /// Adds what is due to the totals. Where there are many groups each is a place in memory far from the others: it was asked
  /// for when it was noted, and is there by now.
  void settle() {
    const WideInteger* sum = due_sums_.data();
    for (const std::uint32_t group : due_) {
      for (std::size_t i = 0; i < measures_; ++i) out_.sums[group * measures_ + i] += *sum++;
    }
    due_.clear();
    due_sums_.clear();
  }

  /// Keeps at most `kept` values of a unit's rows in a group: every set of rows, or of different values,
  /// is equally likely. The choice depends on the values alone, not on the order of the rows: equal
  /// values are told apart by counting them.
  void choose(std::size_t sample, std::span<const Entry> entries, std::uint64_t kept) {
    const Sample& spec = s_.options.samples[sample];
    values_.clear();
    for (const Entry& entry : entries) {
      if (entry.row >= kCarried) continue;  // a partition of more than 2^30 rows
      const std::uint64_t* r = row(entry.row) + kUnitWords;
      if ((r[0] >> (32 + spec.cell) & 1) == 0) {
        values_.push_back(static_cast<std::int64_t>(r[1 + spec.cell]));
      }
    }
    if (spec.distinct || values_.size() > kept) std::sort(values_.begin(), values_.end());
    if (spec.distinct) values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    auto& out = out_.samples[sample];
    const std::uint32_t group = entries.front().group;
    if (values_.size() <= kept) {
      for (const std::int64_t value : values_) out.push_back({group, value});
      return;
    }
    lots_.clear();
    std::uint64_t copy = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      copy = i > 0 && values_[i] == values_[i - 1] ? copy + 1 : 0;
      const std::uint64_t drawn = mix(s_.hash.unit(static_cast<std::uint64_t>(values_[i])) + copy);
      lots_.push_back({mix(drawn ^ entries.front().order), values_[i]});
    }
    const auto middle = lots_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::nth_element(lots_.begin(), middle, lots_.end());
    for (auto it = lots_.begin(); it != middle; ++it) out.push_back({group, it->second});
  }

  const Setting& s_;
  std::size_t measures_;
  Partial out_;
  std::uint64_t dropped_ = 0;
  std::size_t words_ = 0, rows_per_block_ = 0;
  std::vector<PartitionedRows::Block> blocks_;  // of this wave
  std::vector<Candidate> candidates_;
  std::vector<std::uint64_t> orders_;  // of a block
  std::vector<std::uint32_t> slots_, starts_;
  std::vector<Unit> units_;
  std::vector<std::uint64_t> last_orders_;  // of the groups of a unit that may count
  std::vector<Entry> entries_;
  std::vector<Carried> carried_;
  std::vector<WideInteger> carried_sums_, sums_;
  std::vector<std::uint32_t> due_;  // groups, and what their totals shall grow by
  std::vector<WideInteger> due_sums_;
  std::vector<std::int64_t> values_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> lots_;
};

GroupedValues grouped(std::vector<std::vector<GroupValue>> parts, std::size_t groups, bool distinct,
                      unsigned threads) {
  GroupedValues result;
  result.offsets.assign(groups + 1, 0);
  for (const auto& part : parts) {
    for (const GroupValue& v : part) ++result.offsets[v.group + 1];
  }
  for (std::size_t g = 0; g < groups; ++g) result.offsets[g + 1] += result.offsets[g];
  result.values.resize(result.offsets[groups]);
  std::vector<std::uint64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (auto& part : parts) {
    for (const GroupValue& v : part) result.values[next[v.group]++] = v.value;
    part = {};
  }
  std::atomic<std::size_t> turn = 0;
  on_threads(threads, [&](unsigned) {
    for (std::size_t g = turn++; g < groups; g = turn++) {
      const auto begin = result.values.begin() + static_cast<std::ptrdiff_t>(result.offsets[g]);
      const auto end = result.values.begin() + static_cast<std::ptrdiff_t>(result.offsets[g + 1]);
      std::sort(begin, end);
      if (distinct) next[g] = static_cast<std::uint64_t>(std::unique(begin, end) - begin);
    }
  });
  if (!distinct) return result;
  std::uint64_t filled = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto begin = result.values.begin() + static_cast<std::ptrdiff_t>(result.offsets[g]);
    std::copy_n(begin, next[g], result.values.begin() + static_cast<std::ptrdiff_t>(filled));
    result.offsets[g] = filled;
    filled += next[g];
  }
  result.offsets[groups] = filled;
  result.values.resize(filled);
  return result;
}

UnitKeys unit_keys(const std::vector<KeptGroups>& parts, std::size_t groups) {
  struct Place {
    std::uint64_t unit, begin, end;
    const KeptGroups* part;
  };
  std::vector<Place> places;
  for (const KeptGroups& part : parts) {
    for (std::size_t u = 0; u < part.units.size(); ++u) {
      places.push_back({part.units[u], u == 0 ? 0 : part.ends[u - 1], part.ends[u], &part});
    }
  }
  // By the keyed hash: the order of rows leaves no trace.
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.unit < b.unit; });
  UnitKeys result;
  result.key_count = static_cast<std::uint32_t>(groups);
  result.offsets.push_back(0);
  for (const Place& place : places) {
    const auto first = place.part->groups.begin();
    result.keys.insert(result.keys.end(), first + static_cast<std::ptrdiff_t>(place.begin),
                       first + static_cast<std::ptrdiff_t>(place.end));
    result.offsets.push_back(result.keys.size());
  }
  return result;
}

std::uint64_t memory_size(std::uint64_t asked) {
  if (asked != 0) return asked;
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE)) / 4;
}

}  // namespace

struct BoundedAggregate::Parts {
  Options options;
  KeyedHash hash;
  PartitionedRows store;
  std::vector<Limits> limits;  // of partitions
  std::atomic<std::uint64_t> dropped = 0;
  std::uint64_t shrink_at;  // bytes of rows

  Parts(Options o, BitSource& bits)
      : options(std::move(o)),
        hash(bits),
        store((options.text_units ? 2u : 1u) + 1 + options.cells, memory_size(options.memory),
              options.temp_directory),
        limits(PartitionedRows::kPartitions),
        shrink_at(options.tags_so_far ? next_shrink(0) : UINT64_MAX) {}

  /// When so many bytes of rows are left. Often enough that they stay few where most rows do not count; but what can hardly shrink is
  /// not looked at in vain, and what was spilled stays.
  std::uint64_t next_shrink(std::uint64_t left) const {
    const std::uint64_t memory = memory_size(options.memory);
    // Where keys are chosen there are many, with tags far from each other: a second look at rows costs more than room for them.
    const std::uint64_t many = options.unit_keys ? memory : std::uint64_t{1} << 28;
    if (left > memory / 2) return UINT64_MAX;
    const std::uint64_t wanted = std::min(std::max(many, 3 * left), memory / 4 * 3);
    return std::max<std::uint64_t>(wanted, 2 * store.least_bytes());
  }

  template <std::size_t kUnitWords>
  void shrink() {
    const Setting setting{options, tightened(options.bounds), hash, 0, options.tags_so_far(), 0};
    std::atomic<std::size_t> turn = 0;
    on_threads(thread_count(options.threads), [&](unsigned) {
      Worker<kUnitWords> worker(setting);
      for (std::size_t p = turn++; p < PartitionedRows::kPartitions; p = turn++) {
        worker.shrink(store, p, limits[p]);
      }
      dropped += worker.dropped();
    });
    shrink_at = next_shrink(store.bytes_held());
  }

  void append(const UnitRows& rows, std::size_t i, const KeyedHash::Wide& unit) {
    std::uint64_t* out = store.append(unit[0] >> (64 - PartitionedRows::kPartitionBits));
    *out++ = unit[0];
    if (options.text_units) *out++ = unit[1];
    std::uint64_t nulls = 0;
    for (std::uint32_t c = 0; c < options.cells; ++c) {
      const UnitRows::Cell& cell = rows.cells[c];
      out[1 + c] = static_cast<std::uint64_t>(cell.values[i]);
      if (!cell.valid.empty() && cell.valid[i] == 0) nulls |= std::uint64_t{1} << c;
    }
    *out = rows.groups[i] | nulls << 32;
  }

  template <std::size_t kUnitWords>
  BoundedTotals finish(std::size_t groups, std::span<const std::uint64_t> tags) {
    const unsigned threads = thread_count(options.threads);
    // A row of a wave needs its block, a candidate and an entry; values that are kept one by one need
    // the whole partition, as only all copies of a value tell how many there are.
    const std::uint64_t room = memory_size(options.memory) / threads / 2;
    const std::uint64_t row_bytes = store.words_per_row() * 8 + 40;
    const std::uint64_t most = (std::uint64_t{1} << 30) / store.rows_per_block();
    const std::uint64_t blocks =
        std::max<std::uint64_t>(4, room / row_bytes / store.rows_per_block());
    const Setting setting{options, tightened(options.bounds),
                          hash,    groups,
                          tags,    options.samples.empty() ? std::min(most, blocks) : most};
    std::vector<std::unique_ptr<Worker<kUnitWords>>> workers(threads);
    std::atomic<std::size_t> turn = 0;
    on_threads(threads, [&](unsigned i) {
      workers[i] = std::make_unique<Worker<kUnitWords>>(setting);
      for (std::size_t p = turn++; p < PartitionedRows::kPartitions; p = turn++) {
        workers[i]->process(store, p, limits[p]);
      }
    });
    return combine(workers, groups, threads);
  }

  template <class Workers>
  BoundedTotals combine(Workers& workers, std::size_t groups, unsigned threads) {
    BoundedTotals totals;
    totals.measures = options.measures.size();
    totals.sums = std::move(workers[0]->result().sums);
    for (unsigned w = 1; w < threads; ++w) {
      const auto& sums = workers[w]->result().sums;
      for (std::size_t i = 0; i < sums.size(); ++i) totals.sums[i] += sums[i];
    }
    std::transform(totals.sums.begin(), totals.sums.end(), totals.sums.begin(), nearest_whole);
    for (std::size_t s = 0; s < options.samples.size(); ++s) {
      std::vector<std::vector<GroupValue>> parts;
      for (auto& worker : workers) parts.push_back(std::move(worker->result().samples[s]));
      totals.samples.push_back(
          grouped(std::move(parts), groups, options.samples[s].distinct, threads));
    }
    if (options.unit_keys) {
      std::vector<KeptGroups> kept;
      for (auto& worker : workers) kept.push_back(std::move(worker->result().kept));
      totals.unit_keys = unit_keys(kept, groups);
    }
    totals.spilled_bytes = store.spilled_bytes();
    totals.dropped_rows = dropped;
    return totals;
  }
};

BoundedAggregate::BoundedAggregate(Options options, BitSource& bits) {
  tightened(options.bounds);
  require(options.cells <= 32, "cells: at most 32 different values can be aggregated at once");
  parts_ = std::make_unique<Parts>(std::move(options), bits);
}

BoundedAggregate::~BoundedAggregate() = default;

void BoundedAggregate::add(const UnitRows& rows) {
  const bool text = parts_->options.text_units;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    if (rows.groups[i] == UnitRows::kNoGroup) continue;
    if (!rows.unit_valid.empty() && rows.unit_valid[i] == 0) continue;
    parts_->append(
        rows, i,
        text ? parts_->hash.text(rows.text_units[i])
             : KeyedHash::Wide{parts_->hash.unit(static_cast<std::uint64_t>(rows.integer_units[i])),
                               0});
  }
  if (parts_->store.bytes_held() < parts_->shrink_at || parts_->store.spilled_bytes() > 0) return;
  text ? parts_->shrink<2>() : parts_->shrink<1>();
}

std::uint64_t BoundedAggregate::tag(std::uint32_t number) const {
  return parts_->hash.group(number);
}

std::uint64_t BoundedAggregate::tag(std::string_view content) const {
  return parts_->hash.short_text(content);
}

std::int64_t BoundedAggregate::identity(std::string_view text) const {
  return static_cast<std::int64_t>(parts_->hash.short_text(text));
}

BoundedTotals BoundedAggregate::finish(std::size_t groups, std::span<const std::uint64_t> tags) {
  return parts_->options.text_units ? parts_->finish<2>(groups, tags)
                                    : parts_->finish<1>(groups, tags);
}

}  // namespace gauze
