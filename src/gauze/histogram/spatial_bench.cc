#include <benchmark/benchmark.h>

#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/uniform_grid.h"
#include "gauze/random/system_bits.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

const Shape kShape{{1u << 20, 1u << 20}};

/// Points of which most lie near a corner.
Points many_points(std::int64_t rows) {
  SystemBits bits;
  Points points;
  for (std::int64_t i = 0; i < 2 * rows; ++i) {
    const std::uint64_t reach = uniform_below(bits, 1u << 20) + 1;
    points.coordinates.push_back(static_cast<std::uint32_t>(uniform_below(bits, reach)));
  }
  return points;
}

template <class Method>
void release(benchmark::State& state) {
  const Points points = many_points(state.range(0));
  const Method method({.shape = kShape, .epsilon = 1, .rows_per_unit = 1u});
  SystemBits bits;
  std::size_t leaves = 0;
  for (auto _ : state) {
    Meter meter(method.event());
    Context context{meter, bits};
    leaves = method.run(points, context).value.leaves();
  }
  state.counters["leaves"] = double(leaves);
  state.SetComplexityN(state.range(0));
}
BENCHMARK(release<UniformGrid>)
    ->RangeMultiplier(10)
    ->Range(10'000, 10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(release<AdaptiveGrid>)
    ->RangeMultiplier(10)
    ->Range(10'000, 10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
