#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gauze/learn/examples.h"
#include "gauze/learn/loss.h"
#include "gauze/learn/plan.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// In place of a unit: a slot that holds none.
inline constexpr std::uint32_t kEmptySlot = UINT32_MAX;

/// Which unit each slot holds, in the order of a pass 0, 1, ...: as many as the plan has `records`.
using SlotOrder = std::function<std::span<const std::uint32_t>(std::uint64_t pass)>;

/// Units in uniformly random slots and the slots in uniformly random order, once or for each pass. If there are
/// more units than slots, random ones sit out.
class RandomSlots {
 public:
  RandomSlots(std::uint64_t units, const SgdPlan& plan, BitSource& bits);

  std::span<const std::uint32_t> operator()(std::uint64_t pass);

 private:
  bool fresh_;
  BitSource& bits_;
  std::vector<std::uint32_t> slots_;
};

/// Runs the plan from w = 0 and returns the model that it averages to. The gradient of a unit is the mean of
/// its rows'. No noise, and nothing private about it: see bolt_on.h.
///
///     const std::vector<double> w = train(people, Loss::logistic(), plan, RandomSlots(n, plan, bits));
///
/// The same order gives the same bits.
///
/// Numerics   within `sgd_sensitivity(...).rounding` of exact arithmetic for a pair of inputs.
/// Time       O(passes (values of rows + updates * dimension)); memory O(dimension).
/// Argument   trainer.md
///
/// Throws what `plan.validate()` throws, and `kInvalidInput` if an order has another length than `records` or names a
/// unit that is not there.
std::vector<double> train(const Examples& examples, const Loss& loss, const SgdPlan& plan,
                          const SlotOrder& order);

}  // namespace gauze
