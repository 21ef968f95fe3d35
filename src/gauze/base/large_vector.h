#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
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

/// Memory of its own for so many numbers, which nobody has set.
template <class T>
struct FreeLargePages {
  std::size_t count = 0;
  void operator()(T* memory) const { LargePages<T>().deallocate(memory, count); }
};
template <class T>
using LargeArray = std::unique_ptr<T[], FreeLargePages<T>>;
template <class T>
LargeArray<T> large_array(std::size_t count) {
  return LargeArray<T>(LargePages<T>().allocate(count), {count});
}

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace gauze
