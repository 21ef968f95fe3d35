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

std::unique_ptr<BitSource> Drawing::bits(std::uint64_t stream) const {
  return options_.bits ? options_.bits(stream) : std::make_unique<SystemBits>();
}

void Drawing::each(std::size_t pair, Side earlier, std::uint64_t runs,
                   const std::function<Merge(const BothOutputs&)>& use) {
  const std::uint64_t at_once = subject_.runs_at_once;
  const std::uint64_t parts = (runs + at_once - 1) / at_once;
  std::vector<Merge> merges(parts);
  std::atomic<std::uint64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto outputs = [&](std::uint64_t part, std::uint64_t count) -> BothOutputs {
    const std::unique_ptr<BitSource> one = bits(streams_ + part);
    const std::unique_ptr<BitSource> two = bits(streams_ + parts + part);
    if (subject_.draw_in_turns) return subject_.draw_in_turns(pair, count, *one);
    Outputs before = subject_.draw(pair, earlier, count, *one);
    Outputs after = subject_.draw(pair, other(earlier), count, *two);
    if (earlier == Side::kSecond) std::swap(before, after);
    return {std::move(before), std::move(after)};
  };
  const auto work = [&] {
    for (std::uint64_t part = next++; part < parts; part = next++) {
      try {
        const std::uint64_t count = std::min(at_once, runs - part * at_once);
        merges[part] = use(outputs(part, count));
        const std::lock_guard lock(mutex);
        runs_ += 2 * count;
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
  streams_ += 2 * parts;
  for (const Merge& merge : merges) merge();
}

BothOutputs Drawing::draw(std::size_t pair, std::uint64_t runs) {
  BothOutputs all;
  each(pair, Side::kFirst, runs, [&all](const BothOutputs& outputs) -> Merge {
    return [&all, outputs] {
      all.first.append(outputs.first);
      all.second.append(outputs.second);
    };
  });
  return all;
}

}  // namespace gauze::audit
