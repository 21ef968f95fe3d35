#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "gauze/accounting/calibrate.h"
#include "gauze/accounting/gaussian.h"
#include "gauze/accounting/pair.h"
#include "gauze/base/error.h"
#include "gauze/query/measurement.h"

// The budget's way to noise: shares, sensitivities, Laplace or Gaussian. Argument: measurement.md

namespace gauze {
namespace {

using Noise = Measurement::Noise;

// Gaussian noise much finer than this is priced as the normal distribution's (pair.md in accounting).
constexpr int kFineBits = 24;

Integer l1_steps(const Measurement& m, const Bounds& b) {
  return Integer(m.row_bound) * (m.per_unit ? Integer(b.groups_per_unit) : l1_rows(b));
}

Integer l2_squared_steps(const Measurement& m, const Bounds& b) {
  return Integer(m.row_bound) * m.row_bound *
         (m.per_unit ? Integer(b.groups_per_unit) : l2_squared_rows(b));
}

/// The root of a whole number if it is one, else a decimal above it, off by less than 10^-9 of it.
Ratio root_above(const Integer& square) {
  const Integer exact = sqrt(square);
  if (exact * exact == square) return Ratio(exact);
  const Integer scale("1000000000");
  const Integer below = sqrt(Integer(square * scale * scale));
  return Ratio(below + 1, scale);
}

void refine(Measurement& m) {
  if (m.kind == Measurement::Kind::kQuantile) return;
  const auto bits = static_cast<int>(std::bit_width(m.row_bound));
  const int finer = std::max(0, kFineBits - bits);
  m.shift -= finer;
  m.exponent -= finer;
  m.row_bound <<= finer;
}

/// Laplace noise and choices that share a pure epsilon by weight.
void set_pure_noise(MeasurementDesign& d, const Ratio& epsilon) {
  for (Measurement& m : d.measurements) {
    const Ratio share = epsilon * m.weight;
    if (m.kind == Measurement::Kind::kQuantile) {
      m.noise = Noise::kChoice;
      m.scale = share / Ratio(l1_rows(d.bounds));
      continue;
    }
    m.noise = Noise::kLaplace;
    const Integer l1 = l1_steps(m, d.bounds);
    require(l1 <= Integer(INT64_MAX),
            "rows_per_unit: too large for sums of this range; allow fewer rows of a unit");
    m.sensitivity = Ratio(l1);
    m.scale = m.sensitivity / share;
  }
}

/// Gaussian noise and choices that share rho = 1/(2 size^2) by weight.
void set_gaussian_noise(MeasurementDesign& d, double size) {
  for (Measurement& m : d.measurements) {
    const double share = std::sqrt(round_down(m.weight)) / size;  // sqrt(2 rho)
    if (m.kind == Measurement::Kind::kQuantile) {
      m.noise = Noise::kChoice;
      m.scale = 1;
      const Event one = event_of(m, d.bounds);
      // At scale 1, sqrt(2 rho); rho grows with the square of the scale.
      double root = 0;
      if (const auto* choice = std::get_if<events::Exponential>(&one.kind)) {
        root = round_up(choice->epsilon) * std::sqrt(static_cast<double>(one.count)) / 2;
      } else {
        root = round_up(std::get<events::Pure>(one.kind).epsilon);
      }
      m.scale = ratio_of_decimal(share / root);
      continue;
    }
    m.noise = Noise::kGaussian;
    m.moved = d.bounds.groups_per_unit;
    m.sensitivity = root_above(l2_squared_steps(m, d.bounds));
    m.scale = ratio_of_decimal(round_up(m.sensitivity) / share);
  }
}

/// The mean of |noise| in steps of the source; noise that never leaves zero counts as a tenth of a step.
double mean_error(const Measurement& m) {
  const double scale = round_up(m.scale);
  // 2q/(1 - q^2) with q = e^(-1/scale); the normal distribution's, for Gaussian noise is fine.
  const double mean = m.noise == Noise::kLaplace ? 1 / std::sinh(1 / scale)
                                                 : scale * std::sqrt(2 / std::numbers::pi);
  return std::max(0.1, mean) * std::ldexp(1.0, m.shift);
}

/// How much larger the errors of `a` are than those of `b`, on average over the measurements, as the
/// logarithm of a factor.
double log_error_ratio(const MeasurementDesign& a, const MeasurementDesign& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.measurements.size(); ++i) {
    const Measurement& x = a.measurements[i];
    const Measurement& y = b.measurements[i];
    if (x.noise == Noise::kChoice) {
      total += std::log(round_up(y.scale) / round_down(x.scale));
    } else {
      total += std::log(mean_error(x) / mean_error(y));
    }
  }
  return a.measurements.empty() ? 0 : total / static_cast<double>(a.measurements.size());
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

KeySelection selection(const MeasurementDesign& d, const Ratio& epsilon, const Ratio& delta) {
  return KeySelection({.epsilon = Ratio(epsilon * d.key_weight),
                       .delta = delta,
                       .keys_per_unit = d.bounds.groups_per_unit});
}

/// Laplace noise, with the selection of keys, which takes a while to calibrate.
MeasurementDesign complete(MeasurementDesign laplace, const Ratio& epsilon, const Ratio& delta,
                           std::string reason) {
  if (laplace.groups == 0) laplace.key_selection = selection(laplace, epsilon, delta);
  laplace.reason = std::move(reason);
  return laplace;
}

/// All Gaussian parts as one: they share 1/size^2 by weight. Much faster to price, and off by little.
std::vector<Event> events_as_one_gaussian(const MeasurementDesign& d, double size) {
  std::vector<Event> events;
  if (d.key_selection) events.push_back(d.key_selection->event());
  Ratio weight = 0;
  for (const Measurement& m : d.measurements) {
    if (m.noise == Noise::kChoice) {
      events.push_back(event_of(m, d.bounds));
    } else {
      weight += m.weight;
    }
  }
  if (weight == 0) return events;
  const double sigma = size / std::sqrt(round_up(weight));
  events.push_back({events::Gaussian{ratio_of_decimal(sigma), 1}, Relation::kAddRemove});
  return events;
}

/// The size at which all Gaussian parts reach the target by the formula for one: microseconds instead of
/// privacy loss distributions. Nothing when there are other parts, or the target is out of reach.
std::optional<double> size_by_formula(const MeasurementDesign& d, const Target& target) {
  const auto is_choice = [](const Measurement& m) { return m.noise == Noise::kChoice; };
  if (std::any_of(d.measurements.begin(), d.measurements.end(), is_choice)) return std::nullopt;
  NormalLoss others;
  if (d.key_selection) {
    const auto total = normal_loss({d.key_selection->event()});
    if (!total) return std::nullopt;
    others = *total;
  }
  Ratio weight = 0;
  for (const Measurement& m : d.measurements) weight += m.weight;
  const double left = target.delta - others.leaked;
  const double others_mu_squared = round_up(others.mu_squared);
  const auto enough = [&](double size) {
    const double mu_squared = round_up(weight) / (size * size) + others_mu_squared;
    return about_gaussian_delta(std::sqrt(mu_squared), target.epsilon) <= left;
  };
  double low = 0x1p-20, high = 0x1p40;
  if (left <= 0 || !enough(high) || enough(low)) return std::nullopt;
  while (high / low > 1 + 1e-9) {
    const double middle = std::sqrt(low * high);
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

/// Nothing when no Gaussian noise reaches the guarantee.
std::optional<MeasurementDesign> gaussian_design(MeasurementDesign d, const Ratio& epsilon,
                                                 const Ratio& delta) {
  if (d.groups == 0) d.key_selection = selection(d, epsilon, Ratio(delta / 2));
  for (Measurement& m : d.measurements) refine(m);
  const Target target{round_down(epsilon), round_down(delta)};
  try {
    set_gaussian_noise(d, 1);
    const std::optional<double> formula = size_by_formula(d, target);
    const double about = formula ? *formula
                                 : calibrate(
                                       [&](const Ratio& size) {
                                         set_gaussian_noise(d, round_up(size));
                                         return events_as_one_gaussian(d, round_up(size));
                                       },
                                       target);
    // What is promised is checked on what will be charged.
    for (double more = 1e-7; more < 1; more *= 10) {
      set_gaussian_noise(d, about * (1 + more));
      if (delta_at(d.events(), target.epsilon).delta <= target.delta) return d;
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnreachable && error.code() != ErrorCode::kInvalidInput) throw;
  }
  return std::nullopt;
}

}  // namespace

MeasurementDesign design_measurements(const Plan& plan, const Ratio& epsilon, const Ratio& delta) {
  require(epsilon > 0, "epsilon must be positive");
  require(delta >= 0 && delta < 1, "delta must lie in [0, 1)");
  const MeasurementDesign plain = derive_measurements(plan);
  require(plain.groups != 0 || delta > 0,
          "delta must be positive, for example 1e-6: group keys without declared categories are "
          "selected privately; or declare the categories in the schema");
  MeasurementDesign laplace = plain;
  set_pure_noise(laplace, epsilon);
  if (delta == 0) {
    return complete(laplace, epsilon, delta,
                    "Laplace noise: with delta 0 only a pure guarantee will do");
  }
  const auto only_choices = [](const Measurement& m) {
    return m.kind == Measurement::Kind::kQuantile;
  };
  if (std::all_of(plain.measurements.begin(), plain.measurements.end(), only_choices) &&
      plain.measurements.size() <= 1) {
    return complete(laplace, epsilon, delta,
                    "no noise is added: quantiles and keys are chosen at random");
  }
  auto gaussian = gaussian_design(plain, epsilon, delta);
  if (!gaussian) {
    return complete(laplace, epsilon, delta,
                    "Laplace noise: no Gaussian noise reaches this epsilon and delta");
  }
  const double ratio = std::exp(log_error_ratio(*gaussian, laplace));
  if (ratio < 1) {
    gaussian->reason = "Gaussian noise: its errors are on average " + two_digits(ratio) +
                       " of Laplace's at this epsilon and delta";
    return *std::move(gaussian);
  }
  return complete(laplace, epsilon, delta,
                  "Laplace noise: its errors are on average " + two_digits(1 / ratio) +
                      " of Gaussian's at this epsilon and delta");
}

}  // namespace gauze
