#include "gauze/sql/evaluate.h"

#include <chrono>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr std::int64_t kMicrosecondsPerDay = 86'400'000'000;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

std::chrono::year_month_day civil(Date date) {
  return std::chrono::sys_days(std::chrono::days(date.days));
}

Date date_of(std::chrono::year_month_day day) {
  return {std::chrono::sys_days(day).time_since_epoch().count()};
}

std::int64_t weekday(Date date) {  // Monday is 0
  return ((date.days + 3) % 7 + 7) % 7;
}

std::int64_t iso_week(Date date) {
  const Date thursday{date.days - weekday(date) + 3};
  const Date first = date_of(civil(thursday).year() / std::chrono::January / 1);
  return (thursday.days - first.days) / 7 + 1;
}

/// Where each code point of UTF-8 text starts, and its end.
std::vector<std::size_t> code_points(const std::string& text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  starts.push_back(text.size());
  return starts;
}

std::string substring(const std::string& text, std::int64_t start, std::int64_t length) {
  const auto starts = code_points(text);
  const auto count = static_cast<std::int64_t>(starts.size()) - 1;
  const std::int64_t from = std::clamp<std::int64_t>(start, 1, count + 1);
  const std::int64_t to = std::clamp<std::int64_t>(saturating_add(start, length), from, count + 1);
  const std::size_t first = starts[static_cast<std::size_t>(from - 1)];
  return text.substr(first, starts[static_cast<std::size_t>(to - 1)] - first);
}

std::string trimmed(std::string text, bool left, bool right) {
  while (left && !text.empty() && text.front() == ' ') text.erase(text.begin());
  while (right && !text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::size_t point_size(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - at;
}

/// Only the last % can need another try, so the time is at most text times pattern.
bool like(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      star = ++p;
      retry = t;
      continue;
    }
    const bool escaped = p + 1 < pattern.size() && pattern[p] == '\\';
    if (p < pattern.size() && !escaped && pattern[p] == '_') {
      t += point_size(text, t);
      ++p;
    } else if (p < pattern.size() && text[t] == pattern[p + (escaped ? 1 : 0)]) {
      ++t;
      p += escaped ? 2 : 1;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

std::string in_case(std::string text, bool upper) {
  for (char& c : text)
    if (upper ? (c >= 'a' && c <= 'z') : (c >= 'A' && c <= 'Z')) c = static_cast<char>(c ^ 0x20);
  return text;
}

Value to_date_or_time(const Value& value, bool date) {
  try {
    if (const auto* text = std::get_if<std::string>(&value)) {
      if (date) return parse_date(*text);
      return text->size() <= 10 ? start_of(parse_date(*text)) : parse_timestamp(*text);
    }
  } catch (const Error&) {
    return {};
  }
  if (const auto* time = std::get_if<Timestamp>(&value)) return date ? Value(day_of(*time)) : value;
  if (const auto* day = std::get_if<Date>(&value)) return date ? value : Value(start_of(*day));
  return {};
}

Value to_integer(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return std::int64_t{*boolean ? 1 : 0};
  if (std::holds_alternative<std::int64_t>(value)) return value;
  if (std::holds_alternative<Date>(value) || std::holds_alternative<Timestamp>(value)) return {};
  const auto number = number_of(value);
  if (!number || !(std::abs(*number) < 0x1p62)) return {};
  return static_cast<std::int64_t>(std::floor(*number + 0.5));
}

std::optional<Value> text_function(std::string_view function, const std::vector<Value>& arguments) {
  const auto* text = std::get_if<std::string>(&arguments[0]);
  if (text == nullptr) return std::nullopt;
  if (function == "upper" || function == "lower") return in_case(*text, function == "upper");
  if (function == "trim") return trimmed(*text, true, true);
  if (function == "ltrim") return trimmed(*text, true, false);
  if (function == "rtrim") return trimmed(*text, false, true);
  if (function == "length") return static_cast<std::int64_t>(code_points(*text).size() - 1);
  if (function == "substr" && arguments.size() == 3)
    return substring(*text, std::get<std::int64_t>(arguments[1]),
                     std::get<std::int64_t>(arguments[2]));
  if (function == "like") return like(*text, std::get<std::string>(arguments[1]));
  if (function == "ilike")
    return like(in_case(*text, false), in_case(std::get<std::string>(arguments[1]), false));
  if (function == "concat") {
    std::string all;
    for (const Value& part : arguments) all += to_text(part);
    return all;
  }
  return std::nullopt;
}

}  // namespace

bool is_null(const Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

std::optional<double> number_of(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* ratio = std::get_if<Ratio>(&value)) return nearest_double(*ratio);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* date = std::get_if<Date>(&value)) return static_cast<double>(date->days);
  if (const auto* time = std::get_if<Timestamp>(&value))
    return static_cast<double>(time->microseconds);
  return std::nullopt;
}

std::optional<int> compare(const Value& a, const Value& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (is_null(a) || is_null(b)) return std::nullopt;
  if (a.index() == b.index())
    return std::visit(
        [&](const auto& x) -> int {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, std::monostate>)
            return 0;
          else
            return order(x, std::get<T>(b));
        },
        a);
  if (std::holds_alternative<Date>(a) && std::holds_alternative<Timestamp>(b))
    return order(start_of(std::get<Date>(a)), std::get<Timestamp>(b));
  if (std::holds_alternative<Timestamp>(a) && std::holds_alternative<Date>(b))
    return order(std::get<Timestamp>(a), start_of(std::get<Date>(b)));
  const auto x = number_of(a), y = number_of(b);
  if (!x || !y) return std::nullopt;
  return order(*x, *y);
}

Timestamp start_of(Date date) {
  return {date.days * kMicrosecondsPerDay};
}
Date day_of(Timestamp time) {
  return {floor_divide(time.microseconds, kMicrosecondsPerDay)};
}

bool is_date_part(std::string_view part) {
  for (const char* known : {"year", "quarter", "month", "week", "day", "dow", "isodow", "doy",
                            "hour", "minute", "second"})
    if (part == known) return true;
  return false;
}

bool is_trunc_part(std::string_view part) {
  for (const char* known : {"year", "quarter", "month", "week", "day", "hour", "minute"})
    if (part == known) return true;
  return false;
}

std::int64_t date_part(std::string_view part, Timestamp time) {
  const Date date = day_of(time);
  const auto day = civil(date);
  const std::int64_t within = time.microseconds - start_of(date).microseconds;
  const auto month = static_cast<std::int64_t>(unsigned{day.month()});
  if (part == "year") return int{day.year()};
  if (part == "quarter") return (month + 2) / 3;
  if (part == "month") return month;
  if (part == "week") return iso_week(date);
  if (part == "day") return static_cast<std::int64_t>(unsigned{day.day()});
  if (part == "dow") return (weekday(date) + 1) % 7;
  if (part == "isodow") return weekday(date) + 1;
  if (part == "doy") return date.days - date_of(day.year() / std::chrono::January / 1).days + 1;
  if (part == "hour") return within / 3'600'000'000;
  if (part == "minute") return within / 60'000'000 % 60;
  return within / 1'000'000 % 60;
}

Timestamp date_trunc(std::string_view part, Timestamp time) {
  using std::chrono::month;
  const Date date = day_of(time);
  const auto day = civil(date);
  if (part == "year") return start_of(date_of(day.year() / std::chrono::January / 1));
  if (part == "quarter")
    return start_of(date_of(day.year() / month((unsigned{day.month()} - 1) / 3 * 3 + 1) / 1));
  if (part == "month") return start_of(date_of(day.year() / day.month() / 1));
  if (part == "week") return start_of({date.days - weekday(date)});
  if (part == "day") return start_of(date);
  const std::int64_t unit = part == "hour" ? 3'600'000'000 : 60'000'000;
  return {floor_divide(time.microseconds, unit) * unit};
}

std::optional<Value> call_on_values(std::string_view function,
                                    const std::vector<Value>& arguments) {
  for (const Value& argument : arguments)
    if (is_null(argument)) return Value();
  if (function == "date_part" || function == "date_trunc") {
    const auto& part = std::get<std::string>(arguments[0]);
    const Value time = to_date_or_time(arguments[1], false);
    if (is_null(time)) return Value();
    if (function == "date_part") return date_part(part, std::get<Timestamp>(time));
    const Timestamp start = date_trunc(part, std::get<Timestamp>(time));
    return std::holds_alternative<Date>(arguments[1]) ? Value(day_of(start)) : Value(start);
  }
  if (function == "to_date" || function == "to_timestamp")
    return to_date_or_time(arguments[0], function == "to_date");
  if (function == "to_integer") return to_integer(arguments[0]);
  if (function == "to_text") return to_text(arguments[0]);
  if (function == "to_boolean")
    return std::holds_alternative<bool>(arguments[0]) ? arguments[0]
           : std::holds_alternative<std::int64_t>(arguments[0])
               ? Value(std::get<std::int64_t>(arguments[0]) != 0)
               : Value();
  if (function == "to_double" || function == "to_decimal") {
    const auto number = number_of(arguments[0]);
    return number ? Value(*number) : Value();
  }
  return text_function(function, arguments);
}

}  // namespace gauze
