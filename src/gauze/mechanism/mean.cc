#include "gauze/mechanism/mean.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/mechanism/range_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/noise/choice.h"

namespace gauze {

using internal::LatticeNoise;

/// What the options come to. Sums are taken of distances from `origin`.
struct Mean::Parts {
  internal::RealRange range;
  Ratio origin = 0;
  Ratio sum_sensitivity = 0;
  std::optional<LatticeNoise> sum = std::nullopt;  // the mean itself in the direct method
  bool noisy_count = false;
  Ratio count_scale = 0;
  std::optional<AdditiveNoise> count = std::nullopt;

  void set_sum(const Ratio& sensitivity, const Ratio& epsilon) {
    sum_sensitivity = sensitivity;
    sum = LatticeNoise::laplace(sensitivity, Ratio(sensitivity / epsilon));
  }
  void set_count(const Ratio& epsilon) {
    noisy_count = true;
    count_scale = 1 / epsilon;
    count = AdditiveNoise::discrete_laplace(count_scale);
  }
  /// (sum + e)/(count + c) - sum/count = (e - c sum/count)/(count + c): the error, given the noisy
  /// count. |sum/count| is at most `sum_sensitivity` under add_remove.
  double radius(double released_count, double beta) const {
    const double width = round_up(range.width());
    if (released_count <= 1) return width;
    const double share = noisy_count ? beta / 2 : beta;
    double error = sum->laplace_radius(share);
    if (noisy_count) {
      error += round_up(sum_sensitivity) * discrete_laplace_radius(count_scale, share);
    }
    return std::min(width, error / released_count * (1 + 1e-12));
  }
};

Mean::Mean(Options options) : options_(std::move(options)) {
  const Ratio& epsilon = options_.epsilon;
  const bool add_remove = options_.relation == Relation::kAddRemove;
  internal::check_tabular(epsilon, options_.relation);
  require(options_.grid >= 2, "grid must be at least 2");
  Parts parts{internal::RealRange(options_.lower, options_.upper)};
  const Ratio width = parts.range.width();
  switch (options_.method) {
    case MeanMethod::kNormalised:
      parts.origin = parts.range.middle();
      if (add_remove) {
        parts.set_sum(Ratio(width / 2), Ratio(epsilon / 2));
        parts.set_count(Ratio(epsilon / 2));
      } else {
        parts.set_sum(width, epsilon);
      }
      break;
    case MeanMethod::kSumOverCount:
      require(add_remove, "method sum_over_count is for add_remove; use normalised under replace");
      parts.set_sum(std::max<Ratio>(abs(options_.lower.get()), abs(options_.upper.get())),
                    Ratio(epsilon / 2));
      parts.set_count(Ratio(epsilon / 2));
      break;
    case MeanMethod::kDirect:
      // The empty set counts as the middle, so one record moves the mean by half the width.
      parts.set_sum(add_remove ? Ratio(width / 2) : width, epsilon);
      break;
    case MeanMethod::kExponential:
      break;
  }
  parts_ = std::make_shared<const Parts>(std::move(parts));
}

Event Mean::event() const {
  if (!parts_->sum) return {events::Exponential{options_.epsilon}, options_.relation};
  const Event sum{parts_->sum->laplace_event(), options_.relation};
  if (!parts_->noisy_count) return sum;
  const Event count{events::DiscreteLaplace{parts_->count_scale, 1}, options_.relation};
  return {events::Composed{{sum, count}}, options_.relation};
}

Accuracy Mean::accuracy(std::uint64_t records, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const double width = round_up(parts_->range.width());
  const auto n = static_cast<double>(records);
  double radius = width;
  if (options_.method == MeanMethod::kDirect) {
    radius = parts_->sum->laplace_radius(beta);
  } else if (options_.method == MeanMethod::kExponential) {
    const Ratio rate = internal::selection_rate(options_.epsilon, parts_->range.width(), false);
    const double slack = width * 0x1p-19;  // scores are in steps of width/2^20
    if (records > 0) {
      radius = width / (2.0 * (options_.grid - 1)) +
               (internal::selection_radius(rate, options_.grid, beta) + slack) / n;
    }
  } else {
    const double lost =
        parts_->noisy_count ? discrete_laplace_radius(parts_->count_scale, beta / 2) : 0;
    radius = parts_->radius(parts_->noisy_count ? n - lost : n + 1, beta);
    if (!parts_->noisy_count && records > 0) {
      radius = std::min(width, parts_->sum->laplace_radius(beta) / n * (1 + 1e-12));
    }
  }
  return {std::min(radius, width), confidence, "mean"};
}

namespace {

/// e^(-epsilon |sum - n o| / (2 width)) over a grid of o, scores in whole steps of width/2^20.
Ratio choose_mean(const Ratio& sum, std::size_t n, const internal::RealRange& range,
                  std::uint32_t grid, const Ratio& epsilon, BitSource& bits) {
  static const Integer kLargest = Integer(1) << 53;
  const Ratio spacing = range.width() / Ratio(grid - 1);
  const Ratio per_step = Ratio(internal::kSensitivitySteps) / range.width();
  // Distances |at_lower - i * between| as integers over their common denominator.
  const Ratio at_lower = (sum - range.lower() * Ratio(Integer(n))) * per_step;
  const Ratio between = spacing * Ratio(Integer(n)) * per_step;
  const Integer unit = lcm(denominator(at_lower), denominator(between));
  const Integer step = numerator(Ratio(between * Ratio(unit)));
  Integer distance = numerator(Ratio(at_lower * Ratio(unit)));
  std::vector<double> scores;
  for (std::uint32_t i = 0; i < grid; ++i, distance -= step) {
    const Integer steps = abs(distance) / unit;
    scores.push_back(-std::min(steps, kLargest).convert_to<double>());
  }
  const Ratio rate = epsilon / Ratio(2 * internal::kSensitivitySteps);
  return range.lower() + spacing * Ratio(Integer(choose_exp(scores, rate, bits)));
}

}  // namespace

Release<double> Mean::run(std::span<const double> values, Context& context) const {
  context.meter.charge(event());
  const internal::RealRange& range = parts_->range;
  const Ratio n{Integer(values.size())};
  const Ratio exact = range.sum(values).value();
  const auto answer = [&](const Ratio& mean, const Accuracy& promise) -> Release<double> {
    return {nearest_double(range.clamp(mean)), promise, event()};
  };
  if (options_.method == MeanMethod::kExponential) {
    // Only under replace may the promise depend on the number of records.
    const std::uint64_t known = options_.relation == Relation::kReplace ? values.size() : 1;
    return answer(
        choose_mean(exact, values.size(), range, options_.grid, options_.epsilon, context.bits),
        accuracy(known));
  }
  const LatticeNoise& noise = *parts_->sum;
  if (options_.method == MeanMethod::kDirect) {
    const Ratio mean = values.empty() ? range.middle() : Ratio(exact / n);
    return answer(noise.lattice().point(noise.add(mean, context.bits)), accuracy(1));
  }
  const Ratio sum =
      noise.lattice().point(noise.add(Ratio(exact - n * parts_->origin), context.bits));
  if (!parts_->noisy_count) {
    const Ratio mean = values.empty() ? range.middle() : Ratio(parts_->origin + sum / n);
    return answer(mean, accuracy(values.size()));
  }
  const Ratio count = n + Ratio(internal::draw_exactly(*parts_->count, context.bits));
  const Ratio mean = count <= 1 ? range.middle() : Ratio(parts_->origin + sum / count);
  return answer(mean, {parts_->radius(round_down(count), 0.05), 0.95, "mean"});
}

}  // namespace gauze
