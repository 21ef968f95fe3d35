#include "gauze/engine/registry.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/engine/registry_internal.h"

namespace gauze {
namespace {

std::vector<Algorithm> all_algorithms() {
  std::vector<Algorithm> all;
  for (auto family : {internal::statistics_algorithms, internal::choice_algorithms,
                      internal::additive_algorithms}) {
    for (Algorithm& each : family()) all.push_back(std::move(each));
  }
  return all;
}

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

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = all_algorithms();
  return table;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edits(word, a) < edits(word, b);
  };
  const auto best = std::min_element(words.begin(), words.end(), closer);
  return best == words.end() ? std::string() : *best;
}

const Algorithm& find_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const Algorithm& each : algorithms()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  const std::string asked(name.substr(0, 40));
  throw Error(ErrorCode::kUnknownName, "there is no algorithm '" + asked + "'; did you mean '" +
                                           nearest_word(asked, names) +
                                           "'? `gauze list` names them all");
}

Job make_job(std::string_view name, const nlohmann::json& options) {
  const Algorithm& algorithm = find_algorithm(name);
  return algorithm.make(OptionValues(algorithm.options, options));
}

}  // namespace gauze
