#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gauze::internal {

/// So many threads as are asked for; 0: as there are cores.
inline unsigned thread_count(unsigned asked) {
  return asked != 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

/// Runs `work(i)` for each i below `threads` on a thread of its own, this one included; where the system has no more, those
/// that are left run here afterwards, so none may wait for another. Throws what the first of them threw.
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
  others.reserve(threads);  // from here on only starting a thread can fail
  unsigned started = 1;
  try {
    for (; started < threads; ++started) others.emplace_back(guarded, started);
  } catch (const std::system_error&) {  // what was started must be joined
  }
  guarded(0);
  for (; started < threads; ++started) guarded(started);
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

/// std::sort, on so many threads where there is much to sort.
template <class Iterator, class Less>
void sort_on_threads(unsigned threads, Iterator begin, Iterator end, Less less) {
  constexpr std::ptrdiff_t kMuch = std::ptrdiff_t{1} << 15;
  if (threads < 2 || end - begin < kMuch) return std::sort(begin, end, less);
  const Iterator middle = begin + (end - begin) / 2;
  on_threads(2, [&](unsigned half) {
    half == 0 ? sort_on_threads(threads - threads / 2, begin, middle, less)
              : sort_on_threads(threads / 2, middle, end, less);
  });
  std::inplace_merge(begin, middle, end, less);
}

}  // namespace gauze::internal
