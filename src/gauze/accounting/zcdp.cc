#include "gauze/accounting/zcdp.h"

#include <algorithm>
#include <cmath>

#include "gauze/numeric/infinity.h"
#include "gauze/numeric/interval.h"

// Canonne, Kamath and Steinke 2020, Proposition 12 with D_a <= a rho, written in u = a - 1:
//   ln delta(u) = u ((1 + u) rho - epsilon) + u ln(u / (1 + u)) - ln(1 + u).
namespace gauze {
namespace {

constexpr unsigned kBits = 256;

/// The u that minimises the bound. Its derivative, (1 + 2u) rho - epsilon - ln(1 + 1/u), increases
/// in u, so bisection on ln u finds it.
double best_order(double rho, double epsilon) {
  double low = -700;
  double high = 700;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    const double u = std::exp(middle);
    ((1 + 2 * u) * rho - epsilon - std::log1p(1 / u) < 0 ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

double log_delta(double rho, double epsilon) {
  const double u = best_order(rho, epsilon);
  return u * ((1 + u) * rho - epsilon - std::log1p(1 / u)) - std::log1p(u);
}

/// u ln(u / (1 + u)) - ln(1 + u), the part of the bound without rho and epsilon.
Interval order_term(const Interval& u) {
  const Interval one(1.0, kBits);
  return -(u * log1p(one / u)) - log1p(u);
}

}  // namespace

double zcdp_delta(const Ratio& rho, double epsilon) {
  if (rho == 0) return 0;
  const double about = round_up(rho);
  if (std::isinf(epsilon)) return 0;
  if (std::isinf(about)) return 1;
  const Interval u(best_order(about, epsilon), kBits);
  const Interval one(1.0, kBits);
  const Interval log_bound =
      u * ((one + u) * Interval(rho, kBits) - Interval(epsilon, kBits)) + order_term(u);
  return std::min(1.0, exp(log_bound).upper());
}

double zcdp_epsilon(const Ratio& rho, double delta) {
  if (rho == 0) return 0;
  const double about = round_up(rho);
  if (delta == 0 || std::isinf(about)) return kInfinity;
  const double target = std::log(delta);
  if (log_delta(about, 0) <= target && zcdp_delta(rho, 0) <= delta) return 0;
  // rho + 2 sqrt(rho ln(1/delta)) is a valid epsilon (Bun and Steinke 2016, Prop. 1.3).
  double low = 0;
  double high = about + 2 * std::sqrt(about) * std::sqrt(-target) + 1e-300;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (log_delta(about, middle) <= target ? high : low) = middle;
  }
  const Interval u(best_order(about, high), kBits);
  const Interval one(1.0, kBits);
  const Interval bound =
      (one + u) * Interval(rho, kBits) + (order_term(u) - log(Interval(delta, kBits))) / u;
  return std::max(0.0, bound.upper());
}

}  // namespace gauze
