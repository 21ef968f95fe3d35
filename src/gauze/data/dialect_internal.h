#pragma once

#include <string>
#include <string_view>

#include "gauze/data/dialect.h"

namespace gauze::internal {

// SQL that DuckDB and PostgreSQL share. Both sort NaN above infinity and have GREATEST and LEAST
// that skip nulls.

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
std::vector<std::string> literals(const Dialect& dialect, const std::vector<std::string>& texts);
std::string boolean_of_words(const Dialect& dialect, const std::string& x);
std::string integer_steps(const std::string& x, int exponent);
/// x * 2^power for a double.
std::string scaled(const std::string& x, int power);
void check_part(std::string_view part, bool truncating);
[[noreturn]] void no_conversion(Type from, Type to);
std::string cast(const std::string& x, const char* type);
/// `x`, a double; null where it is NaN.
std::string without_nan(const std::string& x);

/// What both engines do alike; each says how it converts to one type.
class SharedDialect : public Dialect {
 public:
  std::string type_name(Type type) const final;
  std::string convert(const std::string& x, Type from, Type to) const final;
  std::string identity(const std::string& x, Type from, Type to) const final;
  std::string clamp(const std::string& x, Type type, const Value& lower,
                    const Value& upper) const final;

 protected:
  SharedDialect(const char* double_name, const char* text_name)
      : double_name_(double_name), text_name_(text_name) {}

 private:
  virtual std::string to_boolean(const std::string& x, Type from) const = 0;
  virtual std::string to_integer(const std::string& x, Type from) const = 0;
  /// Null where a text or a decimal is no whole number of 64 bits.
  virtual std::string exact_integer(const std::string& x, Type from) const = 0;
  virtual std::string to_double(const std::string& x, Type from) const = 0;
  virtual std::string to_text(const std::string& x, Type from) const = 0;
  virtual std::string to_date(const std::string& x, Type from) const = 0;
  virtual std::string to_timestamp(const std::string& x, Type from) const = 0;

  const char* double_name_;
  const char* text_name_;
};

}  // namespace gauze::internal
