#include "gauze/histogram/count_noise.h"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/base/error.h"
#include "gauze/mechanism/discrete_gaussian.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/numeric/interval.h"

namespace gauze {
namespace {

/// Of discrete Laplace noise with this scale: 2 a / (1 - a)^2 = 1 / (2 sinh(1 / (2 scale))^2).
double laplace_variance(double scale) {
  const double half_sinh = std::sinh(0.5 / scale);
  return std::max(0.5 / (half_sinh * half_sinh) * (1 + 1e-12), 1e-200);
}

std::vector<CountNoise> gaussian_noises(double size, std::span<const Ratio> weights,
                                        std::uint64_t rows_per_unit) {
  std::vector<CountNoise> noises;
  for (const Ratio& weight : weights) {
    noises.push_back(
        CountNoise::gaussian(ratio_of_decimal(size / round_down(weight)), rows_per_unit));
  }
  return noises;
}

/// Nothing when no Gaussian noise reaches the guarantee. The search prices all parts as one continuous
/// Gaussian; what will be charged is checked.
std::vector<CountNoise> calibrated(const HistogramBudget& budget, std::span<const Ratio> weights) {
  const double epsilon = round_down(budget.epsilon);
  const double delta = round_down(budget.delta);
  Ratio squares = 0;
  for (const Ratio& weight : weights) squares += weight * weight;
  const double norm = std::sqrt(round_up(squares)) * static_cast<double>(budget.rows_per_unit);
  const double about = gaussian_sigma(epsilon, delta) * norm;
  const auto with = [&](double more) {
    return gaussian_noises(about * (1 + more), weights, budget.rows_per_unit);
  };
  const auto enough = [&](double more) {
    return epsilon_at({composed(with(more))}, delta).epsilon <= epsilon;
  };
  double more = 1e-6;
  while (!enough(more)) {
    more *= 4;
    if (more > 1) return {};
  }
  for (double less = more / 4; more - less > 1e-3;) {
    const double middle = (less + more) / 2;
    (enough(middle) ? more : less) = middle;
  }
  return with(more);
}

}  // namespace

// Balle and Wang (2018): delta = P(Z > epsilon sigma - 1/(2 sigma)) - e^epsilon P(Z > epsilon sigma +
// 1/(2 sigma)).
double gaussian_sigma(double epsilon, double delta) {
  epsilon = std::min(epsilon, 700.0);
  const auto tail = [](double z) { return 0.5 * boost::math::erfc(z / std::sqrt(2.0)); };
  double low = 1e-3;
  double high = 1e12;
  while (high / low > 1 + 1e-9) {
    const double sigma = std::sqrt(low * high);
    const double reached = tail(epsilon * sigma - 0.5 / sigma) -
                           std::exp(epsilon) * tail(epsilon * sigma + 0.5 / sigma);
    (reached <= delta ? high : low) = sigma;
  }
  return high;
}

void check_budget(const HistogramBudget& budget) {
  require(budget.epsilon > 0, "epsilon must be positive");
  require(budget.delta >= 0 && budget.delta < 1, "delta must lie in [0, 1)");
  require(budget.rows_per_unit >= 1 && budget.rows_per_unit <= 1u << 31,
          "rows_per_unit must be from 1 to 2^31");
}

CountNoise CountNoise::laplace(const Ratio& epsilon, std::uint64_t rows_per_unit) {
  require(epsilon > 0, "epsilon must be positive");
  return {false, Ratio(Ratio(rows_per_unit) / epsilon), rows_per_unit};
}

CountNoise CountNoise::gaussian(const Ratio& sigma, std::uint64_t rows_per_unit) {
  require(sigma > 0, "sigma must be positive");
  return {true, sigma, rows_per_unit};
}

Event CountNoise::event() const {
  if (gaussian_) {
    return {events::DiscreteGaussian{scale_, Ratio(rows_per_unit_), rows_per_unit_},
            Relation::kAddRemove};
  }
  return {events::DiscreteLaplace{scale_, Ratio(rows_per_unit_)}, Relation::kAddRemove};
}

double CountNoise::variance() const {
  const double scale = round_up(scale_);
  return gaussian_ ? scale * scale * (1 + 1e-12) : laplace_variance(scale);
}

double CountNoise::rate() const {
  return (gaussian_ ? std::sqrt(2.0) : 1.0) / round_up(scale_);
}

std::vector<std::int64_t> CountNoise::run(std::span<const std::int64_t> counts,
                                          Context& context) const {
  if (gaussian_) {
    return DiscreteGaussian(
               {.l2_sensitivity = Ratio(rows_per_unit_), .sigma = scale_, .moved = rows_per_unit_})
        .run(counts, context)
        .value;
  }
  return DiscreteLaplace({.l1_sensitivity = rows_per_unit_, .scale = scale_})
      .run(counts, context)
      .value;
}

std::vector<CountNoise> split_budget(const HistogramBudget& budget,
                                     std::span<const Ratio> weights) {
  check_budget(budget);
  Ratio sum = 0;
  for (const Ratio& weight : weights) {
    require(weight > 0, "the share of every level must be positive");
    sum += weight;
  }
  std::vector<CountNoise> laplace;
  for (const Ratio& weight : weights)
    laplace.push_back(
        CountNoise::laplace(Ratio(budget.epsilon * weight / sum), budget.rows_per_unit));
  if (budget.delta == 0 || weights.empty()) return laplace;
  auto gaussian = calibrated(budget, weights);
  // Scales are in proportion to the weights in both, so one vector tells for all.
  return !gaussian.empty() && gaussian.front().variance() < laplace.front().variance() ? gaussian
                                                                                       : laplace;
}

Event composed(std::span<const CountNoise> noises) {
  if (noises.size() == 1) return noises.front().event();
  events::Composed parts;
  for (const CountNoise& noise : noises) parts.events.push_back(noise.event());
  return {parts, Relation::kAddRemove};
}

double deviations(double confidence, bool gaussian) {
  require(confidence > 0 && confidence < 1, "confidence must lie strictly between 0 and 1");
  const double normal = std::sqrt(2.0) * boost::math::erfc_inv(1 - confidence) + 1e-9;
  return gaussian ? normal : std::max(normal, -std::log1p(-confidence) / std::sqrt(2.0) + 1e-4);
}

double noise_half_width(double variance, double confidence, bool gaussian, double largest_weight) {
  const double factor = deviations(confidence, gaussian);
  if (variance == 0) return 0;
  // Continuous noise of the same scale, which whole-numbered noise exceeds by at most a half.
  if (!gaussian) variance += largest_weight * largest_weight / 6;
  return factor * std::sqrt(variance) + largest_weight / 2;
}

}  // namespace gauze
