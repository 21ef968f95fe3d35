#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace gauze::internal {

/// For units that have as many groups as count: the largest hash of those groups.
template <std::size_t kUnitWords>
class UnitLimits {
 public:
  using Unit = std::array<std::uint64_t, kUnitWords>;
  static constexpr std::uint64_t kNone = UINT64_MAX;

  bool empty() const { return slots_.empty(); }

  /// Asks for the place of a unit that will be looked for soon, where there is any.
  void prefetch(const Unit& unit) const { __builtin_prefetch(&slots_[home(unit)]); }

  /// kNone where there is none. Not to be asked of an empty one.
  std::uint64_t find(const Unit& unit) const {
    for (std::size_t at = home(unit);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].limit == kNone || same(slots_[at].unit, unit)) return slots_[at].limit;
    }
  }

  /// Not above an earlier one.
  void set(const Unit& unit, std::uint64_t limit) {
    if (limit == kNone) return;
    if (size_ * 2 >= slots_.size()) grow();
    std::size_t at = home(unit);
    while (slots_[at].limit != kNone && !same(slots_[at].unit, unit)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    size_ += slots_[at].limit == kNone ? 1 : 0;
    slots_[at] = {unit, limit};
  }

  /// visit(unit, limit)
  template <class Visit>
  void each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.limit != kNone) visit(slot.unit, slot.limit);
    }
  }

  static bool same(const Unit& a, const Unit& b) {
    return a[0] == b[0] && a[kUnitWords - 1] == b[kUnitWords - 1];
  }

 private:
  struct Slot {
    Unit unit = {};
    std::uint64_t limit = kNone;  // kNone: the slot is free
  };
  std::size_t home(const Unit& unit) const { return unit[0] & (slots_.size() - 1); }

  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(256, slots_.size() * 2));
    old.swap(slots_);
    size_ = 0;
    for (const Slot& slot : old) set(slot.unit, slot.limit);
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace gauze::internal
