#include "gauze/data/value.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/base/words.h"

namespace gauze {
namespace {

constexpr std::array<std::pair<Type, const char*>, 7> kTypes = {{{Type::kBoolean, "boolean"},
                                                                 {Type::kInteger, "integer"},
                                                                 {Type::kDecimal, "decimal"},
                                                                 {Type::kDouble, "double"},
                                                                 {Type::kText, "text"},
                                                                 {Type::kDate, "date"},
                                                                 {Type::kTimestamp, "timestamp"}}};

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
constexpr std::int64_t kMicrosecondsPerDay = 86'400 * kMicrosecondsPerSecond;

/// Reads a text from left to right; every step says whether it found what it looked for.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Exactly `count` digits.
  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  std::optional<int> digits_below(int bound) {
    const auto value = digits(2);
    return value && *value < bound ? value : std::nullopt;
  }

 private:
  std::string_view rest_;
};

std::optional<Date> scan_date(Scanner& scanner) {
  const auto year = scanner.digits(4);
  if (!year || *year == 0 || !scanner.take('-')) return std::nullopt;
  const auto month = scanner.digits(2);
  if (!month || !scanner.take('-')) return std::nullopt;
  const auto day = scanner.digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return Date{std::chrono::sys_days(date).time_since_epoch().count()};
}

/// `13:45`, `13:45:00`, `13:45:00.123456` in microseconds.
std::optional<std::int64_t> scan_time(Scanner& scanner) {
  const auto hours = scanner.digits_below(24);
  if (!hours || !scanner.take(':')) return std::nullopt;
  const auto minutes = scanner.digits_below(60);
  if (!minutes) return std::nullopt;
  std::int64_t time = (*hours * 60 + *minutes) * 60 * kMicrosecondsPerSecond;
  if (!scanner.take(':')) return time;
  const auto seconds = scanner.digits_below(60);
  if (!seconds) return std::nullopt;
  time += *seconds * kMicrosecondsPerSecond;
  if (!scanner.take('.')) return time;
  std::int64_t unit = kMicrosecondsPerSecond;
  while (const auto digit = unit > 1 ? scanner.digits(1) : std::nullopt) {
    unit /= 10;
    time += *digit * unit;
  }
  return unit == kMicrosecondsPerSecond ? std::nullopt : std::optional(time);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

std::string shortest(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

}  // namespace

std::string_view name(Type type) {
  return kTypes[static_cast<std::size_t>(type)].second;
}

Type parse_type(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [type, each] : kTypes) {
    if (text == each) return type;
    names.emplace_back(each);
  }
  const std::string asked(text.substr(0, 40));
  const std::string hint = did_you_mean(asked, names);
  throw Error(ErrorCode::kUnknownName,
              "there is no type '" + asked + "'" + (hint.empty() ? "." : hint) +
                  " The types are boolean, integer, decimal, double, text, date, timestamp");
}

bool is_numeric(Type type) {
  return type == Type::kInteger || type == Type::kDecimal || type == Type::kDouble;
}

Date parse_date(std::string_view text) {
  Scanner scanner(text);
  const auto date = scan_date(scanner);
  if (!date || !scanner.done())
    throw Error(ErrorCode::kInvalidInput,
                "not a date between the years 0001 and 9999; write it like 2024-05-01");
  return *date;
}

Timestamp parse_timestamp(std::string_view text) {
  Scanner scanner(text);
  const auto date = scan_date(scanner);
  std::optional<std::int64_t> time = 0;
  if (date && !scanner.done())
    time = scanner.take(' ') || scanner.take('T') ? scan_time(scanner) : std::nullopt;
  if (!date || !time || !scanner.done())
    throw Error(ErrorCode::kInvalidInput,
                "not a time between the years 0001 and 9999; write it like 2024-05-01 13:45:00");
  return Timestamp{date->days * kMicrosecondsPerDay + *time};
}

std::string to_text(const Date& date) {
  const std::chrono::year_month_day day(
      std::chrono::sys_days(std::chrono::days(static_cast<std::chrono::days::rep>(date.days))));
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02u", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
  return buffer;
}

std::string to_text(const Timestamp& time) {
  const std::int64_t day = floor_divide(time.microseconds, kMicrosecondsPerDay);
  const std::int64_t within = time.microseconds - day * kMicrosecondsPerDay;
  const std::int64_t seconds = within / kMicrosecondsPerSecond;
  const auto fraction = static_cast<int>(within % kMicrosecondsPerSecond);
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, " %02d:%02d:%02d", static_cast<int>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  std::string text = to_text(Date{day}) + buffer;
  if (fraction == 0) return text;
  std::snprintf(buffer, sizeof buffer, ".%06d", fraction);
  text += buffer;
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(const Ratio& r) const { return to_string(r); }
    std::string operator()(double d) const { return shortest(d); }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(const Date& d) const { return to_text(d); }
    std::string operator()(const Timestamp& t) const { return to_text(t); }
  };
  return std::visit(Writer{}, value);
}

Ratio exact(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return Ratio(*integer);
  if (const auto* real = std::get_if<double>(&value)) return ratio_of_bits(*real);
  return std::get<Ratio>(value);
}

bool sorts_before(const Value& a, const Value& b) {
  const bool a_null = std::holds_alternative<std::monostate>(a);
  const bool b_null = std::holds_alternative<std::monostate>(b);
  if (a_null || b_null) return !a_null && b_null;
  return a < b;
}

}  // namespace gauze
