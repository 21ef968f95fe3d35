#include "gauze/mechanism/key_selection.h"

#include <algorithm>
#include <functional>
#include <variant>

#include "gauze/base/error.h"
#include "gauze/base/on_threads.h"
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
/// With fewer, one thread is done before another has started.
constexpr std::size_t kManyEntries = std::size_t{1} << 18;

void check(const UnitKeys& units, std::uint64_t keys_per_unit) {
  for (std::size_t unit = 1; unit < units.offsets.size(); ++unit) {
    const std::uint64_t begin = units.offsets[unit - 1], end = units.offsets[unit];
    if (begin > end || end > units.keys.size()) {
      throw Error(ErrorCode::kInvalidInput, "offsets of units must ascend, and end where keys do");
    }
    if (end - begin > keys_per_unit) {
      throw Error(ErrorCode::kUnboundedData,
                  "keys_per_unit: the lists must be cut to so many keys before keys are selected");
    }
    std::uint64_t next = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      if (units.keys[i] < next || units.keys[i] >= units.key_count) {
        throw Error(ErrorCode::kInvalidInput,
                    "keys of a unit must be different, ascending and below key_count");
      }
      next = std::uint64_t{units.keys[i]} + 1;
    }
  }
}

/// Of each key that is not yet named, the sum over its units of weight(number of their keys that are not).
template <class Weight>
std::vector<std::int64_t> weights_of(const UnitKeys& units, const std::vector<bool>& named,
                                     unsigned threads, Weight weight) {
  // Sums of all threads together take no more than twice what the lists do.
  const std::size_t most = units.keys.size() / std::max<std::size_t>(units.key_count, 1);
  threads =
      units.keys.size() < kManyEntries
          ? 1
          : std::clamp(static_cast<unsigned>(std::min<std::size_t>(most, threads)), 1u, threads);
  std::vector<std::vector<std::int64_t>> parts(threads);
  const std::size_t count = units.offsets.empty() ? 0 : units.offsets.size() - 1;
  internal::on_threads(threads, [&](unsigned thread) {
    std::vector<std::int64_t> sums(units.key_count, 0);
    const std::size_t end = count * (thread + 1) / threads;
    for (std::size_t unit = count * thread / threads; unit < end; ++unit) {
      const auto first = units.keys.begin() + static_cast<std::ptrdiff_t>(units.offsets[unit]);
      const auto last = units.keys.begin() + static_cast<std::ptrdiff_t>(units.offsets[unit + 1]);
      const auto open = std::count_if(first, last, [&](std::uint32_t key) { return !named[key]; });
      const std::int64_t own = weight(static_cast<std::size_t>(open));
      for (auto key = first; key != last; ++key) {
        if (units.keys.end() - key > kKeysAhead) __builtin_prefetch(&sums[key[kKeysAhead]], 1);
        sums[*key] += named[*key] ? 0 : own;
      }
    }
    parts[thread] = std::move(sums);
  });
  for (unsigned thread = 1; thread < threads; ++thread) {
    std::transform(parts[0].begin(), parts[0].end(), parts[thread].begin(), parts[0].begin(),
                   std::plus<>());
  }
  return std::move(parts[0]);
}

/// Which keys a rule names.
struct Named {
  const UnitKeys& units;
  const std::vector<AdditiveNoise>& noise;
  unsigned threads;
  BitSource& bits;

  std::vector<bool> operator()(const TruncatedGeometric& rule) const {
    std::vector<bool> named(units.key_count);
    const auto counts =
        weights_of(units, named, threads, [](std::size_t) { return std::int64_t{1}; });
    for (std::size_t key = 0; key < counts.size(); ++key) {
      named[key] = rule.names(static_cast<std::uint64_t>(counts[key]), bits);
    }
    return named;
  }
  std::vector<bool> operator()(const ThresholdPlan& plan) const {
    std::vector<bool> named(units.key_count);
    for (std::size_t i = 0; i < plan.rounds.size(); ++i) {
      const auto weights =
          weights_of(units, named, threads, [&](std::size_t open) { return plan.weights[open]; });
      const std::vector<std::int64_t> noisy = internal::noised(weights, noise[i], bits);
      const std::int64_t threshold = saturate(plan.rounds[i].threshold);
      for (std::size_t key = 0; key < weights.size(); ++key) {
        // A key that no unit has left is impossible, whatever the noise.
        if (weights[key] > 0 && noisy[key] >= threshold) named[key] = true;
      }
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

Release<std::vector<std::uint32_t>> KeySelection::run(const UnitKeys& units, Context& context,
                                                      unsigned threads) const {
  context.meter.charge(event());
  check(units, parts_->options.keys_per_unit);
  const std::vector<bool> named = std::visit(
      Named{units, parts_->noise, internal::thread_count(threads), context.bits}, parts_->rule);
  std::vector<std::uint32_t> result;
  for (std::uint32_t key = 0; key < units.key_count; ++key) {
    if (named[key]) result.push_back(key);
  }
  return {result, parts_->promise, event()};
}

}  // namespace gauze
