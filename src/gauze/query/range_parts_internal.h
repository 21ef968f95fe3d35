#pragma once

#include "gauze/query/range_internal.h"

// What the files of the interval analysis share.
namespace gauze::range {

/// The nearest doubles below and above.
Ratio down(const Ratio& x);
Ratio up(const Ratio& x);

bool is_time(Type type);
bool is_number(const Facts& facts);
std::string kind(const Facts& facts);

/// A number of this range: an integer when both the operands and every result allow it, else a double whose ends are
/// rounded outward. Rounding is monotone, so no computed value lies outside.
Facts number(bool integers, Ratio lower, Ratio upper, bool nullable);
/// A type with no range but that of booleans.
Facts plain(Type type, bool nullable);
/// A date or timestamp of the years 1 to 9999: what every conversion yields.
Facts any_time(Type type);

// Of one group of functions each.
Facts arithmetic(const Expression& call, const std::vector<Facts>& arguments, Place place);
Facts rounding(const Expression& call, const std::vector<Facts>& arguments, Place place);
Facts curve(const std::string& function, const Facts& x, Place place);
Facts simple_number(const std::string& function, const Facts& x, Place place);

}  // namespace gauze::range
