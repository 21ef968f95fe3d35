#include <benchmark/benchmark.h>

#include "gauze/histogram/hierarchical.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

/// Constructor, noise on all levels and inference.
void release(benchmark::State& state) {
  const auto cells = static_cast<std::uint32_t>(state.range(0));
  const std::vector<std::int64_t> counts(cells, 3);
  SystemBits bits;
  for (auto _ : state) {
    const HierarchicalHistogram mechanism(
        {.shape = Shape{{cells}}, .epsilon = 1, .rows_per_unit = 1u});
    Meter meter(mechanism.event());
    Context context{meter, bits};
    benchmark::DoNotOptimize(mechanism.run(counts, context));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(release)->RangeMultiplier(4)->Range(1 << 14, 1 << 22)->Complexity(benchmark::oN);

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
