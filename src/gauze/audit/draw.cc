#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "gauze/audit/draw_internal.h"
#include "gauze/random/system_bits.h"

namespace gauze::audit {

Drawing::Drawing(const Subject& subject, const Options& options)
    : subject_(subject),
      options_(options),
      threads_(options.threads > 0 ? options.threads
                                   : std::max(1u, std::thread::hardware_concurrency())) {}

void Drawing::each(std::size_t pair, Side side, std::uint64_t runs,
                   const std::function<Merge(const Outputs&)>& use) {
  const std::uint64_t at_once = subject_.runs_at_once;
  const std::uint64_t parts = (runs + at_once - 1) / at_once;
  std::vector<Merge> merges(parts);
  std::atomic<std::uint64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::uint64_t part = next++; part < parts; part = next++) {
      try {
        const std::uint64_t stream = streams_ + part;
        const std::unique_ptr<BitSource> bits =
            options_.bits ? options_.bits(stream) : std::make_unique<SystemBits>();
        const std::uint64_t count = std::min(at_once, runs - part * at_once);
        merges[part] = use(subject_.draw(pair, side, count, *bits));
        const std::lock_guard lock(mutex);
        runs_ += count;
        if (options_.progress) {
          options_.progress(
              std::min(1.0, static_cast<double>(runs_) / static_cast<double>(options_.runs)));
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = parts;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::uint64_t i = 1; i < std::min<std::uint64_t>(threads_, parts); ++i)
      others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  streams_ += parts;
  for (const Merge& merge : merges) merge();
}

Outputs Drawing::draw(std::size_t pair, Side side, std::uint64_t runs) {
  Outputs all;
  each(pair, side, runs, [&all](const Outputs& outputs) -> Merge {
    return [&all, outputs] { all.append(outputs); };
  });
  return all;
}

}  // namespace gauze::audit
