#include <gmock/gmock.h>
#include <sys/resource.h>

#include <map>

#include "gauze/base/on_threads.h"
#include "gauze/query/bounded_aggregate.h"
#include "gauze/query/bounded_aggregate_limits_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

// Rows that several threads add, and rows that have keys instead of groups.

namespace gauze {
namespace {

using testing::SeededBits;

/// 2 million rows of 3,000 units in 150 groups, the groups being keys or not, with two cells, some of them null; so many that rows which
/// cannot count are dropped while others come in. The first 100 units come in the last quarter only, when others have limits.
struct ManyRows {
  static constexpr std::size_t kRows = 2'000'000, kGroups = 150;
  std::vector<std::int64_t> units, keys, first, second;
  std::vector<std::uint32_t> groups;
  std::vector<std::uint8_t> valid;

  explicit ManyRows(std::int64_t lowest) {
    SeededBits bits(11);
    for (std::size_t i = 0; i < kRows; ++i) {
      const std::uint64_t drawn = bits.next();
      const auto unit = static_cast<std::int64_t>(drawn % 3000);
      const bool is_early = i < kRows / 4 * 3 && unit < 100;
      units.push_back(lowest + unit + (is_early ? 100 : 0));
      groups.push_back(static_cast<std::uint32_t>((drawn >> 20) % kGroups));
      keys.push_back(key_of(groups.back()));
      first.push_back(static_cast<std::int64_t>(drawn >> 50));
      second.push_back(static_cast<std::int64_t>(drawn >> 60));
      valid.push_back((drawn >> 40) % 5 != 0);
    }
  }
  /// What a group is as a key, and back.
  static std::int64_t key_of(std::uint32_t group) { return group; }

  UnitRows part(std::size_t from, std::size_t to, bool by_key) const {
    const std::size_t n = to - from;
    UnitRows rows;
    rows.rows = n;
    rows.integer_units = std::span(units).subspan(from, n);
    if (by_key) {
      rows.keys = std::span(keys).subspan(from, n);
    } else {
      rows.groups = std::span(groups).subspan(from, n);
    }
    rows.cells = {{std::span(first).subspan(from, n), std::span(valid).subspan(from, n)},
                  {std::span(second).subspan(from, n), {}}};
    return rows;
  }
};

struct How {
  unsigned threads = 1;
  bool by_key = false, early = true;
  std::uint64_t memory = 0;
  bool only_counts = false, numbered = false;
};

BoundedTotals aggregated(const ManyRows& rows, const How& how) {
  SeededBits bits(3);
  std::vector<std::uint64_t> tags;
  BoundedAggregate::Options options{
      .bounds = Bounds{20, 4, 6},
      .cells = 2u,
      .measures = {Measure{}, Measure{1, {{0, 3}}}, Measure{2, {{1, 0}}}, Measure{0, {}, 0, true}},
      .samples = {{0}, {1, true}},
      .by_key = how.by_key,
      .numbered = how.numbered,
      .unit_keys = true,
      .memory = how.memory,
      .threads = how.threads};
  if (how.only_counts) {
    options.cells = 0u;
    options.measures = {Measure{}, Measure{0, {}, 0, true}};
    options.samples = {};
  }
  if (how.early) options.tags_so_far = [&] { return std::span<const std::uint64_t>(tags); };
  BoundedAggregate aggregate(options, bits);
  for (std::uint32_t g = 0; g < ManyRows::kGroups; ++g) tags.push_back(aggregate.tag(g));
  internal::on_threads(how.threads, [&](unsigned thread) {
    constexpr std::size_t kBatch = 4000;
    for (std::size_t from = thread * kBatch; from < ManyRows::kRows; from += how.threads * kBatch) {
      aggregate.add(rows.part(from, std::min(from + kBatch, ManyRows::kRows), how.by_key), thread);
    }
  });
  return aggregate.finish(ManyRows::kGroups);
}

/// With the number that a key stands for as the number of its group.
BoundedTotals renumbered(BoundedTotals totals) {
  if (totals.keys.empty()) return totals;
  BoundedTotals result = totals;
  for (std::size_t g = 0; g < totals.keys.size(); ++g) {
    const auto to = static_cast<std::size_t>(totals.keys[g]);
    for (std::size_t m = 0; m < totals.measures; ++m) {
      result.sums[to * totals.measures + m] = totals.sums[g * totals.measures + m];
    }
  }
  for (std::size_t s = 0; s < totals.samples.size(); ++s) {
    std::vector<std::vector<std::int64_t>> lists(totals.keys.size());
    for (std::size_t g = 0; g < totals.keys.size(); ++g) {
      const auto begin = totals.samples[s].values.begin();
      lists[static_cast<std::size_t>(totals.keys[g])].assign(
          begin + static_cast<std::ptrdiff_t>(totals.samples[s].offsets[g]),
          begin + static_cast<std::ptrdiff_t>(totals.samples[s].offsets[g + 1]));
    }
    result.samples[s] = {{0}, {}};
    for (const auto& list : lists) {
      auto& values = result.samples[s].values;
      values.insert(values.end(), list.begin(), list.end());
      result.samples[s].offsets.push_back(values.size());
    }
  }
  for (std::uint32_t& key : result.unit_keys.keys) {
    key = static_cast<std::uint32_t>(totals.keys[key]);
  }
  return result;
}

/// Whose units begin with `lowest`: small numbers have limits of their own before rows are written.
void expect_the_same(std::int64_t lowest) {
  const ManyRows rows(lowest);
  const BoundedTotals expected = aggregated(rows, {.early = false});
  EXPECT_EQ(expected.dropped_rows, 0u);
  for (const How& how : {How{.threads = 3}, How{.by_key = true}, How{.threads = 3, .by_key = true},
                         How{.threads = 2, .memory = 40'000'000},
                         How{.threads = 3, .by_key = true, .memory = 45'000'000},
                         How{.threads = 2, .by_key = true, .memory = 10'000'000}}) {
    const BoundedTotals got = renumbered(aggregated(rows, how));
    EXPECT_EQ(got.sums, expected.sums);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(got.samples[s].offsets, expected.samples[s].offsets);
      EXPECT_EQ(got.samples[s].values, expected.samples[s].values);
    }
    EXPECT_EQ(got.unit_keys.offsets, expected.unit_keys.offsets);
    EXPECT_EQ(got.unit_keys.keys, expected.unit_keys.keys);
    EXPECT_EQ(got.dropped_rows > 1'000'000, how.memory > 10'000'000) << how.memory;
    EXPECT_EQ(got.spilled_bytes > 0, how.memory == 10'000'000) << how.memory;
  }
}

TEST(BoundedAggregate, GivesTheSameByKeysInSeveralThreadsAndWithLittleMemory) {
  expect_the_same(-1500);
}

TEST(BoundedAggregate, GivesTheSameWhereAllUnitsAreSmallNumbers) {
  expect_the_same(0);
}

TEST(BoundedAggregate, GivesTheSameWhereSomeUnitsAreJustTooLargeForSmallNumbers) {
  expect_the_same((1 << 24) - 1500);
}

// Rows that are only counted are dropped by the orders that say which groups they are in.
TEST(BoundedAggregate, GivesTheSameWhereOrdersTellNumberedGroups) {
  for (const std::int64_t lowest : {0, (1 << 24) - 1500}) {
    const ManyRows rows(lowest);
    const BoundedTotals expected = aggregated(rows, {.early = false, .only_counts = true});
    EXPECT_EQ(expected.dropped_rows, 0u);
    for (const std::uint64_t memory : {0, 30'000'000, 5'000'000}) {
      for (const unsigned threads : {1u, 3u}) {
        const BoundedTotals got = aggregated(
            rows, {.threads = threads, .memory = memory, .only_counts = true, .numbered = true});
        EXPECT_EQ(got.sums, expected.sums);
        EXPECT_EQ(got.unit_keys.offsets, expected.unit_keys.offsets);
        EXPECT_EQ(got.unit_keys.keys, expected.unit_keys.keys);
        EXPECT_EQ(got.dropped_rows > 500'000, memory == 30'000'000) << memory;
        EXPECT_EQ(got.spilled_bytes > 10'000'000, memory == 5'000'000) << memory;
      }
    }
  }
}

/// Largest memory so far, in bytes.
std::uint64_t most_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// Units of one row each while 30,000 groups of a unit count: nothing can be dropped, and looking for it must not take room for that many groups of every unit, which for the
// 5,500 units of a partition would be 180 MB. Rows and what thread and partitions hold are 130 MB.
TEST(BoundedAggregate, TakesNoRoomForGroupsThatUnitsDoNotHave) {
  constexpr std::size_t kRows = 3'000'000, kGroups = 40'000;
  std::vector<std::int64_t> units(kRows);
  std::vector<std::uint32_t> groups(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    units[i] = static_cast<std::int64_t>(i);
    groups[i] = static_cast<std::uint32_t>(i % kGroups);
  }
  UnitRows rows;
  rows.rows = kRows;
  rows.integer_units = units;
  rows.groups = groups;
  SeededBits bits(3);
  std::vector<std::uint64_t> tags;
  bool asked = false;
  const std::uint64_t before = most_memory();
  BoundedAggregate aggregate({.bounds = Bounds{30'000, 30'000, 1},
                              .cells = 0u,
                              .measures = {Measure{}},
                              .memory = 60'000'000,
                              .threads = 1,
                              .tags_so_far =
                                  [&] {
                                    asked = true;
                                    return std::span<const std::uint64_t>(tags);
                                  }},
                             bits);
  for (std::uint32_t g = 0; g < kGroups; ++g) tags.push_back(aggregate.tag(g));
  aggregate.add(rows);
  EXPECT_TRUE(asked);  // rows were looked at before all had come
  const BoundedTotals totals = aggregate.finish(kGroups);
  EXPECT_EQ(totals.dropped_rows, 0u);
  EXPECT_THAT(totals.sums, ::testing::Each(WideInteger{kRows / kGroups}));
#if !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)  // which take memory of their own
  EXPECT_LT(most_memory() - before, 200'000'000u);
#endif
}

using internal::UnitLimits;
constexpr std::uint64_t kPartition = std::uint64_t{5} << 55;

// 20,000 units of which many differ in one bit; none may have the limit of another, and none a limit below its own.
TEST(UnitLimits, AreNotBelowThoseThatWereSetAndOfNobodyElse) {
  SeededBits bits(17);
  UnitLimits<1> limits;
  std::map<std::uint64_t, std::uint64_t> expected;
  const auto check = [&] {
    for (const auto& [unit, limit] : expected) {
      EXPECT_GE(limits.view().find({unit}), limit);
      for (int bit = 0; bit < 55; bit += 3) {
        const std::uint64_t other = unit ^ std::uint64_t{1} << bit;
        if (expected.contains(other)) continue;
        EXPECT_EQ(limits.view().find({other}), UnitLimits<1>::kNone);
      }
    }
  };
  while (expected.size() < 20'000) {
    std::uint64_t unit = kPartition | bits.next() >> 9;
    const std::uint64_t limit = bits.next() >> 3;
    for (int i = 0; i < 3; ++i, unit ^= std::uint64_t{1} << bits.next() % 55) {
      expected[unit] = limit + static_cast<std::uint64_t>(i);
      limits.set({unit}, expected[unit]);
    }
    if (expected.size() == 600) check();
  }
  for (auto& [unit, limit] : expected) limits.set({unit}, limit /= 2);
  check();
  limits.each([&](const UnitLimits<1>::Unit& unit, std::uint64_t limit) {
    EXPECT_GE(limit, expected.at(unit[0]));
  });
}

// Units as hashes make them, as many as there is room for: those without a limit are those beyond the fourth of a place, on average 3.7 of 100 where two
// are expected (a Poisson number's excess over 4). A limit keeps 9 bits and those of the place.
TEST(NumberLimits, AreNotBelowThoseThatWereSetAndOfNobodyElse) {
  internal::NumberLimits limits;
  limits.make();
  SeededBits bits(7);
  std::map<std::uint64_t, std::uint64_t> set;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t number = bits.next() % (std::uint64_t{1} << 24);
    set[number] = bits.next();
  }
  for (const auto& [number, limit] : set) limits.set(number, limit);
  EXPECT_FALSE(limits.lacks_some());
  for (const auto& [number, limit] : set) {
    EXPECT_TRUE(limits.may_count(number, limit));
    const std::uint64_t next = (limit >> 56) + 1;
    EXPECT_EQ(limits.may_count(number, next << 56), next == 256) << number;
    EXPECT_TRUE(limits.may_count(number + 1, UINT64_MAX) || set.contains(number + 1)) << number;
  }
  const std::uint64_t large = std::uint64_t{1} << 24;
  for (const std::uint64_t number : {large, large + 1, UINT64_MAX}) {
    limits.set(number, 0);
    EXPECT_TRUE(limits.may_count(number, UINT64_MAX)) << number;
  }
  EXPECT_TRUE(limits.lacks_some());
}

TEST(UnitLimits, AreKeptOfNearlyAllUnits) {
  SeededBits bits(18);
  UnitLimits<1> limits;
  limits.reserve(1u << 15);
  std::map<std::uint64_t, std::uint64_t> expected;
  while (expected.size() < (1u << 15)) {
    const std::uint64_t unit = kPartition | bits.next() >> 9, limit = bits.next() >> 3;
    expected[unit] = limit;
    limits.set({unit}, limit);
  }
  std::size_t close = 0, visited = 0;
  for (const auto& [unit, limit] : expected) {
    close += limits.view().find({unit}) - limit < limit / 50 ? 1 : 0;
  }
  limits.each([&](const UnitLimits<1>::Unit&, std::uint64_t) { ++visited; });
  EXPECT_GT(close * 100, expected.size() * 95);
  EXPECT_GT(visited * 100, expected.size() * 95);
  EXPECT_LT(visited * 100, expected.size() * 98);
}

}  // namespace
}  // namespace gauze
