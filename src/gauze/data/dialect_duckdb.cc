#include <cctype>
#include <cmath>

#include "gauze/base/words.h"
#include "gauze/data/dialect_internal.h"

namespace gauze {
namespace {

using namespace internal;

std::string try_cast(const std::string& x, const char* type) {
  return "TRY_CAST(" + x + " AS " + type + ")";
}

constexpr const char* kDay = "^ *[0-9]+[-/ ][0-9]+[-/ ][0-9]+";
constexpr const char* kTimeOfDay =
    "([ T][0-9]+:[0-9]+(:[0-9]+([.][0-9]*)?)?(Z| UTC|[+]00(:?00)?)?)? *$";

/// So many values of IN are joined; so many texts are compared one by one faster than they are
/// looked up.
constexpr std::size_t kJoined = 5;
constexpr std::size_t kFewTexts = 128;
/// What is written once for each value becomes no longer than this: it may stand in another list.
constexpr std::size_t kLongSql = 4096;

/// What a pattern of LIKE looks for.
std::string regular_expression(std::string_view pattern) {
  std::string result;
  bool escaped = false;
  for (const char c : pattern) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0;
    if (!escaped && c == '%') {
      if (!result.ends_with(".*")) result += ".*";
    } else if (!escaped && c == '_') {
      result += '.';
    } else if (escaped || c != '\\') {
      result += (plain ? "" : "\\") + std::string(1, c);
    }
    escaped = !escaped && c == '\\';
  }
  return result;
}

class DuckDb final : public SharedDialect {
 public:
  DuckDb() : SharedDialect("DOUBLE", "VARCHAR") {}
  std::string_view name() const override { return "duckdb"; }

  std::string steps(const std::string& x, Type type, int exponent) const override {
    if (type == Type::kInteger) return integer_steps(x, exponent);
    // floor(y + 1/2) = floor((floor(2y) + 1) / 2), where 2y is exact and y + 1/2 is not.
    return "((" + cast("floor(" + scaled(x, 1 - exponent) + ")", "BIGINT") + " + 1) >> 1)";
  }

  // The engine makes a join of IN with five values or more, of which it never tells how far it is,
  // and which takes long.
  std::string is_one_of(const std::string& x,
                        const std::vector<std::string>& values) const override {
    if (values.size() < kJoined || values.size() * x.size() > kLongSql)
      return Dialect::is_one_of(x, values);
    std::vector<std::string> equal;
    for (const std::string& value : values) equal.push_back(x + " = " + value);
    return '(' + joined(equal, " OR ") + ')';
  }

  std::string is_one_of_texts(const std::string& x,
                              const std::vector<std::string>& texts) const override {
    if (texts.size() < kJoined) return Dialect::is_one_of_texts(x, texts);
    const std::string list = joined(literals(*this, texts), ", ");
    if (texts.size() <= kFewTexts) return "list_contains([" + list + "], " + x + ')';
    return "(CASE WHEN " + x + " IS NOT NULL THEN TRY_CAST(" + x + " AS ENUM (" + list +
           ")) IS NOT NULL END)";
  }

  /// The engine looks for parts between % one after the other, but where there are other signs, or
  /// letters of either case, it tries every place again for each %. Regular expressions take the
  /// time of the text.
  std::string like(const std::string& x, std::string_view pattern,
                   bool ignore_case) const override {
    const auto in_case = [&](const std::string& text) {
      return ignore_case ? "lower(" + text + ")" : text;
    };
    const auto sql = [&](std::string_view text) {
      return in_case(literal(Value(std::string(text))));
    };
    if (pattern.find_first_of("_\\") == std::string_view::npos)
      return '(' + in_case(x) + " LIKE " + sql(pattern) + ')';
    return "regexp_full_match(" + in_case(x) + ", " + sql(regular_expression(pattern)) + ", 's')";
  }

  std::string unforeseen(const std::string& x) const override {
    return '(' + x + " + " + double_literal(0) + ")";
  }

  std::string clamp_narrow(const std::string& x, std::int64_t lower,
                           std::int64_t upper) const override {
    // A bare number has the least type that holds it, and so the result that of the column, mostly.
    const std::string low = std::to_string(lower), high = std::to_string(upper);
    return "(CASE WHEN " + x + " BETWEEN " + low + " AND " + high + " THEN " + x + " WHEN " + x +
           " < " + low + " THEN " + low + " WHEN " + x + " > " + high + " THEN " + high + " END)";
  }

  std::string integer_sum(const std::string& x) const override {
    return "COALESCE(CAST(sum(" + x + ") AS VARCHAR), '0')";  // a sum of any integers is a HUGEINT
  }

  std::string multiply(const std::string& x, const std::string& y) const override {
    return '(' + cast(x, "DOUBLE") + " * " + cast(y, "DOUBLE") + ")";
  }
  std::string divide(const std::string& x, const std::string& y) const override {
    return '(' + cast(x, "DOUBLE") + " / " + cast(y, "DOUBLE") + ")";
  }

  std::string date_part(std::string_view part, const std::string& x) const override {
    check_part(part, false);
    return cast("date_part('" + std::string(part) + "', " + cast(x, "TIMESTAMP") + ")", "BIGINT");
  }
  std::string date_trunc(std::string_view part, const std::string& x, Type type) const override {
    check_part(part, true);
    return "CAST(date_trunc('" + std::string(part) + "', " + x + ") AS " + type_name(type) + ")";
  }

 private:
  /// The engine reads dates with anything behind them, drops the distance to UTC and knows infinity
  /// and years of five digits. Here a date ends or a time follows, and times are UTC's. Nearly all
  /// texts are as the engine would write them, and need no pattern.
  std::string time_of_text(const std::string& text, Type type) const {
    const std::string x = try_cast(text, type_name(type).c_str());
    const std::string rest = type == Type::kDate ? "( *$|[ T])" : kTimeOfDay;
    return "(CASE WHEN " + x + " = " + within_years(*this, x, type) + " AND (" +
           cast(x, "VARCHAR") + " = " + text + " OR regexp_matches(" + text + ", '" + kDay + rest +
           "')) THEN " + x + " END)";
  }

  std::string to_text(const std::string& x, Type from) const override {
    // A file can hold what is before the engine's first timestamp, and no cast takes that.
    if (from == Type::kTimestamp)
      return "(CASE WHEN " + x + " >= make_timestamp(-9223372022400000000) OR " + x +
             " = TIMESTAMP '-infinity' THEN " + cast(x, "VARCHAR") + " END)";
    // A column's own collation could take 'Bob' and 'bob' for one person.
    return from == Type::kText ? '(' + cast(x, "VARCHAR") + " COLLATE C)" : cast(x, "VARCHAR");
  }

  std::string to_date(const std::string& x, Type from) const override {
    if (from == Type::kDate) return within_years(*this, x, Type::kDate);
    if (from == Type::kTimestamp) return within_years(*this, try_cast(x, "DATE"), Type::kDate);
    if (from == Type::kText) return time_of_text(x, Type::kDate);
    no_conversion(from, Type::kDate);
  }

  std::string to_timestamp(const std::string& x, Type from) const override {
    if (from == Type::kTimestamp) return within_years(*this, x, from);
    if (from == Type::kText) return time_of_text(x, Type::kTimestamp);
    if (from == Type::kDate) return cast(within_years(*this, x, from), "TIMESTAMP");
    no_conversion(from, Type::kTimestamp);
  }

  std::string to_boolean(const std::string& x, Type from) const override {
    if (from == Type::kBoolean) return x;
    if (from == Type::kText) return boolean_of_words(*this, x);
    if (from == Type::kDouble) return '(' + without_nan(x) + " <> 0)";
    if (is_numeric(from)) return '(' + x + " <> 0)";
    no_conversion(from, Type::kBoolean);
  }

  std::string to_integer(const std::string& x, Type from) const override {
    if (from == Type::kBoolean || from == Type::kInteger) return cast(x, "BIGINT");
    if (from == Type::kDate) return '(' + within_years(*this, x, from) + " - DATE '1970-01-01')";
    if (from == Type::kTimestamp) return "epoch_us(" + within_years(*this, x, from) + ")";
    if (from == Type::kDouble) return within_64_bits(cast(x, "DOUBLE"), true);
    // Exactly where it fits, as the nearest end where it does not; COALESCE is lazy. To the engine
    // a lone sign before a space is a zero.
    const std::string integer = try_cast(x, "BIGINT");
    const std::string exact = from != Type::kText ? integer
                                                  : "CASE WHEN " + integer + " <> 0 OR contains(" +
                                                        x + ", '0') THEN " + integer + " END";
    return "COALESCE(" + exact + ", " + within_64_bits(try_cast(x, "DOUBLE"), true) + ")";
  }

  std::string exact_integer(const std::string& x, Type from) const override {
    const std::string text = from == Type::kText ? x : cast(x, "VARCHAR");
    const std::string integer = try_cast(text, "BIGINT");
    // Nearly all are written as the engine would write them, and need no pattern.
    return "(CASE WHEN " + cast(integer, "VARCHAR") + " = " + text + " OR regexp_matches(" + text +
           ", '^ *[+-]?[0-9]+([.]0*)? *$') THEN " + integer + " END)";
  }

  std::string to_double(const std::string& x, Type from) const override {
    if (from == Type::kText) return without_nan(try_cast(x, "DOUBLE"));
    if (from == Type::kDouble) return without_nan(cast(x, "DOUBLE"));
    if (from == Type::kDate || from == Type::kTimestamp) return cast(to_integer(x, from), "DOUBLE");
    return cast(x, "DOUBLE");
  }
};

}  // namespace

const Dialect& duckdb_dialect() {
  static const DuckDb dialect;
  return dialect;
}

}  // namespace gauze
