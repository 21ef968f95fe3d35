#include "gauze/mechanism/propose_test_release.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/ranked_records_internal.h"
#include "gauze/mechanism/stability_test_internal.h"
#include "gauze/numeric/exact_sum.h"

namespace gauze {

ProposeTestRelease::ProposeTestRelease(Options options) : options_(std::move(options)) {
  internal::check_stability(options_.epsilon, options_.delta);
  require(options_.bound.get() > 0, "bound must be positive");
  const Ratio half = options_.epsilon.get() / 2;
  test_ = std::make_shared<const internal::StabilityTest>(half, options_.delta);
  noise_ = std::make_shared<const internal::LatticeNoise>(
      internal::LatticeNoise::laplace(options_.bound, Ratio(options_.bound.get() / half)));
}

Event ProposeTestRelease::event() const {
  return {events::Approximate{options_.epsilon, options_.delta}, options_.relation};
}

Accuracy ProposeTestRelease::accuracy(double confidence) const {
  return {noise_->laplace_radius(internal::failure_probability(confidence)), confidence,
          "each value"};
}

double ProposeTestRelease::distance_enough(double confidence) const {
  return test_->sure_from(internal::failure_probability(confidence));
}

Release<std::optional<double>> ProposeTestRelease::run(const ProposedAnswer& answer,
                                                       Context& context) const {
  context.meter.charge(event());
  // Drawn before the test decides, so that both outcomes take the same steps.
  const Integer noised = noise_->add(answer.value, context.bits);
  const bool safe = test_->passes(Integer(answer.distance), context.bits);
  return {safe ? std::optional(noise_->lattice().value(noised)) : std::nullopt, accuracy(),
          event()};
}

ProposedMedian::ProposedMedian(Options options)
    : options_(std::move(options)),
      domain_(std::make_shared<const internal::QuantileDomain>(
          internal::fine_domain(options_.lower, options_.upper))),
      release_({.bound = options_.bound,
                .epsilon = options_.epsilon,
                .delta = options_.delta,
                .relation = Relation::kReplace}) {
  require(options_.bound.get() <= options_.upper.get() - options_.lower.get(),
          "bound must be at most upper - lower; no median moves farther");
}

Release<std::optional<double>> ProposedMedian::run(std::span<const double> values,
                                                   Context& context) const {
  context.meter.charge(event());
  const internal::RankedRecords records(*domain_, values);
  const std::int64_t bound = saturate(floor(Ratio(options_.bound.get() / domain_->granularity())));
  const double step = round_up(domain_->granularity());
  const std::uint64_t distance =
      records.first_change([&](std::int64_t k) { return records.median_move(k) > bound; });
  const double above_lower = static_cast<double>(records.median()) * step;
  Meter own(release_.event());
  Context paid{own, context.bits};
  std::optional<double> value = release_.run({above_lower, distance}, paid).value;
  if (value) *value += nearest_double(options_.lower);
  return {value, accuracy(), event()};
}

}  // namespace gauze
