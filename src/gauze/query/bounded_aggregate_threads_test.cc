#include <gmock/gmock.h>

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
/// cannot count are dropped while others come in.
struct ManyRows {
  static constexpr std::size_t kRows = 2'000'000, kGroups = 150;
  std::vector<std::int64_t> units, keys, first, second;
  std::vector<std::uint32_t> groups;
  std::vector<std::uint8_t> valid;

  ManyRows() {
    SeededBits bits(11);
    for (std::size_t i = 0; i < kRows; ++i) {
      const std::uint64_t drawn = bits.next();
      units.push_back(static_cast<std::int64_t>(drawn % 3000) - 1500);
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
      .unit_keys = true,
      .memory = how.memory,
      .threads = how.threads};
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

TEST(BoundedAggregate, GivesTheSameByKeysInSeveralThreadsAndWithLittleMemory) {
  const ManyRows rows;
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

// 20,000 units of which many differ in one bit; none may have the limit of another, and none a limit below its own.
TEST(UnitLimits, AreNotBelowThoseThatWereSetAndOfNobodyElse) {
  using internal::UnitLimits;
  SeededBits bits(17);
  UnitLimits<1> limits;
  std::map<std::uint64_t, std::uint64_t> expected;
  const std::uint64_t partition = std::uint64_t{5} << 55;
  std::size_t looked = 0, close = 0;
  const auto check = [&] {
    for (const auto& [unit, limit] : expected) {
      const std::uint64_t found = limits.view().find({unit});
      EXPECT_GE(found, limit);
      ++looked;
      close += found - limit < limit / 50 ? 1 : 0;
      for (int bit = 0; bit < 55; bit += 3) {
        const std::uint64_t other = unit ^ std::uint64_t{1} << bit;
        if (expected.contains(other)) continue;
        EXPECT_EQ(limits.view().find({other}), UnitLimits<1>::kNone);
      }
    }
  };
  while (expected.size() < 20'000) {
    std::uint64_t unit = partition | bits.next() >> 9;
    const std::uint64_t limit = bits.next() >> 3;
    for (int i = 0; i < 3; ++i, unit ^= std::uint64_t{1} << bits.next() % 55) {
      expected[unit] = limit + static_cast<std::uint64_t>(i);
      limits.set({unit}, expected[unit]);
    }
    if (expected.size() == 600) check();
  }
  for (auto& [unit, limit] : expected) limits.set({unit}, limit /= 2);
  check();
  EXPECT_GT(close * 100, looked * 97);  // nearly all have one, and it says much
  std::size_t visited = 0;
  limits.each([&](const UnitLimits<1>::Unit& unit, std::uint64_t limit) {
    EXPECT_GE(limit, expected.at(unit[0]));
    ++visited;
  });
  EXPECT_GT(visited * 100, expected.size() * 97);
}

}  // namespace
}  // namespace gauze
