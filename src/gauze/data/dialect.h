#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/value.h"

namespace gauze {

/// The one place where SQL engines differ. Every expression it writes is total: no value of a row
/// can make it fail. Arguments named `x` are SQL expressions, already in parentheses where needed;
/// they may be written more than once.
///
/// In SQL a decimal is a double: `Type::kDecimal` and `Type::kDouble` give the same expressions.
class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view name() const = 0;

  std::string identifier(std::string_view name) const;  ///< "quoted"

  /// Carries its type with it. A fraction is the nearest double, NaN is null. Throws
  /// `kInvalidInput` for a text with a zero byte.
  std::string literal(const Value& value) const;
  virtual std::string type_name(Type type) const = 0;

  /// `x` of the source's type `from` as `to`; null where that is impossible (what does not parse,
  /// NaN). Infinities stay when `to` is double; elsewhere what is too large becomes the nearest
  /// end: of 64 bits, of the years 1 to 9999. A date as integer is its days since 1970, a timestamp
  /// its microseconds, true is 1. Throws `kUnsupported` when the engine has no total way.
  virtual std::string convert(const std::string& x, Type from, Type to) const = 0;

  /// Behind a sub-select: keeps the engine from writing out what is named there wherever it is
  /// mentioned.
  virtual std::string fence() const { return ""; }

  /// `x`, which names somebody or something, as an integer or a text: exactly, or null, so that
  /// different values never become one. A double names somebody only where it is whole and below
  /// 2^53. Throws `kUnsupported`.
  virtual std::string identity(const std::string& x, Type from, Type to) const = 0;

  /// `x`, numeric, a date or a timestamp, moved to the nearer end of [lower, upper]; null stays
  /// null, NaN becomes null. Ends that are no doubles are rounded inward.
  virtual std::string clamp(const std::string& x, Type type, const Value& lower,
                            const Value& upper) const = 0;

  /// The same for integers of any width, in a type as narrow as theirs where `integer_sum` takes
  /// it.
  virtual std::string clamp_narrow(const std::string& x, std::int64_t lower,
                                   std::int64_t upper) const {
    return clamp(x, Type::kInteger, lower, upper);
  }

  /// floor(x * 2^-exponent + 1/2) as a 64-bit integer, exactly; |x| * 2^-exponent < 2^62 for every
  /// row.
  virtual std::string steps(const std::string& x, Type type, int exponent) const = 0;

  /// `x`, a double, to the nearest multiple of 2^exponent, ties to even, in steps, as a 64-bit
  /// integer; any finite x with |x| * 2^-exponent < 2^51; exponent < 970.
  std::string nearest_steps(const std::string& x, int exponent) const;

  /// A double column as something of which the engine knows nothing. It would believe the
  /// statistics of a Parquet file, which leave out NaN, and fold away the comparisons that look for
  /// it.
  virtual std::string unforeseen(const std::string& x) const = 0;

  /// A sum of integers of up to 64 bits that cannot overflow, as text of an integer; "0" over no
  /// rows.
  virtual std::string integer_sum(const std::string& x) const = 0;

  /// Whether `x` is one of `values`, which are SQL, as IN has it.
  virtual std::string is_one_of(const std::string& x, const std::vector<std::string>& values) const;
  /// The same for texts.
  virtual std::string is_one_of_texts(const std::string& x,
                                      const std::vector<std::string>& texts) const;

  /// Whether `x` looks like a pattern of SQL with the escape character '\', in a time that grows
  /// with its length and no faster: whoever asks chooses the pattern, and could see by a clock
  /// whether somebody has a text that takes long.
  virtual std::string like(const std::string& x, std::string_view pattern, bool ignore_case) const;

  // What the planner needs besides operators all engines share (+ - AND OR NOT CASE = < COALESCE
  // NULLIF ABS, * of integers, ...). Products and quotients are of doubles that do not overflow;
  // where one would be smaller than 1e-150 times the other operand allows, the result is 0
  // (PostgreSQL raises an error on underflow).
  virtual std::string multiply(const std::string& x, const std::string& y) const = 0;
  virtual std::string divide(const std::string& x,
                             const std::string& y) const = 0;  ///< y is never 0

  /// `x` is a date or timestamp. Parts: year, quarter, month, week (ISO), day, dow (Sunday is 0),
  /// doy, hour, minute, second (whole); `date_trunc` takes year, quarter, month, week, day, hour,
  /// minute, second. Both throw `kUnsupported` for others.
  virtual std::string date_part(std::string_view part,
                                const std::string& x) const = 0;  ///< as integer
  virtual std::string date_trunc(std::string_view part, const std::string& x, Type type) const = 0;
};

const Dialect& duckdb_dialect();
const Dialect& postgres_dialect();

}  // namespace gauze
