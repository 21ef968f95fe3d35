#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace gauze {

/// Asks the system for large pages where there is much memory: arrays that are read here and there otherwise wait for the
/// addresses of their pages more than for what is on them.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void* memory = std::aligned_alloc(kPage, whole);
    if (memory == nullptr) throw std::bad_alloc();
    ::madvise(memory, whole, MADV_HUGEPAGE);  // a wish: small pages do as well
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kLarge) {
      ::operator delete(memory);
    } else {
      std::free(memory);
    }
  }
  bool operator==(const LargePages&) const { return true; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21;
  static constexpr std::size_t kLarge = 2 * kPage;
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace gauze
