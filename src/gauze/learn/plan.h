#pragma once

#include <cstdint>

#include "gauze/base/required.h"
#include "gauze/learn/schedule.h"
#include "gauze/numeric/infinity.h"

namespace gauze {

/// What happens to the rest when `batch` does not divide `records`.
enum class Tail : std::uint8_t {
  kDrop,  ///< those records sit out the pass
  kKeep,  ///< they make a shorter batch, whose gradients are divided by `batch` all the same
};

/// Which of the models on the way is the result. The weights are public numbers.
enum class Average : std::uint8_t {
  kLast,
  kUniform,
  kLinear,  ///< the model after update t weighs as much as t
};

/// Gradient descent over batches of a permutation of `records` slots, in a fixed number of passes, from
/// w = 0:
///
///     w <- (1 - step lambda) w - (step / batch) * (sum of the batch's gradients),  then into the ball
///
/// Everything in it is public, so it may be priced before the data are seen. A slot holds one record or
/// none; an empty one has gradient 0.
struct SgdPlan {
  Required<Schedule> schedule;
  Required<std::uint64_t> records;  ///< slots, 1 to 2^32 - 2
  std::uint64_t passes = 1;
  std::uint64_t batch = 1;    ///< slots per update, at most `records`
  double regularisation = 0;  ///< lambda of the term lambda ‖w‖² / 2
  double radius = kInfinity;  ///< of the ball around 0 that models are projected into
  Average average = Average::kLast;
  Tail tail = Tail::kDrop;
  bool fresh_permutations = false;  ///< one for each pass, instead of one for all

  /// Throws `kInvalidOption` for numbers outside their ranges.
  void validate() const;

  std::uint64_t updates_per_pass() const {
    return records / batch + (tail == Tail::kKeep && records % batch != 0 ? 1 : 0);
  }
  std::uint64_t updates() const { return passes * updates_per_pass(); }
  /// How many slots the t-th update sees.
  std::uint64_t slots(std::uint64_t t) const {
    const bool last = t % updates_per_pass() == 0;
    return last && tail == Tail::kKeep && records % batch != 0 ? records % batch : batch;
  }
  /// What the model after update t weighs in the result.
  double weight(std::uint64_t t) const {
    const auto all = static_cast<double>(updates());
    switch (average) {
      case Average::kLast:
        return t == updates() ? 1 : 0;
      case Average::kUniform:
        return 1 / all;
      case Average::kLinear:
        break;
    }
    return 2 / all * (static_cast<double>(t) / (all + 1));
  }
};

}  // namespace gauze
