#include "gauze/mechanism/variance.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/mechanism/range_internal.h"

namespace gauze {
namespace {

constexpr double kHalf = 0x1p26;          // steps from the middle of the range to its end
constexpr double kSquareCentre = 0x1p51;  // squares lie in [0, 2^52]; this is their middle

struct NoisySum {
  Integer sensitivity;
  Ratio scale;
  AdditiveNoise noise;

  NoisySum(const Integer& how_far, const Ratio& epsilon)
      : sensitivity(how_far),
        scale(Ratio(how_far) / epsilon),
        noise(AdditiveNoise::discrete_laplace(scale)) {}

  Event event(Relation relation) const {
    return {events::DiscreteLaplace{scale, Ratio(sensitivity)}, relation};
  }
  double radius(double beta) const { return discrete_laplace_radius(scale, beta); }
  Ratio add(const Ratio& exact, BitSource& bits) const {
    return exact + Ratio(internal::draw_exactly(noise, bits));
  }
};

}  // namespace

struct Variance::Parts {
  internal::RealRange range;
  NoisySum sum;
  NoisySum squares;
  std::optional<NoisySum> count;
  double middle = nearest_double(range.middle());
  double half = nearest_double(Ratio(range.width() / 2));

  /// Whole steps from the middle, a function of the record alone.
  double steps(double value) const {
    const double exact = std::floor((range.clamp(value) - middle) / half * kHalf + 0.5);
    // Where the range is two subnormals, half may be 0 and the quotient no number.
    return exact > -kHalf ? std::min(exact, kHalf) : -kHalf;
  }
  double square_of_half() const {
    const double up = round_up(Ratio(range.width() / 2));
    return internal::times_up(up, up);
  }
  /// Error of the variance when both moments are divided by `released_count`.
  double radius(double released_count, double beta) const {
    if (!(released_count > 1)) return square_of_half();
    const double share = beta / (count ? 3 : 2);
    const double count_error = count ? count->radius(share) : 0;
    // In units of the half width and of its square.
    const double first = (sum.radius(share) / kHalf + count_error) / released_count;
    const double second =
        (squares.radius(share) / (kHalf * kHalf) + count_error / 2) / released_count;
    const double units = second + first * (2 + first) + 8 / kHalf;
    return std::min(1.0, units * (1 + 1e-12)) * square_of_half();
  }
};

Variance::Variance(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  const bool add_remove = options_.relation == Relation::kAddRemove;
  const Ratio share = options_.epsilon.get() / (add_remove ? 3 : 2);
  // Steps lie in [-2^26, 2^26] and centred squares in [-2^51, 2^51]: replacing moves by the width.
  const Integer first = Integer(1) << (add_remove ? 26 : 27);
  const Integer second = Integer(1) << (add_remove ? 51 : 52);
  Parts parts{internal::RealRange(options_.lower, options_.upper), NoisySum(first, share),
              NoisySum(second, share), std::nullopt};
  if (add_remove) parts.count.emplace(Integer(1), share);
  parts_ = std::make_shared<const Parts>(std::move(parts));
}

Event Variance::event() const {
  const Relation relation = options_.relation;
  std::vector<Event> events = {parts_->sum.event(relation), parts_->squares.event(relation)};
  if (parts_->count) events.push_back(parts_->count->event(relation));
  return {events::Composed{events}, relation};
}

Accuracy Variance::accuracy(std::uint64_t records, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const double lost = parts_->count ? parts_->count->radius(beta / 3) : 0;
  return {parts_->radius(static_cast<double>(records) - lost, beta), confidence, "variance"};
}

Release<double> Variance::run(std::span<const double> values, Context& context) const {
  context.meter.charge(event());
  ExactSum sum;
  ExactSum squares;
  for (const double value : values) {
    const double steps = parts_->steps(value);
    sum.add(steps);
    squares.add(steps * steps - kSquareCentre);
  }
  const Ratio noisy_sum = parts_->sum.add(sum.value(), context.bits);
  const Ratio noisy_squares = parts_->squares.add(squares.value(), context.bits);
  Ratio count{Integer(values.size())};
  if (parts_->count) count = parts_->count->add(count, context.bits);

  const Ratio half = parts_->range.width() / 2;
  Ratio units(1, 2);  // knowing nothing, the middle of [0, 1]
  if (count > 1) {
    const Ratio mean = noisy_sum / count;
    const Ratio mean_square = noisy_squares / count + ratio_of_bits(kSquareCentre);
    units = std::clamp<Ratio>((mean_square - mean * mean) / ratio_of_bits(kHalf * kHalf), 0, 1);
  }
  return {nearest_double(Ratio(units * half * half)),
          {parts_->radius(round_down(count), 0.05), 0.95, "variance"},
          event()};
}

}  // namespace gauze
