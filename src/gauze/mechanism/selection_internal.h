#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/numeric/ratio.h"

namespace gauze::internal {

/// Throws `kInvalidOption` unless epsilon > 0, sensitivity > 0, and `monotone` comes with
/// add_remove only.
void check_selection(const Ratio& epsilon, const Ratio& sensitivity, bool monotone,
                     Relation relation);

/// Throws `kInvalidInput` unless there is at least one score and all are finite.
void check_scores(std::span<const double> scores);

/// What one unit of score is worth in the exponent: epsilon / (2 sensitivity), or without the 2.
Ratio selection_rate(const Ratio& epsilon, const Ratio& sensitivity, bool monotone);

/// (1/rate) ln(candidates/beta), rounded up: how far below the best the exponential choice falls.
double selection_radius(const Ratio& rate, std::uint64_t candidates, double beta);

/// Scores in steps of sensitivity/2^20, rounded down and saturated at +-2^60. Neighbouring scores
/// differ by at most kSensitivitySteps after it, and in the same direction as before.
inline constexpr std::int64_t kSensitivitySteps = 1 << 20;
std::vector<std::int64_t> scores_in_steps(std::span<const double> scores, const Ratio& sensitivity);

}  // namespace gauze::internal
