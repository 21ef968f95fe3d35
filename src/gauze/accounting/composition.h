#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/event.h"

namespace gauze {

/// The theorems on (epsilon, delta) guarantees of which nothing more is known. All results are
/// rounded up. Arguments: composition.md

struct EpsilonDelta {
  double epsilon;
  double delta;
};

/// An (epsilon, delta) guarantee and how often it is used.
struct ApproximateCount {
  double epsilon;
  double delta;
  double count;
};

/// Adaptive composition of different guarantees with slack `slack` > 0 (Kairouz, Oh and Viswanath
/// 2015, Theorem 3.5); with slack 0 it is basic composition. The epsilon is never above the sum of
/// epsilons, the delta is 1 - (1 - slack) prod (1 - delta_i).
EpsilonDelta advanced_composition(const std::vector<ApproximateCount>& parts, double slack);

/// The same, asked for the epsilon at a total delta (infinity when the parts' deltas alone exceed
/// it), or for the delta at an epsilon.
double advanced_epsilon(const std::vector<ApproximateCount>& parts, double delta);
double advanced_delta(const std::vector<ApproximateCount>& parts, double epsilon);

/// The first advanced composition theorem (Dwork, Rothblum and Vadhan 2010): epsilon sqrt(2 k
/// ln(1/slack)) + k epsilon (e^epsilon - 1), as printed, without the minimum with k epsilon. Kept
/// because published figures use it.
double first_advanced_epsilon(double epsilon, std::uint64_t count, double slack);

/// What a guarantee for one unit means for `size` units: (k epsilon, delta (e^(k epsilon) - 1) /
/// (e^epsilon - 1)).
EpsilonDelta group_privacy(const EpsilonDelta& one, std::uint64_t size);

/// Mechanisms on disjoint parts of the data together cost as much as the dearest. Holds when one
/// unit lies in one part and neighbours differ in that unit's presence, so only under add_remove;
/// a replaced unit may leave one part and enter another. Throws `kCannotCompose` under any other
/// relation.
EpsilonDelta parallel_composition(const std::vector<EpsilonDelta>& parts, Relation relation);

/// Pure epsilon after sampling each unit with probability `rate`: ln(1 + rate (e^epsilon - 1)).
double amplified_epsilon(double epsilon, double rate);

/// The handy bound 2 rate epsilon on the same; throws `kInvalidOption` above epsilon = 1.2564,
/// where it stops being a bound.
double amplified_epsilon_coarse(double epsilon, double rate);

/// sigma = l2_sensitivity sqrt(2 ln(1.25/delta)) / epsilon, which is (epsilon, delta)-DP only for
/// epsilon < 1 (Dwork and Roth 2014, Theorem A.1); throws `kInvalidOption` outside. `calibrate`
/// finds less noise.
double textbook_gaussian_sigma(double epsilon, double delta, double l2_sensitivity);

/// An add_remove guarantee stated for replacing a unit: one removal and one addition,
/// (2 epsilon, delta (1 + e^epsilon)).
EpsilonDelta add_remove_as_replace(const EpsilonDelta& guarantee);

}  // namespace gauze
