#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/sql/expression.h"

namespace gauze {

/// What is publicly known of an expression's values, whatever the rows hold.
struct Facts {
  Type type = Type::kText;  ///< decimals are doubles in all computations
  bool nullable = true;
  bool untyped = false;               ///< the literal NULL
  std::optional<Ratio> lower, upper;  ///< numbers; dates in days, timestamps in microseconds
  bool nonzero = false;               ///< never 0, though 0 may lie between lower and upper
  double weight = 1;                  ///< about how long the SQL is, for it repeats arguments
  std::string missing;                ///< why there is no range: the line the schema lacks

  bool bounded() const { return lower && upper; }
};

/// Over rows every function must be total, which is proved here from the ranges; over released values
/// (after the noise) only the types matter.
enum class Place : std::uint8_t { kRows, kReleased };

Facts literal_facts(const Value& value);

/// What a scan yields for a column: converted to its type, moved into its range or categories. `identity` columns
/// (units and what refers to them) are converted only, for moving them would make one owner of several.
Facts column_facts(const TableSchema& table, const ColumnSchema& column, bool identity);

/// Throws `kUnsupported` unless there is such a function of that many arguments.
void check_function(const std::string& function, std::size_t arguments);

/// Of a call, from those of its arguments. Throws `kUnsupported` (types, unknown functions), `kMissingKnowledge`
/// (no range where one is needed) and `kNotPrivate` (it could fail on some row).
Facts call_facts(const Expression& call, const std::vector<Facts>& arguments, Place place);

/// Of a whole expression over columns.
Facts facts_of(const Expression& expression, const std::vector<Facts>& inputs, Place place);

/// One type for the branches of CASE, COALESCE, UNION ALL; throws `kUnsupported`.
Facts hull(const std::vector<Facts>& parts, const std::string& where);

/// Throws `kMissingKnowledge` unless both ends are known; `what` needs them.
void require_range(const Facts& facts, const std::string& what);

/// "[0, 5000]", "from 0 on", "any".
std::string range_text(const Facts& facts);

/// Whole numbers below this stay 64-bit integers; others are computed in doubles.
Ratio largest_integer();

}  // namespace gauze
