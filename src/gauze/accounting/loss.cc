#include "gauze/accounting/loss.h"

#include <algorithm>
#include <cmath>

#include "gauze/numeric/interval.h"

namespace gauze {
namespace {

/// ln(p (k-1) / (1-p)), rounded up to a double.
Ratio randomized_response_epsilon(const events::RandomizedResponse& e) {
  const Ratio odds = e.p * Ratio(e.options - 1) / (Ratio(1) - e.p);
  if (odds == 1) return 0;
  return ratio_of_bits(log(Interval(odds, 128)).upper());
}

/// x (1 - e^-x), rounded up: rho of waiting for one answer above (pair.md).
Ratio waiting_rho(const Ratio& epsilon) {
  if (epsilon == 0) return 0;
  const Interval x(epsilon, 160);
  return ratio_of_bits((x * -expm1(-x)).upper());
}

template <class Loss>
std::optional<Ratio> sum(const std::vector<Event>& parts, Loss loss) {
  Ratio total = 0;
  for (const Event& part : parts) {
    const auto one = loss(part);
    if (!one) return std::nullopt;
    total += *one;
  }
  return total;
}

/// ln(1 + q (e^x - 1)), rounded up: what a pure loss becomes under sampling.
Ratio amplified(const Ratio& epsilon, const Ratio& rate) {
  if (rate == 1) return epsilon;
  const Interval x(epsilon, 160);
  const double up = log1p(Interval(rate, 160) * expm1(x)).upper();
  // Never worse than not sampling, and finite even where e^x overflows a double.
  return std::isfinite(up) ? std::min(ratio_of_bits(up), epsilon) : epsilon;
}

struct Pure {
  std::optional<Ratio> operator()(const events::Laplace& e) const {
    return e.l1_sensitivity / e.scale;
  }
  std::optional<Ratio> operator()(const events::DiscreteLaplace& e) const {
    return e.l1_sensitivity / e.scale;
  }
  std::optional<Ratio> operator()(const events::Gaussian&) const { return std::nullopt; }
  std::optional<Ratio> operator()(const events::DiscreteGaussian&) const { return std::nullopt; }
  std::optional<Ratio> operator()(const events::Pure& e) const { return e.epsilon; }
  std::optional<Ratio> operator()(const events::Approximate& e) const {
    if (e.delta == 0) return e.epsilon;
    return std::nullopt;
  }
  std::optional<Ratio> operator()(const events::Zcdp& e) const {
    if (e.rho == 0) return Ratio(0);
    return std::nullopt;
  }
  std::optional<Ratio> operator()(const events::Rdp&) const { return std::nullopt; }
  std::optional<Ratio> operator()(const events::RandomizedResponse& e) const {
    return randomized_response_epsilon(e);
  }
  std::optional<Ratio> operator()(const events::Exponential& e) const { return e.epsilon; }
  std::optional<Ratio> operator()(const events::PermuteAndFlip& e) const { return e.epsilon; }
  std::optional<Ratio> operator()(const events::SparseVector& e) const {
    return e.threshold_epsilon + e.positive_epsilon * Ratio(Integer(e.positives));
  }
  std::optional<Ratio> operator()(const events::PoissonSampled& e) const {
    const auto inner = sum(e.events, pure_epsilon);
    if (!inner) return std::nullopt;
    return amplified(*inner, e.rate);
  }
  std::optional<Ratio> operator()(const events::SampledWithoutReplacement& e) const {
    const auto inner = sum(e.events, pure_epsilon);
    if (!inner) return std::nullopt;
    return amplified(*inner, Ratio(Integer(e.sample), Integer(e.population)));
  }
  std::optional<Ratio> operator()(const events::Composed& e) const {
    return sum(e.events, pure_epsilon);
  }
};

/// rho of the kinds that have their own theorem; the pure ones fall back to epsilon^2/2 (Bun and
/// Steinke 2016, Prop. 1.4).
struct Rho {
  std::optional<Ratio> operator()(const events::Gaussian& e) const {
    return e.l2_sensitivity * e.l2_sensitivity / (2 * e.sigma * e.sigma);
  }
  // Canonne, Kamath and Steinke 2020, Theorem 4: the same as the continuous one, in any dimension.
  std::optional<Ratio> operator()(const events::DiscreteGaussian& e) const {
    return e.l2_sensitivity * e.l2_sensitivity / (2 * e.sigma * e.sigma);
  }
  std::optional<Ratio> operator()(const events::Zcdp& e) const { return e.rho; }
  // Bounded range epsilon gives epsilon^2/8 (Cesar and Rogers 2021, Lemma 3.2).
  std::optional<Ratio> operator()(const events::Exponential& e) const {
    return e.epsilon * e.epsilon / 8;
  }
  // The parts of its pair, or the whole as any pure event (pair.md).
  std::optional<Ratio> operator()(const events::SparseVector& e) const {
    const Ratio all = *Pure{}(e);
    const Ratio threshold = e.threshold_epsilon * e.threshold_epsilon / 2;
    return std::min(Ratio(all * all / 2), Ratio(threshold + waiting_rho(e.positive_epsilon) *
                                                                Ratio(Integer(e.positives))));
  }
  std::optional<Ratio> operator()(const events::Composed& e) const {
    return sum(e.events, zcdp_rho);
  }
  template <class Other>
  std::optional<Ratio> operator()(const Other& e) const {
    const auto epsilon = Pure{}(e);
    if (!epsilon) return std::nullopt;
    return *epsilon * *epsilon / 2;
  }
};

}  // namespace

std::optional<Ratio> pure_epsilon(const Event& event) {
  const auto one = std::visit(Pure{}, event.kind);
  if (!one) return std::nullopt;
  return *one * Ratio(Integer(event.count));
}

std::optional<Ratio> zcdp_rho(const Event& event) {
  const auto one = std::visit(Rho{}, event.kind);
  if (!one) return std::nullopt;
  return *one * Ratio(Integer(event.count));
}

std::optional<ConcentratedLoss> concentrated_loss(const Event& event) {
  if (const auto rho = zcdp_rho(event)) return ConcentratedLoss{*rho, 0};
  const Ratio count{Integer(event.count)};
  if (const auto* e = std::get_if<events::Approximate>(&event.kind)) {
    return ConcentratedLoss{e->epsilon * e->epsilon / 2 * count, e->delta * count};
  }
  if (const auto* composed = std::get_if<events::Composed>(&event.kind)) {
    ConcentratedLoss total{0, 0};
    for (const Event& part : composed->events) {
      const auto one = concentrated_loss(part);
      if (!one) return std::nullopt;
      total.rho += one->rho * count;
      total.delta += one->delta * count;
    }
    return total;
  }
  return std::nullopt;
}

std::optional<ApproximateLoss> approximate_loss(const Event& event) {
  const Ratio count{Integer(event.count)};
  if (const auto epsilon = pure_epsilon(event)) return ApproximateLoss{*epsilon, 0};
  if (const auto* e = std::get_if<events::Approximate>(&event.kind)) {
    return ApproximateLoss{e->epsilon * count, e->delta * count};
  }
  if (const auto* composed = std::get_if<events::Composed>(&event.kind)) {
    ApproximateLoss total{0, 0};
    for (const Event& part : composed->events) {
      const auto one = approximate_loss(part);
      if (!one) return std::nullopt;
      total.epsilon += one->epsilon * count;
      total.delta += one->delta * count;
    }
    return total;
  }
  return std::nullopt;
}

}  // namespace gauze
