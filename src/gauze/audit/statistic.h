#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gauze/audit/outputs.h"

namespace gauze::audit {

/// A number computed from each output, by which outputs of two inputs might be told apart. What
/// cannot be computed is minus infinity.
struct Statistic {
  std::string name;
  std::function<std::vector<double>(const Outputs&)> of;
  /// In words: the outputs whose number lies between these, where that is more than an interval.
  std::function<std::string(double low, double high)> describe = {};
};

/// Outputs whose statistic lies in [low, high].
struct Rule {
  Statistic statistic;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
std::string describe(const Rule& rule);

/// Statistics for outputs like these, those with something to learn taught by them: coordinates,
/// their sum, the last bit, single outputs and joint cells by their frequencies, a naive Bayes and a
/// linear classifier; of texts also length, words by place, and the numbers inside. Both samples must
/// be of one kind. Judging outputs by a rule needs others than it was taught by.
std::vector<Statistic> fit_statistics(const Outputs& first, const Outputs& second);

}  // namespace gauze::audit
