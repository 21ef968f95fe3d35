#include <benchmark/benchmark.h>

#include "gauze/query/bounded_aggregate.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

/// 10^6 units, each in ever new groups: the worst for caches. Arguments: rows, groups, cells.
void bound_rows(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(0));
  const auto groups = static_cast<std::uint64_t>(state.range(1));
  const auto cells = static_cast<std::uint32_t>(state.range(2));
  SystemBits bits;
  constexpr std::size_t kBatch = 2048;
  std::vector<std::int64_t> units(kBatch), values(kBatch, 5);
  std::vector<std::uint32_t> keys(kBatch);
  for (auto _ : state) {
    BoundedAggregate aggregate({.bounds = Bounds{1000, 10, 100},
                                .cells = cells,
                                .measures = std::vector<Measure>(1 + cells, Measure{})},
                               bits);
    std::uint64_t x = 1;
    for (std::size_t done = 0; done < rows; done += kBatch) {
      for (std::size_t i = 0; i < kBatch; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        units[i] = static_cast<std::int64_t>((x >> 33) % 1'000'000);
        keys[i] = static_cast<std::uint32_t>((x >> 20 & 0xffffff) % groups);
      }
      UnitRows batch;
      batch.rows = kBatch;
      batch.integer_units = units;
      batch.groups = keys;
      for (std::uint32_t c = 0; c < cells; ++c) batch.cells.push_back({values, {}});
      aggregate.add(batch);
    }
    benchmark::DoNotOptimize(aggregate.finish(groups));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bound_rows)
    ->Args({20'000'000, 1000, 0})
    ->Args({20'000'000, 1000, 1})
    ->Args({20'000'000, 1'000'000, 0})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
