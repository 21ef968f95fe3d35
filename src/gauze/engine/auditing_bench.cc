// How fast audits are: runs per second on all cores, of a function, of a mechanism that pays, and of
// algorithms of the registry. One iteration is an audit of 10^7 runs.
#include <benchmark/benchmark.h>

#include "gauze/audit/audit.h"
#include "gauze/engine/families.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/random/uniform.h"
#include "gauze/registry/auditing.h"

namespace gauze {
namespace {

constexpr std::uint64_t kRuns = 10'000'000;

void audit_all(benchmark::State& state, const audit::Subject& subject) {
  std::uint64_t runs = 0;
  for (auto _ : state) {
    const audit::Report report = audit::audit(subject, {.runs = kRuns});
    runs += report.runs;
    benchmark::DoNotOptimize(report.finding.epsilon);
  }
  state.counters["runs"] =
      benchmark::Counter(static_cast<double>(runs), benchmark::Counter::kIsRate);
}

const std::vector<audit::Neighbours<std::int64_t>> kPair = {{"three and four", 3, 4}};

void function(benchmark::State& state) {
  const auto response = [](std::int64_t truth, BitSource& bits) {
    return (bits.next() & 3) == 0 ? 7 - truth : truth;
  };
  audit_all(state,
            audit::subject_of("response", audit::Claim::approximate(1.0987), kPair, response));
}
BENCHMARK(function)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

void mechanism(benchmark::State& state) {
  const DiscreteLaplace noise({.l1_sensitivity = 1u, .scale = Ratio(1)});
  const Meter full(noise.event());
  const auto run = [&](std::int64_t count, BitSource& bits) {
    Meter meter = full;
    Context context{meter, bits};
    return noise.run(count, context).value;
  };
  audit_all(state, audit::subject_of("count", audit::Claim::approximate(1), kPair, run));
}
BENCHMARK(mechanism)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

void registry(benchmark::State& state, const char* name, const nlohmann::json& options) {
  const Algorithm& algorithm = built_in().find(name);
  audit_all(state, audit_subject(algorithm, options, neighbours_for(algorithm, options)));
}
BENCHMARK_CAPTURE(registry, count, "count", {{"epsilon", 1}, {"relation", "add_remove"}})
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(registry, laplace, "laplace", {{"l1_sensitivity", 1}, {"scale", 1}})
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();

}  // namespace
}  // namespace gauze

BENCHMARK_MAIN();
