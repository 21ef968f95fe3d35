#include "gauze/accounting/rdp.h"

#include <algorithm>
#include <cmath>

#include "gauze/accounting/loss.h"
#include "gauze/accounting/pair.h"
#include "gauze/numeric/infinity.h"

namespace gauze {
namespace {

// Covers quadrature and rounding of every divergence.
constexpr double kInflate = 1 + 1e-12;
constexpr std::size_t kMostAtoms = 1u << 15;

using Divergences = std::vector<double>;

/// x + e^-x - 1 without cancellation; its P-expectation is the Kullback-Leibler divergence.
double excess(double x) {
  if (std::abs(x) > 0.05) return x + std::expm1(-x);
  return x * x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7)))));
}

/// The Renyi divergences of a pair: E_P[e^(u)] with u = (order - 1) loss. Where that is close to 1
/// it is summed as 1 + (order - 1) E_P[excess(loss)] + E_P[excess(-u)], whose terms are all
/// positive, since E_P[e^-loss] = 1.
class PairDivergence {
 public:
  explicit PairDivergence(const DominatingPair& pair) : infinite_(pair.p_only > 0) {
    ceiling_ = pair.largest();
    if (pair.curve && pair.curve->curvature > 0) {
      slope_ = 0.5 / pair.curve->curvature;
      const double mu = std::sqrt(2 * slope_);
      const double reach = mu <= 2 ? 4900 : 10000 / mu - 45;
      max_tilt_ = std::min(max_tilt_, reach / mu);
    } else if (pair.curve) {
      // Beyond, there are too few panels for the curve: the largest loss must do.
      max_tilt_ = pair.curve->high <= 2e4 ? std::min(max_tilt_, 40000 / pair.curve->high) : 0;
    }
    if (const double mu = pair.lattice_mu; mu > 0) {
      // A tilt moves the noise by tilt * mu of its 38 listed standard deviations; beyond, the
      // divergence is that of the noise unsampled.
      ceiling_ = kInfinity;
      slope_ = mu * mu / 2;
      max_tilt_ = std::min(max_tilt_, 25 / mu);
    }
    if (infinite_ || max_tilt_ <= 0) return;
    nodes_ = loss_nodes(pair, std::max(max_tilt_, 1.0));
    for (const LossNode& node : nodes_) {
      kl_ += node.loss < -30 ? std::exp(node.log_weight - node.loss)
                             : std::exp(node.log_weight) * excess(node.loss);
    }
    kl_ += pair.q_only;
  }

  double at(double order) const {
    if (infinite_) return kInfinity;
    // Sampling never adds divergence, and no divergence exceeds the largest loss.
    const double bound = std::min(ceiling_, slope_ > 0 ? order * slope_ * kInflate : kInfinity);
    if (order - 1 > max_tilt_) return bound;
    return std::min(bound, integral(order - 1) * kInflate);
  }

 private:
  double integral(double t) const {
    double top = -kInfinity;
    for (const LossNode& node : nodes_) top = std::max(top, node.log_weight + t * node.loss);
    double sum = 0;
    for (const LossNode& node : nodes_) {
      const double exponent = node.log_weight + t * node.loss - top;
      if (exponent > -60) sum += std::exp(exponent);
    }
    const double log_moment = top + std::log(sum);
    if (log_moment > 0.3) return log_moment / t;
    double small = 0;
    for (const LossNode& node : nodes_) {
      const double u = t * node.loss;
      small += u > 30 ? std::exp(node.log_weight + u) : std::exp(node.log_weight) * excess(-u);
    }
    return std::log1p(t * kl_ + small) / t;
  }

  bool infinite_;
  double ceiling_ = kInfinity;
  double slope_ = 0;
  double max_tilt_ = 511.5;
  std::vector<LossNode> nodes_;
  double kl_ = 0;
};

Divergences of_pair(const DominatingPair& pair, const std::vector<double>& orders) {
  const PairDivergence divergence(pair);
  Divergences result;
  for (const double order : orders) result.push_back(divergence.at(order));
  return result;
}

Divergences linear(const Ratio& rho, const std::vector<double>& orders) {
  const double slope = round_up(rho);
  Divergences result;
  for (const double order : orders) result.push_back(order * slope * (1 + 2e-16));
  return result;
}

/// (order - 1) D_order is convex in the order and 0 at order 1, so it lies below its chords.
double interpolated(const events::Rdp& curve, double order) {
  double left = 1;
  double left_value = 0;
  for (std::size_t i = 0; i < curve.orders.size(); ++i) {
    const double right = curve.orders[i];
    const double value = curve.epsilons[i] == 0 ? 0 : (right - 1) * curve.epsilons[i];
    if (order == right) return curve.epsilons[i];
    if (order < right) {
      if (std::isinf(value)) return kInfinity;
      const double share = (order - left) / (right - left);
      return (left_value + share * (value - left_value)) / (order - 1) * kInflate;
    }
    left = right;
    left_value = value;
  }
  return kInfinity;
}

Divergences of_kind(const Event::Kind& kind, const std::vector<double>& orders);

Divergences of_parts(const std::vector<Event>& events, const std::vector<double>& orders) {
  Divergences total(orders.size(), 0.0);
  for (const EventCount& part : flatten(events)) {
    const Divergences one = of_kind(part.kind, orders);
    for (std::size_t i = 0; i < total.size(); ++i) {
      total[i] += one[i] == 0 ? 0 : part.count * one[i] * (1 + 4e-16);
    }
  }
  return total;
}

/// E_Q[((1-q) + q r)^order] <= (1-q) + q E_Q[r^order] by convexity, in both directions and jointly
/// for mixtures with a common part.
Divergences amplified_by_convexity(Divergences inner, double rate,
                                   const std::vector<double>& orders) {
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double t = orders[i] - 1;
    const double log_moment = t * inner[i];
    if (log_moment > 500) {
      inner[i] = std::min(inner[i], (log_moment + std::log(rate) + 1e-12) / t);
    } else {
      inner[i] = std::log1p(rate * std::expm1(log_moment)) / t * kInflate;
    }
  }
  return inner;
}

/// True when the events inside a sample form one simple pair.
bool is_simple(const std::vector<Event>& events) {
  const std::vector<EventCount> flat = flatten(events);
  bool gaussians = true;
  for (const EventCount& part : flat) {
    gaussians = gaussians && std::holds_alternative<events::Gaussian>(part.kind);
  }
  if (gaussians) return true;
  if (flat.size() != 1 || flat[0].count != 1) return false;
  const Event::Kind& kind = flat[0].kind;
  if (const auto* noise = std::get_if<events::DiscreteGaussian>(&kind)) {
    return (noise->dimension == 1 || noise->l2_sensitivity == 1) && noise->sigma < 400;
  }
  if (const auto* noise = std::get_if<events::DiscreteLaplace>(&kind)) {
    return noise->l1_sensitivity < Ratio(Integer(kMostAtoms));
  }
  return !std::holds_alternative<events::Zcdp>(kind) &&
         !std::holds_alternative<events::Rdp>(kind) &&
         !std::holds_alternative<events::PoissonSampled>(kind) &&
         !std::holds_alternative<events::SampledWithoutReplacement>(kind);
}

Divergences sampled(const Event::Kind& kind, const std::vector<Event>& events, const Ratio& rate,
                    Relation relation, const std::vector<double>& orders) {
  if (!is_simple(events)) {
    return amplified_by_convexity(of_parts(events, orders), round_up(rate), orders);
  }
  const std::vector<Event> whole = {{kind, relation, 1}};
  Divergences result = of_pair(dominating_pairs(whole, Direction::kRemove)[0].pair, orders);
  if (!has_direction(whole)) return result;
  const Divergences other = of_pair(dominating_pairs(whole, Direction::kAdd)[0].pair, orders);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], other[i]);
  return result;
}

struct DivergencesOf {
  const Event::Kind& kind;
  const std::vector<double>& orders;

  Divergences operator()(const events::Gaussian& e) const {
    return linear(e.l2_sensitivity * e.l2_sensitivity / (2 * e.sigma * e.sigma), orders);
  }
  Divergences operator()(const events::DiscreteGaussian& e) const {
    return linear(e.l2_sensitivity * e.l2_sensitivity / (2 * e.sigma * e.sigma), orders);
  }
  Divergences operator()(const events::Zcdp& e) const { return linear(e.rho, orders); }
  Divergences operator()(const events::Rdp& e) const {
    Divergences result;
    for (const double order : orders) result.push_back(interpolated(e, order));
    return result;
  }
  // The pair covers every mechanism of this bounded range at once; each of them alone has rho =
  // epsilon^2/8, which is smaller at low orders.
  Divergences operator()(const events::Exponential& e) const {
    Divergences result = of_pair(
        dominating_pairs({{kind, Relation::kAddRemove, 1}}, Direction::kRemove)[0].pair, orders);
    const Divergences concentrated = linear(e.epsilon * e.epsilon / 8, orders);
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = std::min(result[i], concentrated[i]);
    return result;
  }
  Divergences operator()(const events::SparseVector& e) const {
    const Divergences whole =
        of_kind(events::Pure{*pure_epsilon({e, Relation::kAddRemove, 1})}, orders);
    Divergences result(orders.size(), 0.0);
    for (const PairCount& part :
         dominating_pairs({{kind, Relation::kAddRemove, 1}}, Direction::kRemove)) {
      const Divergences one = of_pair(part.pair, orders);
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] += part.count * one[i] * (1 + 4e-16);
    }
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::min(result[i], whole[i]);
    return result;
  }
  Divergences operator()(const events::PoissonSampled& e) const {
    return sampled(kind, e.events, e.rate, Relation::kAddRemove, orders);
  }
  Divergences operator()(const events::SampledWithoutReplacement& e) const {
    return sampled(kind, e.events, Ratio(Integer(e.sample), Integer(e.population)),
                   Relation::kReplace, orders);
  }
  template <class Other>
  Divergences operator()(const Other&) const {
    return of_pair(dominating_pairs({{kind, Relation::kAddRemove, 1}}, Direction::kRemove)[0].pair,
                   orders);
  }
};

Divergences of_kind(const Event::Kind& kind, const std::vector<double>& orders) {
  return std::visit(DivergencesOf{kind, orders}, kind);
}

void collect_orders(const std::vector<Event>& events, std::vector<double>& orders) {
  for (const Event& event : events) {
    if (const auto* rdp = std::get_if<events::Rdp>(&event.kind)) {
      orders.insert(orders.end(), rdp->orders.begin(), rdp->orders.end());
    } else if (const auto* composed = std::get_if<events::Composed>(&event.kind)) {
      collect_orders(composed->events, orders);
    } else if (const auto* poisson = std::get_if<events::PoissonSampled>(&event.kind)) {
      collect_orders(poisson->events, orders);
    } else if (const auto* fixed = std::get_if<events::SampledWithoutReplacement>(&event.kind)) {
      collect_orders(fixed->events, orders);
    }
  }
}

template <class Bound>
double smallest(const RenyiCurve& curve, double start, Bound bound) {
  double best = start;
  for (std::size_t i = 0; i < curve.orders.size(); ++i) {
    if (std::isfinite(curve.epsilons[i])) {
      best = std::min(best, bound(curve.orders[i], curve.epsilons[i]));
    }
  }
  return best;
}

bool all_zero(const RenyiCurve& curve) {
  return std::all_of(curve.epsilons.begin(), curve.epsilons.end(),
                     [](double epsilon) { return epsilon == 0; });
}

}  // namespace

std::vector<double> renyi_orders(const std::vector<Event>& events) {
  std::vector<double> orders;
  for (int k = 8; k >= 2; --k) orders.push_back(1 + std::pow(10.0, -k));
  orders.push_back(1.05);
  for (int k = 1; k < 100; ++k) orders.push_back(1 + k / 10.0);
  for (int k = 11; k <= 512; ++k) orders.push_back(k);
  for (int k = 1; k <= 44; ++k) orders.push_back(512 * std::pow(2.0, k / 4.0));
  collect_orders(events, orders);
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

RenyiCurve renyi_curve(const std::vector<Event>& events, std::vector<double> orders) {
  if (orders.empty()) orders = renyi_orders(events);
  Divergences epsilons = of_parts(events, orders);
  return {std::move(orders), std::move(epsilons)};
}

double renyi_epsilon(const RenyiCurve& curve, double delta) {
  if (all_zero(curve)) return 0;
  if (delta == 0) return kInfinity;
  const double best = smallest(curve, kInfinity, [&](double order, double epsilon) {
    return epsilon + std::log1p(-1 / order) - (std::log(delta) + std::log(order)) / (order - 1);
  });
  return std::max(0.0, best + 1e-14 * std::abs(best));
}

double renyi_epsilon_classic(const RenyiCurve& curve, double delta) {
  if (all_zero(curve)) return 0;
  if (delta == 0) return kInfinity;
  const double best = smallest(curve, kInfinity, [&](double order, double epsilon) {
    return epsilon - std::log(delta) / (order - 1);
  });
  return best * (1 + 1e-14);
}

double renyi_delta(const RenyiCurve& curve, double epsilon) {
  if (all_zero(curve)) return 0;
  const double best = smallest(curve, 0.0, [&](double order, double divergence) {
    return (order - 1) * (divergence - epsilon + std::log1p(-1 / order)) - std::log(order);
  });
  return std::min(1.0, std::exp(best + 1e-14 * std::abs(best)));
}

}  // namespace gauze
