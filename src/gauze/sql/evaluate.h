#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/value.h"

// Scalar functions on values: the semantics that the SQL we write has, without errors (null instead).

namespace gauze {

bool is_null(const Value& value);

/// The nearest double of a number, a boolean (0 or 1), days of a date or microseconds of a time.
std::optional<double> number_of(const Value& value);

/// -1, 0 or 1; nothing when one is null or they are of kinds that do not compare.
std::optional<int> compare(const Value& a, const Value& b);

/// Functions of texts, dates and conversions; nothing when `function` is none of them.
std::optional<Value> call_on_values(std::string_view function, const std::vector<Value>& arguments);

/// `year`, `quarter`, `month`, `week`, `day`, `dow`, `isodow`, `doy`, `hour`, `minute`, `second`.
bool is_date_part(std::string_view part);
bool is_trunc_part(std::string_view part);
std::int64_t date_part(std::string_view part, Timestamp time);
Timestamp date_trunc(std::string_view part, Timestamp time);
Timestamp start_of(Date date);
Date day_of(Timestamp time);

}  // namespace gauze
