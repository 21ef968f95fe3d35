#include "gauze/registry/rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "gauze/base/error.h"
#include "gauze/numeric/ratio.h"

namespace gauze {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Takes one record, which quotes may stretch over several lines, from the front of `text`.
std::vector<std::string> take_record(std::string_view& text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        fields.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && fields.back().empty()) {
      // Only at the start of a field, as RFC 4180 says: 6'2" in one row must not swallow the next.
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++i;
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  text.remove_prefix(i);
  return fields;
}

bool blank(const std::vector<std::string>& fields) {
  return fields.size() == 1 && fields[0].find_first_not_of(" \t") == std::string::npos;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::size_t column_index(const std::vector<std::string>& first, const ColumnChoice& choice) {
  if (choice.column.empty()) {
    if (first.size() == 1) return 0;
    throw Error(ErrorCode::kInvalidInput,
                "column: the first line has several; choose one by number from 1 or by name");
  }
  if (all_digits(choice.column)) {
    std::size_t number = 0;
    std::from_chars(choice.column.data(), choice.column.data() + choice.column.size(), number);
    if (number >= 1 && number <= first.size()) return number - 1;
    throw Error(ErrorCode::kInvalidInput,
                "column: must be from 1 to the number of columns in the first line");
  }
  const auto found = std::find(first.begin(), first.end(), choice.column);
  if (found == first.end()) {
    throw Error(ErrorCode::kUnknownName,
                "column: the first line has no '" + choice.column.substr(0, 40) + "'");
  }
  return static_cast<std::size_t>(found - first.begin());
}

std::string_view trimmed(std::string_view cell) {
  const std::size_t from = cell.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return cell.substr(from, cell.find_last_not_of(" \t") - from + 1);
}

double to_double(std::string_view cell) {
  cell = trimmed(cell);
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  double value = kNaN;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Too large or too small to be told apart from the ends.
    const double magnitude = std::abs(std::strtod(std::string(cell).c_str(), nullptr));
    return cell.front() == '-' ? -magnitude : magnitude;
  }
  return error == std::errc() && end == cell.data() + cell.size() ? value : kNaN;
}

/// Rounded to nearest and saturated; false for what is no number.
bool to_integer(double number, std::int64_t& value) {
  if (std::isnan(number)) return false;
  if (std::abs(number) >= 0x1p63) {
    value = number < 0 ? INT64_MIN : INT64_MAX;
  } else {
    value = static_cast<std::int64_t>(std::nearbyint(number));
  }
  return true;
}

bool to_integer(std::int64_t number, std::int64_t& value) {
  value = number;
  return true;
}

bool to_integer(std::string_view cell, std::int64_t& value) {
  cell = trimmed(cell);
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc() && end == cell.data() + cell.size()) return true;
  return to_integer(to_double(cell), value);
}

double to_double(double number) {
  return number;
}

double to_double(std::int64_t number) {
  return static_cast<double>(number);
}

const std::string& text_of(const std::string& cell) {
  return cell;
}

template <class Number>
std::string text_of(Number number) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

[[noreturn]] void not_a_vector(const char* what) {
  throw Error(ErrorCode::kInvalidInput, std::string("the input must be a vector of ") + what +
                                            ", one per line, at least one");
}

}  // namespace

Rows Rows::parse(std::string_view text, const ColumnChoice& choice) {
  std::vector<std::string> cells;
  std::size_t column = 0;
  bool first = true;
  const bool header = choice.header || (!choice.column.empty() && !all_digits(choice.column));
  while (!text.empty()) {
    std::vector<std::string> fields = take_record(text);
    if (blank(fields)) continue;
    if (first) {
      first = false;
      column = column_index(fields, choice);
      if (header) continue;
    }
    cells.push_back(column < fields.size() ? std::move(fields[column]) : std::string());
  }
  return Rows(std::move(cells));
}

std::size_t Rows::size() const {
  return std::visit([](const auto& cells) { return cells.size(); }, cells_);
}

std::vector<std::string> Rows::cells() const {
  return std::visit(
      [](const auto& cells) {
        std::vector<std::string> texts;
        texts.reserve(cells.size());
        for (const auto& cell : cells) texts.push_back(text_of(cell));
        return texts;
      },
      cells_);
}

std::vector<double> Rows::numbers() const {
  return std::visit(
      [](const auto& cells) {
        std::vector<double> result;
        result.reserve(cells.size());
        for (const auto& cell : cells) result.push_back(to_double(cell));
        return result;
      },
      cells_);
}

std::vector<std::int64_t> Rows::integers(std::int64_t substitute) const {
  return std::visit(
      [substitute](const auto& cells) {
        std::vector<std::int64_t> result(cells.size(), substitute);
        for (std::size_t i = 0; i < cells.size(); ++i) {
          std::int64_t value = 0;
          if (to_integer(cells[i], value)) result[i] = value;
        }
        return result;
      },
      cells_);
}

std::vector<double> Rows::vector() const {
  const std::vector<double> result = numbers();
  const auto finite = [](double value) { return std::isfinite(value); };
  if (result.empty() || !std::all_of(result.begin(), result.end(), finite))
    not_a_vector("finite numbers");
  return result;
}

std::vector<std::int64_t> Rows::integer_vector() const {
  std::vector<std::int64_t> result;
  for (const std::string& cell : cells()) {
    const std::string_view text = trimmed(cell);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      not_a_vector("64-bit whole numbers");
    result.push_back(value);
  }
  if (result.empty()) not_a_vector("64-bit whole numbers");
  return result;
}

}  // namespace gauze
