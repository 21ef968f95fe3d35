#include "gauze/histogram/count_noise.h"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include "gauze/accounting/calibrate.h"
#include "gauze/base/error.h"
#include "gauze/mechanism/discrete_gaussian.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/numeric/interval.h"

namespace gauze {
namespace {

/// Of discrete Laplace noise with this scale: 2 a / (1 - a)^2 = 1 / (2 sinh(1 / (2 scale))^2).
double laplace_variance(double scale) {
  const double half_sinh = std::sinh(0.5 / scale);
  return 0.5 / (half_sinh * half_sinh) * (1 + 1e-12);
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

/// Nothing when no Gaussian noise reaches the guarantee.
std::vector<CountNoise> calibrated(const HistogramBudget& budget, std::span<const Ratio> weights) {
  const Target target{round_down(budget.epsilon), round_down(budget.delta)};
  Ratio squares = 0;
  for (const Ratio& weight : weights) squares += weight * weight;
  const double norm = std::sqrt(round_up(squares)) * static_cast<double>(budget.rows_per_unit);
  try {
    // All parts as one Gaussian, which is quick to price; then what will be charged is checked.
    const double about = calibrate(
        [&](const Ratio& size) {
          const Ratio sigma = ratio_of_decimal(round_up(size) / norm);
          return std::vector<Event>{{events::Gaussian{sigma, 1}, Relation::kAddRemove}};
        },
        target);
    for (double more = 1e-7; more < 1; more *= 10) {
      auto noises = gaussian_noises(about * (1 + more), weights, budget.rows_per_unit);
      if (epsilon_at({composed(noises)}, target.delta).epsilon <= target.epsilon) return noises;
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnreachable && error.code() != ErrorCode::kInvalidInput) throw;
  }
  return {};
}

}  // namespace

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

}  // namespace gauze
