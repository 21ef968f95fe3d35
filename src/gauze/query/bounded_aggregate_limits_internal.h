#pragma once

#include <algorithm>
#include <array>
#include <atomic>
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
  void reserve(std::size_t) {}

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

/// The same in half the room, where a unit is one word. Of the bits of a unit its partition tells the first, and its place b more; a slot, of
/// which a place has four, holds all the others, and the first 9 + b of its limit, the others being taken for ones. A unit whose place has no free
/// slot has no limit.
template <>
class UnitLimits<1> {
  static constexpr unsigned kOwnBits = 64 - PartitionedRows::kPartitionBits;
  static constexpr std::uint64_t kFree = UINT64_MAX;  // what has no limit is not stored
  static constexpr std::size_t kSlots = 4;            // of a place

 public:
  using Unit = std::array<std::uint64_t, 1>;
  static constexpr std::uint64_t kNone = UINT64_MAX;

  bool empty() const { return slots_.empty(); }

  /// For many questions.
  class View {
   public:
    View(const std::uint64_t* slots, unsigned bits)
        : slots_(slots), own_(kOwnBits - bits), limit_(64 - own_), mask_((1ull << bits) - 1) {}

    void prefetch(const Unit& unit) const { __builtin_prefetch(slots_ + home(unit)); }
    /// Looks at all slots of the place: no branch foresees which is the unit's.
    std::uint64_t find(const Unit& unit) const {
      const std::uint64_t* slot = slots_ + home(unit);
      const std::uint64_t wanted = identity(unit);
      std::uint64_t found = kFree;
      for (std::size_t i = 0; i < kSlots; ++i) {
        found = slot[i] >> limit_ == wanted ? slot[i] : found;
      }
      return limit_of(found);
    }

   private:
    friend UnitLimits;
    std::size_t home(const Unit& unit) const { return (unit[0] >> own_ & mask_) * kSlots; }
    std::uint64_t identity(const Unit& unit) const {
      return unit[0] & ((std::uint64_t{1} << own_) - 1);
    }
    std::uint64_t limit_of(std::uint64_t slot) const { return slot << own_ | (kNone >> limit_); }
    std::uint64_t slot(const Unit& unit, std::uint64_t limit) const {
      return identity(unit) << limit_ | limit >> own_;
    }

    const std::uint64_t* slots_;
    unsigned own_, limit_;  // bits of a unit, and of a limit, in a slot
    std::uint64_t mask_;
  };
  View view() const { return {slots_.data(), bits_}; }

  /// Room for so many units.
  void reserve(std::size_t units) {
    while (units * 2 > slots_.size()) grow();
  }

  void set(const Unit& unit, std::uint64_t limit) {
    partition_ = unit[0] >> kOwnBits << kOwnBits;
    reserve(size_ + 1);
    const View view = this->view();
    const std::uint64_t kept = view.slot(unit, limit);
    if (view.limit_of(kept) == kNone) return;
    for (std::size_t i = view.home(unit), end = i + kSlots; i < end; ++i) {
      if (slots_[i] != kFree && slots_[i] >> view.limit_ != view.identity(unit)) continue;
      size_ += slots_[i] == kFree ? 1 : 0;
      slots_[i] = kept;
      return;
    }
  }

  template <class Visit>
  void each(Visit visit) const {
    const View view = this->view();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i] == kFree) continue;
      const std::uint64_t place = i / kSlots << view.own_, identity = slots_[i] >> view.limit_;
      visit(Unit{partition_ | place | identity}, view.limit_of(slots_[i]));
    }
  }

 private:
  void grow() {
    UnitLimits larger;
    larger.partition_ = partition_;
    larger.bits_ = slots_.empty() ? 6 : bits_ + 1;
    larger.slots_.assign(kSlots << larger.bits_, kFree);
    each([&](const Unit& unit, std::uint64_t limit) { larger.set(unit, limit); });
    *this = std::move(larger);
  }

  std::uint64_t partition_ = 0;  // the first bits of all units
  unsigned bits_ = 0;
  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

/// Limits of units that are small numbers, of all partitions, in so little room that it is worth asking for them before a row is written
/// anywhere: a byte for each such number, the first bits of its limit, the others being taken for ones. Threads set and ask at once.
class NumberLimits {
 public:
  /// Room for all, none of which has a limit yet.
  void make() { missing_ = LargeVector<std::atomic<std::uint8_t>>(kNumbers + 1); }

  /// Not above an earlier one.
  void set(std::uint64_t number, std::uint64_t limit) {
    const auto first = static_cast<std::uint8_t>(limit >> kShift);
    if (number < kNumbers) {
      missing_[number].store(kMost - first, std::memory_order_relaxed);
    } else {
      lacks_some_ = true;
    }
  }
  /// Whether a number that is not small was to get a limit.
  bool lacks_some() const { return lacks_some_; }

  /// Asks for the limit of a number that will be wanted soon.
  void prefetch(std::uint64_t number) const { __builtin_prefetch(&missing_[place(number)]); }
  /// False only where the hash is above the limit of the number.
  bool may_count(std::uint64_t number, std::uint64_t hash) const {
    return (hash >> kShift) + missing_[place(number)].load(std::memory_order_relaxed) <= kMost;
  }

 private:
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << 24;
  static constexpr std::uint8_t kMost = UINT8_MAX;
  static constexpr unsigned kShift = 56;

  /// The last place is for all that are not small, and never gets a limit.
  static std::uint64_t place(std::uint64_t number) { return std::min(number, kNumbers); }

  LargeVector<std::atomic<std::uint8_t>> missing_;  // to kMost
  std::atomic<bool> lacks_some_ = false;
};

}  // namespace gauze::internal
