#include "gauze/audit/statistic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include "gauze/audit/statistic_internal.h"
#include "gauze/numeric/infinity.h"

namespace gauze::audit {
namespace internal {

std::uint64_t mixed(std::uint64_t key, std::uint64_t value) {
  std::uint64_t z = (key ^ value) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t key_of(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

std::uint64_t key_of(double number) {
  return mixed(0, std::bit_cast<std::uint64_t>(number));
}

namespace {

struct Seen {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t example = 0;  // an index into the first sample, or behind it into the second
};

std::unordered_map<std::uint64_t, Seen> count_keys(const Keys& first, const Keys& second) {
  std::unordered_map<std::uint64_t, Seen> table;
  table.reserve(first.size());
  std::uint32_t index = 0;
  for (const std::uint64_t key : first) {
    const auto [entry, fresh] = table.try_emplace(key);
    if (fresh) entry->second.example = index;
    ++entry->second.first;
    ++index;
  }
  for (const std::uint64_t key : second) {
    const auto [entry, fresh] = table.try_emplace(key);
    if (fresh) entry->second.example = index;
    ++entry->second.second;
    ++index;
  }
  return table;
}

double log_ratio(const Seen& seen) {
  const double a = seen.first + 1.0;
  const double b = seen.second + 1.0;
  const double ratio = std::log(a / b);
  const double drawn = std::abs(ratio) - std::sqrt(1 / a + 1 / b);
  return std::copysign(std::max(drawn, a == b ? 0.0 : 1e-3), ratio);
}

/// Outputs that stand for the most frequent keys.
struct Example {
  double ratio = 0;
  std::uint64_t count = 0;
  std::string text;
};

std::vector<Example> examples_of(const std::unordered_map<std::uint64_t, Seen>& table,
                                 const Outputs& first, const Outputs& second) {
  constexpr std::size_t kMost = 256;
  std::vector<const Seen*> order;
  for (const auto& [key, seen] : table) order.push_back(&seen);
  const std::size_t kept = std::min(kMost, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [](const Seen* a, const Seen* b) {
                      return a->first + a->second != b->first + b->second
                                 ? a->first + a->second > b->first + b->second
                                 : a->example < b->example;
                    });
  std::vector<Example> examples;
  for (std::size_t i = 0; i < kept; ++i) {
    const Seen& seen = *order[i];
    const bool in_first = seen.example < first.size();
    examples.push_back(
        {log_ratio(seen), seen.first + seen.second,
         in_first ? first.text(seen.example) : second.text(seen.example - first.size())});
  }
  return examples;
}

std::string list(const std::vector<Example>& examples, double low, double high) {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t found = 0;
  for (const Example& each : examples) {
    if (each.ratio < low || each.ratio > high) continue;
    if (++found > kShown) continue;
    text.append(found == 1 ? "'" : " or '").append(each.text.substr(0, 60)).append("'");
  }
  return found > kShown ? text + " or another of " + std::to_string(found) : text;
}

}  // namespace

std::unordered_map<std::uint64_t, double> log_ratios(const Keys& first, const Keys& second) {
  std::unordered_map<std::uint64_t, double> ratios;
  for (const auto& [key, seen] : count_keys(first, second)) ratios.emplace(key, log_ratio(seen));
  return ratios;
}

void add_frequencies(std::vector<Statistic>& all, const std::string& name,
                     const std::function<Keys(const Outputs&)>& keys, const Outputs& first,
                     const Outputs& second) {
  const auto table = count_keys(keys(first), keys(second));
  if (table.size() == first.size() + second.size()) return;
  auto ratios = std::make_shared<std::unordered_map<std::uint64_t, double>>();
  for (const auto& [key, seen] : table) ratios->emplace(key, log_ratio(seen));
  auto examples = std::make_shared<const std::vector<Example>>(examples_of(table, first, second));
  all.push_back({.name = name,
                 .of =
                     [keys, ratios](const Outputs& outputs) {
                       std::vector<double> result;
                       result.reserve(outputs.size());
                       for (const std::uint64_t key : keys(outputs)) {
                         const auto found = ratios->find(key);
                         result.push_back(found == ratios->end() ? 0 : found->second);
                       }
                       return result;
                     },
                 .describe =
                     [examples, name](double low, double high) {
                       const std::string listed = list(*examples, low, high);
                       return name + (listed.empty() ? " one of those seen before" : " like ") +
                              listed;
                     }});
}

std::vector<double> cuts_of(std::vector<double> values, std::size_t parts) {
  std::sort(values.begin(), values.end());
  std::vector<double> cuts;
  for (std::size_t i = 1; i < parts && !values.empty(); ++i) {
    const double value = values[values.size() * i / parts];
    if (!cuts.empty() && cuts.back() >= value) {
      cuts.push_back(std::nextafter(value, std::numeric_limits<double>::infinity()));
    } else {
      cuts.push_back(value);
    }
  }
  // The least value alone, when it is frequent: its first quantile opens no range of its own.
  if (!cuts.empty() && cuts.front() == values.front()) {
    cuts.push_back(std::nextafter(cuts.front(), std::numeric_limits<double>::infinity()));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

std::uint64_t part_of(const std::vector<double>& cuts, double value) {
  return static_cast<std::uint64_t>(std::upper_bound(cuts.begin(), cuts.end(), value) -
                                    cuts.begin());
}

double last_bit(double value) {
  if (value == 0 || !std::isfinite(value)) return 2000;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(std::abs(mantissa), 53));
  return exponent - 53 + std::countr_zero(digits);
}

}  // namespace internal

namespace {

/// Six digits are enough to read.
std::string rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

/// "at least 2", or "above 2" for the number that comes next to it.
std::string end_text(double end, double outwards, const char* closed, const char* open) {
  const double beyond = std::nextafter(end, outwards);
  const bool is_next = shortest(beyond).size() + 4 < shortest(end).size();
  return is_next ? open + rounded(beyond) : closed + rounded(end);
}

}  // namespace

std::string describe(const Rule& rule) {
  if (rule.statistic.describe) return rule.statistic.describe(rule.low, rule.high);
  const bool below = rule.low == -kInfinity;
  const bool above = rule.high == kInfinity;
  if (below && above) return "any output";
  if (rule.low == rule.high) return rule.statistic.name + " is " + shortest(rule.low);
  const std::string low = below ? "" : end_text(rule.low, -kInfinity, "at least ", "above ");
  const std::string high = above ? "" : end_text(rule.high, kInfinity, "at most ", "below ");
  return rule.statistic.name + " is " + low + (below || above ? "" : " and ") + high;
}

std::vector<Statistic> fit_statistics(const Outputs& first, const Outputs& second) {
  return first.width() > 0 ? internal::number_statistics(first, second)
                           : internal::text_statistics(first, second);
}

}  // namespace gauze::audit
