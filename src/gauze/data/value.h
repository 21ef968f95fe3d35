#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "gauze/numeric/exact_sum.h"  // nearest_double: what a decimal becomes in SQL
#include "gauze/numeric/ratio.h"

namespace gauze {

/// What a column holds. The spelling in schemas is `boolean`, `integer`, ...
enum class Type : std::uint8_t {
  kBoolean,
  kInteger,  ///< 64 bits
  kDecimal,  ///< a decimal fraction; exact in literals and ranges
  kDouble,
  kText,
  kDate,       ///< days since 1970-01-01
  kTimestamp,  ///< microseconds since 1970-01-01 00:00, no time zone
};

/// `parse_type` throws `kUnknownName`.
std::string_view name(Type type);
Type parse_type(std::string_view text);
bool is_numeric(Type type);

struct Date {
  std::int64_t days = 0;
  auto operator<=>(const Date&) const = default;
};
struct Timestamp {
  std::int64_t microseconds = 0;
  auto operator<=>(const Timestamp&) const = default;
};

/// One cell or literal; std::monostate is null. Nulls sort last, as PostgreSQL sorts them.
using Value =
    std::variant<std::monostate, bool, std::int64_t, Ratio, double, std::string, Date, Timestamp>;

/// `2024-05-01`, `2024-05-01 13:45:00`; throw `kInvalidInput`.
Date parse_date(std::string_view text);
Timestamp parse_timestamp(std::string_view text);
std::string to_text(const Date& date);
std::string to_text(const Timestamp& time);

/// As a person would read it; null is "".
std::string to_text(const Value& value);

/// The number that an integer, decimal or double is.
Ratio exact(const Value& value);

/// The order in which answers are sorted: by value, nulls last. Both values are of one type or
/// null.
bool sorts_before(const Value& a, const Value& b);

}  // namespace gauze
