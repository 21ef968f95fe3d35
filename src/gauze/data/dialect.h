#pragma once

#include <string>
#include <string_view>

#include "gauze/data/value.h"

namespace gauze {

/// The one place where SQL engines differ. Every expression it writes is total: no value of a row
/// can make it fail. Arguments named `x` are SQL expressions, already in parentheses where needed.
class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view name() const = 0;

  std::string identifier(std::string_view name) const;  ///< "quoted"
  virtual std::string literal(const Value& value) const = 0;
  virtual std::string type_name(Type type) const = 0;

  /// `x` of the source's type `from` as `to`; null where that is impossible (what does not parse, NaN).
  /// Infinities stay when `to` is double. Throws `kUnsupported` when the engine has no total way.
  virtual std::string convert(const std::string& x, Type from, Type to) const = 0;

  /// `x`, numeric or a date, moved to the nearer end of [lower, upper]; null stays null.
  virtual std::string clamp(const std::string& x, Type type, const Value& lower,
                            const Value& upper) const = 0;

  /// floor(x * 2^-exponent + 1/2) as a 64-bit integer; |x| * 2^-exponent < 2^62 for every row.
  virtual std::string steps(const std::string& x, Type type, int exponent) const = 0;

  /// A sum of 64-bit integers that cannot overflow, as text of an integer.
  virtual std::string integer_sum(const std::string& x) const = 0;

  // What the planner needs besides operators all engines share (+ - * AND OR NOT CASE = < LIKE IN COALESCE NULLIF ABS ...):
  virtual std::string divide(const std::string& x,
                             const std::string& y) const = 0;  ///< in doubles; y is never 0
  virtual std::string date_part(std::string_view part,
                                const std::string& x) const = 0;  ///< as integer
  virtual std::string date_trunc(std::string_view part, const std::string& x, Type type) const = 0;
};

const Dialect& duckdb_dialect();
const Dialect& postgres_dialect();

}  // namespace gauze
