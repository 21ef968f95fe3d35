#include "gauze/accounting/composition.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "gauze/base/error.h"
#include "gauze/numeric/infinity.h"
#include "gauze/numeric/interval.h"

namespace gauze {
namespace {

constexpr unsigned kBits = 160;
// The largest epsilon with e^epsilon - 1 <= 2 epsilon, rounded down.
constexpr double kCoarseLimit = 1.2564312086;

Interval wide(double value) {
  return Interval(value, kBits);
}

/// Sums over the parts that the theorem needs.
struct Totals {
  double basic = 0;     // sum of epsilons
  double drift = 0;     // sum of epsilon tanh(epsilon / 2): the expected loss
  double variance = 0;  // sum of epsilon^2
  double log_keep = 0;  // ln prod (1 - delta)
};

Totals totals(const std::vector<ApproximateCount>& parts) {
  constexpr double kUp = 1 + 1e-15;
  Totals t;
  for (const ApproximateCount& part : parts) {
    require(part.epsilon >= 0 && part.delta >= 0 && part.delta <= 1 && part.count >= 0,
            "composition: needs epsilon >= 0, delta in [0, 1] and a count");
    t.basic += part.count * part.epsilon * kUp;
    t.drift += part.count * part.epsilon * std::tanh(part.epsilon / 2) * kUp;
    t.variance += part.count * part.epsilon * part.epsilon * kUp;
    t.log_keep += part.count * std::log1p(-part.delta) * kUp;
  }
  return t;
}

double spread_epsilon(const Totals& t, double slack) {
  if (slack <= 0) return t.basic;
  const double plain = std::sqrt(2 * t.variance * -std::log(slack));
  const double other =
      std::sqrt(2 * t.variance * std::log(std::numbers::e + std::sqrt(t.variance) / slack));
  return std::min(t.basic, (t.drift + std::min(plain, other)) * (1 + 1e-14));
}

}  // namespace

EpsilonDelta advanced_composition(const std::vector<ApproximateCount>& parts, double slack) {
  require(slack >= 0 && slack < 1, "slack: must lie in [0, 1)");
  const Totals t = totals(parts);
  const double delta = -std::expm1(t.log_keep + std::log1p(-slack));
  return {spread_epsilon(t, slack), std::min(1.0, delta * (1 + 1e-14))};
}

double advanced_epsilon(const std::vector<ApproximateCount>& parts, double delta) {
  const Totals t = totals(parts);
  const double own = -std::expm1(t.log_keep);
  if (own > delta) return kInfinity;
  if (own == 0) return spread_epsilon(t, delta);
  const double slack = -std::expm1(std::log1p(-delta) - t.log_keep);
  return spread_epsilon(t, slack * (1 - 1e-12) - 1e-16);
}

double advanced_delta(const std::vector<ApproximateCount>& parts, double epsilon) {
  const Totals t = totals(parts);
  double slack = 1;
  if (epsilon >= t.basic) {
    slack = 0;
  } else if (const double room = epsilon * (1 - 1e-14) - t.drift; room > 0) {
    const double exponent = room / t.variance * room / 2;
    slack = std::exp(-exponent);
    const double power = std::exp(exponent);
    if (power > std::numbers::e) {
      slack = std::min(slack, std::sqrt(t.variance) / (power - std::numbers::e));
    }
    slack *= 1 + 1e-12;
  }
  if (slack >= 1) return 1;
  return std::min(1.0, -std::expm1(t.log_keep + std::log1p(-slack)) * (1 + 1e-14));
}

double first_advanced_epsilon(double epsilon, std::uint64_t count, double slack) {
  require(epsilon >= 0 && slack > 0 && slack < 1,
          "advanced composition: needs epsilon >= 0 and slack in (0, 1)");
  const Interval k(Integer(count), kBits);
  const Interval e = wide(epsilon);
  return (e * sqrt(wide(2) * k * -log(wide(slack))) + k * e * expm1(e)).upper();
}

EpsilonDelta group_privacy(const EpsilonDelta& one, std::uint64_t size) {
  require(one.epsilon >= 0 && one.delta >= 0 && one.delta <= 1 && size >= 1,
          "group privacy: needs epsilon >= 0, delta in [0, 1] and a group size of at least 1");
  const Interval k(Integer(size), kBits);
  const Interval e = wide(one.epsilon);
  const Interval factor = one.epsilon == 0 ? k : expm1(k * e) / expm1(e);
  const double delta = one.delta == 0 ? 0 : (wide(one.delta) * factor).upper();
  return {(k * e).upper(), std::min(1.0, delta)};
}

EpsilonDelta parallel_composition(const std::vector<EpsilonDelta>& parts, Relation relation) {
  if (relation != Relation::kAddRemove) {
    throw Error(ErrorCode::kCannotCompose,
                "parallel composition holds under add_remove only; under " +
                    std::string(name(relation)) +
                    " a unit may change two parts: compose the parts in sequence");
  }
  EpsilonDelta dearest{0, 0};
  for (const EpsilonDelta& part : parts) {
    dearest.epsilon = std::max(dearest.epsilon, part.epsilon);
    dearest.delta = std::max(dearest.delta, part.delta);
  }
  return dearest;
}

double amplified_epsilon(double epsilon, double rate) {
  require(epsilon >= 0 && std::isfinite(epsilon), "epsilon: must be finite and not negative");
  require(rate > 0 && rate <= 1, "rate: must lie in (0, 1]");
  return std::min(epsilon, log1p(wide(rate) * expm1(wide(epsilon))).upper());
}

double amplified_epsilon_coarse(double epsilon, double rate) {
  require(epsilon >= 0 && epsilon <= kCoarseLimit,
          "epsilon: 2 rate epsilon bounds the sampled loss only up to 1.2564; use the exact "
          "amplification");
  require(rate > 0 && rate <= 1, "rate: must lie in (0, 1]");
  return (wide(2) * wide(rate) * wide(epsilon)).upper();
}

double textbook_gaussian_sigma(double epsilon, double delta, double l2_sensitivity) {
  require(epsilon > 0 && epsilon < 1,
          "epsilon: the textbook Gaussian formula holds for 0 < epsilon < 1 only; use calibrate");
  require(delta > 0 && delta < 1, "delta: must lie in (0, 1)");
  require(l2_sensitivity > 0 && std::isfinite(l2_sensitivity),
          "l2_sensitivity: must be positive and finite");
  const Interval root = sqrt(wide(2) * log(wide(1.25) / wide(delta)));
  return (wide(l2_sensitivity) * root / wide(epsilon)).upper();
}

EpsilonDelta add_remove_as_replace(const EpsilonDelta& guarantee) {
  return group_privacy(guarantee, 2);
}

}  // namespace gauze
