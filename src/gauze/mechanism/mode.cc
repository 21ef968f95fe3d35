#include "gauze/mechanism/mode.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/range_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/noise/choice.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

/// The `rank`-th value of the domain, from 0, that is not among the sorted `present`.
std::int64_t absent_value(Integer rank, std::int64_t lower, std::span<const std::int64_t> present) {
  Integer value = Integer(lower) + rank;
  for (const std::int64_t one : present) {
    if (value < one) break;
    ++value;
  }
  return saturate(value);
}

}  // namespace

Mode::Mode(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  require(options_.lower < options_.upper, "lower must be below upper");
}

Event Mode::event() const {
  return {events::Exponential{options_.epsilon}, options_.relation};
}

Accuracy Mode::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const double excess = internal::selection_radius(rate(), 1, beta);
  const double size = round_up(Ratio(domain_size()));
  return {excess + round_up(Ratio(1 / rate())) * std::log(size) * (1 + 1e-12), confidence,
          "count of the mode"};
}

Release<std::int64_t> Mode::run(std::span<const std::int64_t> values, Context& context) const {
  context.meter.charge(event());
  std::vector<std::int64_t> sorted;
  for (const std::int64_t value : values) {
    if (value >= options_.lower && value <= options_.upper) sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  // One candidate per value present, and one that stands for all absent ones, with score 0.
  std::vector<std::int64_t> present;
  std::vector<double> scores;
  for (const std::int64_t value : sorted) {
    if (present.empty() || present.back() != value) {
      present.push_back(value);
      scores.push_back(0);
    }
    scores.back() += 1;
  }
  std::vector<Integer> multiplicity(present.size(), Integer(1));
  const Integer absent = domain_size() - Integer(present.size());
  scores.push_back(0);
  multiplicity.push_back(absent);
  const std::size_t choice = choose_exp(scores, rate(), context.bits, multiplicity);
  const std::int64_t value =
      choice < present.size()
          ? present[choice]
          : absent_value(uniform_below(context.bits, absent), options_.lower, present);
  return {value, accuracy(), event()};
}

Integer Mode::domain_size() const {
  return Integer(options_.upper.get()) - Integer(options_.lower.get()) + 1;
}

Ratio Mode::rate() const {
  return internal::selection_rate(options_.epsilon, 1, options_.relation == Relation::kAddRemove);
}

}  // namespace gauze
