#include "gauze/mechanism/selection_internal.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze::internal {

void check_selection(const Ratio& epsilon, const Ratio& sensitivity, bool monotone,
                     Relation relation) {
  require(epsilon > 0, "epsilon must be positive");
  require(sensitivity > 0, "sensitivity must be positive");
  // Replacing a unit takes one away and adds one: some scores fall while others rise.
  require(!monotone || relation == Relation::kAddRemove,
          "monotone needs relation add_remove; under other relations scores move both ways, set "
          "monotone to false");
}

void check_scores(std::span<const double> scores) {
  if (scores.empty()) throw Error(ErrorCode::kInvalidInput, "scores must not be empty");
  if (!std::all_of(scores.begin(), scores.end(), [](double s) { return std::isfinite(s); })) {
    throw Error(ErrorCode::kInvalidInput,
                "scores must be finite; give hopeless candidates a low finite score");
  }
}

Ratio selection_rate(const Ratio& epsilon, const Ratio& sensitivity, bool monotone) {
  return epsilon / (monotone ? sensitivity : Ratio(2 * sensitivity));
}

double selection_radius(const Ratio& rate, std::uint64_t candidates, double beta) {
  require(candidates >= 1, "candidates must be at least 1");
  return round_up(Ratio(1 / rate)) * std::log(static_cast<double>(candidates) / beta) * (1 + 1e-12);
}

std::vector<std::int64_t> scores_in_steps(std::span<const double> scores,
                                          const Ratio& sensitivity) {
  static const Integer kLimit = Integer(1) << 60;
  const Ratio per_step = Ratio(kSensitivitySteps) / sensitivity;
  std::vector<std::int64_t> steps;
  steps.reserve(scores.size());
  for (const double score : scores) {
    const Integer exact = floor(Ratio(ratio_of_bits(score, "score") * per_step));
    steps.push_back(saturate(std::clamp<Integer>(exact, -kLimit, kLimit)));
  }
  return steps;
}

}  // namespace gauze::internal
