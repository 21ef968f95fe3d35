#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gauze/registry/result.h"

// Answers as JSON and as columns of files.
namespace gauze {

/// A double as JSON, with infinity as the string "inf", which JSON numbers lack.
nlohmann::ordered_json finite(double value);

/// Each row as an object; a number `n` has its error bar beside it in `n_half_width`.
nlohmann::ordered_json rows_json(const Answer& answer);

/// What the error bar of a column is called in files and JSON.
std::string half_width_name(const std::string& column);

/// Refuses columns whose names, or those of their error bars, a file could not tell apart: it would be
/// lost after it was paid for.
void refuse_equal_names(const std::vector<Answer::Column>& columns);

}  // namespace gauze
