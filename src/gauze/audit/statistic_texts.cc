#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "gauze/audit/statistic_internal.h"

namespace gauze::audit::internal {
namespace {

constexpr std::size_t kMostWords = 64;

/// The parts of a text between separators; of a single short word, its letters.
std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kSeparators = " ,;:\t\r\n[](){}\"";
  std::vector<std::string_view> words;
  for (std::size_t from = text.find_first_not_of(kSeparators); from != std::string_view::npos;) {
    const std::size_t to = std::min(text.find_first_of(kSeparators, from), text.size());
    words.push_back(text.substr(from, to - from));
    if (words.size() == kMostWords) break;
    from = text.find_first_not_of(kSeparators, to);
  }
  if (words.size() == 1 && words[0].size() > 1 && words[0].size() <= kMostWords) {
    const std::string_view only = words[0];
    words.clear();
    for (std::size_t i = 0; i < only.size(); ++i) words.push_back(only.substr(i, 1));
  }
  return words;
}

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || std::isnan(value)) return {};
  return value;
}

/// Words by place, numbers among them as the range they fall into.
class Places {
 public:
  Places(const Outputs& first, const Outputs& second, std::size_t parts) {
    std::vector<std::vector<double>> numbers;
    for (const Outputs* sample : {&first, &second}) {
      for (std::size_t i = 0; i < std::min(sample->size(), kLearnFrom); ++i) {
        const auto words = words_of(sample->words(i));
        if (numbers.size() < words.size()) numbers.resize(words.size());
        for (std::size_t j = 0; j < words.size(); ++j)
          if (const auto number = number_in(words[j])) numbers[j].push_back(*number);
      }
    }
    for (auto& each : numbers) cuts_.push_back(cuts_of(std::move(each), parts));
  }

  Keys keys(std::string_view text) const {
    Keys keys;
    const auto words = words_of(text);
    for (std::size_t j = 0; j < words.size(); ++j) {
      const auto number = number_in(words[j]);
      const std::uint64_t what =
          number && j < cuts_.size() ? part_of(cuts_[j], *number) : key_of(words[j]);
      keys.push_back(mixed(j + 1, what));
    }
    return keys;
  }

 private:
  std::vector<std::vector<double>> cuts_;
};

/// A statistic from a function of the text.
template <class Function>
Statistic of_texts(std::string name, Function function) {
  return {.name = std::move(name), .of = [function](const Outputs& outputs) {
            std::vector<double> result(outputs.size());
            for (std::size_t i = 0; i < result.size(); ++i) {
              result[i] =
                  outputs.width() == 0 ? function(outputs.words(i)) : function(outputs.text(i));
            }
            return result;
          }};
}

template <class Fold>
Statistic of_numbers(std::string name, Fold fold) {
  return of_texts(std::move(name), [fold](std::string_view text) {
    double result = kNever;
    for (const std::string_view word : words_of(text)) {
      if (const auto number = number_in(word))
        result = result == kNever ? *number : fold(result, *number);
    }
    return std::isnan(result) ? kNever : result;
  });
}

Statistic naive_bayes(const Outputs& first, const Outputs& second) {
  const auto places = std::make_shared<const Places>(first, second, 16);
  const auto keys_of = [&](const Outputs& sample) {
    Keys all;
    for (std::size_t i = 0; i < std::min(sample.size(), kLearnFrom); ++i) {
      const Keys keys = places->keys(sample.words(i));
      all.insert(all.end(), keys.begin(), keys.end());
    }
    return all;
  };
  const auto ratios = std::make_shared<const std::unordered_map<std::uint64_t, double>>(
      log_ratios(keys_of(first), keys_of(second)));
  return of_texts("the score of a naive Bayes classifier", [places, ratios](std::string_view text) {
    double score = 0;
    for (const std::uint64_t key : places->keys(text)) {
      const auto found = ratios->find(key);
      if (found != ratios->end()) score += found->second;
    }
    return score;
  });
}

std::function<Keys(const Outputs&)> each_text(std::function<std::uint64_t(std::string_view)> key) {
  return [key = std::move(key)](const Outputs& outputs) {
    Keys keys(outputs.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = outputs.width() == 0 ? key(outputs.words(i)) : key(outputs.text(i));
    return keys;
  };
}

}  // namespace

std::vector<Statistic> text_statistics(const Outputs& first, const Outputs& second) {
  std::vector<Statistic> all;
  add_frequencies(all, "the output is",
                  each_text([](std::string_view text) { return key_of(text); }), first, second);
  for (const std::size_t parts : {std::size_t{2}, std::size_t{6}}) {
    const auto places = std::make_shared<const Places>(first, second, parts);
    add_frequencies(all, "the output looks", each_text([places](std::string_view text) {
                      std::uint64_t key = 0;
                      for (const std::uint64_t each : places->keys(text)) key = mixed(key, each);
                      return key;
                    }),
                    first, second);
  }
  all.push_back(naive_bayes(first, second));
  all.push_back(of_texts("the length of the output",
                         [](std::string_view text) { return static_cast<double>(text.size()); }));
  all.push_back(of_texts("the number of words in the output", [](std::string_view text) {
    return static_cast<double>(words_of(text).size());
  }));
  all.push_back(
      of_numbers("the sum of the numbers in the output", [](double a, double b) { return a + b; }));
  all.push_back(of_numbers("the least number in the output",
                           [](double a, double b) { return std::min(a, b); }));
  all.push_back(of_numbers("the largest number in the output",
                           [](double a, double b) { return std::max(a, b); }));
  return all;
}

}  // namespace gauze::audit::internal
