#include "gauze/mechanism/quantile_interval.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/quantile_internal.h"
#include "gauze/mechanism/selection_internal.h"

namespace gauze {

using internal::QuantileDomain;

struct QuantileInterval::Choice {
  Ratio rate;
  std::int64_t down;  // how many ranks below the quantile the lower end is sought
  std::int64_t up;
};

QuantileInterval::QuantileInterval(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  internal::check_records_per_unit(options_.records_per_unit);
  internal::failure_probability(options_.confidence);
  require(!options_.probabilities->empty() && options_.probabilities->size() <= 1000,
          "probabilities must hold at least one and at most 1000");
  for (const Ratio& each : options_.probabilities.get()) {
    internal::check_quantile_probability(each);
  }
  domain_ =
      std::make_shared<const QuantileDomain>(options_.lower, options_.upper, options_.granularity);
}

Ratio QuantileInterval::epsilon_of_choice() const {
  return options_.epsilon.get() / Ratio(Integer(3 * options_.probabilities->size()));
}

Event QuantileInterval::event() const {
  return {events::Exponential{epsilon_of_choice()}, options_.relation,
          3 * options_.probabilities->size()};
}

// A choice misses its rank by more than `error` with probability at most (1 - confidence)/2. An end
// is on the wrong side of the quantile only if it misses by more than its shift less p, or 1 - p.
QuantileInterval::Choice QuantileInterval::choice(const Ratio& probability) const {
  const Ratio sensitivity =
      internal::rank_sensitivity(probability, options_.relation, options_.records_per_unit);
  const Ratio rate = internal::selection_rate(epsilon_of_choice(), sensitivity, false);
  const double beta = internal::failure_probability(options_.confidence) / 2;
  const double error = internal::selection_radius(rate, domain_->size(), beta);
  const auto ranks = [&](const Ratio& beyond) {
    constexpr double kMost = 0x1p60;  // more records than there are
    return static_cast<std::int64_t>(std::min(kMost, std::ceil(error + round_up(beyond))));
  };
  return {rate, ranks(probability), ranks(Ratio(1 - probability))};
}

Accuracy QuantileInterval::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence) / 2;
  double widest = 0;
  for (const Ratio& probability : options_.probabilities.get()) {
    const Choice of = choice(probability);
    widest = std::max(widest, static_cast<double>(std::max(of.down, of.up)) +
                                  internal::selection_radius(of.rate, domain_->size(), beta));
  }
  return {widest, confidence, "ranks of the ends of each interval"};
}

std::vector<BracketedQuantile> QuantileInterval::choose(std::span<const internal::Run> runs,
                                                        const Ratio& margin,
                                                        BitSource& bits) const {
  const double lowest = round_down(options_.lower);
  const double highest = round_up(options_.upper);
  std::vector<BracketedQuantile> result;
  for (const Ratio& probability : options_.probabilities.get()) {
    const Choice of = choice(probability);
    const auto at = [&](std::int64_t shift) {
      return domain_->exact(internal::choose_quantile(runs, 0, domain_->size() - 1,
                                                      {probability, shift}, of.rate, bits));
    };
    const double value = nearest_double(at(0));
    const double lower = round_down(Ratio(at(-of.down) - margin));
    const double upper = round_up(Ratio(at(of.up) + margin));
    result.push_back({value, std::max(lowest, std::min(lower, value)),
                      std::min(highest, std::max(upper, value))});
  }
  return result;
}

Release<std::vector<BracketedQuantile>> QuantileInterval::run(std::span<const double> values,
                                                              Context& context) const {
  context.meter.charge(event());
  // Records go to the nearest candidate, up to the rounding of doubles: 2^-50 of the range.
  const Ratio off = Ratio(1, 2) + Ratio(Integer(domain_->size())) * power_of_two(-50);
  const Ratio margin = domain_->granularity() * off;
  return {choose(domain_->runs(values), margin, context.bits), accuracy(options_.confidence),
          event()};
}

Release<std::vector<BracketedQuantile>> QuantileInterval::run(std::span<const GridCount> counts,
                                                              Context& context) const {
  context.meter.charge(event());
  return {choose(domain_->runs(counts), 0, context.bits), accuracy(options_.confidence), event()};
}

}  // namespace gauze
