#pragma once

#include "gauze/service/ask.h"
#include "gauze/service/values.h"

namespace gauze::service {

/// A quote as JSON: what the task says of its plan, then dataset, unit, cost and notes.
Json as_json(const Quote& quote);
/// The result's own keys, then accuracy, cost, unit, dataset, notes, what is left and what was spent. A key of
/// the result stays as it is.
Json as_json(const Outcome& outcome);

/// `{"epsilon": 2, "delta": 0}`, or with `rho`.
Json budget_json(const Budget& budget);

}  // namespace gauze::service
