#pragma once

#include <string>
#include <string_view>

#include "gauze/accounting/filter.h"
#include "gauze/query/sql_query.h"

namespace gauze::cli {

// All texts are UTF-8 with ±, ε and the like; `shown` in text.h makes them fit a terminal without.

/// A released cell as people read numbers: thousands apart, no more digits than the error bar
/// leaves meaning to. Texts lose their control characters, so that no key can steer a terminal.
std::string value_text(const Answer::Cell& cell, Type type);
/// Two significant digits, rounded up: "± 12.3"; of dates and times with their unit: "± 3 days".
std::string half_width_text(double half_width, Type type);
/// "" for keys.
std::string half_width_text(const Answer::Cell& cell);

/// How far what is released will be off, 95 %: "± 12.3", of quantiles "± 40 ranks"; "-" where nobody knows.
std::string error_text(const MeasurementInfo& info);

/// "1 row", "2,000 rows".
std::string many(std::uint64_t count, const char* one);

/// The cell as a number to draw; nothing for texts, nulls and what is not finite.
std::optional<double> drawn(const Value& value);

/// `ε = 1, δ = 1e-06`, exactly where that is short; else a cost is rounded up, and what is left is
/// rounded down.
std::string cost_text(const Ratio& epsilon, const Ratio& delta);
std::string price_text(const Budget& price);
std::string budget_text(const Budget& left);
/// The same of one amount; `safe` is `round_up` or `round_down`.
std::string amount_text(const Ratio& amount, double (*safe)(const Ratio&));

/// "patient_id" of a unit described as "patient_id of visits"; "row" where each row is its own.
std::string unit_noun(const Plan& plan);
/// What one unit may contribute: "at most 12 rows of a patient_id, in at most 6 groups, ..."
std::string bounds_text(const Plan& plan);

}  // namespace gauze::cli
