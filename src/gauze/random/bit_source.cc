#include "gauze/random/bit_source.h"

#include <pthread.h>

namespace gauze {

const std::atomic<std::uint64_t>& fork_generation() {
  static std::atomic<std::uint64_t> generation{0};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });
  (void)registered;
  return generation;
}

}  // namespace gauze
