#include "gauze/accounting/gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "gauze/numeric/infinity.h"
#include "gauze/numeric/interval.h"

namespace gauze {
namespace {

/// Phi(x), relatively exact in the lower tail.
Interval normal_cdf(const Interval& x) {
  const unsigned bits = x.bits();
  const Interval two(2.0, bits);
  return erfc(-x / sqrt(two)) / two;
}

Interval delta_interval(const Ratio& mu_squared, double epsilon, unsigned bits) {
  const Interval mu = sqrt(Interval(mu_squared, bits));
  const Interval half = mu / Interval(2.0, bits);
  const Interval e(epsilon, bits);
  const Interval ratio = e / mu;
  return normal_cdf(half - ratio) - exp(e) * normal_cdf(-half - ratio);
}

}  // namespace

double gaussian_delta(const Ratio& mu_squared, double epsilon) {
  if (mu_squared == 0) return epsilon >= 0 ? 0 : -std::expm1(epsilon);
  const double about = std::sqrt(round_up(mu_squared));
  if (std::isinf(epsilon)) return epsilon > 0 ? 0 : 1;
  if (std::isinf(about)) return 1;
  // Beyond 1e5 standard deviations e^(-x^2/2) is smaller than every double, and so is delta.
  const double tail = std::abs(epsilon) / about - about / 2;
  if (tail > 1e5) {
    return epsilon > 0 ? std::numeric_limits<double>::denorm_min() : 1;
  }
  if (tail < -1e5) return 1;
  if (about > 1e6) {
    // Without the second term: epsilon grows by less than 1e-12 of itself.
    const Interval mu = sqrt(Interval(mu_squared, 1u << 12));
    const Interval two(2.0, 1u << 12);
    return std::min(1.0, normal_cdf(mu / two - Interval(epsilon, 1u << 12) / mu).upper());
  }
  // The two terms agree in about log2(1/mu) leading bits; ask for more until the difference is
  // known well.
  const unsigned lost = about < 1 ? static_cast<unsigned>(-std::ilogb(about)) : 0;
  for (unsigned bits = 160 + lost; bits <= 1u << 13; bits *= 2) {
    const Interval delta = delta_interval(mu_squared, epsilon, bits);
    const double upper = delta.upper();
    const double lower = delta.lower();
    const double next = std::nextafter(std::nextafter(lower, kInfinity), kInfinity);
    if (lower >= 0 && upper <= next) return std::min(1.0, upper);
  }
  return std::min(1.0, std::max(0.0, delta_interval(mu_squared, epsilon, 1u << 13).upper()));
}

double about_gaussian_delta(double mu, double epsilon) {
  // The two terms agree in about log2(1/mu) bits.
  if (!(mu > 1e-4 && mu < 1e3 && std::abs(epsilon) < 500)) {
    return gaussian_delta(ratio_of_bits(mu) * ratio_of_bits(mu), epsilon);
  }
  const auto cdf = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
  return cdf(mu / 2 - epsilon / mu) - std::exp(epsilon) * cdf(-mu / 2 - epsilon / mu);
}

double gaussian_epsilon(const Ratio& mu_squared, double delta) {
  if (mu_squared == 0) return 0;
  const double mu = std::sqrt(round_up(mu_squared));
  if (delta == 0 || std::isinf(mu)) return kInfinity;
  if (gaussian_delta(mu_squared, 0) <= delta) return 0;
  // The loss exceeds mu^2/2 + mu z with probability at most e^(-z^2/2), so this epsilon is enough.
  double low = 0;
  double high = mu * mu / 2 + mu * std::sqrt(-2 * std::log(delta)) * (1 + 1e-9) + 1e-300;
  if (std::isinf(high)) return kInfinity;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high || high - low <= 2e-16 * high) return high;
    (gaussian_delta(mu_squared, middle) <= delta ? high : low) = middle;
  }
}

}  // namespace gauze
