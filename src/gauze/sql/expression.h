#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gauze/data/value.h"

namespace gauze {

/// A scalar expression as a value: over the columns of a relation, where the planner types, bounds and writes it as
/// SQL, or over keys and released values, where `evaluate` computes it.
struct Expression {
  enum class Kind : std::uint8_t { kLiteral, kColumn, kCall };

  Kind kind = Kind::kLiteral;
  Value literal;
  std::size_t column = 0;  ///< position among the inputs
  std::string function;    ///< "+", "and", "case", "=", "abs", ...: lower case, one spelling each
  std::vector<Expression>
      arguments;  ///< of "case": condition, result, condition, result, ..., else

  static Expression of(Value value);
  static Expression input(std::size_t column);
  static Expression call(std::string function, std::vector<Expression> arguments);

  bool operator==(const Expression&) const = default;
};

/// A released number with what is known of it: the truth lies in [lower, upper] with the stated confidence.
/// Keys and literals have no spread.
struct Estimate {
  Value value;
  /// Meaningful when `value` is a number, a boolean ([0, 1] when the truth may be the other one), a date (days) or a time
  /// (microseconds).
  double lower = 0, upper = 0;
  /// The truth may be null where this is not, or not null where this is, or another text.
  bool unsettled = false;
};

/// Without spread: a key or a literal.
Estimate certain(Value value);

/// Post-processing: SQL semantics on released values (three-valued logic, null for x/0, no errors), with interval
/// arithmetic beside it. Where no interval is known the bounds are infinite.
Estimate evaluate(const Expression& expression, const std::vector<Estimate>& inputs);

}  // namespace gauze
