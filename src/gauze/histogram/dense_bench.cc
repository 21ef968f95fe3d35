#include <benchmark/benchmark.h>

#include "gauze/histogram/adaptive_hierarchy.h"
#include "gauze/histogram/dawa.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/hdmm.h"
#include "gauze/histogram/hierarchical.h"
#include "gauze/histogram/pruned_hierarchy.h"
#include "gauze/histogram/wavelet.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

/// Constructor, noise and inference.
template <class Method>
void release(benchmark::State& state) {
  const auto cells = static_cast<std::uint32_t>(state.range(0));
  const std::vector<std::int64_t> counts(cells, 3);
  SystemBits bits;
  for (auto _ : state) {
    const Method mechanism({.shape = Shape{{cells}}, .epsilon = 1, .rows_per_unit = 1u});
    Meter meter(mechanism.event());
    Context context{meter, bits};
    benchmark::DoNotOptimize(mechanism.run(counts, context));
  }
  state.SetComplexityN(state.range(0));
}

void many(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(1 << 14, 1 << 22)->Complexity(benchmark::oN);
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}
void fewer(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(1 << 8, 1 << 12)->Complexity();
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}
BENCHMARK(release<FlatHistogram>)->Apply(many);
BENCHMARK(release<HierarchicalHistogram>)->Apply(many);
BENCHMARK(release<WaveletHistogram>)->Apply(many);
BENCHMARK(release<PrunedHierarchy>)->Apply(many);
BENCHMARK(release<AdaptiveHierarchy>)->Apply(many);
BENCHMARK(release<DawaHistogram>)->Apply(many);
BENCHMARK(release<HdmmHistogram>)->Apply(fewer);

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
