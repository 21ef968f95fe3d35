#include <benchmark/benchmark.h>

#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/kd_tree.h"
#include "gauze/histogram/priv_tree.h"
#include "gauze/histogram/quadtree.h"
#include "gauze/histogram/sparse.h"
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
Method method_of() {
  return Method({.shape = kShape, .epsilon = 1, .rows_per_unit = 1u});
}
template <>
ThresholdHistogram method_of<ThresholdHistogram>() {
  return ThresholdHistogram({.shape = kShape,
                             .epsilon = 1,
                             .delta = Ratio(1, 1'000'000),
                             .rows_per_unit = 1u,
                             .noise = ThresholdNoise::kLaplace});
}

template <class Method>
void release(benchmark::State& state) {
  const Points points = many_points(state.range(0));
  const auto method = method_of<Method>();
  SystemBits bits;
  std::size_t leaves = 0;
  for (auto _ : state) {
    Meter meter(method.event());
    Context context{meter, bits};
    leaves = method.run(points, context).value.leaves();
  }
  state.counters["leaves"] = double(leaves);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(10'000, 10'000'000);
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}
BENCHMARK(release<UniformGrid>)->Apply(sizes);
BENCHMARK(release<AdaptiveGrid>)->Apply(sizes);
BENCHMARK(release<Quadtree>)->Apply(sizes);
BENCHMARK(release<PrivTree>)->Apply(sizes);
BENCHMARK(release<KdTree>)->Apply(sizes);
BENCHMARK(release<ThresholdHistogram>)->Apply(sizes);

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
