#include "gauze/adaptive/online_change_point.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr std::uint64_t kLongestWindow = std::uint64_t{1} << 31;

}  // namespace

OnlineChangePoint::OnlineChangePoint(Options options)
    : options_(std::move(options)),
      steps_(options_.lower, options_.upper),
      notice_(
          {.epsilon = Ratio(options_.epsilon.get() / 2),
           .sensitivity = LikelihoodSteps::range(),
           .positives = 1,
           .threshold = Ratio(options_.threshold.get() / steps_.width() * LikelihoodSteps::range()),
           // A replaced record moves the largest sum of every window that it is in the same way.
           .monotone = true,
           .relation = Relation::kAddRemove}),
      place_({.lower = options_.lower,
              .upper = options_.upper,
              .epsilon = Ratio(options_.epsilon.get() / 2)}) {
  require(options_.window >= 1 && options_.window <= kLongestWindow,
          "window must lie between 1 and 2^31");
  require(options_.threshold.get() > 0, "threshold must be positive");
}

Event OnlineChangePoint::event() const {
  return {events::Pure{options_.epsilon}, Relation::kReplace};
}

Accuracy OnlineChangePoint::accuracy(std::uint64_t records, double confidence) const {
  const Accuracy steps = notice_.accuracy(std::max<std::uint64_t>(records, 1), confidence);
  return {std::nextafter(steps_.size(steps.half_width), INFINITY), confidence,
          "log-likelihood at the threshold"};
}

OnlineChangePoint::Watch OnlineChangePoint::start(Context& context) const {
  context.meter.charge(event());
  return Watch(*this, context);
}

Release<std::optional<Alarm>> OnlineChangePoint::run(std::span<const double> ratios,
                                                     Context& context) const {
  Watch watch = start(context);
  std::optional<Alarm> alarm;
  for (std::size_t i = 0; i < ratios.size() && !alarm; ++i) alarm = watch.see(ratios[i]);
  return {alarm, accuracy(ratios.size()), event()};
}

namespace {

SparseVector::Conversation begin(const SparseVector& notice, BitSource& bits) {
  Meter own(notice.event());
  Context paid{own, bits};
  return notice.start(paid);
}

}  // namespace

OnlineChangePoint::Watch::Watch(const OnlineChangePoint& of, Context& context)
    : steps_(of.steps_),
      place_(of.place_),
      length_(of.options_.window),
      bits_(context.bits),
      notice_(begin(of.notice_, bits_)) {}

std::optional<Alarm> OnlineChangePoint::Watch::see(double ratio) {
  ++seen_;
  window_.push_back(ratio);
  if (window_.size() > length_) window_.erase(window_.begin());
  if (window_.size() < length_) return std::nullopt;
  const std::vector<double> sums = change_likelihoods(window_, steps_);
  if (!notice_.ask(*std::max_element(sums.begin(), sums.end())).above) return std::nullopt;
  Meter own(place_.event());
  Context paid{own, bits_};
  return Alarm{seen_, seen_ - length_ + place_.run(window_, paid).value};
}

}  // namespace gauze
