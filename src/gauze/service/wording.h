#pragma once

#include <string>

#include "gauze/accounting/event.h"
#include "gauze/service/cost.h"

// Costs and budgets in words. All texts are UTF-8 with ε, δ and the like.
namespace gauze::service {

/// `ε = 1, δ = 1e-06`: exactly where that is short, else rounded up.
std::string cost_text(const Cost& cost);
/// `ρ = 0.5` or `ε = 1, δ = 1e-06`: exactly where that is short; else a price is rounded up, and what is
/// left is rounded down.
std::string price_text(const Budget& price);
std::string budget_text(const Budget& left);
/// The same of one amount; `safe` is `round_up` or `round_down`.
std::string amount_text(const Ratio& amount, double (*safe)(const Ratio&));

/// "for one patient_id more or less".
std::string change_text(const Event& event, const std::string& unit);

/// What an event is, in a few words: "14063 × poisson_sampled(rate 0.0043, gaussian(sigma 1.1))".
std::string describe(const Event& event);

}  // namespace gauze::service
