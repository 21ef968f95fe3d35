#include "gauze/mechanism/stable_value.h"

#include <algorithm>
#include <vector>

#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/range_internal.h"
#include "gauze/mechanism/stability_test_internal.h"

namespace gauze {
namespace internal {

StableChoice stable_mode(std::span<const std::int64_t> values, std::uint64_t lead_per_change) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  StableChoice mode;
  std::uint64_t most = 0;
  std::uint64_t next = 0;
  for (auto from = sorted.begin(); from != sorted.end();) {
    const auto to = std::upper_bound(from, sorted.end(), *from);
    const auto count = static_cast<std::uint64_t>(to - from);
    if (count > most) {
      next = most;
      most = count;
      mode.value = *from;
    } else {
      next = std::max(next, count);
    }
    from = to;
  }
  // While the lead is positive the mode stays.
  if (most > next) mode.distance = (most - next - 1) / lead_per_change;
  return mode;
}

}  // namespace internal

StableValue::StableValue(Options options) : options_(std::move(options)) {
  internal::check_stability(options_.epsilon, options_.delta);
  test_ = std::make_shared<const internal::StabilityTest>(options_.epsilon, options_.delta);
}

Event StableValue::event() const {
  return {events::Approximate{options_.epsilon, options_.delta}, options_.relation};
}

Accuracy StableValue::accuracy(double confidence) const {
  return {test_->sure_from(internal::failure_probability(confidence)), confidence,
          "distance that is enough"};
}

Release<std::optional<std::int64_t>> StableValue::run(const StableChoice& choice,
                                                      Context& context) const {
  context.meter.charge(event());
  const bool stable = test_->passes(Integer(choice.distance), context.bits);
  return {stable ? std::optional(choice.value) : std::nullopt, accuracy(), event()};
}

StableMode::StableMode(Options options)
    : relation_(options.relation),
      stable_({.epsilon = options.epsilon, .delta = options.delta, .relation = options.relation}) {
  internal::check_tabular(options.epsilon, options.relation);
}

Accuracy StableMode::accuracy(double confidence) const {
  const double distance = stable_.accuracy(confidence).half_width;
  return {static_cast<double>(lead_per_change()) * distance + 1, confidence, "lead that is enough"};
}

Release<std::optional<std::int64_t>> StableMode::run(std::span<const std::int64_t> values,
                                                     Context& context) const {
  context.meter.charge(event());
  const StableChoice mode = internal::stable_mode(values, lead_per_change());
  Meter own(stable_.event());
  Context paid{own, context.bits};
  std::optional<std::int64_t> released = stable_.run(mode, paid).value;
  if (values.empty()) released.reset();  // nothing is frequent
  return {released, accuracy(), event()};
}

}  // namespace gauze
