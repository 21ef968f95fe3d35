// What a question pays for the ledger: one durable reservation and one durable settlement.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "gauze/ledger/ledger.h"

namespace {

using gauze::Budget;
using gauze::Ledger;

/// A ledger on the disk of the temporary folder, with `questions` in it already.
class Book {
 public:
  explicit Book(std::int64_t questions) {
    std::string name =
        (std::filesystem::temp_directory_path() / "gauze-ledger-bench-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    ledger_.emplace(Ledger::create(folder_ + "/ledger", {{"people", Budget::pure(1'000'000)}}));
    for (std::int64_t i = 0; i < questions; ++i) ask();
  }
  ~Book() {
    ledger_.reset();
    std::filesystem::remove_all(folder_);
  }
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;

  void ask() {
    ledger_->settle(ledger_->reserve(
        {.dataset = "people",
         .analyst = "ada",
         .caller = "benchmark",
         .text = "SELECT state, COUNT(*), AVG(income) FROM people GROUP BY state"},
        {gauze::events::Pure{gauze::parse_ratio("0.1")}, gauze::Relation::kAddRemove}));
  }
  const Ledger& ledger() const { return *ledger_; }

 private:
  std::string folder_;
  std::optional<Ledger> ledger_;
};

void reserve_and_settle(benchmark::State& state) {
  Book book(state.range(0));
  for (auto _ : state) book.ask();
}
BENCHMARK(reserve_and_settle)->Arg(0)->Arg(2000)->Unit(benchmark::kMillisecond)->UseRealTime();

void verify(benchmark::State& state) {
  const Book book(state.range(0));
  for (auto _ : state) book.ledger().verify();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(verify)->Arg(2000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
