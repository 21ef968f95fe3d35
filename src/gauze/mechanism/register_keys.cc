#include <algorithm>
#include <map>
#include <string>

#include "gauze/base/error.h"
#include "gauze/mechanism/key_selection.h"
#include "gauze/mechanism/register_internal.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"

// Which words may be said at all.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

KeySelectionMethod key_method(const std::string& word) {
  if (word == "best") return KeySelectionMethod::kBest;
  if (word == "truncated_geometric") return KeySelectionMethod::kTruncatedGeometric;
  if (word == "gaussian") return KeySelectionMethod::kGaussian;
  if (word == "sips") return KeySelectionMethod::kSips;
  throw Error(ErrorCode::kInvalidOption,
              "method: must be best, truncated_geometric, gaussian or sips");
}

/// The different words between semicolons, empty ones left out, at most `most` of them.
std::vector<std::string> words_of(const std::string& cell, std::uint64_t most) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= cell.size() && words.size() < most;) {
    const std::size_t to = std::min(cell.find(';', from), cell.size());
    std::string word = cell.substr(from, to - from);
    if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
      words.push_back(std::move(word));
    }
    from = to + 1;
  }
  return words;
}

/// Private keys by number, in the order of their words, so that answers are sorted.
struct Dictionary {
  std::vector<std::string> words;
  UnitKeys units;
};

Dictionary read_keys(const Rows& rows, std::uint64_t most) {
  std::map<std::string, std::uint32_t> numbers;
  for (const std::string& cell : rows.cells()) {
    for (std::string& word : words_of(cell, most)) numbers.emplace(std::move(word), 0);
  }
  Dictionary result;
  for (auto& [word, number] : numbers) {
    number = static_cast<std::uint32_t>(result.words.size());
    result.words.push_back(word);
  }
  result.units.key_count = static_cast<std::uint32_t>(result.words.size());
  result.units.offsets = {0};
  for (const std::string& cell : rows.cells()) {
    for (const std::string& word : words_of(cell, most)) {
      result.units.keys.push_back(numbers.at(word));
    }
    std::sort(result.units.keys.begin() + static_cast<std::ptrdiff_t>(result.units.offsets.back()),
              result.units.keys.end());
    result.units.offsets.push_back(result.units.keys.size());
  }
  return result;
}

Task key_task(const OptionValues& values) {
  const std::uint64_t most = values.whole("keys_per_unit");
  const auto mechanism = std::make_shared<const KeySelection>(
      KeySelection({.epsilon = values.number("epsilon"),
                    .delta = values.number("delta"),
                    .keys_per_unit = most,
                    .method = key_method(values.text("method"))}));
  const auto read = [mechanism, most](const Rows& rows) {
    return [mechanism, keys = read_keys(rows, most)](Context& context) {
      const auto answer = mechanism->run(keys.units, context);
      std::vector<std::string> named;
      for (const std::uint32_t key : answer.value) named.push_back(keys.words[key]);
      return Release<nlohmann::json>{nlohmann::json(named), answer.accuracy, answer.spent};
    };
  };
  return values_task(mechanism->event(), promise_of(mechanism), read);
}

Algorithm key_selection() {
  return on_rows(
      {.name = "key_selection",
       .summary = "Which keys enough people have to be named",
       .input = "one row per person: that person's keys, separated by semicolons; the first "
                "keys_per_unit different ones count",
       .guarantee = "(epsilon, delta)-differential privacy for one person more or less.",
       .accuracy =
           "States how many people a key needs to be named with the given probability; a key "
           "nobody has is never named.",
       .cost = "Time proportional to the number of keys in all rows, at most three passes.",
       .source =
           "Desfontaines, Voss, Gipson and Mandayam, Differentially Private Partition Selection "
           "(2022); Swanberg, Desfontaines and Haney, DP-SIPS (2023).",
       .document = "src/gauze/mechanism/key_selection.md",
       .example = "yes 'apple;pear' | head -400 | gauze release key_selection --epsilon 1 --delta "
                  "1e-6 --keys-per-unit 2 -",
       .options = {epsilon_option(),
                   {"delta", Type::kNumber, "above 0 and below 1; 1e-6 is usual", ""},
                   {"keys_per_unit", Type::kWhole, "how many keys of a person count, at least 1",
                    ""},
                   {"method", Type::kText, "best, truncated_geometric, gaussian or sips", "best"}},
       .neighbours =
           [](const OptionValues& values) {
             return audit::words(values.whole("keys_per_unit"), Relation::kAddRemove);
           }},
      key_task);
}

}  // namespace

std::vector<Algorithm> key_algorithms() {
  return {key_selection()};
}

}  // namespace gauze::internal
