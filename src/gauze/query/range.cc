#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/query/range_internal.h"
#include "gauze/query/range_parts_internal.h"
#include "gauze/sql/evaluate.h"

namespace gauze {

using namespace range;

namespace {

bool any_nullable(const std::vector<Facts>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const Facts& f) { return f.nullable; });
}

Facts extremes(bool greatest, const std::vector<Facts>& arguments) {
  Facts result = hull(arguments, greatest ? "GREATEST" : "LEAST");
  if (result.type == Type::kText || result.type == Type::kBoolean)
    unsupported("GREATEST and LEAST take numbers or dates");
  // Nulls are passed over, so only an argument that is never null limits the result for certain.
  result.nullable =
      std::all_of(arguments.begin(), arguments.end(), [](const Facts& f) { return f.nullable; });
  for (const Facts& argument : arguments) {
    if (argument.nullable) continue;
    if (greatest && argument.lower && (!result.lower || *result.lower < *argument.lower))
      result.lower = argument.lower;
    if (!greatest && argument.upper && (!result.upper || *result.upper > *argument.upper))
      result.upper = argument.upper;
  }
  if (is_numeric(result.type) && result.bounded()) result.missing.clear();
  return result;
}

const Value& literal_argument(const Expression& call, std::size_t index,
                              const std::string& message) {
  if (index >= call.arguments.size() || call.arguments[index].kind != Expression::Kind::kLiteral)
    unsupported(message);
  return call.arguments[index].literal;
}

Facts clamp(const Expression& call, const std::vector<Facts>& arguments, Place place) {
  static const std::string kUse = "clamp(x, lower, upper) takes two constants with lower < upper";
  if (arguments.size() != 3) unsupported(kUse);
  literal_argument(call, 1, kUse);
  literal_argument(call, 2, kUse);
  Facts result = hull(arguments, "clamp");
  if (!is_numeric(result.type) && !is_time(result.type))
    unsupported("clamp takes a number or a date");
  if (place == Place::kReleased) return result;
  if (!arguments[1].bounded() || !arguments[2].bounded() ||
      *arguments[1].upper >= *arguments[2].lower)
    unsupported(kUse);
  result.nullable = arguments[0].nullable;
  result.missing.clear();
  result.lower = arguments[1].lower;
  result.upper = arguments[2].upper;
  if (arguments[0].lower && *arguments[0].lower > *result.lower &&
      *arguments[0].lower <= *result.upper)
    result.lower = arguments[0].lower;
  if (arguments[0].upper && *arguments[0].upper < *result.upper &&
      *arguments[0].upper >= *result.lower)
    result.upper = arguments[0].upper;
  return result;
}

Facts bucket(const Expression& call, const std::vector<Facts>& arguments) {
  static const std::string kUse =
      "width_bucket(x, lower, upper, count) takes constants, lower < upper, from -1e100 to 1e100 "
      "and 1e-100 or more apart, and a count from 1 to 100000";
  if (arguments.size() != 4 || !is_number(arguments[0])) unsupported(kUse);
  const auto lower = number_of(literal_argument(call, 1, kUse)),
             upper = number_of(literal_argument(call, 2, kUse));
  const auto* count = std::get_if<std::int64_t>(&literal_argument(call, 3, kUse));
  if (!lower || !upper || !(*lower >= -1e100) || !(*upper <= 1e100) ||
      !(*upper - *lower >= 1e-100) || count == nullptr || *count < 1 || *count > 100'000)
    unsupported(kUse);
  Facts result = plain(Type::kInteger, arguments[0].nullable);
  result.lower = 0;
  result.upper = *count + 1;
  return result;
}

void comparable(const Facts& a, const Facts& b, bool order) {
  if (a.untyped || b.untyped) unsupported("a comparison with NULL is never true; write x IS NULL");
  const bool fits = a.type == b.type || (is_numeric(a.type) && is_numeric(b.type)) ||
                    (is_time(a.type) && is_time(b.type));
  if (!fits)
    unsupported("cannot compare " + kind(a) + " with " + kind(b) + "; make both the same type");
  if (order && (a.type == Type::kText || a.type == Type::kBoolean))
    unsupported(
        "texts and booleans compare with =, <>, IN and LIKE only: their order differs between "
        "databases");
}

std::optional<Facts> logical(const Expression& call, const std::vector<Facts>& arguments) {
  const std::string& function = call.function;
  const bool nullable = any_nullable(arguments);
  if (function == "and" || function == "or" || function == "not") {
    for (const Facts& argument : arguments)
      if (argument.type != Type::kBoolean && !argument.untyped)
        unsupported("AND, OR and NOT take conditions; this is " + kind(argument));
    return plain(Type::kBoolean, nullable);
  }
  if (function == "is_null") return plain(Type::kBoolean, false);
  if (function == "is_distinct") {
    comparable(arguments[0], arguments[1], false);
    return plain(Type::kBoolean, false);
  }
  if (function == "=" || function == "<>" || function == "<" || function == "<=" ||
      function == ">" || function == ">=") {
    comparable(arguments[0], arguments[1], function != "=" && function != "<>");
    return plain(Type::kBoolean, nullable);
  }
  if (function == "in") {
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      literal_argument(call, i, "IN takes a list of constants; write x = y OR x = z for columns");
      comparable(arguments[0], arguments[i], false);
    }
    return plain(Type::kBoolean, nullable);
  }
  if (function == "like" || function == "ilike") {
    static const std::string kUse =
        "LIKE takes a text and a constant pattern of at most 1,000 bytes that does not end in "
        "'\\'";
    const auto* pattern = std::get_if<std::string>(&literal_argument(call, 1, kUse));
    if (arguments[0].type != Type::kText || pattern == nullptr || pattern->ends_with('\\') ||
        pattern->size() > 1000)
      unsupported(kUse);
    return plain(Type::kBoolean, nullable);
  }
  return std::nullopt;
}

std::optional<Facts> choice(const Expression& call, const std::vector<Facts>& arguments) {
  if (call.function == "coalesce") {
    Facts result = hull(arguments, "COALESCE");
    result.nullable =
        std::all_of(arguments.begin(), arguments.end(), [](const Facts& f) { return f.nullable; });
    return result;
  }
  if (call.function == "nullif") {
    comparable(arguments[0], arguments[1], false);
    Facts result = arguments[0];
    result.nullable = true;
    const auto zero = number_of(call.arguments[1].literal);
    result.nonzero = result.nonzero ||
                     (call.arguments[1].kind == Expression::Kind::kLiteral && zero && *zero == 0);
    return result;
  }
  if (call.function != "case") return std::nullopt;
  std::vector<Facts> results;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool condition = i % 2 == 0 && i + 1 < arguments.size();
    if (!condition) results.push_back(arguments[i]);
    if (condition && arguments[i].type != Type::kBoolean)
      unsupported("WHEN takes a condition; this is " + kind(arguments[i]));
  }
  return hull(results, "CASE");
}

Facts part_of_date(const Expression& call, const std::vector<Facts>& arguments, Place place) {
  const bool trunc = call.function == "date_trunc";
  const std::string parts =
      trunc ? "date_trunc takes year, quarter, month, week, day and, of timestamps, hour, minute"
            : "date parts are year, quarter, month, week, day, dow, isodow, doy and, of "
              "timestamps, hour, minute, second";
  if (arguments.size() != 2) unsupported(parts);
  const auto* part = std::get_if<std::string>(&literal_argument(call, 0, parts));
  if (part == nullptr || !(trunc ? is_trunc_part(*part) : is_date_part(*part))) unsupported(parts);
  const Facts& x = arguments[1];
  const bool within_day = *part == "hour" || *part == "minute" || *part == "second";
  if (!is_time(x.type) || (x.type == Type::kDate && within_day))
    unsupported(*part + " of " + kind(x) + " does not exist; " + parts);
  Facts result = plain(trunc ? x.type : Type::kInteger, x.nullable);
  if (place == Place::kReleased) return result;
  require_range(x, call.function);
  const auto at = [&](const Ratio& end) {
    const std::int64_t whole = saturate(numerator(end));
    return x.type == Type::kDate ? start_of(Date{whole}) : Timestamp{whole};
  };
  if (trunc) {
    const Timestamp low = date_trunc(*part, at(*x.lower)), high = date_trunc(*part, at(*x.upper));
    result.lower = x.type == Type::kDate ? day_of(low).days : low.microseconds;
    result.upper = x.type == Type::kDate ? day_of(high).days : high.microseconds;
    result.missing = x.missing;
    return result;
  }
  static constexpr struct {
    const char* part;
    int lower, upper;
  } kRanges[] = {{"quarter", 1, 4}, {"month", 1, 12}, {"week", 1, 53}, {"day", 1, 31},
                 {"dow", 0, 6},     {"isodow", 1, 7}, {"doy", 1, 366}, {"hour", 0, 23},
                 {"minute", 0, 59}, {"second", 0, 59}};
  result.lower = date_part("year", at(*x.lower));
  result.upper = date_part("year", at(*x.upper));
  if (*part == "year") result.missing = x.missing;
  for (const auto& range : kRanges)
    if (*part == range.part) {
      result.lower = range.lower;
      result.upper = range.upper;
    }
  return result;
}

std::optional<Facts> conversion(const std::string& function, const Facts& x, Place place) {
  if (!function.starts_with("to_")) return std::nullopt;
  const Type target = function == "to_decimal" ? Type::kDouble : parse_type(function.substr(3));
  Facts result = x;
  result.type = target;
  if (x.untyped && is_time(target)) return any_time(target);
  if (x.untyped || x.type == target) {
    result.untyped = false;
    return result;
  }
  const bool from_whole = x.type == Type::kInteger || x.type == Type::kBoolean;
  if (target == Type::kDouble && from_whole) {
    if (x.bounded()) return number(false, *x.lower, *x.upper, x.nullable);
    return result;
  }
  if (target == Type::kInteger && x.type == Type::kBoolean) return result;
  if (target == Type::kInteger && x.type == Type::kDouble) {
    if (place == Place::kReleased) return plain(Type::kInteger, true);
    return rounding(Expression::call("round", {Expression::input(0)}), {x}, place);
  }
  if (target == Type::kBoolean && x.type == Type::kInteger)
    return plain(Type::kBoolean, x.nullable);
  if (target == Type::kText && (from_whole || x.type == Type::kDate))
    return plain(Type::kText, x.nullable);
  if (target == Type::kTimestamp && x.type == Type::kDate) {
    if (x.lower) result.lower = start_of(Date{saturate(numerator(*x.lower))}).microseconds;
    if (x.upper) result.upper = start_of(Date{saturate(numerator(*x.upper))}).microseconds;
    return result;
  }
  if (target == Type::kDate && x.type == Type::kTimestamp) {
    if (x.lower) result.lower = day_of(Timestamp{saturate(numerator(*x.lower))}).days;
    if (x.upper) result.upper = day_of(Timestamp{saturate(numerator(*x.upper))}).days;
    return result;
  }
  throw Error(ErrorCode::kNotPrivate,
              "a cast from " + kind(x) + " to " + std::string(name(target)) +
                  " fails on some values; declare the column as " + std::string(name(target)) +
                  " in the schema, and what does not parse is null");
}

std::optional<Facts> text_function(const Expression& call, const std::vector<Facts>& arguments) {
  const std::string& function = call.function;
  const bool nullable = any_nullable(arguments);
  const auto need_text = [&](const Facts& x) {
    if (x.type != Type::kText) unsupported(function + " takes a text; this is " + kind(x));
  };
  if (function == "concat") {
    for (const Facts& argument : arguments) need_text(argument);
    return plain(Type::kText, nullable);
  }
  const bool one = function == "upper" || function == "lower" || function == "trim" ||
                   function == "ltrim" || function == "rtrim" || function == "length";
  if (!one && function != "substr") return std::nullopt;
  need_text(arguments[0]);
  if (function == "length") {
    Facts result = plain(Type::kInteger, nullable);
    result.lower = 0;
    result.missing = "the length of a text has no limit; write clamp(length(x), 0, 100)";
    return result;
  }
  if (function == "substr") {
    static const std::string kUse =
        "substr(x, start, length) takes whole numbers, start from 1 on and length from 0 to "
        "1000000";
    const auto* start = std::get_if<std::int64_t>(&literal_argument(call, 1, kUse));
    const auto* length = std::get_if<std::int64_t>(&literal_argument(call, 2, kUse));
    if (start == nullptr || length == nullptr || *start < 1 || *start > 1'000'000 || *length < 0 ||
        *length > 1'000'000)
      unsupported(kUse);
  }
  return plain(Type::kText, nullable);
}

}  // namespace

Ratio largest_integer() {
  return power_of_two(62);
}

void require_range(const Facts& facts, const std::string& what) {
  if (facts.bounded()) return;
  throw Error(ErrorCode::kMissingKnowledge,
              what + " needs to know the smallest and largest value; " +
                  (facts.missing.empty() ? "write clamp(x, lower, upper)" : facts.missing));
}

Facts literal_facts(const Value& value) {
  Facts result;
  result.nullable = is_null(value);
  result.untyped = is_null(value);
  if (std::holds_alternative<bool>(value)) result.type = Type::kBoolean;
  if (std::holds_alternative<std::int64_t>(value)) result.type = Type::kInteger;
  if (std::holds_alternative<Ratio>(value) || std::holds_alternative<double>(value))
    result.type = Type::kDouble;
  if (std::holds_alternative<Date>(value)) result.type = Type::kDate;
  if (std::holds_alternative<Timestamp>(value)) result.type = Type::kTimestamp;
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    result.lower = *whole;
  else if (const auto* time = std::get_if<Timestamp>(&value))
    result.lower = time->microseconds;
  else if (const auto number = number_of(value))
    result.lower = ratio_of_bits(*number);
  result.upper = result.lower;
  result.nonzero = result.lower && *result.lower != 0;
  return result;
}

Facts column_facts(const TableSchema& table, const ColumnSchema& column, bool identity) {
  const Domain& domain = column.domain;
  Facts result =
      plain(domain.type == Type::kDecimal ? Type::kDouble : domain.type, domain.nullable);
  result.weight = 10;
  if (is_time(domain.type)) {
    const Facts any = any_time(domain.type);
    result.lower = any.lower;
    result.upper = any.upper;
  }
  const std::string json =
      "\"" + column.name + "\": {\"type\": \"" + std::string(name(domain.type)) + "\", \"lower\": ";
  const char* example = domain.type == Type::kDate ? "\"2020-01-01\", \"upper\": \"2029-12-31\"}"
                        : domain.type == Type::kTimestamp
                            ? "\"2020-01-01 00:00:00\", \"upper\": \"2029-12-31 23:59:59\"}"
                            : "0, \"upper\": 100}";
  const bool orders = is_numeric(domain.type) || is_time(domain.type);
  if (identity && orders)
    result.missing = "write clamp(" + column.name + ", lower, upper)";
  else if (orders && !domain.lower && !domain.categories)
    result.missing = "add it to table '" + table.name + "' of the schema, for example " + json +
                     example + ", or write clamp(" + column.name + ", lower, upper)";
  if (identity) {  // converted only, so that "nulls": false is not enforced here
    result.nullable = true;
    return result;
  }
  const auto set = [&](const Value& low, const Value& high) {
    result.lower = *literal_facts(low).lower;
    result.upper = *literal_facts(high).upper;
  };
  if (domain.lower && domain.upper) set(*domain.lower, *domain.upper);
  if (domain.categories && (is_numeric(domain.type) || is_time(domain.type))) {
    const auto [least, most] =
        std::minmax_element(domain.categories->begin(), domain.categories->end(), sorts_before);
    set(*least, *most);
  }
  return result;
}

Facts hull(const std::vector<Facts>& parts, const std::string& where) {
  std::optional<Facts> result;
  bool nulls = false;
  for (const Facts& part : parts) {
    nulls = nulls || part.nullable;
    if (part.untyped) continue;
    if (!result) {
      result = part;
      continue;
    }
    const bool numbers = is_numeric(part.type) && is_numeric(result->type);
    const bool times = is_time(part.type) && is_time(result->type);
    if (part.type != result->type && !numbers)
      unsupported(where + " mixes " + kind(*result) + " and " + kind(part) +
                  (times ? "; cast one of them" : "; give all results one type"));
    if (part.type != result->type) result->type = Type::kDouble;
    result->lower = result->lower && part.lower
                        ? std::optional<Ratio>(std::min(*result->lower, *part.lower))
                        : std::nullopt;
    result->upper = result->upper && part.upper
                        ? std::optional<Ratio>(std::max(*result->upper, *part.upper))
                        : std::nullopt;
    result->nonzero = result->nonzero && part.nonzero;
    if (result->missing.empty()) result->missing = part.missing;
  }
  if (!result) return parts.empty() ? Facts{} : parts[0];
  result->nullable = nulls;
  if (result->type == Type::kDouble) {
    if (result->lower) result->lower = down(*result->lower);
    if (result->upper) result->upper = up(*result->upper);
  }
  return *result;
}

namespace {

bool is_conversion(const std::string& function) {
  for (const char* name : {"to_boolean", "to_integer", "to_decimal", "to_double", "to_text",
                           "to_date", "to_timestamp"})
    if (function == name) return true;
  return false;
}

}  // namespace

void check_function(const std::string& function, std::size_t arguments) {
  static constexpr struct {
    const char* name;
    std::size_t least, most;
  } kFunctions[] = {
      {"+", 2, 2},           {"-", 2, 2},          {"*", 2, 2},          {"/", 2, 2},
      {"//", 2, 2},          {"%", 2, 2},          {"negate", 1, 1},     {"abs", 1, 1},
      {"sign", 1, 1},        {"floor", 1, 1},      {"ceil", 1, 1},       {"round", 1, 2},
      {"sqrt", 1, 1},        {"exp", 1, 1},        {"ln", 1, 1},         {"power", 2, 2},
      {"least", 1, 100},     {"greatest", 1, 100}, {"clamp", 3, 3},      {"width_bucket", 4, 4},
      {"and", 1, 100000},    {"or", 1, 100000},    {"not", 1, 1},        {"is_null", 1, 1},
      {"is_distinct", 2, 2}, {"=", 2, 2},          {"<>", 2, 2},         {"<", 2, 2},
      {"<=", 2, 2},          {">", 2, 2},          {">=", 2, 2},         {"in", 2, 100000},
      {"like", 2, 2},        {"ilike", 2, 2},      {"coalesce", 1, 100}, {"nullif", 2, 2},
      {"case", 3, 100000},   {"date_part", 2, 2},  {"date_trunc", 2, 2}, {"concat", 1, 100},
      {"upper", 1, 1},       {"lower", 1, 1},      {"trim", 1, 1},       {"ltrim", 1, 1},
      {"rtrim", 1, 1},       {"length", 1, 1},     {"substr", 3, 3}};
  bool known = is_conversion(function) && arguments == 1;
  for (const auto& each : kFunctions)
    if (function == each.name) {
      known = true;
      if (arguments < each.least || arguments > each.most)
        unsupported(function + " takes " + std::to_string(each.least) +
                    (each.most > each.least ? " or more" : "") + " arguments");
    }
  if (known) return;
  std::vector<std::string> names = {"count",  "sum",      "avg",     "variance", "stddev",
                                    "median", "quantile", "min",     "max",      "percentile_cont",
                                    "corr",   "covar",    "extract", "bin"};
  for (const auto& each : kFunctions)
    if (std::isalpha(static_cast<unsigned char>(each.name[0])) != 0) names.emplace_back(each.name);
  if (const std::string other = did_you_mean(function, names); !other.empty())
    unsupported("there is no function " + function + other);
  unsupported("the function " + function +
              " is not supported: it is not known to be total and the same everywhere");
}

namespace {

Facts checked_call(const Expression& call, const std::vector<Facts>& arguments, Place place) {
  const std::string& function = call.function;
  check_function(function, arguments.size());
  if (auto result = logical(call, arguments)) return *result;
  if (auto result = choice(call, arguments)) return *result;
  for (const char* name : {"+", "-", "*", "/", "//", "%"})
    if (function == name) return arithmetic(call, arguments, place);
  if (function == "negate" || function == "abs" || function == "sign")
    return simple_number(function, arguments[0], place);
  if (function == "floor" || function == "ceil" || function == "round")
    return rounding(call, arguments, place);
  if (function == "sqrt" || function == "exp" || function == "ln")
    return curve(function, arguments[0], place);
  if (function == "least" || function == "greatest")
    return extremes(function == "greatest", arguments);
  if (function == "clamp") return clamp(call, arguments, place);
  if (function == "width_bucket") return bucket(call, arguments);
  if (function == "date_part" || function == "date_trunc")
    return part_of_date(call, arguments, place);
  if (auto result = conversion(function, arguments[0], place)) return *result;
  if (auto result = text_function(call, arguments)) return *result;
  if (function == "power" && place == Place::kReleased) return plain(Type::kDouble, true);
  unsupported(function +
              " is only supported on answers, not inside an aggregate; use x * x, sqrt, exp or ln");
}

/// How often the SQL of a call mentions each argument, in either dialect at most; BETWEEN mentions its own twice.
double mentions(const Expression& call, const Facts& result) {
  const std::string& function = call.function;
  const bool whole = result.type == Type::kInteger;
  if (function == "*") return whole ? 1 : 3;
  if (function == "/" || function == "//") return 3;
  if (function == "round") return call.arguments.size() == 1 ? 2 : 3;
  if (function == "clamp" || function == "width_bucket") return 5;
  if (function == "to_date" || function == "to_timestamp") return 5;
  return function == "nullif" || function == "to_integer" ? 2 : 1;
}

}  // namespace

Facts call_facts(const Expression& call, const std::vector<Facts>& arguments, Place place) {
  Facts result = checked_call(call, arguments, place);
  result.weight = 1;
  for (const Facts& argument : arguments) result.weight += argument.weight * mentions(call, result);
  if (place == Place::kRows && result.weight > 20'000)
    unsupported(
        "this expression is too long to be written in SQL, which repeats what is multiplied, "
        "divided, rounded or clamped; simplify it");
  return result;
}

Facts facts_of(const Expression& expression, const std::vector<Facts>& inputs, Place place) {
  if (expression.kind == Expression::Kind::kLiteral) return literal_facts(expression.literal);
  if (expression.kind == Expression::Kind::kColumn) return inputs.at(expression.column);
  std::vector<Facts> arguments;
  for (const Expression& argument : expression.arguments)
    arguments.push_back(facts_of(argument, inputs, place));
  return call_facts(expression, arguments, place);
}

std::string range_text(const Facts& facts) {
  const auto show = [&](const Ratio& end) -> std::string {
    if (facts.type == Type::kDate) return to_text(Date{saturate(numerator(end))});
    if (facts.type == Type::kTimestamp) return to_text(Timestamp{saturate(numerator(end))});
    if (denominator(end) == 1 && abs(end) < largest_integer()) return numerator(end).str();
    if (facts.type == Type::kDouble) return to_string(ratio_of_decimal(nearest_double(end)));
    return to_string(end);
  };
  if (facts.bounded())
    return std::string("[").append(show(*facts.lower)) + ", " + show(*facts.upper) + "]";
  if (facts.lower) return "from " + show(*facts.lower) + " on";
  if (facts.upper) return "up to " + show(*facts.upper);
  return "any";
}

}  // namespace gauze
