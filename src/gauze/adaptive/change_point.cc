#include "gauze/adaptive/change_point.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/numeric/exact_sum.h"

namespace gauze {
namespace {

// Sums of steps stay whole numbers that doubles can hold.
constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 31;

/// A replaced record moves all sums that it is in by the same amount, and no other: what it can
/// tell is what a record more or less can tell of counts.
constexpr Relation kOneWay = Relation::kAddRemove;

}  // namespace

LikelihoodSteps::LikelihoodSteps(const Ratio& lower, const Ratio& upper)
    : width_(upper - lower),
      lower_(nearest_double(lower)),
      upper_(nearest_double(upper)),
      step_(nearest_double(Ratio(width_ / LikelihoodSteps::range()))) {
  require(lower < 0 && upper > 0 && std::isfinite(upper_ - lower_) && step_ > 0,
          "lower must be below 0 and upper above 0: a log-likelihood ratio has both signs");
}

std::int64_t LikelihoodSteps::operator()(double ratio) const {
  const double clamped = ratio > lower_ ? std::min(ratio, upper_) : lower_;
  // A map of each record by itself; what its rounding does to the ends is capped.
  const auto least = static_cast<std::int64_t>(std::ceil(lower_ / step_));
  const auto steps = static_cast<std::int64_t>(std::floor(clamped / step_));
  return std::clamp(steps, least, least + kRange);
}

std::vector<double> change_likelihoods(std::span<const double> ratios,
                                       const LikelihoodSteps& steps) {
  std::vector<double> sums(ratios.size());
  std::int64_t sum = 0;
  for (std::size_t i = ratios.size(); i-- > 0;) {
    sum += steps(ratios[i]);
    sums[i] = static_cast<double>(sum);
  }
  return sums;
}

ChangePoint::ChangePoint(Options options)
    : options_(std::move(options)),
      steps_(options_.lower, options_.upper),
      choice_({.epsilon = options_.epsilon,
               .sensitivity = LikelihoodSteps::range(),
               .monotone = true,
               .relation = kOneWay}) {}

Event ChangePoint::event() const {
  return {events::Pure{options_.epsilon}, Relation::kReplace};
}

Accuracy ChangePoint::accuracy(std::uint64_t records, double confidence) const {
  const Accuracy steps = choice_.accuracy(std::max<std::uint64_t>(records, 1), confidence);
  return {std::nextafter(steps_.size(steps.half_width), INFINITY), confidence,
          "log-likelihood of the change"};
}

Release<std::size_t> ChangePoint::run(std::span<const double> ratios, Context& context) const {
  context.meter.charge(event());
  if (ratios.empty() || ratios.size() > kMostRecords) {
    throw Error(ErrorCode::kInvalidInput, "a change is looked for among 1 to 2^31 records");
  }
  Meter own(choice_.event());
  Context paid{own, context.bits};
  const std::size_t change = choice_.run(change_likelihoods(ratios, steps_), paid).value;
  return {change, accuracy(ratios.size()), event()};
}

}  // namespace gauze
