#include <benchmark/benchmark.h>

#include <algorithm>

#include "gauze/mechanism/key_selection.h"
#include "gauze/random/system_bits.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

/// 10^6 units with ten different keys each, of 10^6 keys of which low ones are much more frequent.
UnitKeys many_keys() {
  constexpr std::uint32_t kUnits = 1'000'000;
  constexpr std::uint64_t kKeys = 1'000'000;
  UnitKeys data;
  data.key_count = kKeys;
  data.offsets = {0};
  SystemBits bits;
  for (std::uint32_t unit = 0; unit < kUnits; ++unit) {
    for (std::uint64_t i = 0; i < 10; ++i) {
      const std::uint64_t block = kKeys / 10;
      const std::uint64_t within = uniform_below(bits, uniform_below(bits, block) + 1);
      data.keys.push_back(static_cast<std::uint32_t>(within * 10 + i));
    }
    std::sort(data.keys.end() - 10, data.keys.end());
    data.offsets.push_back(data.keys.size());
  }
  return data;
}

void select(benchmark::State& state) {
  static const UnitKeys data = many_keys();
  const KeySelection mechanism({.epsilon = 1,
                                .delta = Ratio(1, 1000000),
                                .keys_per_unit = 10u,
                                .method = static_cast<KeySelectionMethod>(state.range(0))});
  SystemBits bits;
  std::size_t named = 0;
  for (auto _ : state) {
    Meter meter(mechanism.event());
    Context context{meter, bits};
    named = mechanism.run(data, context).value.size();
  }
  state.counters["named"] = static_cast<double>(named);
}
BENCHMARK(select)
    ->ArgName("method")
    ->DenseRange(static_cast<int>(KeySelectionMethod::kTruncatedGeometric),
                 static_cast<int>(KeySelectionMethod::kSips))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
