#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/gaussian.h"
#include "gauze/base/error.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/mechanism/key_selection_internal.h"
#include "gauze/random/uniform.h"

namespace gauze::internal {
namespace {

/// floor of a real number that is no integer, given to any precision.
template <class Real>
Integer floor_of(Real real) {
  for (unsigned bits = 128;; bits *= 2) {
    const Interval x = real(bits);
    const Integer low = floor(ratio_of_bits(x.lower()));
    // At 2^14 bits both ends are the same number for all purposes; the lower one names less.
    if (low == floor(ratio_of_bits(x.upper())) || bits >= (1u << 14)) return low;
  }
}

}  // namespace

// Desfontaines et al. 2022: n_1 = 1 + floor(ln((e^eps + 2 delta - 1) / ((e^eps + 1) delta)) / eps),
// written with e^-eps so that large epsilons stay finite.
TruncatedGeometric::TruncatedGeometric(const Ratio& epsilon, const Ratio& delta)
    : epsilon_(epsilon), delta_(delta) {
  const Integer turn = floor_of([&](unsigned bits) {
    const Interval one(1.0, bits);
    const Interval d(delta_, bits);
    const Interval shrink = exp(-Interval(epsilon_, bits));
    return log((one + (d + d - one) * shrink) / ((one + shrink) * d)) / Interval(epsilon_, bits);
  });
  require(turn < (Integer(1) << 53), "epsilon and delta: too small to name any key");
  turn_ = turn.convert_to<std::uint64_t>() + 1;
  small_epsilon_ = static_cast<long double>(epsilon_.convert_to<double>());
  small_delta_ = static_cast<long double>(delta_.convert_to<double>());
  estimates_ = small_epsilon_ > 1e-300L && small_epsilon_ < 1e3L && small_delta_ > 1e-300L;
  // Mirrored about the turn; two more than the formula's n_2 at least.
  const double rest = 1 - estimate(turn_);
  const double more = std::log1p(std::expm1(std::min(700.0, static_cast<double>(small_epsilon_))) *
                                 rest / static_cast<double>(small_delta_)) /
                      static_cast<double>(small_epsilon_);
  certain_ = estimates_ ? (static_cast<double>(turn_) + more) * (1 + 1e-9) + 3
                        : std::numeric_limits<double>::infinity();
}

Interval TruncatedGeometric::probability(std::uint64_t units, unsigned bits) const {
  const Interval zero(0.0, bits);
  const Interval one(1.0, bits);
  const Interval delta(delta_, bits);
  if (units == 0) return zero;
  const auto rise = [&](std::uint64_t n) {
    if (n == 1) return delta;  // also where e^epsilon has no finite bound
    return delta * expm1(Interval(Ratio(epsilon_ * Ratio(Integer(n))), bits)) /
           expm1(Interval(epsilon_, bits));
  };
  if (units <= turn_) return rise(units);
  // 1 - pi shrinks as e^-epsilon (1 - pi - delta), with -expm1(-m eps)/expm1(eps) for the sum.
  const Interval left = one - rise(turn_);
  const Ratio span = epsilon_ * Ratio(Integer(units - turn_));
  const Interval shrink = exp(-Interval(span, bits));
  const Interval first = exp(-Interval(epsilon_, bits));
  const Interval sum = expm1(-Interval(span, bits)) / expm1(-Interval(epsilon_, bits)) * first;
  return one - (shrink * left - delta * sum);
}

double TruncatedGeometric::estimate(std::uint64_t units) const {
  const auto rise = [&](std::uint64_t n) {
    return small_delta_ * std::expm1(static_cast<long double>(n) * small_epsilon_) /
           std::expm1(small_epsilon_);
  };
  if (units <= turn_) return static_cast<double>(rise(units));
  const long double span = static_cast<long double>(units - turn_) * small_epsilon_;
  const long double sum = -std::expm1(-span) / std::expm1(small_epsilon_);
  return static_cast<double>(1 - (std::exp(-span) * (1 - rise(turn_)) - small_delta_ * sum));
}

bool TruncatedGeometric::names(std::uint64_t units, BitSource& bits) const {
  if (units == 0) return false;
  if (static_cast<double>(units) >= certain_) return true;
  LazyUniform uniform(bits);
  const auto exact = [&](unsigned precision) { return probability(units, precision); };
  return estimates_ ? uniform.below(estimate(units), exact) : uniform.below(exact);
}

std::uint64_t TruncatedGeometric::units_for(double confidence) const {
  std::uint64_t low = 0;
  std::uint64_t high = 1;
  const auto enough = [&](std::uint64_t n) { return probability(n, 128).lower() >= confidence; };
  while (!enough(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

namespace {

// Weights of length 1 are 2^24 steps long.
constexpr std::uint64_t kLength = 1 << 24;

/// About the smallest sigma for which noise on a vector that moves by 1 is (epsilon, delta)-DP.
double gaussian_sigma(double epsilon, double delta) {
  double low = 1e-3;
  double high = 1;
  const auto enough = [&](double sigma) {
    return about_gaussian_delta(1 / sigma, epsilon) <= delta;
  };
  while (!enough(high) && high < 1e18) high *= 2;
  while (high / low > 1 + 1e-7) {
    const double middle = std::sqrt(low * high);
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

double upper_quantile(double probability) {
  return boost::math::quantile(
      boost::math::complement(boost::math::normal_distribution<double>(0, 1), probability));
}

/// The smallest a >= 1 with P(noise >= a) <= probability.
double reach(const Ratio& sigma, double probability) {
  return discrete_gaussian_radius(sigma, std::min(2 * probability, 0.999)) + 1;
}

struct Shares {
  double sigma;  // for sensitivity 1, all rounds together
  Ratio threshold_delta;
};

/// How much of delta the thresholds get: more of it makes them lower and the noise larger.
Shares best_shares(const Ratio& epsilon, const Ratio& delta, std::uint64_t keys_per_unit) {
  Shares best{0, 0};
  double least = std::numeric_limits<double>::infinity();
  for (const Ratio& share : {Ratio(1, 2), Ratio(3, 4), Ratio(7, 8), Ratio(15, 16)}) {
    const Ratio to_threshold = delta * share;
    const double sigma =
        gaussian_sigma(round_down(epsilon), round_down(Ratio(delta - to_threshold)));
    const double height =
        sigma * upper_quantile(round_down(to_threshold) / static_cast<double>(keys_per_unit));
    if (height < least) {
      least = height;
      best = {sigma, to_threshold};
    }
  }
  return best;
}

/// The number with six digits above a positive one: a short fraction.
Ratio short_above(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 6);
  return ratio_of_decimal(std::ceil(value / unit)) * ratio_of_decimal(unit);
}

Integer whole(double value) {
  require(value < 0x1p62, "epsilon and delta: too small to name any key");
  return floor(ratio_of_bits(value));
}

/// Sigmas of the rounds are `unit` times a factor; the event says whether they suffice. The noise is
/// discrete and the thresholds' delta comes on top, so the formula for one Gaussian is only where
/// the search starts.
template <class Make>
ThresholdPlan smallest(const Ratio& epsilon, const Ratio& delta, double unit, Make make) {
  double step = 1e-4;
  for (double sigma = unit;; sigma *= 1 + step, step *= 2) {
    ThresholdPlan plan = make(short_above(sigma));
    if (delta_at({plan.event}, round_down(epsilon)).delta <= round_down(delta)) return plan;
    require(step < 1e6, "epsilon and delta: no Gaussian noise reaches them");
  }
}

}  // namespace

double ThresholdPlan::about_half_by_counts(const Ratio& epsilon, const Ratio& delta,
                                           std::uint64_t keys_per_unit) {
  const Shares shares = best_shares(epsilon, delta, keys_per_unit);
  const auto k = static_cast<double>(keys_per_unit);
  const double height = upper_quantile(std::min(0.499, round_down(shares.threshold_delta) / k));
  return 1 + std::sqrt(k) * shares.sigma * height;
}

ThresholdPlan ThresholdPlan::counts(const Ratio& epsilon, const Ratio& delta,
                                    std::uint64_t keys_per_unit) {
  const Shares shares = best_shares(epsilon, delta, keys_per_unit);
  const auto k = static_cast<double>(keys_per_unit);
  const auto make = [&](const Ratio& sigma) {
    const Event noise{events::DiscreteGaussian{sigma, 1, 1}, Relation::kAddRemove, keys_per_unit};
    const Event lone{events::Approximate{0, shares.threshold_delta}, Relation::kAddRemove};
    // A key with one unit is named when 1 + noise reaches the threshold.
    const double threshold = 1 + reach(sigma, round_down(shares.threshold_delta) / k);
    return ThresholdPlan{std::vector<std::uint32_t>(keys_per_unit + 1, 1),
                         {{sigma, whole(threshold), shares.threshold_delta}},
                         {events::Composed{{noise, lone}}, Relation::kAddRemove}};
  };
  return smallest(epsilon, delta, shares.sigma * std::sqrt(k), make);
}

ThresholdPlan ThresholdPlan::sips(const Ratio& epsilon, const Ratio& delta,
                                  std::uint64_t keys_per_unit) {
  const Shares shares = best_shares(epsilon, delta, keys_per_unit);
  std::vector<std::uint32_t> weights = {0};
  for (std::uint64_t m = 1; m <= keys_per_unit; ++m) {
    weights.push_back(static_cast<std::uint32_t>(sqrt(Integer(Integer(kLength) * kLength / m))));
  }
  const auto make = [&](const Ratio& sigma) {
    ThresholdPlan plan{weights, {}, {events::Composed{}, Relation::kAddRemove}};
    std::vector<Event> parts;
    for (const int share : {1, 9}) {  // of 10
      const double of_round = std::sqrt(10.0 / share) * round_up(sigma) * kLength;
      const Ratio noise{ceil(ratio_of_bits(of_round))};
      const Ratio lone = shares.threshold_delta * Ratio(share, 10);
      double threshold = 0;
      // For lists of m to `last` keys: the weight of m, the union over `last`.
      for (std::uint64_t m = 1; m <= keys_per_unit;) {
        const std::uint64_t last = std::min(keys_per_unit, std::max(m, m * 17 / 16));
        threshold = std::max(
            threshold, weights[m] + reach(noise, round_down(lone) / static_cast<double>(last)));
        m = last + 1;
      }
      plan.rounds.push_back({noise, whole(threshold), lone});
      parts.push_back({events::DiscreteGaussian{noise, Ratio(Integer(kLength)), keys_per_unit},
                       Relation::kAddRemove});
      parts.push_back({events::Approximate{0, lone}, Relation::kAddRemove});
    }
    plan.event.kind = events::Composed{std::move(parts)};
    return plan;
  };
  return smallest(epsilon, delta, shares.sigma, make);
}

double ThresholdPlan::units_for(double confidence) const {
  const ThresholdRound& last = rounds.back();
  const double noise = reach(last.sigma, 1 - confidence) - 1;
  return std::ceil((round_up(Ratio(last.threshold)) + noise) / weights.back());
}

}  // namespace gauze::internal
