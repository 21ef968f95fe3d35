#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gauze/query/bounded_aggregate_rows_internal.h"

namespace gauze::internal {

/// For units that have as many groups as count: the largest hash of those groups, or a little more. All are of one partition: the first
/// kPartitionBits bits of units are the same.
template <std::size_t kUnitWords>
class UnitLimits {
 public:
  using Unit = std::array<std::uint64_t, kUnitWords>;
  static constexpr std::uint64_t kNone = UINT64_MAX;

  bool empty() const { return slots_.empty(); }

  const UnitLimits& view() const { return *this; }

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

 private:
  struct Slot {
    Unit unit = {};
    std::uint64_t limit = kNone;  // kNone: the slot is free
  };
  static bool same(const Unit& a, const Unit& b) { return a[0] == b[0] && a[1] == b[1]; }
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

/// The same in half the room, where a unit is one word. Of the bits of a unit its partition tells the first, and its place b more; a slot
/// holds all the others, how far from its place it lies (up to 7), and the first 6 + b of its limit, the others being taken for ones. A unit
/// for which there is no slot so near has no limit.
template <>
class UnitLimits<1> {
  static constexpr unsigned kOwnBits = 64 - PartitionedRows::kPartitionBits;
  static constexpr std::uint64_t kFree = UINT64_MAX;  // what has no limit is not stored
  static constexpr std::size_t kFarthest = 7;

 public:
  using Unit = std::array<std::uint64_t, 1>;
  static constexpr std::uint64_t kNone = UINT64_MAX;

  bool empty() const { return slots_.empty(); }

  /// For many questions.
  struct View {
    const std::uint64_t* slots;
    std::size_t mask;
    unsigned place, limit;  // bits behind the place in a unit; of a limit

    void prefetch(const Unit& unit) const { __builtin_prefetch(slots + (unit[0] >> place & mask)); }
    std::uint64_t find(const Unit& unit) const {
      const std::size_t at = unit[0] >> place & mask;
      const std::uint64_t identity = (unit[0] & ((std::uint64_t{1} << place) - 1)) << 3;
      for (std::size_t d = 0; d <= kFarthest; ++d) {
        const std::uint64_t slot = slots[(at + d) & mask];
        if (slot >> limit == (identity | d)) return slot << (64 - limit) | (kNone >> limit);
        if (slot == kFree) break;
      }
      return kNone;
    }
  };
  View view() const { return {slots_.data(), mask(), kOwnBits - bits_, limit_bits()}; }

  void set(const Unit& unit, std::uint64_t limit) {
    partition_ = unit[0] >> kOwnBits << kOwnBits;
    if (size_ * 2 >= slots_.size()) grow();
    const std::uint64_t kept = limit >> (64 - limit_bits());
    if (limit_of(kept) == kNone) return;
    const std::size_t at = home(unit[0]);
    const std::uint64_t identity = rest(unit[0]) << 3;
    for (std::size_t d = 0; d <= kFarthest; ++d) {
      std::uint64_t& slot = slots_[(at + d) & mask()];
      if (slot != kFree && slot >> limit_bits() != (identity | d)) continue;
      size_ += slot == kFree ? 1 : 0;
      slot = (identity | d) << limit_bits() | kept;
      return;
    }
  }

  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t at = 0; at < slots_.size(); ++at) {
      if (slots_[at] == kFree) continue;
      const std::uint64_t identity = slots_[at] >> limit_bits();
      const std::uint64_t place = (at - (identity & kFarthest)) & mask();
      visit(Unit{partition_ | place << (kOwnBits - bits_) | identity >> 3}, limit_of(slots_[at]));
    }
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  unsigned limit_bits() const { return bits_ + PartitionedRows::kPartitionBits - 3; }
  std::size_t home(std::uint64_t unit) const { return unit >> (kOwnBits - bits_) & mask(); }
  std::uint64_t rest(std::uint64_t unit) const {
    return unit & ((std::uint64_t{1} << (kOwnBits - bits_)) - 1);
  }
  std::uint64_t limit_of(std::uint64_t slot) const {
    return slot << (64 - limit_bits()) | (kNone >> limit_bits());
  }

  void grow() {
    UnitLimits larger;
    larger.bits_ = slots_.empty() ? 8 : bits_ + 1;
    larger.slots_.assign(std::size_t{1} << larger.bits_, kFree);
    each([&](const Unit& unit, std::uint64_t limit) { larger.set(unit, limit); });
    larger.partition_ = partition_;
    *this = std::move(larger);
  }

  std::uint64_t partition_ = 0;  // the first bits of all units
  unsigned bits_ = 0;
  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

}  // namespace gauze::internal
