#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/learn/examples.h"
#include "gauze/learn/loss.h"
#include "gauze/learn/sensitivity.h"

namespace gauze {

/// What is minimised: (1/records) (sum over units of the mean loss of their rows) + lambda ‖w‖² / 2. The
/// divisor is public and need not be the number of units.
struct Objective {
  Loss loss;              ///< logistic or huber
  double lambda;          ///< > 0
  std::uint64_t records;  ///< >= 1
};

/// A model and how far from the minimiser it is at most: proved from its gradient, rounding included.
struct Minimum {
  std::vector<double> model;
  double distance;
};

/// The minimiser to within `distance`, by Newton's method with conjugate gradients.
///
///     const Minimum fit = minimise(people, {Loss::logistic(), 0.01, 5000}, 1e-6);
///
/// Accuracy   certified: ‖model - minimiser‖ <= fit.distance <= distance in exact arithmetic.
/// Time       O(values of rows) per step of conjugate gradients, of which some hundreds are usual.
/// Argument   minimiser.md
///
/// `at_step` is called before each step of Newton's method, and may throw to cancel.
///
/// Throws `kInvalidOption` for other losses and numbers outside their ranges, `kUnreachable` where double
/// arithmetic cannot certify so small a distance; `certain_distance` says where it always can.
Minimum minimise(const Examples& examples, const Objective& objective, double distance,
                 const std::function<void()>& at_step = {});

/// A distance that `minimise` certifies for all examples of this shape, as long as there are at most
/// `records` of them under replace, and twice as many under add_remove. Depends on public numbers alone.
/// Throws `kInvalidOption` where there is none.
double certain_distance(const Objective& objective, const Arithmetic& shape, Relation relation);

}  // namespace gauze
