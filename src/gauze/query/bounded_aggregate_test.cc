#include "gauze/query/bounded_aggregate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "gauze/query/bounded_aggregate_hash_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using ::testing::ElementsAre;
using testing::SeededBits;

struct Row {
  std::int64_t unit;
  std::uint32_t group;
  std::vector<std::optional<std::int64_t>> cells = {};
};

const Measure kRowCount{};
const Measure kUnitCount{0, {}, 0, true};
Measure sum_of(std::uint32_t cell, std::int64_t centre = 0) {
  return {1u << cell, {{cell, centre}}};
}

/// Feeds rows in small batches.
BoundedTotals aggregate(const BoundedAggregate::Options& options, const std::vector<Row>& rows,
                        std::size_t groups, std::uint64_t seed = 1) {
  SeededBits bits(seed);
  BoundedAggregate aggregate(options, bits);
  const std::size_t step = 1000;
  for (std::size_t from = 0; from < rows.size(); from += step) {
    const std::size_t n = std::min(step, rows.size() - from);
    std::vector<std::int64_t> units(n);
    std::vector<std::uint32_t> keys(n);
    std::vector<std::vector<std::int64_t>> values(options.cells, std::vector<std::int64_t>(n));
    std::vector<std::vector<std::uint8_t>> valid(options.cells, std::vector<std::uint8_t>(n));
    for (std::size_t i = 0; i < n; ++i) {
      const Row& row = rows[from + i];
      units[i] = row.unit;
      keys[i] = row.group;
      for (std::size_t c = 0; c < options.cells; ++c) {
        values[c][i] = row.cells[c].value_or(1'000'000'007);  // what a null holds must not matter
        valid[c][i] = row.cells[c].has_value();
      }
    }
    std::vector<std::string> names;
    for (const std::int64_t unit : units) names.push_back("unit " + std::to_string(unit));
    const std::vector<std::string_view> texts(names.begin(), names.end());
    UnitRows batch;
    batch.rows = n;
    batch.groups = keys;
    if (options.text_units) {
      batch.text_units = texts;
    } else {
      batch.integer_units = units;
    }
    for (std::size_t c = 0; c < options.cells; ++c) batch.cells.push_back({values[c], valid[c]});
    aggregate.add(batch);
  }
  return aggregate.finish(groups);
}

std::vector<std::int64_t> column(const BoundedTotals& totals, std::size_t measure) {
  std::vector<std::int64_t> result;
  for (std::size_t i = measure; i < totals.sums.size(); i += totals.measures) {
    result.push_back(static_cast<std::int64_t>(totals.sums[i]));
  }
  return result;
}

std::vector<Row> random_rows(std::size_t count, int units, int groups, std::uint64_t seed) {
  testing::SeededBits bits(seed);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    Row row{static_cast<std::int64_t>(uniform_below(bits, static_cast<std::uint64_t>(units))) -
                units / 2,
            static_cast<std::uint32_t>(uniform_below(bits, static_cast<std::uint64_t>(groups))),
            {}};
    row.cells = {static_cast<std::int64_t>(uniform_below(bits, 21)) - 10,
                 static_cast<std::int64_t>(uniform_below(bits, 100))};
    if (uniform_below(bits, 7) == 0) row.cells[0].reset();
    rows.push_back(row);
  }
  return rows;
}

TEST(BoundedAggregate, AddsUpEverythingWhenNothingExceedsItsBounds) {
  for (const bool text : {false, true}) {
    const auto rows = random_rows(30'000, 500, 17, 5);
    std::vector<std::int64_t> count(17), present(17), sum(17), squares(17), product(17), units(17);
    std::vector<std::set<std::int64_t>> seen(17);
    for (const Row& row : rows) {
      ++count[row.group];
      seen[row.group].insert(row.unit);
      if (!row.cells[0]) continue;
      const std::int64_t x = *row.cells[0] - 3, y = *row.cells[1] - 50;
      ++present[row.group];
      sum[row.group] += x;
      squares[row.group] += x * x - 40;
      product[row.group] += x * y;
    }
    for (std::size_t g = 0; g < 17; ++g) units[g] = static_cast<std::int64_t>(seen[g].size());
    const auto totals = aggregate({.bounds = Bounds{1'000'000, 1000, 1000},
                                   .cells = 2u,
                                   .measures = {kRowCount,
                                                kUnitCount,
                                                {1, {}},
                                                sum_of(0, 3),
                                                {1, {{0, 3}, {0, 3}}, 40},
                                                {3, {{0, 3}, {1, 50}}}},
                                   .text_units = text},
                                  rows, 17);
    EXPECT_EQ(column(totals, 0), count);
    EXPECT_EQ(column(totals, 1), units);
    EXPECT_EQ(column(totals, 2), present);
    EXPECT_EQ(column(totals, 3), sum);
    EXPECT_EQ(column(totals, 4), squares);
    EXPECT_EQ(column(totals, 5), product);
  }
}

/// What each unit adds must be a function of its own rows, and all totals move within the bounds when
/// it goes.
void expect_bounded(const Bounds& bounds, const std::vector<Row>& rows, std::int64_t largest) {
  const BoundedAggregate::Options options{
      .bounds = bounds, .cells = 2u, .measures = {kRowCount, kUnitCount, sum_of(0)}};
  std::map<std::int64_t, std::vector<Row>> by_unit;
  for (const Row& row : rows) by_unit[row.unit].push_back(row);
  const auto all = aggregate(options, rows, 17);
  std::vector<std::int64_t> together(17);
  std::vector<double> exact(17);
  const std::int64_t l2 = l2_squared_rows(bounds).convert_to<std::int64_t>();
  for (const auto& [unit, own] : by_unit) {
    const auto counts = column(aggregate(options, own, 17), 0);
    std::vector<Row> others;
    std::vector<double> n(17), s(17);
    for (const Row& row : rows) {
      if (row.unit != unit) others.push_back(row);
      if (row.unit != unit) continue;
      ++n[row.group];
      s[row.group] += static_cast<double>(row.cells[0].value_or(0));
    }
    const auto rest = aggregate(options, others, 17);
    std::uint64_t total = 0, groups = 0;
    std::int64_t squares = 0, sum_l1 = 0, sum_squares = 0;
    for (std::size_t g = 0; g < 17; ++g) {
      const std::int64_t moved = column(all, 2)[g] - column(rest, 2)[g];
      EXPECT_LE(counts[g], static_cast<std::int64_t>(bounds.rows_per_group));
      EXPECT_EQ(column(all, 0)[g] - column(rest, 0)[g], counts[g]) << "units disturb one another";
      EXPECT_EQ(column(all, 1)[g] - column(rest, 1)[g], counts[g] > 0);
      EXPECT_LE(std::abs(moved), counts[g] * largest);
      total += static_cast<std::uint64_t>(counts[g]);
      groups += counts[g] > 0;
      squares += counts[g] * counts[g];
      sum_l1 += std::abs(moved);
      sum_squares += moved * moved;
      together[g] += counts[g];
      if (counts[g] > 0) exact[g] += s[g] * static_cast<double>(counts[g]) / n[g];
    }
    EXPECT_LE(total, bounds.rows_per_unit);
    EXPECT_LE(groups, bounds.groups_per_unit);
    EXPECT_LE(squares, l2);
    EXPECT_LE(sum_l1, largest * l1_rows(bounds).convert_to<std::int64_t>());
    EXPECT_LE(sum_squares, largest * largest * l2);
  }
  EXPECT_EQ(column(all, 0), together) << "units disturb one another";
  for (std::size_t g = 0; g < 17; ++g)
    EXPECT_NEAR(static_cast<double>(column(all, 2)[g]), exact[g], 0.501);
}

TEST(BoundedAggregate, KeepsEveryUnitWithinItsBoundsWhateverOthersHold) {
  const auto rows = random_rows(4000, 40, 17, 9);
  for (const Bounds& bounds : {Bounds{1, 1, 1}, Bounds{5, 3, 2}, Bounds{7, 17, 3}, Bounds{4, 4, 1},
                               Bounds{100, 2, 60}, Bounds{3, 5, 9}}) {
    expect_bounded(bounds, rows, 10);
  }
}

TEST(BoundedAggregate, UsesUpItsBoundsWhereAUnitHasEnough) {
  std::vector<Row> rows;
  for (std::uint32_t g = 0; g < 10; ++g) {
    for (int i = 0; i < 8; ++i) rows.push_back({1, g});
  }
  const auto totals =
      aggregate({.bounds = Bounds{7, 10, 3}, .cells = 0u, .measures = {kRowCount}}, rows, 10);
  auto counts = column(totals, 0);
  std::sort(counts.rbegin(), counts.rend());
  EXPECT_THAT(counts, ElementsAre(3, 3, 1, 0, 0, 0, 0, 0, 0, 0));
}

TEST(BoundedAggregate, TakesTheSensitivityFromTheWorstOfAllSmallContributions) {
  for (std::uint64_t m = 1; m <= 6; ++m) {
    for (std::uint64_t k = 1; k <= 5; ++k) {
      for (std::uint64_t r = 1; r <= 5; ++r) {
        std::uint64_t l1 = 0, l2 = 0;
        // all vectors of up to five groups with at most r rows each
        for (std::uint64_t code = 0; code < 7776; ++code) {
          std::uint64_t rest = code, rows = 0, groups = 0, squares = 0, worst = 0;
          for (int g = 0; g < 5; ++g, rest /= 6) {
            const std::uint64_t c = rest % 6;
            rows += c;
            groups += c > 0;
            squares += c * c;
            worst = std::max(worst, c);
          }
          if (rows > m || groups > k || worst > r) continue;
          l1 = std::max(l1, rows);
          l2 = std::max(l2, squares);
        }
        EXPECT_EQ(l1_rows({m, k, r}), l1) << m << k << r;
        EXPECT_EQ(l2_squared_rows({m, k, r}), l2) << m << k << r;
      }
    }
  }
}

TEST(BoundedAggregate, ScalesSumsToTheRowsThatCountAndRoundsToNearest) {
  // 5 rows, 2 count: 7 * 2/5 = 2.8, -7 * 2/5 = -2.8, 4 present of 5 make 1.6
  std::vector<Row> rows;
  for (const int x : {1, 2, 3, 1}) rows.push_back({1, 0, {x, -x}});
  rows.push_back({1, 0, {std::nullopt, 0}});
  const auto totals = aggregate({.bounds = Bounds{2, 1, 2},
                                 .cells = 2u,
                                 .measures = {kRowCount, {1, {}}, sum_of(0), sum_of(1)}},
                                rows, 1);
  EXPECT_EQ(column(totals, 0)[0], 2);
  EXPECT_EQ(column(totals, 1)[0], 2);
  EXPECT_EQ(column(totals, 2)[0], 3);
  EXPECT_EQ(column(totals, 3)[0], -3);
}

TEST(BoundedAggregate, RoundsTheSumsOfAllUnitsAndNotOfEach) {
  // 20,000 units of ten rows, four of them 1 and one of them -1, of which one row counts.
  std::vector<Row> rows;
  for (int unit = 0; unit < 20'000; ++unit) {
    for (int i = 0; i < 10; ++i) rows.push_back({unit, 0, {i < 4 ? 1 : 0, i < 1 ? -1 : 0}});
  }
  const auto totals = aggregate({.bounds = Bounds{1, 1, 1},
                                 .cells = 2u,
                                 .measures = {kRowCount, sum_of(0), sum_of(1), kUnitCount}},
                                rows, 1);
  EXPECT_EQ(column(totals, 0)[0], 20'000);
  EXPECT_EQ(column(totals, 1)[0], 8'000);
  EXPECT_EQ(column(totals, 2)[0], -2'000);
  EXPECT_EQ(column(totals, 3)[0], 20'000);
}

TEST(BoundedAggregate, DoesNotSeeTheOrderOfRowsOrTheNumberOfThreads) {
  auto rows = random_rows(20'000, 30, 17, 3);
  BoundedAggregate::Options options{.bounds = Bounds{20, 5, 6},
                                    .cells = 2u,
                                    .measures = {kRowCount, sum_of(0)},
                                    .samples = {{0}, {1, true}},
                                    .unit_keys = true};
  const auto before = aggregate(options, rows, 17);
  testing::SeededBits order(4);
  shuffle(order, std::span(rows));
  options.threads = 1;
  const auto after = aggregate(options, rows, 17);
  EXPECT_EQ(before.sums, after.sums);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(before.samples[static_cast<std::size_t>(i)].values,
              after.samples[static_cast<std::size_t>(i)].values);
  }
  EXPECT_EQ(before.unit_keys.keys, after.unit_keys.keys);
  EXPECT_EQ(before.unit_keys.offsets, after.unit_keys.offsets);
}

TEST(BoundedAggregate, GivesTheSameWithLittleMemoryAsWithMuch) {
  // one unit with most of the rows: its partition comes in several waves
  auto rows = random_rows(120'000, 2000, 50, 6);
  for (std::size_t i = 0; i < rows.size(); i += 3) rows[i].unit = 77;
  BoundedAggregate::Options options{
      .bounds = Bounds{3000, 4, 1000}, .cells = 2u, .measures = {kRowCount, sum_of(0), kUnitCount}};
  const auto in_memory = aggregate(options, rows, 50);
  options.memory = 1;
  const auto spilled = aggregate(options, rows, 50);
  EXPECT_EQ(in_memory.spilled_bytes, 0u);
  EXPECT_GT(spilled.spilled_bytes, 1'000'000u);
  EXPECT_EQ(in_memory.sums, spilled.sums);
}

struct DroppingCase {
  std::uint64_t units;
  bool text_units;
  bool spills;
};

/// 1.6 million rows in 200 groups, whose tags are told when they are asked for, or not before the end.
BoundedTotals aggregate_many(const DroppingCase& c, bool early) {
  constexpr std::size_t kGroups = 200, kBatch = 10'000;
  SeededBits bits(5), row_bits(6);
  std::vector<std::uint64_t> tags;
  BoundedAggregate::Options options{.bounds = Bounds{20, 4, 6},
                                    .cells = 1u,
                                    .measures = {kRowCount, sum_of(0), kUnitCount},
                                    .samples = {{0}, {0, true}},
                                    .text_units = c.text_units,
                                    .unit_keys = true};
  if (early) {
    options.memory = c.spills ? 20'000'000 : 43'000'000;
    options.tags_so_far = [&] { return std::span<const std::uint64_t>(tags); };
  }
  BoundedAggregate aggregate(options, bits);
  for (int i = 0; i < 160; ++i) {
    // groups appear as rows come
    const std::uint64_t known = i < 100 ? 150 : kGroups;
    while (tags.size() < known) tags.push_back(aggregate.tag("key " + std::to_string(tags.size())));
    std::vector<std::int64_t> units, values;
    std::vector<std::uint32_t> groups;
    std::vector<std::string> names;
    for (std::size_t r = 0; r < kBatch; ++r) {
      const std::uint64_t drawn = row_bits.next();
      units.push_back(static_cast<std::int64_t>(drawn % c.units));
      groups.push_back(static_cast<std::uint32_t>((drawn >> 32) % known));
      values.push_back(static_cast<std::int64_t>(drawn >> 56));
      if (c.text_units) names.push_back("unit " + std::to_string(units.back()));
    }
    const std::vector<std::string_view> texts(names.begin(), names.end());
    UnitRows rows;
    rows.rows = kBatch;
    if (c.text_units) {
      rows.text_units = texts;
    } else {
      rows.integer_units = units;
    }
    rows.groups = groups;
    rows.cells = {{values, {}}};
    aggregate.add(rows);
  }
  return aggregate.finish(kGroups, tags);
}

TEST(BoundedAggregate, GivesTheSameWhereRowsThatCannotCountAreDroppedEarly) {
  for (const DroppingCase c :
       {DroppingCase{2000, false, false}, {2000, true, false}, {300'000, false, true}}) {
    const auto late = aggregate_many(c, false);
    const auto early = aggregate_many(c, true);
    EXPECT_EQ(late.dropped_rows, 0u);
    EXPECT_GT(early.dropped_rows, c.spills ? 10'000u : 1'000'000u);
    EXPECT_EQ(early.spilled_bytes > 0, c.spills);
    EXPECT_EQ(early.sums, late.sums);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(early.samples[s].offsets, late.samples[s].offsets);
      EXPECT_EQ(early.samples[s].values, late.samples[s].values);
    }
    EXPECT_EQ(early.unit_keys.offsets, late.unit_keys.offsets);
    EXPECT_EQ(early.unit_keys.keys, late.unit_keys.keys);
  }
}

TEST(BoundedAggregate, ChoosesGroupsWithEqualChances) {
  // 20,000 units in the same 6 groups, 2 count: each group is chosen by a third. p > 1e-9 fails once in
  // 10^9 seeds.
  std::vector<Row> rows;
  for (std::int64_t u = 0; u < 20'000; ++u) {
    for (std::uint32_t g = 0; g < 6; ++g) rows.push_back({u, g});
  }
  const auto totals =
      aggregate({.bounds = Bounds{2, 2, 1}, .cells = 0u, .measures = {kRowCount}}, rows, 6, 11);
  std::vector<std::uint64_t> observed;
  for (const std::int64_t n : column(totals, 0)) observed.push_back(static_cast<std::uint64_t>(n));
  EXPECT_EQ(std::accumulate(observed.begin(), observed.end(), 0u), 40'000u);
  EXPECT_GT(testing::chi_square_p(observed, std::vector<double>(6, 1.0 / 6)), 1e-9);
}

TEST(BoundedAggregate, ChoosesValuesWithEqualChancesCopiesIncluded) {
  // values 0, 0, 0, 1, 2: two of five rows: 0 is three fifths of what is kept.
  std::vector<Row> rows;
  for (std::int64_t u = 0; u < 20'000; ++u) {
    for (const std::int64_t x : {0, 0, 0, 1, 2}) rows.push_back({u, 0, {x}});
  }
  const auto totals = aggregate(
      {.bounds = Bounds{2, 1, 2}, .cells = 1u, .measures = {}, .samples = {{0}}}, rows, 1, 12);
  std::vector<std::uint64_t> observed(3);
  for (const std::int64_t x : totals.samples[0].values) ++observed[static_cast<std::size_t>(x)];
  EXPECT_EQ(totals.samples[0].values.size(), 40'000u);
  EXPECT_GT(testing::chi_square_p(observed, std::vector<double>{0.6, 0.2, 0.2}), 1e-9);
}

TEST(BoundedAggregate, CountsAValueSharedByUnitsOnceAndEachUnitsValuesWithinItsBound) {
  std::vector<Row> rows;
  for (std::int64_t u = 0; u < 50; ++u) {
    for (const std::int64_t x : {7, 7, 8}) rows.push_back({u, 0, {x}});
  }
  for (std::int64_t x = 0; x < 100; ++x) rows.push_back({99, 0, {1000 + x}});
  // copies do not crowd out a unit's other values
  for (int i = 0; i < 200; ++i) rows.push_back({98, 0, {2000 + std::max(0, i - 197)}});
  const auto totals = aggregate(
      {.bounds = Bounds{3, 1, 3}, .cells = 1u, .measures = {}, .samples = {{0, true}}}, rows, 1);
  EXPECT_EQ(totals.samples[0].values.size(), 2u + 3u + 3u);
}

TEST(BoundedAggregate, NamesTheKeysOfEachUnitWithinItsBounds) {
  const auto rows = random_rows(5000, 100, 17, 2);
  const auto totals = aggregate(
      {.bounds = Bounds{100, 3, 100}, .cells = 2u, .measures = {kUnitCount}, .unit_keys = true},
      rows, 17);
  const UnitKeys& keys = totals.unit_keys;
  ASSERT_EQ(keys.offsets.size(), 101u);
  EXPECT_EQ(keys.key_count, 17u);
  std::vector<std::int64_t> counts(17);
  for (std::size_t u = 0; u < 100; ++u) {
    EXPECT_LE(keys.offsets[u + 1] - keys.offsets[u], 3u);
    for (std::uint64_t i = keys.offsets[u]; i < keys.offsets[u + 1]; ++i) ++counts[keys.keys[i]];
  }
  EXPECT_EQ(counts, column(totals, 0));
}

// Numbers given to keys as they appear depend on other units. Hashing them instead of the keys'
// content would let one unit change which groups another keeps; the twin without tags does.
TEST(BoundedAggregate, ChoosesGroupsByTheirContentNotByTheirNumber) {
  const auto run = [](const std::vector<std::uint32_t>& number_of_key, bool tagged) {
    SeededBits bits(8);
    BoundedAggregate aggregate({.bounds = Bounds{3, 3, 1}, .cells = 0u, .measures = {kRowCount}},
                               bits);
    std::vector<std::uint64_t> tags(20);
    std::vector<std::int64_t> units;
    std::vector<std::uint32_t> groups;
    for (std::size_t key = 0; key < 20; ++key) {
      tags[number_of_key[key]] = aggregate.tag("key " + std::to_string(key));
      for (std::int64_t u = 0; u < 50; ++u) {
        units.push_back(u);
        groups.push_back(number_of_key[key]);
      }
    }
    UnitRows rows;
    rows.rows = units.size();
    rows.integer_units = units;
    rows.groups = groups;
    aggregate.add(rows);
    const auto totals = tagged ? aggregate.finish(20, tags) : aggregate.finish(20);
    std::vector<std::int64_t> by_key;
    for (std::size_t key = 0; key < 20; ++key) {
      by_key.push_back(static_cast<std::int64_t>(totals.sums[number_of_key[key]]));
    }
    return by_key;
  };
  std::vector<std::uint32_t> forward(20), backward(20);
  std::iota(forward.begin(), forward.end(), 0u);
  std::iota(backward.rbegin(), backward.rend(), 0u);
  EXPECT_EQ(run(forward, true), run(backward, true));
  EXPECT_NE(run(forward, false), run(backward, false));
}

TEST(BoundedAggregate, DropsRowsWithoutUnitOrGroupAndAcceptsNone) {
  SeededBits bits(1);
  BoundedAggregate aggregate({.bounds = Bounds{1, 1, 1}, .cells = 0u, .measures = {kRowCount}},
                             bits);
  const std::vector<std::int64_t> units = {1, 2, 3};
  const std::vector<std::uint8_t> valid = {1, 0, 1};
  const std::vector<std::uint32_t> groups = {0, 0, UnitRows::kNoGroup};
  UnitRows rows;
  rows.rows = 3;
  rows.integer_units = units;
  rows.unit_valid = valid;
  rows.groups = groups;
  aggregate.add(rows);
  EXPECT_EQ(column(aggregate.finish(1), 0)[0], 1);
  SeededBits others(1);
  BoundedAggregate empty({.bounds = Bounds{1, 1, 1}, .cells = 0u, .measures = {kRowCount}}, others);
  EXPECT_THAT(column(empty.finish(3), 0), ElementsAre(0, 0, 0));
}

TEST(BoundedAggregate, RefusesBoundsOfZero) {
  SeededBits bits(1);
  EXPECT_ERROR(BoundedAggregate({.bounds = Bounds{0, 1, 1}, .cells = 0u}, bits),
               ErrorCode::kInvalidOption);
}

TEST(KeyedHash, OfUnitsTellsTheirNumbers) {
  SeededBits bits(5);
  for (int i = 0; i < 1000; ++i) {
    const internal::KeyedHash hash(bits);
    const std::uint64_t number = i < 10 ? static_cast<std::uint64_t>(i) : bits.next();
    EXPECT_EQ(hash.integer_of(hash.unit(number)), number);
    EXPECT_EQ(internal::unmixed(internal::mix(number)), number);
  }
}

// One hash makes of many what it makes of each, however many are left beside whole registers.
TEST(KeyedHash, OfManyIsThatOfEach) {
  SeededBits bits(12);
  const internal::KeyedHash hash(bits);
  std::vector<std::int64_t> numbers;
  for (std::size_t count = 0; count <= 70; ++count) {
    std::vector<std::uint64_t> units(count + 1, 7), tags(count + 1, 7);
    hash.units(numbers.data(), count, units.data());
    hash.groups(numbers.data(), count, tags.data());
    std::vector<std::uint64_t> orders = tags;
    internal::KeyedHash::orders(units.data(), count, orders.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::uint64_t>(numbers[i]);
      ASSERT_EQ(units[i], hash.unit(number));
      ASSERT_EQ(tags[i], hash.group(number));
      ASSERT_EQ(orders[i], internal::KeyedHash::order(units[i], tags[i]));
      ASSERT_EQ(hash.group_of(units[i], orders[i]), number);
    }
    EXPECT_EQ(units[count] + tags[count] + orders[count], 21u) << "behind the last";
    numbers.push_back(static_cast<std::int64_t>(bits.next()) >> count % 64);
  }
}

TEST(KeyedHash, IsSipHashOnTexts) {
  // The published vectors of SipHash-2-4-128: key 00 01 .. 0f, message empty and 00 01 .. 0e.
  const internal::KeyedHash hash({0x0706050403020100u, 0x0f0e0d0c0b0a0908u, 0, 0});
  EXPECT_THAT(hash.text(""), ElementsAre(0xe6a825ba047f81a3u, 0x930255c71472f66du));
  std::string message;
  for (char c = 0; c < 15; ++c) message.push_back(c);
  EXPECT_THAT(hash.text(message), ElementsAre(0x11a8b03399e99354u, 0xd9c3cf970fec087eu));
}

}  // namespace
}  // namespace gauze
