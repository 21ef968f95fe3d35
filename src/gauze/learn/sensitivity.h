#pragma once

#include <cstdint>

#include "gauze/accounting/event.h"
#include "gauze/learn/loss.h"
#include "gauze/learn/plan.h"

namespace gauze {

/// How far one privacy unit can move a trained model, in Euclidean norm.
struct ModelSensitivity {
  double l2_sensitivity = 0;  ///< in exact arithmetic
  double rounding = 0;        ///< what double arithmetic adds to it at most
  std::uint64_t updates = 0;

  /// What noise must cover, rounded up.
  double total() const;
};

/// The shape of what is computed, on which its rounding depends.
struct Arithmetic {
  std::uint32_t dimension = 1;
  std::uint64_t rows_per_unit = 1;  ///< a unit's loss is the mean of its rows' losses
};

/// The sensitivity of the result of `plan`, whatever the data and the permutations: the one place that
/// knows it.
///
/// Each way of running the plan moves by at most the sum over updates of 2 L step/batch times what later
/// updates and the average leave of it. Closed forms of the literature are special cases.
///
///     const SgdPlan plan{.schedule = Schedule::constant(0.01), .records = 60000, .batch = 50};
///     const double scale = sgd_sensitivity(plan, Loss::logistic().bounds(), Relation::kReplace).total();
///
/// Under add_remove a slot may be empty; under replace each holds a record. In both, one unit changes
/// what one slot holds.
///
/// Accuracy   attained by linear losses up to rounding.
/// Numerics   every error of `train` in double arithmetic is in `rounding`.
/// Time       O(updates); with one permutation for all passes also O(updates per pass) memory.
/// Argument   sensitivity.md
///
/// Throws `kInvalidOption` for options outside their ranges, a step beyond 2 / (smoothness + curvature +
/// 2 lambda), a loss without smoothness, another relation, curvature under add_remove (an empty slot has
/// none), and plans too long for double arithmetic.
ModelSensitivity sgd_sensitivity(const SgdPlan& plan, const LossBounds& loss, Relation relation,
                                 const Arithmetic& arithmetic = {});

/// The sensitivity of the exact minimiser of (1/records) (sum of losses) + lambda ‖w‖²/2 over any convex
/// set: 2 L / (lambda records) under replace, half of it under add_remove, where `records` is a public
/// divisor. No smoothness is needed. Throws `kInvalidOption`.
double minimiser_sensitivity(double lipschitz, double lambda, std::uint64_t records,
                             Relation relation);

}  // namespace gauze
