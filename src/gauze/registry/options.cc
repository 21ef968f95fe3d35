#include "gauze/registry/options.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <thread>

#include "gauze/base/error.h"

namespace gauze {
namespace {

[[noreturn]] void invalid(std::string_view option, const std::string& message) {
  throw Error(ErrorCode::kInvalidOption, std::string(option) + ": " + message);
}

/// Texts keep their commas: a JSON list, or one text by itself.
std::string listed_texts(std::string_view option, const nlohmann::json& value) {
  const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
  for (const auto& each : list)
    if (!each.is_string()) invalid(option, "must be a text or a list of texts");
  return list.dump();
}

/// A JSON value as the text a person would type for it.
std::string typed(std::string_view option, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (value.is_array()) {
    std::string list;
    for (const auto& item : value) {
      if (item.is_array()) invalid(option, "must not hold a list inside a list");
      if (!list.empty()) list += ',';
      list += typed(option, item);
    }
    return list;
  }
  invalid(option, "must be a number, a text, true, false or a list");
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

Integer integral(std::string_view option, const std::string& text, const Integer& least,
                 const Integer& most, const char* range) {
  const Ratio value = parse_ratio(text, option);
  if (denominator(value) != 1 || value < least || value > most)
    invalid(option, std::string("must be a whole number ") + range);
  return numerator(value);
}

}  // namespace

std::string_view name(OptionSpec::Type type) {
  switch (type) {
    case OptionSpec::Type::kNumber:
      return "number";
    case OptionSpec::Type::kWhole:
      return "whole number";
    case OptionSpec::Type::kInteger:
      return "integer";
    case OptionSpec::Type::kText:
      return "text";
    case OptionSpec::Type::kFlag:
      return "true or false";
    case OptionSpec::Type::kNumbers:
      return "list of numbers";
    case OptionSpec::Type::kWords:
      return "list of words";
    case OptionSpec::Type::kTexts:
      return "list of texts";
  }
  return "unknown";
}

OptionValues::OptionValues(const std::vector<OptionSpec>& table, const nlohmann::json& values) {
  if (!values.is_object()) {
    throw Error(ErrorCode::kInvalidInput, "options must be an object like {\"epsilon\": 0.5}");
  }
  for (const auto& [key, value] : values.items()) {
    const auto known = std::any_of(table.begin(), table.end(),
                                   [&key = key](const auto& spec) { return spec.name == key; });
    if (known) continue;
    std::string names;
    for (const OptionSpec& spec : table) names.append(names.empty() ? "" : ", ").append(spec.name);
    throw Error(ErrorCode::kUnknownName,
                "there is no option '" + key.substr(0, 40) + "'; there are " + names);
  }
  for (const OptionSpec& spec : table) {
    const auto found = values.find(spec.name);
    if (found == values.end() && spec.required())
      invalid(spec.name, "is missing; it is " + spec.description);
    const bool texts = spec.type == OptionSpec::Type::kTexts;
    values_.emplace_back(spec.name, found == values.end() ? spec.fallback
                                    : texts               ? listed_texts(spec.name, *found)
                                                          : typed(spec.name, *found));
  }
}

std::string OptionValues::raw(std::string_view option) const {
  for (const auto& [name, value] : values_) {
    if (name == option) return value;
  }
  throw Error(ErrorCode::kInternal, "the option table lacks '" + std::string(option) + "'");
}

Ratio OptionValues::number(std::string_view option) const {
  return parse_ratio(raw(option), option);
}

double OptionValues::real(std::string_view option) const {
  return number(option).convert_to<double>();
}

std::uint64_t OptionValues::whole(std::string_view option) const {
  return integral(option, raw(option), 0, INT64_MAX, "from 0 to 2^63 - 1")
      .convert_to<std::uint64_t>();
}

std::int64_t OptionValues::integer(std::string_view option) const {
  return integral(option, raw(option), INT64_MIN, INT64_MAX, "of 64 bits")
      .convert_to<std::int64_t>();
}

bool OptionValues::flag(std::string_view option) const {
  const std::string value = raw(option);
  if (value == "true") return true;
  if (value != "false") invalid(option, "must be true or false");
  return false;
}

std::string OptionValues::text(std::string_view option) const {
  return raw(option);
}

std::vector<Ratio> OptionValues::numbers(std::string_view option) const {
  std::vector<Ratio> result;
  for (const std::string& part : split(raw(option))) result.push_back(parse_ratio(part, option));
  return result;
}

std::vector<std::uint64_t> OptionValues::wholes(std::string_view option) const {
  std::vector<std::uint64_t> result;
  for (const std::string& part : split(raw(option)))
    result.push_back(
        integral(option, part, 0, INT64_MAX, "from 0 to 2^63 - 1").convert_to<std::uint64_t>());
  return result;
}

std::vector<std::string> OptionValues::words(std::string_view option) const {
  return split(raw(option));
}

std::vector<std::string> OptionValues::texts(std::string_view option) const {
  return nlohmann::json::parse(raw(option)).get<std::vector<std::string>>();
}

Relation OptionValues::relation(std::string_view option) const {
  return parse_relation(raw(option));
}

std::uint64_t OptionValues::bytes(std::string_view option) const {
  std::string digits = raw(option);
  if (digits.empty() || digits == "0") return 0;
  if (digits.ends_with('B') || digits.ends_with('b')) digits.pop_back();
  const char last = digits.empty() ? ' ' : digits.back();
  const std::size_t unit = std::string_view("kmgt").find(
      static_cast<char>(std::tolower(static_cast<unsigned char>(last))));
  Ratio factor = 1;
  if (unit != std::string_view::npos) {
    digits.pop_back();
    factor = Ratio(Integer(1) << static_cast<unsigned>(10 * (unit + 1)));
  }
  Ratio value = 0;
  try {
    value = Ratio(parse_ratio(digits, option) * factor);
  } catch (const Error&) {
    value = 0;  // refused below
  }
  if (value < 1 << 20 || value > Ratio(INT64_MAX))
    invalid(option, "must be at least 1M, like 512M or 4G");
  return Integer(numerator(value) / denominator(value)).convert_to<std::uint64_t>();
}

unsigned OptionValues::threads(std::string_view option) const {
  const std::uint64_t count = whole(option);
  if (count > 1024) invalid(option, "must be from 1 to 1024; 0 takes all cores");
  // More would take memory in proportion: a limit that whoever asks could choose so that somebody's rows
  // exceed it.
  return static_cast<unsigned>(
      std::min<std::uint64_t>(count, std::max(1u, std::thread::hardware_concurrency())));
}

}  // namespace gauze
