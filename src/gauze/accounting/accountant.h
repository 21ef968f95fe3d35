#pragma once

#include <string_view>
#include <vector>

#include "gauze/accounting/event.h"

namespace gauze {

/// The ways to add up losses. Each is an upper bound wherever it applies; `kBest` tries all that
/// apply and keeps the smallest.
enum class Accountant : std::uint8_t {
  kPure,      ///< sum of pure epsilons; delta plays no part
  kBasic,     ///< sums of epsilons and deltas
  kAdvanced,  ///< the square-root composition theorem, or the basic one where that is smaller
  kZcdp,      ///< sums of rho, converted by the best Renyi order
  kRdp,       ///< Renyi curves on a grid of orders, improved conversion
  kPld,       ///< privacy loss distributions, composed by FFT; tight and never below the truth
  kGaussian,  ///< compositions of Gaussian mechanisms, in closed form
  kBest,
};

/// `pure`, `basic`, `advanced`, `zcdp`, `rdp`, `pld`, `gaussian`, `best`. `parse_accountant` throws
/// `kUnknownName`.
std::string_view name(Accountant accountant);
Accountant parse_accountant(std::string_view text);

/// A guarantee and the accountant that proved it.
struct Guarantee {
  double epsilon = 0;
  double delta = 0;
  Accountant accountant = Accountant::kBest;  ///< never kBest in a result: which one it was
};

/// The smallest epsilon (never below the true one) that the events have at `delta`, 0 <= delta < 1.
/// Infinity when there is no guarantee at that delta. Throws `kCannotCompose` when the relations
/// differ or the accountant has no theorem for one of the events; the message says which
/// accountants do.
Guarantee epsilon_at(const std::vector<Event>& events, double delta,
                     Accountant accountant = Accountant::kBest);

/// The smallest delta at `epsilon` >= 0.
Guarantee delta_at(const std::vector<Event>& events, double epsilon,
                   Accountant accountant = Accountant::kBest);

}  // namespace gauze
