#include "gauze/learn/plan.h"

#include <cmath>

#include "gauze/base/error.h"

namespace gauze {

void SgdPlan::validate() const {
  require(records >= 1 && records <= 0xfffffffe, "records must lie in [1, 2^32 - 2]");
  require(batch >= 1 && batch <= records, "batch must lie in [1, records]");
  require(passes >= 1 && passes <= 1'000'000, "passes must lie in [1, 1000000]");
  require(updates() <= std::uint64_t{1} << 34, "passes: at most 2^34 updates in all");
  require(regularisation >= 0 && std::isfinite(regularisation),
          "lambda must be 0 or more, and finite");
  require(radius > 0, "radius must be positive");
}

}  // namespace gauze
