// Draws per second of the exact samplers, beside the C++ standard library's unsafe normal in the
// same run. Arguments: log2 of the scale. Two-thread rows show that nothing is shared.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "gauze/noise/additive.h"
#include "gauze/noise/choice.h"
#include "gauze/noise/radial.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

constexpr std::size_t kBatch = 4096;

void draws(benchmark::State& state, const AdditiveNoise& noise) {
  SystemBits bits;
  std::vector<std::int64_t> out(kBatch);
  for (auto _ : state) {
    noise.fill(out, bits);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

Ratio scale_of(const benchmark::State& state) {
  return power_of_two(static_cast<int>(state.range(0)));
}

void std_normal_mt19937_64(benchmark::State& state) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal(0, 1);
  std::vector<double> out(kBatch);
  for (auto _ : state) {
    for (double& value : out) value = normal(generator);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

void discrete_laplace(benchmark::State& state) {
  draws(state, AdditiveNoise::discrete_laplace(scale_of(state)));
}
void discrete_gaussian(benchmark::State& state) {
  draws(state, AdditiveNoise::discrete_gaussian(scale_of(state) * scale_of(state)));
}
void geometric(benchmark::State& state) {
  draws(state, AdditiveNoise::geometric(scale_of(state)));
}
void discrete_laplace_uniform_time(benchmark::State& state) {
  draws(state, AdditiveNoise::discrete_laplace(scale_of(state), Timing::kUniform));
}
void discrete_gaussian_uniform_time(benchmark::State& state) {
  draws(state,
        AdditiveNoise::discrete_gaussian(scale_of(state) * scale_of(state), Timing::kUniform));
}
void build_discrete_gaussian(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(AdditiveNoise::discrete_gaussian(scale_of(state) * scale_of(state)));
  }
}
void random_words(benchmark::State& state) {
  SystemBits bits;
  std::uint64_t sum = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kBatch; ++i) sum ^= bits.next();
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
void choose_among(benchmark::State& state) {
  SystemBits bits;
  std::vector<double> scores(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(i % 97);
  for (auto _ : state) benchmark::DoNotOptimize(choose_exp(scores, Ratio(1, 10), bits));
}

BENCHMARK(std_normal_mt19937_64)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(random_words);
BENCHMARK(discrete_laplace)->DenseRange(0, 30, 6)->UseRealTime();
BENCHMARK(discrete_laplace)->Arg(10)->Threads(2)->UseRealTime();
BENCHMARK(discrete_gaussian)->DenseRange(0, 30, 6)->UseRealTime();
BENCHMARK(discrete_gaussian)->Arg(10)->Threads(2)->UseRealTime();
BENCHMARK(geometric)->DenseRange(0, 30, 15)->UseRealTime();
BENCHMARK(discrete_laplace_uniform_time)->Arg(10)->UseRealTime();
BENCHMARK(discrete_gaussian_uniform_time)->Arg(10)->UseRealTime();
BENCHMARK(build_discrete_gaussian)->Arg(0)->Arg(10)->Arg(30);
BENCHMARK(choose_among)->Range(16, 1 << 20);

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
