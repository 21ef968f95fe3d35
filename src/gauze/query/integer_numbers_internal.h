#pragma once

#include <cstdint>

#include "gauze/base/large_vector.h"

namespace gauze::internal {

/// Integers to numbers, with a table of its own: one probe, one cache line.
class IntegerNumbers {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t find(std::int64_t key) const {
    for (std::size_t at = home(key);; at = (at + 1) & mask()) {
      if (slots_[at].number == kNone) return kNone;
      if (slots_[at].key == key) return slots_[at].number;
    }
  }
  /// Asks for the place of a key that will be looked for soon.
  void prefetch(std::int64_t key) const { __builtin_prefetch(&slots_[home(key)], 1); }
  /// The number of the key, which becomes `next` if it is new.
  std::uint32_t find_or_add(std::int64_t key, std::uint32_t next) {
    for (std::size_t at = home(key);; at = (at + 1) & mask()) {
      if (slots_[at].number == kNone) {
        slots_[at] = {key, next};
        if (++size_ * 2 > slots_.size()) grow();
        return next;
      }
      if (slots_[at].key == key) return slots_[at].number;
    }
  }

 private:
  struct Slot {
    std::int64_t key = 0;
    std::uint32_t number = kNone;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t home(std::int64_t key) const {
    return (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  void grow() {
    LargeVector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old) {
      if (slot.number == kNone) continue;
      std::size_t at = home(slot.key);
      while (slots_[at].number != kNone) at = (at + 1) & mask();
      slots_[at] = slot;
    }
  }

  LargeVector<Slot> slots_ = LargeVector<Slot>(64);
  unsigned shift_ = 58;
  std::size_t size_ = 0;
};

}  // namespace gauze::internal
