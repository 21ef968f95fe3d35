#include "gauze/mechanism/key_selection.h"

#include <algorithm>
#include <variant>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/key_selection_internal.h"

namespace gauze {

using internal::ThresholdPlan;
using internal::ThresholdRound;
using internal::TruncatedGeometric;

struct KeySelection::Parts {
  Options options;
  KeySelectionMethod method;
  std::variant<TruncatedGeometric, ThresholdPlan> rule;
  std::vector<AdditiveNoise> noise;  // of each round
  Accuracy promise;                  // at the usual confidence
};

namespace {

std::variant<TruncatedGeometric, ThresholdPlan> rule_of(KeySelectionMethod method,
                                                        const KeySelection::Options& options) {
  const Ratio keys{Integer(options.keys_per_unit.get())};
  switch (method) {
    case KeySelectionMethod::kGaussian:
      return ThresholdPlan::counts(options.epsilon, options.delta, options.keys_per_unit);
    case KeySelectionMethod::kSips:
      return ThresholdPlan::sips(options.epsilon, options.delta, options.keys_per_unit);
    default:
      return TruncatedGeometric(options.epsilon.get() / keys, options.delta.get() / keys);
  }
}

/// Where there are many keys each is a place in memory far from the others, asked for so much earlier.
constexpr std::ptrdiff_t kKeysAhead = 16;

/// How many units have each key.
std::vector<std::int64_t> unit_counts(const UnitKeys& units, std::uint64_t keys_per_unit) {
  struct Tally {
    std::uint64_t last_unit = 0;
    std::int64_t count = 0;
  };
  std::vector<Tally> tallies(units.key_count);
  for (std::size_t unit = 1; unit < units.offsets.size(); ++unit) {
    if (units.offsets[unit] - units.offsets[unit - 1] > keys_per_unit) {
      throw Error(ErrorCode::kUnboundedData,
                  "keys_per_unit: the lists must be cut to so many keys before keys are selected");
    }
    for (std::uint64_t i = units.offsets[unit - 1]; i < units.offsets[unit]; ++i) {
      const std::uint32_t key = units.keys.at(i);
      if (i + kKeysAhead < units.keys.size()) {
        __builtin_prefetch(tallies.data() + units.keys[i + kKeysAhead], 1);
      }
      if (key >= units.key_count || tallies[key].last_unit == unit) {
        throw Error(ErrorCode::kInvalidInput,
                    "keys of a unit must be different and below key_count");
      }
      tallies[key] = {unit, tallies[key].count + 1};
    }
  }
  std::vector<std::int64_t> counts;
  counts.reserve(tallies.size());
  for (const Tally& tally : tallies) counts.push_back(tally.count);
  return counts;
}

/// One round: the weights of all keys that are not yet named, and which of them pass.
void name_above(const ThresholdPlan& plan, const ThresholdRound& round, const AdditiveNoise& noise,
                const UnitKeys& units, std::vector<bool>& named, BitSource& bits) {
  std::vector<std::int64_t> weights(units.key_count, 0);
  for (std::size_t unit = 1; unit < units.offsets.size(); ++unit) {
    const auto first = units.keys.begin() + static_cast<std::ptrdiff_t>(units.offsets[unit - 1]);
    const auto last = units.keys.begin() + static_cast<std::ptrdiff_t>(units.offsets[unit]);
    const auto open = std::count_if(first, last, [&](std::uint32_t key) { return !named[key]; });
    const std::int64_t weight = plan.weights[static_cast<std::size_t>(open)];
    for (auto key = first; key != last; ++key) {
      if (units.keys.end() - key > kKeysAhead) __builtin_prefetch(&weights[key[kKeysAhead]], 1);
      weights[*key] += named[*key] ? 0 : weight;
    }
  }
  const std::vector<std::int64_t> noisy = internal::noised(weights, noise, bits);
  const std::int64_t threshold = saturate(round.threshold);
  for (std::size_t key = 0; key < weights.size(); ++key) {
    // A key that no unit has left is impossible, whatever the noise.
    if (weights[key] > 0 && noisy[key] >= threshold) named[key] = true;
  }
}

struct Named {
  const UnitKeys& units;
  const std::vector<std::int64_t>& counts;
  const std::vector<AdditiveNoise>& noise;
  BitSource& bits;

  std::vector<bool> operator()(const TruncatedGeometric& rule) const {
    std::vector<bool> named(counts.size());
    for (std::size_t key = 0; key < counts.size(); ++key) {
      named[key] = rule.names(static_cast<std::uint64_t>(counts[key]), bits);
    }
    return named;
  }
  std::vector<bool> operator()(const ThresholdPlan& plan) const {
    std::vector<bool> named(counts.size());
    for (std::size_t i = 0; i < plan.rounds.size(); ++i) {
      name_above(plan, plan.rounds[i], noise[i], units, named, bits);
    }
    return named;
  }
};

double units_for(const std::variant<TruncatedGeometric, ThresholdPlan>& rule, double confidence) {
  return std::visit(
      [&](const auto& each) { return static_cast<double>(each.units_for(confidence)); }, rule);
}

Accuracy promise_of(const std::variant<TruncatedGeometric, ThresholdPlan>& rule,
                    double confidence) {
  return {units_for(rule, confidence), confidence, "units that a key needs to be named"};
}

}  // namespace

KeySelection::KeySelection(Options options) {
  require(options.epsilon.get() > 0, "epsilon must be positive");
  require(options.delta.get() > 0 && options.delta.get() < 1,
          "delta must lie strictly between 0 and 1: no rule names a key with certainty of privacy");
  require(options.keys_per_unit.get() >= 1 && options.keys_per_unit.get() <= (1u << 20),
          "keys_per_unit must lie between 1 and 2^20");
  KeySelectionMethod method = options.method;
  if (method == KeySelectionMethod::kBest) {
    const bool geometric =
        options.keys_per_unit.get() == 1 ||
        units_for(rule_of(KeySelectionMethod::kTruncatedGeometric, options), 0.5) <=
            ThresholdPlan::about_half_by_counts(options.epsilon, options.delta,
                                                options.keys_per_unit);
    method = geometric ? KeySelectionMethod::kTruncatedGeometric : KeySelectionMethod::kSips;
  }
  auto rule = rule_of(method, options);
  std::vector<AdditiveNoise> noise;
  if (const auto* plan = std::get_if<ThresholdPlan>(&rule)) {
    for (const ThresholdRound& round : plan->rounds) {
      noise.push_back(AdditiveNoise::discrete_gaussian(Ratio(round.sigma * round.sigma)));
    }
  }
  const Accuracy promise = promise_of(rule, 0.95);
  parts_ = std::make_shared<const Parts>(
      Parts{std::move(options), method, std::move(rule), std::move(noise), promise});
}

KeySelectionMethod KeySelection::method() const {
  return parts_->method;
}

Event KeySelection::event() const {
  if (const auto* plan = std::get_if<ThresholdPlan>(&parts_->rule)) return plan->event;
  const Options& options = parts_->options;
  const Ratio keys{Integer(options.keys_per_unit.get())};
  return {events::Approximate{options.epsilon.get() / keys, options.delta.get() / keys},
          Relation::kAddRemove, options.keys_per_unit};
}

Accuracy KeySelection::accuracy(double confidence) const {
  internal::failure_probability(confidence);
  return promise_of(parts_->rule, confidence);
}

Release<std::vector<std::uint32_t>> KeySelection::run(const UnitKeys& units,
                                                      Context& context) const {
  context.meter.charge(event());
  const auto counts = unit_counts(units, parts_->options.keys_per_unit);
  const std::vector<bool> named =
      std::visit(Named{units, counts, parts_->noise, context.bits}, parts_->rule);
  std::vector<std::uint32_t> result;
  for (std::uint32_t key = 0; key < units.key_count; ++key) {
    if (named[key]) result.push_back(key);
  }
  return {result, parts_->promise, event()};
}

}  // namespace gauze
