#include "gauze/base/words.h"

#include <algorithm>

namespace gauze {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string lower_case(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = lower(c);
  return result;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
  const std::string asked = lower_case(word.substr(0, 60));
  const auto distance = [&](const std::string& other) { return edits(asked, lower_case(other)); };
  const auto best = std::ranges::min_element(words, {}, distance);
  if (best == words.end() || 3 * distance(*best) > std::max(asked.size(), best->size())) return "";
  return "; did you mean '" + *best + "'?";
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string result;
  for (const std::string& part : parts)
    result.append(result.empty() ? std::string_view() : separator).append(part);
  return result;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace gauze
