#include "gauze/mechanism/sum.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/mechanism/range_internal.h"

namespace gauze {
namespace {

/// Adding a record adds its value; replacing one adds a difference of two. (Li, Lyu, Su and Yang
/// 2016, Example 2.14, prints the second for both.)
template <class Number>
Number sum_sensitivity(const Number& lower, const Number& upper, Relation relation) {
  if (relation == Relation::kReplace) return upper - lower;
  return std::max<Number>(abs(lower), abs(upper));
}

}  // namespace

Sum::Sum(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  range_ = std::make_shared<const internal::RealRange>(options_.lower, options_.upper);
  noise_ = std::make_shared<const internal::LatticeNoise>(internal::LatticeNoise::laplace(
      sensitivity(), Ratio(sensitivity() / options_.epsilon.get())));
  terms_ = std::make_shared<const internal::Terms>(internal::Terms{event(), accuracy()});
}

Ratio Sum::sensitivity() const {
  return sum_sensitivity<Ratio>(options_.lower, options_.upper, options_.relation);
}

Event Sum::event() const {
  return {noise_->laplace_event(), options_.relation};
}

Accuracy Sum::accuracy(double confidence) const {
  return {noise_->laplace_radius(internal::failure_probability(confidence)), confidence, "sum"};
}

Release<double> Sum::run(std::span<const double> values, Context& context) const {
  context.meter.charge(terms_->event);
  const Integer steps = noise_->add(range_->sum(values).value(), context.bits);
  return {noise_->lattice().value(steps), terms_->accuracy, terms_->event};
}

IntegerSum::IntegerSum(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  require(options_.lower < options_.upper,
          "lower must be below upper; a single value has nothing to release");
  noise_ = std::make_shared<const AdditiveNoise>(AdditiveNoise::discrete_laplace(scale()));
  terms_ = std::make_shared<const internal::Terms>(internal::Terms{event(), accuracy()});
}

Integer IntegerSum::sensitivity() const {
  return sum_sensitivity<Integer>(Integer(options_.lower.get()), Integer(options_.upper.get()),
                                  options_.relation);
}

Ratio IntegerSum::scale() const {
  return Ratio(sensitivity()) / options_.epsilon.get();
}

Event IntegerSum::event() const {
  return {events::DiscreteLaplace{scale(), Ratio(sensitivity())}, options_.relation};
}

Accuracy IntegerSum::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {discrete_laplace_radius(scale(), beta), confidence, "sum"};
}

Release<std::int64_t> IntegerSum::run(std::span<const std::int64_t> values,
                                      Context& context) const {
  context.meter.charge(terms_->event);
  Integer total = 0;
  for (const std::int64_t value : values) {
    total += std::clamp<std::int64_t>(value, options_.lower, options_.upper);
  }
  return {saturate(total + internal::draw_exactly(*noise_, context.bits)), terms_->accuracy,
          terms_->event};
}

}  // namespace gauze
