#pragma once

#include <optional>

#include "gauze/accounting/filter.h"
#include "gauze/numeric/ratio.h"

namespace gauze::service {

/// What a question names of its price, in the options that every algorithm calls so.
struct Named {
  std::optional<Ratio> epsilon = {};
  std::optional<Ratio> delta = {};
  std::optional<Ratio> quote_delta = {};  ///< at which the cost is to be quoted
};

/// What a release costs, and at which delta that is said.
struct Cost {
  double epsilon = 0;  ///< rounded up; infinite where there is no guarantee at `delta`
  double delta = 0;
  Budget price;  ///< the same, or what a ledger in another currency is charged
};

/// The rule, of which the first line that applies decides:
///
/// 1. A pure event costs its epsilon at delta 0, exactly: 0.3 is 0.3.
/// 2. An event that keeps the (epsilon, delta) that the question names costs that, or what its parts
///    add up to where that is no more. Not where another delta is wanted for the quote.
/// 3. Any other event costs the least epsilon at `quote_delta`, else at the question's delta, else at
///    10^-6.
///
/// Throws `kInvalidOption` for a delta that is no probability, or where it is to be quoted at 0 or 1.
Cost cost_of(const Event& event, const Named& named);

/// What the question was asked at, for a ledger: the epsilon that it names, as it was written, for the
/// accountant's last digits are no part of what was asked for; without one what it costs.
Budget asked_at(const Cost& cost, const Named& named);

}  // namespace gauze::service
