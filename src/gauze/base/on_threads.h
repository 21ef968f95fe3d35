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

}  // namespace gauze::internal
