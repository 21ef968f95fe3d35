#pragma once

#include <string>
#include <string_view>

#include "gauze/data/dialect.h"

namespace gauze::internal {

// SQL that DuckDB and PostgreSQL share. Both sort NaN above infinity and have GREATEST and LEAST that skip nulls.

std::string double_literal(double value);
/// `x` moved into [lower, upper], two literals; null, and NaN where `is_double`, become null.
std::string between(const std::string& x, bool is_double, const std::string& lower,
                    const std::string& upper);
/// An end of a range of this type as a literal, rounded into the range.
std::string lower_end(const Dialect& dialect, Type type, const Value& value);
std::string upper_end(const Dialect& dialect, Type type, const Value& value);
/// Dates and timestamps moved into the years 1 to 9999; `x` of that type.
std::string within_years(const Dialect& dialect, const std::string& x, Type type);
/// The nearest 64-bit integer a double can hold, either way.
std::string within_64_bits(const std::string& x, bool is_double);
std::string boolean_of_words(const std::string& x);
std::string integer_steps(const std::string& x, int exponent);
/// x * 2^power for a double.
std::string scaled(const std::string& x, int power);
void check_part(std::string_view part, bool truncating);
[[noreturn]] void no_conversion(const Dialect& dialect, Type from, Type to);

}  // namespace gauze::internal
