#include "gauze/mechanism/range_internal.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze::internal {

RealRange::RealRange(const Ratio& lower, const Ratio& upper)
    : lower_(lower), upper_(upper), low_(round_up(lower)), high_(round_down(upper)) {
  require(lower < upper, "lower must be below upper; a single value has nothing to release");
  require(std::isfinite(low_) && std::isfinite(high_) && low_ < high_,
          "lower and upper must leave at least two doubles between them");
}

Ratio RealRange::clamp(const Ratio& value) const {
  return std::clamp(value, lower_, upper_);
}

ExactSum RealRange::sum(std::span<const double> values) const {
  ExactSum total;
  for (const double value : values) total.add(clamp(value));
  return total;
}

void check_tabular(const Ratio& epsilon, Relation relation) {
  require(epsilon > 0, "epsilon must be positive");
  require(relation == Relation::kAddRemove || relation == Relation::kReplace,
          "relation must be add_remove or replace");
}

}  // namespace gauze::internal
