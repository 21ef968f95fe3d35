#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "gauze/query/bounded_aggregate.h"
#include "gauze/query/bounded_aggregate_hash_internal.h"
#include "gauze/query/bounded_aggregate_limits_internal.h"
#include "gauze/query/bounded_aggregate_rows_internal.h"
#include "gauze/query/integer_numbers_internal.h"

namespace gauze::internal {

/// What a unit adds is held in parts of 2^-20: rounded to whole numbers, four of ten rows of each
/// unit that counts for one would be nothing at all. No sum exceeds 128 bits below 2^43 rows.
constexpr int kPartBits = 20;
constexpr WideInteger kWhole = WideInteger{1} << kPartBits;

inline WideInteger nearest_whole(WideInteger parts) {
  return (parts + kWhole / 2) >> kPartBits;
}

/// sum * kept / n, to the nearest part, halves up.
inline WideInteger scaled(WideInteger sum, std::uint64_t kept, std::uint64_t n) {
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

inline WideInteger contribution(const Measure& measure, const std::uint64_t* cells,
                                std::uint32_t nulls) {
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

/// What one thread has added up. Where rows have keys instead of groups, groups are numbered as they come up in this thread.
struct Partial {
  LargeVector<WideInteger> sums;  // in parts
  std::vector<std::vector<GroupValue>> samples;
  KeptGroups kept;
  IntegerNumbers numbers;
  std::vector<std::int64_t> keys;
};

/// How a row lies in memory: the words of its unit, its order, or its group where that could not be told from the order, nulls (in the upper half of the word of the group; in a word
/// of their own where there are orders and cells), and its cells.
struct RowShape {
  bool has_orders;
  std::size_t unit_words, cells;

  std::size_t null_at() const { return unit_words + (has_orders && cells > 0 ? 1 : 0); }
  std::size_t words() const { return null_at() + 1 + cells; }
};

struct Setting {
  const BoundedAggregate::Options& options;
  Bounds bounds;
  KeyedHash hash;
  RowShape shape;
  std::size_t groups;
  std::span<const std::uint64_t> tags;
  std::size_t blocks_per_wave;

  /// Calls run(tag) with what makes a tag of a key, or of a group with anything in its upper half.
  template <class Run>
  auto with_tag(Run run) const {
    const KeyedHash by = hash;
    if (options.by_key) return run([by](std::uint64_t key) { return by.group(key); });
    return run([by, all = tags.data()](std::uint64_t key) {
      const auto group = static_cast<std::uint32_t>(key);
      return all == nullptr ? by.group(group) : all[group];
    });
  }
  /// Tags of many groups lie far from each other; this one will be wanted soon.
  void ask_for_tag(std::uint64_t key) const {
    if (!tags.empty()) __builtin_prefetch(&tags[static_cast<std::uint32_t>(key)]);
  }
};

/// Bounds the units of one partition after another. A partition comes in waves; between waves each
/// unit's groups of smallest hash are kept with their sums so far, which loses nothing: a group that
/// is among the smallest of all is among the smallest of every part. Once a unit has as many groups as count,
/// its rows in groups of larger hash are passed over.
template <std::size_t kUnitWords>
class Worker {
 public:
  using Limits = UnitLimits<kUnitWords>;

  explicit Worker(const Setting& setting)
      : s_(setting),
        measures_(setting.options.measures.size()),
        null_at_(setting.shape.null_at()),
        words_(setting.shape.words()) {
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
      store.give_back(blocks_);
    }
    settle();
  }

  /// Moves those rows that may still count to the beginning, and returns them. Every row is written, for no branch foresees which will be.
  std::span<std::uint64_t> filter(std::span<std::uint64_t> rows, const Limits& limits) {
    if (limits.empty()) return rows;
    const std::size_t kept = with_orders([&](auto order) {
      return with_words([&](auto words) { return filter(rows, words, limits.view(), order); });
    });
    dropped_ += (rows.size() - kept) / words_;
    return rows.first(kept);
  }

  /// Leaves those rows in memory that may still count when more have come; says how many. The caller holds the partition's mutex.
  std::uint64_t shrink(PartitionedRows& store, std::size_t partition, Limits& limits) {
    begin(store, limits);
    const std::uint64_t rows = store.rows_held(partition);
    blocks_ = store.lend(partition);
    find_owners(rows);
    limit(rows);
    const std::uint64_t kept = keep(rows);
    store.give_back(partition, std::move(blocks_), kept);
    dropped_ += rows - kept;
    limits.reserve(units_.size());
    for (const Owner& owner : units_) limits.set(owner.unit, owner.limit);
    return kept;
  }

  Partial& result() { return out_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  static constexpr std::uint32_t kCarried = 1u << 31, kNoBoxes = UINT32_MAX;
  static constexpr std::size_t kMostDue = 32, kAhead = 16, kUnitsAhead = 2;
  using Unit = typename Limits::Unit;
  struct Entry {
    std::uint64_t order;  // the keyed hash by which a unit's groups compete
    std::uint32_t row;    // in this wave, or kCarried + position among the carried
    std::uint32_t owner;
  };
  struct Carried {
    Entry entry;
    std::uint64_t key, rows;
  };

  /// Of a partition. Those of its groups that have larger orders than the limit do not count.
  struct Owner {
    Unit unit;
    std::uint64_t limit;
    std::uint32_t rows;  // of a wave that may count
  };

  struct Boxes {
    std::uint32_t first, width;
  };

  /// Calls run(words of a row), which is a constant where a row is as short as it can be.
  template <class Run>
  auto with_words(Run run) const {
    constexpr std::size_t kLeast = kUnitWords + 1;
    return words_ == kLeast ? run(std::integral_constant<std::size_t, kLeast>()) : run(words_);
  }
  /// Calls run(what says the order of a row).
  template <class Run>
  auto with_orders(Run run) const {
    if (s_.shape.has_orders) return run([](const std::uint64_t* row) { return row[kUnitWords]; });
    return s_.with_tag([&](auto tag) {
      return run([tag](const std::uint64_t* row) {
        return KeyedHash::order(row[0], tag(row[kUnitWords]));
      });
    });
  }

  template <class Words, class View, class Order>
  std::size_t filter(std::span<std::uint64_t> rows, Words words, const View& limits,
                     Order order) const {
    std::uint64_t* to = rows.data();
    for (std::size_t at = 0; at < rows.size(); at += words) {
      if (at + kAhead * words < rows.size()) limits.prefetch(unit_of(&rows[at + kAhead * words]));
      const std::uint64_t* row = &rows[at];
      const std::size_t counts = order(row) <= limits.find(unit_of(row)) ? 1 : 0;
      for (std::size_t w = 0; w < words; ++w) to[w] = row[w];
      to += counts * words;
    }
    return static_cast<std::size_t>(to - rows.data());
  }

  std::uint64_t* row(std::uint32_t i) const {
    return blocks_[i >> block_bits_] + (i & (rows_per_block_ - 1)) * words_;
  }
  static bool same(const Unit& a, const Unit& b) {
    return a[0] == b[0] && a[kUnitWords - 1] == b[kUnitWords - 1];
  }
  static Unit unit_of(const std::uint64_t* row) {
    Unit unit;
    std::copy_n(row, kUnitWords, unit.begin());
    return unit;
  }
  /// Asks for the row of an entry, which lies far from that of the next, where more is wanted than is known.
  void ask_for(const Entry& entry) const {
    if (entry.row < kCarried && !(s_.shape.has_orders && counts_only()))
      __builtin_prefetch(row(entry.row) + kUnitWords);
  }
  /// The key, or the group with anything in its upper half.
  std::uint64_t key_of(const Entry& entry) const {
    if (entry.row >= kCarried) return carried_[entry.row - kCarried].key;
    if (s_.shape.has_orders) return s_.hash.group_of(units_[entry.owner].unit[0], entry.order);
    return row(entry.row)[kUnitWords];
  }

  std::uint32_t number(const Unit& unit) {
    std::size_t at = unit[0] & last_slot_;
    while (slots_[at] != 0) {
      if (same(units_[slots_[at] - 1].unit, unit)) return slots_[at] - 1;
      at = (at + 1) & last_slot_;
    }
    units_.push_back({unit, UINT64_MAX, 0});
    slots_[at] = static_cast<std::uint32_t>(units_.size());
    if (units_.size() * 4 >= slots_.size()) grow();
    return static_cast<std::uint32_t>(units_.size() - 1);
  }

  void grow() {
    slots_.assign(slots_.size() * 4, 0);
    last_slot_ = slots_.size() - 1;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      std::size_t at = units_[i].unit[0] & last_slot_;
      while (slots_[at] != 0) at = (at + 1) & last_slot_;
      slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }

  void begin(const PartitionedRows& store, const Limits& limits) {
    rows_per_block_ = store.rows_per_block();
    block_bits_ = static_cast<unsigned>(std::countr_zero(rows_per_block_));
    std::fill(slots_.begin(), slots_.end(), 0);
    units_.clear();
    carried_.clear();
    carried_sums_.clear();
    limits.each([&](const Unit& unit, std::uint64_t limit) { units_[number(unit)].limit = limit; });
  }

  /// Puts the entries of a unit, rows that may count and carried groups, side by side.
  void gather(std::uint64_t rows) {
    const std::uint64_t counting = find_owners(rows);
    if (counting > 2 * s_.bounds.groups_per_unit * units_.size()) limit(rows);  // else few would go
    const std::span<const Entry> candidates = find_candidates(rows, counting);
    starts_.assign(units_.size(), 0);
    for (const Entry& c : candidates) ++starts_[c.owner];
    for (const Carried& c : carried_) ++starts_[c.entry.owner];
    std::uint32_t before = 0;
    for (std::uint32_t& start : starts_) before += std::exchange(start, before);
    entries_.resize(before);
    for (const Entry& c : candidates) entries_[starts_[c.owner]++] = c;
    for (const Carried& c : carried_) entries_[starts_[c.entry.owner]++] = c.entry;
  }

  /// Says whose the rows of a wave are; how many of them may count.
  std::uint64_t find_owners(std::uint64_t rows) {
    if (owners_.size() < rows) owners_.resize(rows);
    if (!s_.shape.has_orders) find_orders(rows);
    for (Owner& owner : units_) owner.rows = 0;
    std::uint64_t counting = 0;
    each_row(rows, [&](std::uint32_t i, std::uint64_t order, const std::uint64_t* r) {
      const std::uint32_t number = this->number(unit_of(r));
      Owner& owner = units_[number];
      const std::uint32_t counts = order <= owner.limit ? 1 : 0;
      owners_[i] = number;
      owner.rows += counts;
      counting += counts;
    });
    return counting;
  }

  /// Of rows that have none. Apart from what depends on them, as tags may have to be waited for.
  void find_orders(std::uint64_t rows) {
    if (orders_.size() < rows) orders_.resize(rows);
    s_.with_tag([&](auto tag) {
      std::uint64_t* order = orders_.data();
      for (std::uint64_t i = 0; i < rows; i += rows_per_block_) {
        const std::uint64_t* r = blocks_[i >> block_bits_];
        const std::size_t here = std::min<std::uint64_t>(rows - i, rows_per_block_);
        for (std::size_t j = 0; j < here; ++j, r += words_) {
          if (j + kAhead < here) s_.ask_for_tag(r[kAhead * words_ + kUnitWords]);
          *order++ = KeyedHash::order(r[0], tag(r[kUnitWords]));
        }
      }
    });
  }

  /// visit(number, order, row) for the rows of a wave
  template <class Visit>
  void each_row(std::uint64_t rows, Visit visit) const {
    with_words([&](auto words) {
      std::uint32_t i = 0;
      for (const PartitionedRows::Block block : blocks_) {
        const auto here = std::min<std::size_t>(rows - i, rows_per_block_);
        const std::uint64_t* r = block;
        const std::uint64_t* order = s_.shape.has_orders ? r + kUnitWords : orders_.data() + i;
        const std::size_t step = s_.shape.has_orders ? words : 1;
        for (std::size_t j = 0; j < here; ++j, ++i, r += words, order += step) {
          visit(i, *order, r);
        }
      }
    });
  }

  /// Rows that may count, of which there are `most`. All are written, for no branch foresees which will be passed over.
  std::span<const Entry> find_candidates(std::uint64_t rows, std::uint64_t most) {
    if (candidates_.size() < most + 1) candidates_.resize(most + 1);
    Entry* const candidates = candidates_.data();
    std::size_t found = 0;
    each_row(rows, [&](std::uint32_t i, std::uint64_t order, const std::uint64_t*) {
      candidates[found] = {order, i, owners_[i]};
      found += order <= units_[owners_[i]].limit ? 1 : 0;
    });
    return {candidates, found};
  }

  /// Moves rows that may count to the beginning; says how many. All are written, as above.
  std::uint64_t keep(std::uint64_t rows) {
    std::uint64_t kept = 0;
    with_words([&](auto words) {
      auto block = blocks_.begin();
      std::uint64_t *to = nullptr, *end = nullptr;
      each_row(rows, [&](std::uint32_t i, std::uint64_t order, const std::uint64_t* r) {
        if (to == end) {
          to = *block++;
          end = to + rows_per_block_ * words;
        }
        for (std::size_t w = 0; w < words; ++w) to[w] = r[w];
        const std::size_t counts = order <= units_[owners_[i]].limit ? 1 : 0;
        to += counts * words;
        kept += counts;
      });
    });
    return kept;
  }

  /// visit(unit, its entries, sorted)
  template <class Visit>
  void for_each_unit(Visit visit) {
    std::uint32_t begin = 0, asked = 0;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      const std::uint32_t end = starts_[u];  // `gather` moved each start to the next
      const std::span<Entry> rows(entries_.data() + begin, end - begin);
      begin = end;
      if (u + kUnitsAhead < units_.size()) {
        for (; asked < starts_[u + kUnitsAhead]; ++asked) ask_for(entries_[asked]);
      }
      sort(rows);
      visit(u, rows);
    }
  }

  /// Lowers limits, not below the k-th smallest hash of a unit's groups. The hashes that may count fall into so many boxes of equal width that few share one; where
  /// k boxes hold some, the k-th smallest lies no higher than the k-th of these boxes. Units with fewer candidates than that need no boxes: there are at most 16 for each candidate.
  void limit(std::uint64_t rows) {
    const std::uint64_t k = s_.bounds.groups_per_unit;
    const std::size_t words = std::bit_ceil(std::max<std::uint64_t>(8, k)) / 8;
    const int bits = std::countr_zero(words) + 6;
    const std::uint64_t last = words * 64 - 1;
    boxes_of_.clear();
    std::uint32_t full = 0;
    for (const Owner& owner : units_) {
      const int width = std::max(0, static_cast<int>(std::bit_width(owner.limit)) - bits);
      // Units without boxes share those at the end.
      boxes_of_.push_back({owner.rows < k ? kNoBoxes : full++, static_cast<std::uint32_t>(width)});
    }
    for (Boxes& of : boxes_of_)
      of.first = static_cast<std::uint32_t>(std::min(of.first, full) * words);
    boxes_.assign((full + 1) * words, 0);
    each_row(rows, [&](std::uint32_t i, std::uint64_t order, const std::uint64_t*) {
      const Boxes of = boxes_of_[owners_[i]];
      // What lies above the limit may fall into the last box: that one lowers no limit.
      const std::uint64_t box = std::min(order >> of.width, last);
      boxes_[of.first + box / 64] |= std::uint64_t{1} << box % 64;
    });
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      const Boxes of = boxes_of_[u];
      if (of.first == full * words) continue;
      const auto box = nth_set(std::span(boxes_).subspan(of.first, words), k);
      // That of the last box of all is the largest number there is.
      if (box) units_[u].limit = std::min(units_[u].limit, ((*box + 1) << of.width) - 1);
    }
  }

  /// Where the n-th bit is that is set, n from 1 on.
  static std::optional<std::uint64_t> nth_set(std::span<const std::uint64_t> words,
                                              std::uint64_t n) {
    for (std::size_t w = 0; w < words.size(); ++w) {
      std::uint64_t held = words[w];
      const auto count = static_cast<std::uint64_t>(std::popcount(held));
      if (count < n) {
        n -= count;
        continue;
      }
      for (; n > 1; --n) held &= held - 1;
      return w * 64 + static_cast<std::uint64_t>(std::countr_zero(held));
    }
    return std::nullopt;
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
          kept.push_back({{rows[from].order, place, u}, key_of(rows[from]), n});
          kept_sums.insert(kept_sums.end(), sums_.begin(), sums_.end());
          if (groups + 1 == s_.bounds.groups_per_unit) units_[u].limit = rows[from].order;
        }
        from = to;
      }
      if (last && s_.options.unit_keys) {
        out_.kept.units.push_back(units_[u].unit[0]);
        out_.kept.ends.push_back(out_.kept.groups.size() + due_.size());
      }
    });
    carried_ = std::move(kept);
    carried_sums_ = std::move(kept_sums);
  }

  /// Few entries are counted into their places: hashes leave nothing for branches to foresee.
  static void sort(std::span<Entry> rows) {
    constexpr std::size_t kFew = 32;
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

  /// How many rows these entries of one unit and group stand for; their sums go to `sums_`, unless every row adds the
  /// same.
  std::uint64_t add_up(std::span<const Entry> entries) {
    if (counts_only() && carried_.empty()) return entries.size();
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
      const std::uint64_t* r = row(entry.row) + null_at_;
      const auto nulls = static_cast<std::uint32_t>(r[0] >> 32);
      for (std::size_t i = 0; i < measures_; ++i) {
        sums_[i] += contribution(s_.options.measures[i], r + 1, nulls);
      }
    }
    return n;
  }

  /// What so many of the n rows of a unit in a group add to a measure, in parts.
  WideInteger share(std::size_t measure, std::uint64_t kept, std::uint64_t n) const {
    const Measure& of = s_.options.measures[measure];
    if (of.units) return kWhole;
    if (counts_only()) return (1 - of.offset) * static_cast<WideInteger>(kept) * kWhole;
    return scaled(sums_[measure], kept, n);
  }

  bool counts_only() const { return s_.options.cells == 0; }

  /// Adds what the unit may add to this group; says how many rows that were.
  std::uint64_t clip(std::span<const Entry> entries, std::uint64_t n, std::uint64_t left) {
    const std::uint64_t kept = std::min({n, s_.bounds.rows_per_group, left});
    if (due_.size() == kMostDue) settle();
    const std::uint64_t key = key_of(entries.front());
    due_.push_back(key);
    if (s_.options.by_key) {
      out_.numbers.prefetch(static_cast<std::int64_t>(key));
    } else {
      __builtin_prefetch(out_.sums.data() + static_cast<std::uint32_t>(key) * measures_, 1);
    }
    for (std::size_t i = 0; i < measures_; ++i) due_sums_.push_back(share(i, kept, n));
    for (std::size_t i = 0; i < s_.options.samples.size(); ++i) {
      choose(i, entries, group_of(key), kept);
    }
    return kept;
  }

  std::uint32_t group_of(std::uint64_t key) {
    if (!s_.options.by_key) return static_cast<std::uint32_t>(key);
    const auto next = static_cast<std::uint32_t>(out_.keys.size());
    const std::uint32_t group = out_.numbers.find_or_add(static_cast<std::int64_t>(key), next);
    if (group == next) {
      out_.keys.push_back(static_cast<std::int64_t>(key));
      out_.sums.resize(out_.keys.size() * measures_);
    }
    return group;
  }

  /// Adds what is due to the totals. Where there are many groups each is a place in memory far from the others: it was asked
  /// for when it was noted, and is there by now.
  void settle() {
    std::array<std::uint32_t, kMostDue> groups;
    for (std::size_t i = 0; i < due_.size(); ++i) {
      groups[i] = group_of(due_[i]);
      if (s_.options.by_key) __builtin_prefetch(out_.sums.data() + groups[i] * measures_, 1);
    }
    const std::span<const std::uint32_t> of(groups.data(), due_.size());
    const WideInteger* sum = due_sums_.data();
    for (const std::uint32_t group : of) {
      for (std::size_t i = 0; i < measures_; ++i) out_.sums[group * measures_ + i] += *sum++;
    }
    if (s_.options.unit_keys) out_.kept.groups.insert(out_.kept.groups.end(), of.begin(), of.end());
    due_.clear();
    due_sums_.clear();
  }

  /// Keeps at most `kept` values of a unit's rows in a group: every set of rows, or of different values,
  /// is equally likely. The choice depends on the values alone, not on the order of the rows: equal
  /// values are told apart by counting them.
  void choose(std::size_t sample, std::span<const Entry> entries, std::uint32_t group,
              std::uint64_t kept) {
    const Sample& spec = s_.options.samples[sample];
    values_.clear();
    for (const Entry& entry : entries) {
      if (entry.row >= kCarried) continue;  // a partition of more than 2^30 rows
      const std::uint64_t* r = row(entry.row) + null_at_;
      if ((r[0] >> (32 + spec.cell) & 1) == 0) {
        values_.push_back(static_cast<std::int64_t>(r[1 + spec.cell]));
      }
    }
    if (spec.distinct || values_.size() > kept) std::sort(values_.begin(), values_.end());
    if (spec.distinct) values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    auto& out = out_.samples[sample];
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
  std::size_t measures_, null_at_, words_;
  Partial out_;
  std::uint64_t dropped_ = 0;
  std::size_t rows_per_block_ = 0;
  unsigned block_bits_ = 0;
  std::vector<PartitionedRows::Block> blocks_;  // of this wave
  std::vector<Entry> candidates_;
  std::vector<std::uint32_t> owners_;  // of its rows
  std::vector<std::uint64_t> orders_;  // of its rows, where they do not have them
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024), starts_;
  std::size_t last_slot_ = slots_.size() - 1;
  std::vector<Owner> units_;
  std::vector<Boxes> boxes_of_;  // units
  std::vector<std::uint64_t> boxes_;
  std::vector<Entry> entries_;
  std::vector<Carried> carried_;
  std::vector<WideInteger> carried_sums_, sums_;
  std::vector<std::uint64_t> due_;  // keys or groups, and what their totals shall grow by
  std::vector<WideInteger> due_sums_;
  std::vector<std::int64_t> values_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> lots_;
};

}  // namespace gauze::internal
