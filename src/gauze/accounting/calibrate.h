#pragma once

#include <functional>
#include <vector>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/event.h"

namespace gauze {

/// What is to be promised.
struct Target {
  double epsilon;                             ///< > 0
  double delta;                               ///< in [0, 1)
  Accountant accountant = Accountant::kBest;  ///< by which the promise must hold
};

/// The smallest noise (to a relative 1e-9, rounded up to a double whose decimal form is the
/// parameter) for which `family(noise)` meets the target: `epsilon_at(family(noise),
/// target.delta).epsilon <= target.epsilon`. The family's loss must fall as its noise grows. Throws
/// `kUnreachable` when no noise does it (for example Gaussian noise at delta = 0).
double calibrate(const std::function<std::vector<Event>(const Ratio& noise)>& family,
                 const Target& target);

}  // namespace gauze
