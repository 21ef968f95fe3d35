#include "gauze/mechanism/discrete_accuracy.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "gauze/base/error.h"

namespace gauze {
namespace {

// Covers the rounding of the few floating-point operations here.
constexpr double kSlack = 1e-12;
// Above this sigma sums over the integers are replaced by the normal tail, which is as good.
constexpr double kSummedSigma = 1000;

void check_probability(double probability) {
  require(probability > 0 && probability < 1, "alpha must lie strictly between 0 and 1");
}

void check_accuracy(double accuracy) {
  require(accuracy >= 1 && accuracy < 0x1p53 && accuracy == std::floor(accuracy),
          "accuracy must be a whole number between 1 and 2^53; round it down");
}

/// Smallest x in (0, infinity) with predicate(x), for a predicate that stays true once it is.
template <class Predicate>
double first_true(Predicate predicate) {
  double low = 0x1p-60;
  double high = 1;
  while (!predicate(high)) high *= 2;
  while (predicate(low)) low /= 2;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (predicate(middle) ? high : low) = middle;
  }
}

/// P(|X| >= a) for the discrete Gaussian, by summing outward until terms vanish.
double gaussian_tail(double sigma, double a) {
  double inside = 1;  // x = 0
  double outside = 0;
  for (double x = 1;; ++x) {
    const double term = 2 * std::exp(-x * x / (2 * sigma * sigma));
    (x < a ? inside : outside) += term;
    if (term < 1e-30 * (x < a ? inside : outside) || term == 0) break;
  }
  return outside / (inside + outside);
}

}  // namespace

double discrete_laplace_radius(const Ratio& scale, double beta) {
  check_probability(beta);
  // P(|X| >= m) = 2 q^m / (1 + q) with q = e^(-1/scale), m >= 1.
  const double b = round_up(scale);
  const double m = b * std::log(2 / (beta * (1 + std::exp(-1 / b))));
  return std::max(0.0, std::ceil(m * (1 + kSlack)) - 1);
}

double discrete_gaussian_radius(const Ratio& sigma, double beta) {
  check_probability(beta);
  const double s = round_up(sigma);
  if (s > kSummedSigma) {
    // P(X >= m) <= P(N(0, sigma^2) >= m - 1) for integers m (Canonne, Kamath and Steinke 2020,
    // Prop. 25), used at m = r + 1.
    const double z = boost::math::quantile(
        boost::math::complement(boost::math::normal_distribution<double>(0, 1), beta / 2));
    return std::ceil(s * z * (1 + kSlack));
  }
  std::vector<double> terms = {1};
  while (terms.back() > 0) {
    const auto x = static_cast<double>(terms.size());
    terms.push_back(2 * std::exp(-x * x / (2 * s * s)));
  }
  double total = 0;
  for (std::size_t i = terms.size(); i-- > 0;) total += terms[i];
  double tail = 0;  // P(|X| > r) * total
  std::size_t r = terms.size();
  while (r > 0 && (tail + terms[r - 1]) * (1 + kSlack) <= beta * total) tail += terms[--r];
  return r == 0 ? 0 : static_cast<double>(r - 1);
}

double discrete_laplace_scale_for(double accuracy, double alpha) {
  check_accuracy(accuracy);
  check_probability(alpha);
  return first_true([&](double scale) {
    return 2 * std::exp(-accuracy / scale) / (1 + std::exp(-1 / scale)) >= alpha;
  });
}

double discrete_gaussian_sigma_for(double accuracy, double alpha) {
  check_accuracy(accuracy);
  check_probability(alpha);
  require(accuracy <= 1e5, "accuracy must be at most 1e5 here; use a Gaussian quantile beyond");
  return first_true([&](double sigma) { return gaussian_tail(sigma, accuracy) >= alpha; });
}

double discrete_laplace_accuracy(double scale, double alpha) {
  require(scale > 0 && std::isfinite(scale), "scale must be positive and finite");
  return discrete_laplace_radius(ratio_of_bits(scale), alpha) + 1;
}

double discrete_gaussian_accuracy(double sigma, double alpha) {
  require(sigma > 0 && std::isfinite(sigma), "sigma must be positive and finite");
  return discrete_gaussian_radius(ratio_of_bits(sigma), alpha) + 1;
}

}  // namespace gauze
