#include "gauze/adaptive/paprika.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

/// What two logarithms of doubles in (0, 1] may be off together, as a power of two.
constexpr int kRoundingExponent = -40;
/// The part of the rate that is for discoveries that only noise has made.
constexpr double kSlackShare = 0.1;
/// Of spending: the usual one. All of it is spent within the tests.
constexpr double kExponent = 1.6;

const Paprika::Options& checked(const Paprika::Options& options) {
  require(options.rate > 0 && options.rate < 1, "rate must lie strictly between 0 and 1");
  require(options.log_sensitivity.get() > 0, "log_sensitivity must be positive");
  require(options.floor.get() > 0 && options.floor.get() < 1,
          "floor must lie strictly between 0 and 1");
  require(options.tests >= 1 && options.tests <= (1 << 24), "tests must lie between 1 and 2^24");
  return options;
}

}  // namespace

Paprika::Paprika(Options options)
    : options_(checked(options)),
      noise_(
          {.epsilon = options_.epsilon,
           .sensitivity = Ratio(options_.log_sensitivity.get() + power_of_two(kRoundingExponent)),
           .positives = options_.rejections,
           .relation = options_.relation}),
      levels_({.rate = (1 - kSlackShare) * options_.rate,
               .spending = Spending(kExponent, options_.tests)}) {
  // One of so many noises of tests is beyond its part with half of the slack, the threshold's with
  // the other half; lattices make tails larger by less than one part in a thousand.
  const double nats = std::log(1.001 / (kSlackShare * options_.rate));
  shift_ = (round_up(noise_.threshold_scale()) * nats +
            round_up(noise_.query_scale()) *
                (nats + std::log(static_cast<double>(options_.tests.get())))) *
           1.001;
}

Accuracy Paprika::accuracy(double confidence) const {
  const Accuracy noise = noise_.accuracy(1, confidence);
  return {shift_ + noise.half_width, confidence, "logarithm of a p-value below its level"};
}

Release<std::vector<bool>> Paprika::run(std::span<const double> p_values, Context& context) const {
  auto conversation = noise_.start(context);
  if (p_values.size() > options_.tests) {
    throw Error(ErrorCode::kInvalidInput, "there are more p-values than tests; raise tests");
  }
  LordPlusPlus levels = levels_;
  const double floor = round_up(options_.floor);
  std::vector<bool> decisions;
  for (const double p : p_values) {
    const double bounded = p <= 1 ? std::max(p, floor) : 1;
    // Above the threshold: surprising enough. A level of 0 can never be reached.
    const double level = levels.level();
    const bool rejected = !conversation.ended() && level > 0 &&
                          conversation.ask(-std::log(bounded), shift_ - std::log(level)).above;
    levels.record(rejected);
    decisions.push_back(rejected);
  }
  return {std::move(decisions), accuracy(), event()};
}

}  // namespace gauze
