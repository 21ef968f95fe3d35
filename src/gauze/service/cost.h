#pragma once

#include <optional>
#include <string>

#include "gauze/accounting/filter.h"
#include "gauze/numeric/ratio.h"

namespace gauze::service {

/// What a release costs, and at which delta that is said.
///
/// The rule: the epsilon and the delta that the question names, where its event keeps them (a
/// mechanism never costs more than it was asked to); a smaller pair where the event is worth exactly
/// that; without an epsilon in the question, the least epsilon at `quote_delta`, else at the question's
/// delta, else at 0 if the event is pure, else at 10^-6.
struct Cost {
  Ratio epsilon = 0;
  Ratio delta = 0;
  Budget price;  ///< what is charged, in the currency of the ledger if there is one
};

Cost cost_of(const Event& event, const std::optional<Ratio>& epsilon, const Ratio& delta,
             const std::optional<Ratio>& quote_delta);

}  // namespace gauze::service
