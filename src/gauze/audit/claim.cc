#include "gauze/audit/claim.h"

#include <algorithm>
#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/audit/outputs.h"
#include "gauze/base/error.h"

namespace gauze::audit {
namespace {

/// Smaller ones are beyond what runs can show, larger ones beyond what anybody claims.
constexpr double kDeltas[] = {0, 1e-5, 1e-3, 0.01, 0.05, 0.2};

}  // namespace

Claim Claim::approximate(double epsilon, double delta) {
  require(epsilon >= 0 && std::isfinite(epsilon), "epsilon: must be 0 or more, and finite");
  require(delta >= 0 && delta < 1, "delta: must be at least 0 and below 1");
  return {.points = {{epsilon, delta}}, .rho = std::nullopt};
}

Claim Claim::of(const Event& event) {
  Claim claim;
  for (const double delta : kDeltas) {
    const double epsilon = epsilon_at({event}, delta).epsilon;
    if (!std::isfinite(epsilon)) continue;
    if (epsilon == 0 && !claim.points.empty()) break;  // at larger deltas as well
    claim.points.push_back({epsilon, delta});
  }
  if (const auto loss = concentrated_loss(event); loss && loss->delta == 0) {
    claim.rho = round_up(loss->rho);
  }
  require(!claim.points.empty() || claim.rho, "event: promises nothing that can be audited");
  return claim;
}

double Claim::most_power(double false_alarms) const {
  double most = 1;
  for (const auto& [epsilon, delta] : points) {
    most = std::min({most, std::exp(epsilon) * false_alarms + delta,
                     1 - std::exp(-epsilon) * (1 - delta - false_alarms)});
  }
  return std::max(most, false_alarms);
}

std::string describe(const Claim::Point& point) {
  const std::string epsilon = "epsilon " + shortest(point.epsilon);
  return point.delta == 0 ? epsilon : epsilon + " at delta " + shortest(point.delta);
}

}  // namespace gauze::audit
