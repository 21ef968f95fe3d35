#include <algorithm>
#include <cmath>

#include "gauze/data/dialect_internal.h"

namespace gauze {
namespace {

using namespace internal;

/// Collations of columns may have no patterns; the database's own is deterministic: equal texts are
/// the same bytes.
std::string plain_text(const std::string& x) {
  return '(' + cast(x, "TEXT") + " COLLATE \"default\")";
}

/// Null where the text is longer than any that is read: functions of texts fail where what they
/// make has a gigabyte, and so does a row. What is stored is looked at first, for it may be packed:
/// LZ4 makes 255 bytes of one, and a byte of bits is eight of text.
std::string unless_long(const std::string& x, const std::string& then) {
  return "(CASE WHEN pg_column_size(" + x + ") <= 524296 THEN CASE WHEN octet_length(" +
         cast(x, "TEXT") + ") <= 524288 THEN " + then + " END END)";
}

/// PostgreSQL's casts raise errors, so every cast of a text stands behind a pattern that admits
/// only what it reads. CASE evaluates a branch only for the rows that reach it.
std::string guarded(const std::string& x, const char* pattern, const std::string& then,
                    const std::string& otherwise = "") {
  return "(CASE WHEN " + x + " ~ '" + pattern + "' THEN " + then +
         (otherwise.empty() ? "" : " ELSE " + otherwise) + " END)";
}

constexpr const char* kInteger = "^ *[+-]?[0-9]{1,18} *$";
constexpr const char* kWhole = "^ *[+-]?[0-9]{1,100}([.]0{0,100})? *$";
constexpr const char* kDecimal =
    "^ *[+-]?([0-9]{1,100}([.][0-9]{0,100})?|[.][0-9]{1,100})([eE][+-]?[0-9]{1,3})? *$";
constexpr const char* kDate =
    "^ *(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([ T]|$)";
constexpr const char* kTime =
    "^ *[0-9]{4}-[0-9]{2}-[0-9]{2}[ "
    "T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?(Z| UTC|[+]00(:?00)?)? *$";
constexpr const char* kOnlyDate = "^ *[0-9]{4}-[0-9]{2}-[0-9]{2} *$";

/// A numeric as a double; PostgreSQL raises an error where the nearest double would be 0 or
/// infinite.
std::string double_of_numeric(const std::string& n) {
  return "(CASE WHEN " + n + " = 'NaN' THEN NULL WHEN abs(" + n + ") < 1e-300 THEN 0 WHEN " + n +
         " > 1.7976931348623157e308 THEN " + double_literal(HUGE_VAL) + " WHEN " + n +
         " < -1.7976931348623157e308 THEN " + double_literal(-HUGE_VAL) + " ELSE " +
         cast(n, "DOUBLE PRECISION") + " END)";
}

/// Exactly where it fits, as the nearest end where it does not.
std::string integer_of_numeric(const std::string& n) {
  return "(CASE WHEN " + n + " BETWEEN -9223372036854775808 AND 9223372036854775807 THEN " +
         cast(n, "BIGINT") + " WHEN " + n + " <> 'NaN' THEN " + within_64_bits(n, false) + " END)";
}

/// `plus` and `minus` for the texts of infinity.
std::string infinite(const std::string& x, const std::string& plus, const std::string& minus) {
  const std::string word = "lower(trim(" + x + "))";
  return "(CASE WHEN " + word + " IN ('inf', 'infinity', '+inf', '+infinity') THEN " + plus +
         " WHEN " + word + " IN ('-inf', '-infinity') THEN " + minus + " END)";
}

class Postgres final : public SharedDialect {
 public:
  Postgres() : SharedDialect("DOUBLE PRECISION", "TEXT") {}
  std::string_view name() const override { return "postgresql"; }
  std::string fence() const override { return " OFFSET 0"; }

  std::string steps(const std::string& x, Type type, int exponent) const override {
    if (type == Type::kInteger) return integer_steps(x, exponent);
    // floor(y + 1/2) = floor((floor(2y) + 1) / 2), where 2y is exact and y + 1/2 is not. Below a
    // quarter step the answer is 0, and the product might underflow, which is an error here.
    const std::string exact =
        "((" + cast("floor(" + scaled(x, 1 - exponent) + ")", "BIGINT") + " + 1) >> 1)";
    return "(CASE WHEN abs(" + x + ") < " + double_literal(std::ldexp(1.0, exponent - 2)) +
           " THEN 0 ELSE " + exact + " END)";
  }

  std::string unforeseen(const std::string& x) const override { return x; }

  std::string integer_sum(const std::string& x) const override {
    return "COALESCE(CAST(sum(" + x + ") AS TEXT), '0')";  // a sum of BIGINT is a NUMERIC
  }

  // Where a result could underflow it is 0, or null when an operand is.
  std::string multiply(const std::string& x, const std::string& y) const override {
    return product(x, y, "abs(" + real(x) + ") < 1e-150 OR abs(" + real(y) + ") < 1e-150", " * ");
  }
  std::string divide(const std::string& x, const std::string& y) const override {
    return product(x, y, "abs(" + real(x) + ") < 1e-150 OR abs(" + real(y) + ") > 1e150", " / ");
  }

  std::string date_part(std::string_view part, const std::string& x) const override {
    check_part(part, false);
    return "CAST(floor(extract(" + std::string(part) + " FROM " + cast(x, "TIMESTAMP") +
           ")) AS BIGINT)";
  }
  std::string date_trunc(std::string_view part, const std::string& x, Type type) const override {
    check_part(part, true);
    return "CAST(date_trunc('" + std::string(part) + "', " + cast(x, "TIMESTAMP") + ") AS " +
           type_name(type) + ")";
  }

 private:
  static std::string real(const std::string& x) { return cast(x, "DOUBLE PRECISION"); }

  static std::string product(const std::string& x, const std::string& y, const std::string& tiny,
                             const char* operation) {
    return "(CASE WHEN " + tiny + " THEN " + real(x) + " * 0 * sign(" + real(y) + ") ELSE " +
           real(x) + operation + real(y) + " END)";
  }

  std::string to_text(const std::string& x, Type from) const override {
    return from == Type::kText ? unless_long(x, plain_text(x)) : cast(x, "TEXT");
  }

  std::string to_date(const std::string& x, Type from) const override {
    if (from == Type::kDate) return within_years(*this, x, from);
    if (from == Type::kText) return unless_long(x, date_of_text(plain_text(x)));
    if (from == Type::kTimestamp)
      return within_years(*this, cast(cast(x, "TIMESTAMP"), "DATE"), Type::kDate);
    no_conversion(from, Type::kDate);
  }

  std::string to_timestamp(const std::string& x, Type from) const override {
    // A timestamp with time zone becomes one without in the session's zone, which is UTC.
    if (from == Type::kTimestamp) return within_years(*this, cast(x, "TIMESTAMP"), from);
    if (from == Type::kText) return unless_long(x, timestamp_of_text(plain_text(x)));
    if (from == Type::kDate) return cast(within_years(*this, x, from), "TIMESTAMP");
    no_conversion(from, Type::kTimestamp);
  }

  std::string to_boolean(const std::string& x, Type from) const override {
    if (from == Type::kBoolean) return x;
    if (from == Type::kText) return unless_long(x, boolean_of_words(*this, plain_text(x)));
    if (from == Type::kDouble) return '(' + without_nan(x) + " <> 0)";
    if (from == Type::kDecimal) return "(nullif(" + x + ", 'NaN') <> 0)";
    if (from == Type::kInteger) return '(' + x + " <> 0)";
    no_conversion(from, Type::kBoolean);
  }

  std::string to_integer(const std::string& x, Type from) const override {
    switch (from) {
      case Type::kBoolean:
        return cast(cast(x, "INTEGER"), "BIGINT");
      case Type::kInteger:
        return cast(x, "BIGINT");
      case Type::kDecimal:
        return integer_of_numeric(x);
      case Type::kDouble:
        return within_64_bits(cast(x, "DOUBLE PRECISION"), true);
      case Type::kDate:
        return cast('(' + within_years(*this, x, from) + " - DATE '1970-01-01')", "BIGINT");
      case Type::kTimestamp:
        return cast("(extract(epoch FROM " + within_years(*this, cast(x, "TIMESTAMP"), from) +
                        ") * 1000000)",
                    "BIGINT");
      case Type::kText:
        break;
    }
    const std::string text = plain_text(x);
    return unless_long(
        x, guarded(text, kInteger, cast(text, "BIGINT"),
                   guarded(text, kDecimal, integer_of_numeric(cast(text, "NUMERIC")),
                           infinite(text, "9223372036854774784", "-9223372036854774784"))));
  }

  std::string exact_integer(const std::string& x, Type from) const override {
    if (from != Type::kDecimal) {
      const std::string text = plain_text(x);
      return unless_long(
          x, guarded(text, kWhole, exact_integer(cast(text, "NUMERIC"), Type::kDecimal)));
    }
    return "(CASE WHEN " + x + " BETWEEN -9223372036854775808 AND 9223372036854775807 AND " + x +
           " = trunc(" + x + ") THEN " + cast(x, "BIGINT") + " END)";
  }

  std::string to_double(const std::string& x, Type from) const override {
    if (from == Type::kDouble) return without_nan(cast(x, "DOUBLE PRECISION"));
    if (from == Type::kDecimal) return double_of_numeric(x);
    if (from == Type::kText) {
      const std::string text = plain_text(x);
      return unless_long(
          x, guarded(text, kDecimal, double_of_numeric(cast(text, "NUMERIC")),
                     infinite(text, double_literal(HUGE_VAL), double_literal(-HUGE_VAL))));
    }
    return cast(to_integer(x, from), "DOUBLE PRECISION");
  }

  /// The first of the month plus the days before; a day that the month does not have ends in
  /// another month and is null.
  std::string date_of_text(const std::string& x) const {
    const std::string text = "trim(" + x + ")";
    const std::string date = "(CAST(left(" + text + ", 8) || '01' AS DATE) + (CAST(substr(" + text +
                             ", 9, 2) AS INTEGER) - 1))";
    return guarded(x, kDate,
                   "(CASE WHEN to_char(" + date + ", 'MM') = substr(" + text + ", 6, 2) THEN " +
                       date + " END)");
  }

  std::string timestamp_of_text(const std::string& x) const {
    const std::string date = date_of_text(x);
    const std::string time =
        "CAST(regexp_replace(substr(trim(" + x + "), 12), '(Z| UTC|[+]00(:?00)?)$', '') AS TIME)";
    return guarded(x, kOnlyDate, cast(date, "TIMESTAMP"),
                   guarded(x, kTime, '(' + date + " + " + time + ")"));
  }
};

}  // namespace

const Dialect& postgres_dialect() {
  static const Postgres dialect;
  return dialect;
}

}  // namespace gauze
