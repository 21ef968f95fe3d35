#include "gauze/query/bounded_aggregate.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "gauze/base/error.h"
#include "gauze/base/on_threads.h"
#include "gauze/query/bounded_aggregate_worker_internal.h"

namespace gauze {

using internal::GroupValue;
using internal::IntegerNumbers;
using internal::KeptGroups;
using internal::KeyedHash;
using internal::nearest_whole;
using internal::NumberLimits;
using internal::on_threads;
using internal::Partial;
using internal::PartitionedRows;
using internal::RowShape;
using internal::RowWriter;
using internal::Setting;
using internal::sort_on_threads;
using internal::thread_count;
using internal::UnitLimits;
using internal::Worker;

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

constexpr std::size_t kTogether = 64;  ///< rows whose places are asked for at once
constexpr std::uint64_t kMany = std::uint64_t{1} << 28;  ///< bytes of rows before any is dropped

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

UnitKeys unit_keys(const std::vector<KeptGroups>& parts, std::size_t groups, unsigned threads) {
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
  sort_on_threads(threads, places.begin(), places.end(),
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

/// Gives the groups of all threads the numbers that the first has given them, and further ones; the keys by number.
std::vector<std::int64_t> number_alike(std::vector<Partial>& parts, std::size_t measures) {
  IntegerNumbers numbers = std::move(parts[0].numbers);
  std::vector<std::int64_t> keys = std::move(parts[0].keys);
  std::vector<std::vector<std::uint32_t>> renumbered(parts.size());
  for (std::size_t p = 1; p < parts.size(); ++p) {
    constexpr std::size_t kAhead = 16;
    const std::vector<std::int64_t>& own = parts[p].keys;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i + kAhead < own.size()) numbers.prefetch(own[i + kAhead]);
      const auto next = static_cast<std::uint32_t>(keys.size());
      renumbered[p].push_back(numbers.find_or_add(own[i], next));
      if (renumbered[p].back() == next) keys.push_back(own[i]);
    }
  }
  on_threads(static_cast<unsigned>(parts.size()), [&](unsigned p) {
    Partial& part = parts[p];
    LargeVector<WideInteger> sums = std::move(part.sums);
    if (p == 0) {
      sums.resize(keys.size() * measures);
      part.sums = std::move(sums);
      return;
    }
    part.sums.assign(keys.size() * measures, 0);
    for (std::size_t g = 0; g < renumbered[p].size(); ++g) {
      std::copy_n(&sums[g * measures], measures, &part.sums[renumbered[p][g] * measures]);
    }
    for (std::uint32_t& group : part.kept.groups) group = renumbered[p][group];
    for (auto& sample : part.samples) {
      for (GroupValue& value : sample) value.group = renumbered[p][value.group];
    }
  });
  return keys;
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

  Parts(Options o, BitSource& bits) : options(std::move(o)), hash(bits) {}
  virtual ~Parts() = default;
  virtual void add(const UnitRows& rows, unsigned thread) = 0;
  virtual BoundedTotals finish(std::size_t groups, std::span<const std::uint64_t> tags) = 0;
};

template <std::size_t kUnitWords>
struct BoundedAggregate::PartsOf final : Parts {
  using Limits = UnitLimits<kUnitWords>;
  using Unit = typename Limits::Unit;
  /// What a thread needs to add rows.
  struct Feed {
    RowWriter writer;
    Setting setting;
    Worker<kUnitWords> worker;
    std::uint64_t dropped = 0;  // before they were written

    explicit Feed(PartsOf& all)
        : writer(all.store),
          setting{all.options, tightened(all.options.bounds), all.hash, all.shape, 0, {}, 0},
          worker(setting) {}
  };

  RowShape shape;
  PartitionedRows store;
  std::vector<Limits> limits;            // of partitions, as what follows
  std::vector<std::uint64_t> shrink_at;  // when a partition holds so many rows
  NumberLimits number_limits;            // of all partitions
  std::once_flag makes_limits;
  std::atomic<bool> limited = false;  // whether there may be limits
  std::vector<std::unique_ptr<Feed>> feeds;

  PartsOf(Options o, BitSource& bits)
      : Parts(std::move(o), bits),
        shape{orders_tell(options), kUnitWords, options.cells},
        store(shape.words(), memory_size(options.memory), options.temp_directory),
        limits(PartitionedRows::kPartitions),
        feeds(thread_count(options.threads)) {
    const bool known_tags = options.by_key || options.tags_so_far;
    shrink_at.assign(PartitionedRows::kPartitions, known_tags ? next_shrink(0) : UINT64_MAX);
  }

  /// Whether orders say which group it is, and no more is to be said of a row, or all of it would take a word more anyhow.
  static bool orders_tell(const Options& options) {
    return options.by_key || (options.numbered && options.cells == 0);
  }

  /// When so many rows of a partition are left. Often enough that they stay few where most rows do not count; but what can hardly
  /// shrink is not looked at in vain.
  std::uint64_t next_shrink(std::uint64_t left) const {
    const std::uint64_t bytes = PartitionedRows::kPartitions * shape.words() * 8;
    const std::uint64_t memory = memory_size(options.memory) / bytes;
    // Tags of many groups are far from each other: a second look at rows costs more than room for them.
    const bool far = options.unit_keys && !options.by_key;
    const std::uint64_t many = far ? memory : kMany / bytes;
    if (left > memory / 2) return UINT64_MAX;
    const std::uint64_t wanted = std::min(std::max(many, 2 * left), memory / 4 * 3);
    return std::max<std::uint64_t>(wanted, 2 * store.rows_per_block());
  }

  void add(const UnitRows& rows, unsigned thread) override {
    if (!feeds.at(thread)) feeds[thread] = std::make_unique<Feed>(*this);
    Feed& feed = *feeds[thread];
    if (limited || shape.has_orders) feed.setting.tags = tags_so_far();
    options.by_key ? add(rows, rows.keys, feed) : add(rows, rows.groups, feed);
    if (feed.writer.is_small()) {
      move_all(feed);
      feed.writer.enlarge(store);
    }
  }

  /// Rows that follow one another, and those of them that are wanted.
  struct Some {
    std::size_t from, rows;
    std::array<Unit, kTogether> units;
    std::array<std::uint64_t, kTogether> orders;  // where these matter
    std::array<std::size_t, kTogether> wanted;
    std::size_t count;
  };

  template <class Key>
  void add(const UnitRows& rows, std::span<const Key> keys, Feed& feed) {
    const bool asks = kUnitWords == 1 && limited;
    Some some;
    for (some.from = 0; some.from < rows.rows; some.from += kTogether) {
      some.rows = std::min(kTogether, rows.rows - some.from);
      hash_units(rows, some);
      if (asks || shape.has_orders) hash_groups(keys, feed.setting, some);
      if (asks) {
        feed.dropped += find_counting(rows, keys, some);
      } else {
        find(rows, keys, some, [](std::size_t) { return true; });
      }
      write(rows, keys, some, feed);
    }
  }

  void hash_units(const UnitRows& rows, Some& some) const {
    if constexpr (kUnitWords == 1) {
      hash.units(&rows.integer_units[some.from], some.rows, some.units.front().data());
    } else {
      for (std::size_t j = 0, i = some.from; j < some.rows; ++j, ++i) {
        if (!is_null(rows, i)) some.units[j] = hash.text(rows.text_units[i]);
      }
    }
  }

  static bool is_null(const UnitRows& rows, std::size_t i) {
    return !rows.unit_valid.empty() && rows.unit_valid[i] == 0;
  }

  template <class Key>
  void hash_groups(std::span<const Key> keys, const Setting& setting, Some& some) const {
    const Key* key = &keys[some.from];
    if constexpr (std::is_same_v<Key, std::int64_t>) {
      hash.groups(key, some.rows, some.orders.data());
    } else {
      setting.with_tag([&](auto tag) {
        for (std::size_t j = 0; j < some.rows; ++j) {
          some.orders[j] = key[j] == UnitRows::kNoGroup ? 0 : tag(key[j]);
        }
      });
    }
    if constexpr (kUnitWords == 1) {
      KeyedHash::orders(some.units.front().data(), some.rows, some.orders.data());
    } else {
      for (std::size_t j = 0; j < some.rows; ++j) {
        some.orders[j] = KeyedHash::order(some.units[j][0], some.orders[j]);
      }
    }
  }

  /// Wants those that have a unit and a group, and of which may_count(which); says how many of them do not. All are written, for no branch foresees
  /// which will be wanted.
  template <class Key, class MayCount>
  std::size_t find(const UnitRows& rows, std::span<const Key> keys, Some& some,
                   MayCount may_count) const {
    const bool by_key = options.by_key;
    const Key* key = &keys[some.from];
    std::size_t found = 0, count = 0;
    for (std::size_t j = 0; j < some.rows; ++j) {
      if (is_null(rows, some.from + j)) continue;
      if (!by_key && key[j] == static_cast<Key>(UnitRows::kNoGroup)) continue;
      some.wanted[count] = j;
      count += static_cast<std::size_t>(may_count(j));
      ++found;
    }
    some.count = count;
    return found - count;
  }

  /// Asks for the limits of those that come next.
  template <class Key>
  std::size_t find_counting(const UnitRows& rows, std::span<const Key> keys, Some& some) const {
    const auto number = [&](std::size_t i) {
      return static_cast<std::uint64_t>(rows.integer_units[i]);
    };
    const std::size_t first = some.from == 0 ? 0 : some.from + kTogether;
    const std::size_t last = std::min(some.from + 2 * kTogether, rows.rows);
    for (std::size_t i = first; i < last; ++i) number_limits.prefetch(number(i));
    return find(rows, keys, some, [&](std::size_t j) {
      return number_limits.may_count(number(some.from + j), some.orders[j]);
    });
  }

  /// Asks for their places before: they lie far from each other.
  template <class Key>
  void write(const UnitRows& rows, std::span<const Key> keys, const Some& some, Feed& feed) {
    const bool has_cells = shape.cells > 0, has_orders = shape.has_orders;
    const std::span<const std::size_t> wanted(some.wanted.data(), some.count);
    for (const std::size_t j : wanted) feed.writer.prefetch(partition_of(some.units[j]));
    for (const std::size_t j : wanted) {
      const std::size_t partition = partition_of(some.units[j]), i = some.from + j;
      std::uint64_t* row = feed.writer.append(partition);
      std::copy(some.units[j].begin(), some.units[j].end(), row);
      row[kUnitWords] = has_orders ? some.orders[j] : static_cast<std::uint64_t>(keys[i]);
      if (has_cells) fill(rows, i, row);
      if (feed.writer.is_full(partition)) move(partition, feed);
    }
  }
  static std::size_t partition_of(const Unit& unit) {
    return unit[0] >> (64 - PartitionedRows::kPartitionBits);
  }

  std::span<const std::uint64_t> tags_so_far() const {
    return options.tags_so_far ? options.tags_so_far() : std::span<const std::uint64_t>();
  }

  void fill(const UnitRows& rows, std::size_t i, std::uint64_t* row) const {
    std::uint64_t nulls = 0;
    std::uint64_t* cells = row + shape.null_at() + 1;
    for (std::size_t c = 0; c < shape.cells; ++c) {
      const UnitRows::Cell& cell = rows.cells[c];
      cells[c] = static_cast<std::uint64_t>(cell.values[i]);
      if (!cell.valid.empty() && cell.valid[i] == 0) nulls |= std::uint64_t{1} << c;
    }
    row[shape.null_at()] = (shape.has_orders ? 0 : row[kUnitWords]) | nulls << 32;
  }

  /// What a thread has of a partition, to all of it. Rows that cannot count go before, and when there are many.
  void move(std::size_t partition, Feed& feed) {
    const std::lock_guard lock(store.mutex(partition));
    const bool asked = kUnitWords == 1 && !number_limits.lacks_some();  // of nearly all
    if (asked && feed.writer.has_block(partition)) {
      feed.writer.move_block(partition, store);
    } else {
      const std::span<std::uint64_t> rows = feed.writer.take(partition);
      store.append(partition, asked ? rows : feed.worker.filter(rows, limits[partition]));
    }
    if (store.rows_held(partition) < shrink_at[partition]) return;
    feed.setting.tags = tags_so_far();
    shrink_at[partition] = next_shrink(feed.worker.shrink(store, partition, limits[partition]));
    if constexpr (kUnitWords == 1) {
      std::call_once(makes_limits, [&] { number_limits.make(); });
      limits[partition].each([&](const Unit& unit, std::uint64_t limit) {
        number_limits.set(hash.integer_of(unit[0]), limit);
      });
    }
    limited = true;
  }
  void move_all(Feed& feed) {
    for (std::size_t p = 0; p < PartitionedRows::kPartitions; ++p) move(p, feed);
  }

  BoundedTotals finish(std::size_t groups, std::span<const std::uint64_t> tags) override {
    std::uint64_t dropped = 0;
    for (const auto& feed : feeds) {
      if (!feed) continue;
      move_all(*feed);
      dropped += feed->dropped + feed->worker.dropped();
    }
    const unsigned threads = thread_count(options.threads);
    // A row of a wave needs its block, a candidate and an entry; values that are kept one by one need
    // the whole partition, as only all copies of a value tell how many there are.
    const std::uint64_t room = memory_size(options.memory) / threads / 2;
    const std::uint64_t row_bytes = store.words_per_row() * 8 + 48;
    const std::uint64_t most = (std::uint64_t{1} << 30) / store.rows_per_block();
    const std::uint64_t blocks =
        std::max<std::uint64_t>(4, room / row_bytes / store.rows_per_block());
    const Setting setting{options,
                          tightened(options.bounds),
                          hash,
                          shape,
                          options.by_key ? 0 : groups,
                          tags,
                          options.samples.empty() ? std::min(most, blocks) : most};
    std::vector<Partial> parts(threads);
    std::atomic<std::size_t> turn = 0;
    on_threads(threads, [&](unsigned i) {
      Worker<kUnitWords> worker(setting);
      for (std::size_t p = turn++; p < PartitionedRows::kPartitions; p = turn++) {
        worker.process(store, p, limits[p]);
      }
      parts[i] = std::move(worker.result());
    });
    feeds.clear();
    store.release();
    BoundedTotals totals;
    if (options.by_key) {
      totals.keys = number_alike(parts, options.measures.size());
      groups = totals.keys.size();
    }
    combine(parts, groups, totals);
    totals.spilled_bytes = store.spilled_bytes();
    totals.dropped_rows = dropped;
    return totals;
  }

  void combine(std::vector<Partial>& parts, std::size_t groups, BoundedTotals& totals) const {
    totals.measures = options.measures.size();
    totals.sums = std::move(parts[0].sums);
    for (std::size_t p = 1; p < parts.size(); ++p) {
      for (std::size_t i = 0; i < parts[p].sums.size(); ++i) totals.sums[i] += parts[p].sums[i];
    }
    std::transform(totals.sums.begin(), totals.sums.end(), totals.sums.begin(), nearest_whole);
    for (std::size_t s = 0; s < options.samples.size(); ++s) {
      std::vector<std::vector<GroupValue>> samples;
      for (Partial& part : parts) samples.push_back(std::move(part.samples[s]));
      totals.samples.push_back(grouped(std::move(samples), groups, options.samples[s].distinct,
                                       thread_count(options.threads)));
    }
    if (options.unit_keys) {
      std::vector<KeptGroups> kept;
      for (Partial& part : parts) kept.push_back(std::move(part.kept));
      totals.unit_keys = unit_keys(kept, groups, thread_count(options.threads));
    }
  }
};

BoundedAggregate::BoundedAggregate(Options options, BitSource& bits) {
  tightened(options.bounds);
  require(options.cells <= 32, "cells: at most 32 different values can be aggregated at once");
  if (options.text_units) {
    parts_ = std::make_unique<PartsOf<2>>(std::move(options), bits);
  } else {
    parts_ = std::make_unique<PartsOf<1>>(std::move(options), bits);
  }
}

BoundedAggregate::~BoundedAggregate() = default;

void BoundedAggregate::add(const UnitRows& rows, unsigned thread) {
  parts_->add(rows, thread);
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
  return parts_->finish(groups, tags);
}

}  // namespace gauze
