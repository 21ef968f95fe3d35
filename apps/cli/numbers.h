#pragma once

#include <string>

#include "gauze/accounting/filter.h"
#include "gauze/registry/wording.h"

namespace gauze::cli {

/// `ε = 1, δ = 1e-06`, exactly where that is short; else a cost is rounded up, and what is left is
/// rounded down.
std::string cost_text(const Ratio& epsilon, const Ratio& delta);
std::string price_text(const Budget& price);
std::string budget_text(const Budget& left);
/// The same of one amount; `safe` is `round_up` or `round_down`.
std::string amount_text(const Ratio& amount, double (*safe)(const Ratio&));

}  // namespace gauze::cli
