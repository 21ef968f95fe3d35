#pragma once

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gauze::internal {

/// So many threads as are asked for; 0: as there are cores.
inline unsigned thread_count(unsigned asked) {
  return asked != 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

/// Runs `work(i)` on `threads` threads, this one included; throws what the first of them threw.
template <class Work>
void on_threads(unsigned threads, Work work) {
  std::exception_ptr failure;
  std::mutex mutex;
  const auto guarded = [&](unsigned i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(guarded, i);
  guarded(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

/// Runs `work(begin, end)` on shares of [0, count), one for each thread.
template <class Work>
void on_shares(unsigned threads, std::size_t count, Work work) {
  on_threads(threads, [&](unsigned i) {
    work(count / threads * i, i + 1 == threads ? count : count / threads * (i + 1));
  });
}

}  // namespace gauze::internal
