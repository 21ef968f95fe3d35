// Time of whole answers: a training run, a million compositions, calibration at a small epsilon. The
// argument is the number of steps; the slope shows how cost grows.
#include <benchmark/benchmark.h>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/calibrate.h"

namespace gauze {
namespace {

Event gaussian(const Ratio& sigma) {
  return {events::Gaussian{sigma, 1}, Relation::kAddRemove};
}

std::vector<Event> training(const Ratio& rate, const Ratio& sigma, std::uint64_t steps) {
  return {{events::PoissonSampled{rate, {gaussian(sigma)}}, Relation::kAddRemove, steps}};
}

void training_run(benchmark::State& state, Accountant accountant) {
  const auto events =
      training(Ratio(256, 60000), Ratio(11, 10), static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(epsilon_at(events, 1e-5, accountant));
}
void many_laplace(benchmark::State& state) {
  const std::vector<Event> events = {
      {events::Laplace{1000, 1}, Relation::kAddRemove, static_cast<std::uint64_t>(state.range(0))}};
  for (auto _ : state) benchmark::DoNotOptimize(epsilon_at(events, 1e-6));
}
void calibrate_small_epsilon(benchmark::State& state) {
  const auto steps = static_cast<std::uint64_t>(state.range(0));
  const auto family = [&](const Ratio& sigma) { return training(Ratio(1, 100), sigma, steps); };
  for (auto _ : state) {
    benchmark::DoNotOptimize(calibrate(family, {.epsilon = 0.01, .delta = 1e-6}));
  }
}
void calibrate_one_gaussian(benchmark::State& state) {
  const auto family = [](const Ratio& sigma) { return std::vector<Event>{gaussian(sigma)}; };
  for (auto _ : state) {
    benchmark::DoNotOptimize(calibrate(family, {.epsilon = 0.01, .delta = 1e-6}));
  }
}

BENCHMARK_CAPTURE(training_run, pld, Accountant::kPld)
    ->Arg(100)
    ->Arg(14063)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(training_run, rdp, Accountant::kRdp)->Arg(14063)->Unit(benchmark::kMillisecond);
BENCHMARK(many_laplace)->Arg(1000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(calibrate_small_epsilon)->Arg(1000)->Arg(14063)->Unit(benchmark::kMillisecond);
BENCHMARK(calibrate_one_gaussian)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
