#pragma once

#include <optional>

#include "gauze/accounting/event.h"

namespace gauze {

/// Closed-form losses as exact fractions, never below the true value; nothing when the event has no
/// such guarantee. They are what budgets are kept in: sums of fractions do not round, so a budget
/// split into parts accepts all parts.

/// Pure epsilon of the event, all repetitions included.
std::optional<Ratio> pure_epsilon(const Event& event);

/// rho of zero-concentrated DP: gaussian l2^2/(2 sigma^2), exponential epsilon^2/8, sparse vector by
/// its parts, other pure events epsilon^2/2.
std::optional<Ratio> zcdp_rho(const Event& event);

/// delta-approximate rho-zCDP: apart from probability delta, which may reveal everything, the event
/// is rho-zCDP. An (epsilon, delta) guarantee is one of (epsilon^2/2, delta); parts add up in both.
struct ConcentratedLoss {
  Ratio rho;
  Ratio delta;
};
std::optional<ConcentratedLoss> concentrated_loss(const Event& event);

/// (epsilon, delta) by basic composition.
struct ApproximateLoss {
  Ratio epsilon;
  Ratio delta;
};
std::optional<ApproximateLoss> approximate_loss(const Event& event);

}  // namespace gauze
