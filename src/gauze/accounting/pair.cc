#include "gauze/accounting/pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <unordered_map>

#include "gauze/accounting/loss.h"
#include "gauze/accounting/pld.h"
#include "gauze/base/error.h"
#include "gauze/numeric/infinity.h"

namespace gauze {
namespace {

constexpr double kUlp = 0x1p-52;
// Largest standard deviation for which discrete Gaussian losses are listed one by one.
constexpr double kLargestListedSigma = 0x1p17;
constexpr double kLargestListedSensitivity = 0x1p20;

using View = DominatingPair::View;

/// Above the exact value whatever the rounding of the few operations before was.
double nudged(double loss) {
  return loss + 8 * kUlp * std::abs(loss);
}

/// ln(1 - rate + rate e^l).
double mixed(double rate, double l) {
  if (l > 500) return l + std::log(rate) + std::log1p((1 - rate) / rate * std::exp(-l));
  return std::log1p(rate * std::expm1(l));
}

/// The l with ln(1 - rate + rate e^l) = loss; -infinity when there is none.
double unmixed(double rate, double loss) {
  if (loss > 500) return loss - std::log(rate) + std::log1p((rate - 1) * std::exp(-loss));
  const double ratio = std::expm1(loss) / rate;
  return ratio > -1 ? std::log1p(ratio) : -kInfinity;
}

DominatingPair nothing() {
  DominatingPair pair;
  pair.atoms = {{0, 1, 1}};
  return pair;
}

/// Nothing is known but epsilon (and delta): Kairouz, Oh and Viswanath 2015, Theorem 3.4.
DominatingPair approximate_pair(const Ratio& epsilon, const Ratio& delta) {
  DominatingPair pair;
  const double e = round_up(epsilon);
  const double d = round_up(delta);
  pair.p_only = pair.q_only = d;
  if (d >= 1) return pair;
  if (e == 0) {
    pair.atoms = {{0, 1 - d, 1 - d}};
    return pair;
  }
  const double likely = (1 - d) / (1 + std::exp(-e));
  const double unlikely = (1 - d) / (1 + std::exp(e));
  pair.atoms = {{e, likely, unlikely}, {-e, unlikely, likely}};
  pair.spacing = e;
  return pair;
}

DominatingPair gaussian_pair(const Ratio& mu_squared) {
  // Below 1e-100 squares leave the range of doubles; more distance only raises the loss.
  const double mu = std::max(1e-100, std::sqrt(round_up(mu_squared)) * (1 + 2 * kUlp));
  DominatingPair pair;
  pair.curve = LossCurve{-mu * mu / 8 - std::log(mu) - std::log(2 * std::numbers::pi) / 2,
                         1 / mu / mu, -kInfinity, kInfinity};
  return pair;
}

DominatingPair laplace_pair(const Ratio& epsilon) {
  const double e = round_up(epsilon);
  DominatingPair pair;
  const double small = std::exp(-e) / 2;
  pair.atoms = {{e, 0.5, small}, {-e, small, 0.5}};
  pair.curve = LossCurve{-std::log(4.0) - e / 2, 0, -e, e};
  pair.spacing = e;
  return pair;
}

DominatingPair exponential_pair(const Ratio& epsilon) {
  const double e = round_up(epsilon);
  if (e == 0) return nothing();
  DominatingPair pair;
  pair.curve = LossCurve{-e / 2 - std::log(-2 * std::expm1(-e)), 0, -e, e};
  return pair;
}

DominatingPair discrete_laplace_pair(const events::DiscreteLaplace& event) {
  const Ratio epsilon = event.l1_sensitivity / event.scale;
  const double sensitivity = round_up(event.l1_sensitivity);
  const double step = round_up(Ratio(1) / event.scale);
  const double r = std::exp(-step);
  DominatingPair pair;
  const double e = round_up(epsilon);
  const double tail = 1 / (1 + r);
  pair.atoms = {{e, tail, tail * std::exp(-e)}, {-e, tail * std::exp(-e), tail}};
  const double height = std::tanh(step / 2);
  if (sensitivity > kLargestListedSensitivity) {
    // Runs of losses are raised to their largest: at most epsilon / 2^19 each.
    const double run = std::ceil(sensitivity / kLargestListedSensitivity);
    for (double x = 1; x < sensitivity; x += run) {
      const double last = std::min(x + run, sensitivity) - 1;
      const double loss = nudged((2 * last - sensitivity) * step);
      const double sum = std::expm1(-(last - x + 1) * step) / std::expm1(-step);
      const double p = height * std::exp(-(sensitivity - last) * step) * sum;
      pair.atoms.push_back({loss, p, p * std::exp(-loss)});
    }
    double q_sum = 0;
    for (const LossAtom& atom : pair.atoms) q_sum += atom.q;
    pair.q_only = std::max(0.0, 1 - q_sum);
    return pair;
  }
  for (double x = 1; x < sensitivity; ++x) {
    pair.atoms.push_back({nudged((2 * x - sensitivity) * step),
                          height * std::exp(-(sensitivity - x) * step),
                          height * std::exp(-x * step)});
  }
  pair.spacing = step;
  return pair;
}

/// Discrete Gaussian noise. Up to a large sigma its losses are listed; beyond, it
/// is compared with normal noise rounded to integers (pair.md).
DominatingPair discrete_gaussian_pair(const events::DiscreteGaussian& event) {
  const double sigma = round_up(event.sigma);
  const double shift = round_up(event.l2_sensitivity);
  // Beyond this many standard deviations lies less than the smallest double.
  constexpr double kReach = 39;
  if (sigma > kLargestListedSigma) {
    DominatingPair pair =
        gaussian_pair(event.l2_sensitivity * event.l2_sensitivity / (event.sigma * event.sigma));
    constexpr double kNear = 14;
    const double coordinates = std::max(1.0, static_cast<double>(event.dimension));
    const auto off = [&](double z) { return coordinates * (z * z + 1) / (23 * sigma * sigma); };
    pair.mass_slack = off(kNear + shift / sigma);
    pair.loss_slack = 2 * pair.mass_slack;
    pair.p_only = pair.q_only = coordinates * 2 * std::exp(-kNear * kNear / 2);
    return pair;
  }
  const double step = round_up(event.l2_sensitivity / (2 * event.sigma * event.sigma));
  const double variance = round_down(event.sigma * event.sigma);
  const double reach = std::ceil(kReach * sigma) + 1;
  // Smallest terms first; the tail beyond is below every double.
  double total = 0;
  for (double x = reach; x >= 1; --x) total += 2 * std::exp(-x * x / (2 * variance));
  total += 1;
  DominatingPair pair;
  for (double x = -reach; x <= reach + shift; ++x) {
    const double p = std::exp(-(x - shift) * (x - shift) / (2 * variance)) / total;
    const double q = std::exp(-x * x / (2 * variance)) / total;
    if (p == 0 && q == 0) continue;
    pair.atoms.push_back({nudged((2 * x - shift) * step), p, q});
  }
  pair.spacing = step;
  pair.lattice_mu = round_up(event.l2_sensitivity / event.sigma);
  return pair;
}

DominatingPair randomized_response_pair(const Event::Kind& kind) {
  const auto& event = std::get<events::RandomizedResponse>(kind);
  const double e = round_up(*pure_epsilon({kind, Relation::kLocal, 1}));
  const Ratio lie = (Ratio(1) - event.p) / Ratio(Integer(event.options - 1));
  const double p = round_up(event.p);
  const double q = round_up(lie);
  if (e == 0) return nothing();
  DominatingPair pair;
  pair.atoms = {{e, p, q}, {-e, q, p}};
  if (event.options > 2) {
    const double rest = round_up(lie * Ratio(Integer(event.options - 2)));
    pair.atoms.push_back({0, rest, rest});
  }
  pair.spacing = e;
  return pair;
}

/// Waiting for one answer above: how many coins fall below before one falls above, when above has
/// odds e^epsilon under P and e^-epsilon under Q (pair.md). What is rarer than 1e-20 counts as
/// a higher loss, far below zero all the same.
DominatingPair waiting_pair(const Ratio& epsilon) {
  const double e = round_up(epsilon);
  if (e == 0) return nothing();
  const double likely = 1 / (1 + std::exp(-e));
  const double unlikely = 1 / (1 + std::exp(e));
  DominatingPair pair;
  double p = likely;
  double q = unlikely;
  double left = 1;
  for (double k = 0; left > 1e-20; ++k) {
    pair.atoms.push_back({nudged(e * (1 - k)), p, q});
    left = p / likely * unlikely;  // P beyond this atom
    p *= unlikely;
    q *= likely;
  }
  pair.atoms.back().p += left;
  double q_sum = 0;
  for (const LossAtom& atom : pair.atoms) q_sum += atom.q;
  pair.q_only = std::max(0.0, 1 - q_sum);
  pair.spacing = e;
  return pair;
}

DominatingPair mirrored(DominatingPair pair) {
  for (LossAtom& atom : pair.atoms) atom = {nudged(-atom.loss), atom.q, atom.p};
  std::swap(pair.p_only, pair.q_only);
  return pair;
}

/// With a curve between atoms the grid is aligned with the largest loss; sampled atoms alone have
/// no common lattice.
double top_atom(const DominatingPair& pair) {
  double top = 0;
  if (!pair.curve) return 0;
  for (const LossAtom& atom : pair.atoms) top = std::max(top, atom.loss);
  return top;
}

/// P-only probability after sampling. Where the pair is only close to the mechanism, what is out of
/// reach is so under both distributions, and sampling does not make it rarer.
double lost(const DominatingPair& base, double rate) {
  return base.loss_slack > 0 ? base.p_only : rate * base.p_only;
}

/// Removing a Poisson-sampled unit: (1 - rate) Q + rate P against Q.
DominatingPair poisson_remove(const DominatingPair& base, double rate) {
  DominatingPair pair = base;
  pair.view = View::kPoissonRemove;
  pair.rate = rate;
  pair.atoms.clear();
  for (const LossAtom& atom : base.atoms) {
    const double loss = mixed(rate, atom.loss);
    pair.atoms.push_back({nudged(loss), (1 - rate) * atom.q + rate * atom.p, atom.q});
  }
  if (base.q_only > 0) {
    pair.atoms.push_back({std::log1p(-rate), (1 - rate) * base.q_only, base.q_only});
  }
  pair.p_only = lost(base, rate);
  pair.q_only = 0;
  pair.spacing = top_atom(pair);
  return pair;
}

/// Adding one: Q against (1 - rate) Q + rate P.
DominatingPair poisson_add(const DominatingPair& base, double rate) {
  DominatingPair pair = base;
  pair.view = View::kPoissonAdd;
  pair.rate = rate;
  pair.atoms.clear();
  for (const LossAtom& atom : base.atoms) {
    const double loss = -mixed(rate, atom.loss);
    pair.atoms.push_back({nudged(loss), atom.q, (1 - rate) * atom.q + rate * atom.p});
  }
  if (base.q_only > 0) {
    pair.atoms.push_back({nudged(-std::log1p(-rate)), base.q_only, (1 - rate) * base.q_only});
  }
  pair.p_only = 0;
  pair.q_only = rate * base.p_only;
  pair.spacing = top_atom(pair);
  return pair;
}

/// Probabilities of a positive loss under P and under Q.
std::pair<double, double> positive_part(const LossCurve& curve) {
  if (curve.curvature > 0) {
    const double half = 1 / std::sqrt(8 * curve.curvature);
    return {std::erfc(-half) / 2, std::erfc(half) / 2};
  }
  const double even = -2 * std::expm1(-curve.high / 2);
  return {even * std::exp(curve.log_height + curve.high / 2), even * std::exp(curve.log_height)};
}

/// Replacing one unit of a sample without replacement: the positive losses of the Poisson form, the
/// same mirrored, and what is left at zero.
DominatingPair without_replacement(const DominatingPair& base, double rate) {
  DominatingPair pair = base;
  pair.view = View::kWithoutReplacement;
  pair.rate = rate;
  pair.atoms.clear();
  double used = lost(base, rate);
  for (const LossAtom& atom : base.atoms) {
    if (!(atom.loss > 0)) continue;
    const double loss = mixed(rate, atom.loss);
    const double p = (1 - rate) * atom.q + rate * atom.p;
    pair.atoms.push_back({nudged(loss), p, atom.q});
    pair.atoms.push_back({nudged(-loss), atom.q, p});
    used += p + atom.q;
  }
  if (base.curve) {
    const auto [p, q] = positive_part(*base.curve);
    used += rate * p + (2 - rate) * q;
  }
  pair.p_only = pair.q_only = lost(base, rate);
  const double rest = std::max(0.0, 1 - used) + 1e-13;
  pair.atoms.push_back({0, rest, rest});
  pair.spacing = 0;
  return pair;
}

[[noreturn]] void no_pair(std::string_view what) {
  throw Error(ErrorCode::kCannotCompose, std::string(what) +
                                             " has no privacy loss distribution; use the "
                                             "accountants rdp, zcdp or best");
}

DominatingPair pair_of(const Event::Kind& kind, Direction direction);

/// Sparse vectors as any pure event: their own pair is not symmetric, which sampling asks for.
std::vector<Event> symmetric(std::vector<Event> events) {
  for (Event& event : events) {
    if (std::holds_alternative<events::SparseVector>(event.kind)) {
      event.kind = events::Pure{*pure_epsilon({event.kind, event.relation, 1})};
    } else if (auto* composed = std::get_if<events::Composed>(&event.kind)) {
      composed->events = symmetric(std::move(composed->events));
    }
  }
  return events;
}

/// What the sampled unit's events do together, as one pair.
DominatingPair inner_pair(const std::vector<Event>& events) {
  std::vector<PairCount> parts = dominating_pairs(symmetric(events), Direction::kRemove);
  if (parts.size() == 1 && parts[0].count == 1 && parts[0].pair.view == View::kPlain) {
    return std::move(parts[0].pair);
  }
  return composed_pair(parts);
}

struct PairOf {
  Direction direction;

  DominatingPair operator()(const events::Laplace& e) const {
    return laplace_pair(e.l1_sensitivity / e.scale);
  }
  DominatingPair operator()(const events::DiscreteLaplace& e) const {
    return discrete_laplace_pair(e);
  }
  DominatingPair operator()(const events::Gaussian& e) const {
    return gaussian_pair(e.l2_sensitivity * e.l2_sensitivity / (e.sigma * e.sigma));
  }
  DominatingPair operator()(const events::DiscreteGaussian& e) const {
    // A vector of integers of length 1 moves one coordinate by one; fine noise in a known number of
    // coordinates is as good as normal noise.
    const bool fine = e.dimension > 1 && round_down(e.sigma) > kLargestListedSigma;
    if (e.dimension != 1 && e.l2_sensitivity != 1 && !fine) {
      no_pair("a discrete_gaussian event in more than one dimension");
    }
    return discrete_gaussian_pair(e);
  }
  DominatingPair operator()(const events::Pure& e) const { return approximate_pair(e.epsilon, 0); }
  DominatingPair operator()(const events::Approximate& e) const {
    return approximate_pair(e.epsilon, e.delta);
  }
  DominatingPair operator()(const events::Zcdp& e) const {
    if (e.rho == 0) return nothing();
    no_pair("a zcdp event");
  }
  DominatingPair operator()(const events::Rdp&) const { no_pair("an rdp event"); }
  DominatingPair operator()(const events::RandomizedResponse& e) const {
    return randomized_response_pair(e);
  }
  DominatingPair operator()(const events::Exponential& e) const {
    return exponential_pair(e.epsilon);
  }
  DominatingPair operator()(const events::PermuteAndFlip& e) const {
    return approximate_pair(e.epsilon, 0);
  }
  DominatingPair operator()(const events::SparseVector& e) const {
    return approximate_pair(*pure_epsilon({e, Relation::kAddRemove, 1}), 0);
  }
  DominatingPair operator()(const events::PoissonSampled& e) const {
    const DominatingPair base = inner_pair(e.events);
    const double rate = round_up(e.rate);
    if (rate >= 1) return direction == Direction::kRemove ? base : mirrored(base);
    return direction == Direction::kRemove ? poisson_remove(base, rate) : poisson_add(base, rate);
  }
  DominatingPair operator()(const events::SampledWithoutReplacement& e) const {
    const DominatingPair base = inner_pair(e.events);
    if (e.sample == e.population) return base;
    return without_replacement(base, round_up(Ratio(Integer(e.sample), Integer(e.population))));
  }
  DominatingPair operator()(const events::Composed& e) const {
    return composed_pair(dominating_pairs(e.events, direction));
  }
};

DominatingPair pair_of(const Event::Kind& kind, Direction direction) {
  return std::visit(PairOf{direction}, kind);
}

void flatten_into(const std::vector<Event>& events, double count, std::vector<EventCount>& flat,
                  std::unordered_map<std::string, std::size_t>& places) {
  for (const Event& event : events) {
    const double total = std::nextafter(count * static_cast<double>(event.count), kInfinity);
    const double exact = count * static_cast<double>(event.count);
    const double n = exact < 0x1p53 ? exact : total;
    if (const auto* composed = std::get_if<events::Composed>(&event.kind)) {
      flatten_into(composed->events, n, flat, places);
      continue;
    }
    const std::string key = to_json(Event{event.kind, event.relation, 1}).dump();
    const auto [place, fresh] = places.try_emplace(key, flat.size());
    if (fresh) {
      flat.push_back({event.kind, n});
    } else {
      const double sum = flat[place->second].count + n;
      flat[place->second].count = sum < 0x1p53 ? sum : std::nextafter(sum, kInfinity);
    }
  }
}

/// Abscissae and weights of eight-point Gauss-Legendre quadrature on [-1, 1].
constexpr std::array<double, 4> kAbscissae = {0.1834346424956498, 0.5255324099163290,
                                              0.7966664774136267, 0.9602898564975363};
constexpr std::array<double, 4> kWeights = {0.3626837833783620, 0.3137066458778873,
                                            0.2223810344533745, 0.1012285362903763};

void add_panel(const DominatingPair& pair, double low, double high, std::vector<LossNode>& nodes) {
  const double middle = (low + high) / 2;
  const double half = (high - low) / 2;
  for (std::size_t i = 0; i < kAbscissae.size(); ++i) {
    for (const double sign : {-1.0, 1.0}) {
      const double l = middle + sign * half * kAbscissae[i];
      nodes.push_back({pair.loss(l), pair.log_p(l) + std::log(half * kWeights[i])});
    }
  }
}

void add_curve(const DominatingPair& pair, double max_tilt, std::vector<LossNode>& nodes) {
  constexpr double kReach = 45;
  constexpr double kMostPanels = 20000;
  const LossCurve& curve = *pair.curve;
  double low = curve.low;
  double high = curve.high;
  double width = std::min({1.0, (high - low) / 64, 4 / max_tilt});
  if (curve.curvature > 0) {
    const double mu = 1 / std::sqrt(curve.curvature);
    high = mu * mu / 2 + mu * kReach + std::min(max_tilt * mu, 4000.0) * mu;
    low = -high;
    width = std::min(1.0, mu / 2);
  }
  const double half_panels = std::ceil(std::min((high - low) / width, kMostPanels) / 2);
  // Panels meet at zero, where sampling without replacement has a kink.
  for (double i = -half_panels; i < half_panels; ++i) {
    add_panel(pair, high * (i / half_panels), high * ((i + 1) / half_panels), nodes);
  }
}

void add_atoms(std::vector<LossAtom> atoms, std::size_t most, std::vector<LossNode>& nodes) {
  const std::size_t run = atoms.size() / most + 1;
  // Only neighbours may be merged.
  if (run > 1) {
    std::sort(atoms.begin(), atoms.end(),
              [](const LossAtom& a, const LossAtom& b) { return a.loss < b.loss; });
  }
  for (std::size_t i = 0; i < atoms.size(); i += run) {
    double mass = 0;
    double moment = 0;
    for (std::size_t j = i; j < std::min(i + run, atoms.size()); ++j) {
      mass += atoms[j].p;
      moment += atoms[j].p * atoms[j].loss;
    }
    if (mass > 0) nodes.push_back({run == 1 ? atoms[i].loss : moment / mass, std::log(mass)});
  }
}

}  // namespace

double DominatingPair::loss(double l) const {
  switch (view) {
    case View::kPlain:
      return l;
    case View::kPoissonRemove:
      return mixed(rate, l);
    case View::kPoissonAdd:
      return -mixed(rate, l);
    case View::kWithoutReplacement:
      return std::copysign(mixed(rate, std::abs(l)), l);
  }
  return l;
}

double DominatingPair::base(double loss) const {
  switch (view) {
    case View::kPlain:
      return loss;
    case View::kPoissonRemove:
      return unmixed(rate, loss);
    case View::kPoissonAdd:
      return unmixed(rate, -loss);
    case View::kWithoutReplacement:
      return std::copysign(unmixed(rate, std::abs(loss)), loss);
  }
  return loss;
}

double DominatingPair::log_p(double l) const {
  const double even = curve->log_height - curve->curvature * l * l / 2;
  switch (view) {
    case View::kPlain:
      return even + l / 2;
    case View::kPoissonRemove:
      return even - l / 2 + mixed(rate, l);
    case View::kPoissonAdd:
      return even - l / 2;
    case View::kWithoutReplacement:
      return l > 0 ? even - l / 2 + mixed(rate, l) : even + l / 2;
  }
  return even;
}

std::pair<double, double> DominatingPair::loss_and_log_p(double l) const {
  const double seen = loss(l);
  if (view != View::kPoissonRemove) return {seen, log_p(l)};
  return {seen, curve->log_height - curve->curvature * l * l / 2 - l / 2 + seen};
}

double DominatingPair::largest() const {
  double result = -kInfinity;
  for (const LossAtom& atom : atoms) {
    if (atom.p > 0) result = std::max(result, atom.loss);
  }
  if (curve) {
    const double end = view == View::kPoissonAdd ? curve->low : curve->high;
    const double limit = view == View::kPoissonAdd ? -std::log1p(-rate) : kInfinity;
    result = std::max(result, std::isinf(end) ? limit : loss(end));
  }
  if (lattice_mu > 0 && view == View::kPoissonAdd) result = -std::log1p(-rate);
  return result + 8 * kUlp * std::abs(result);
}

double DominatingPair::smallest() const {
  double result = kInfinity;
  for (const LossAtom& atom : atoms) {
    if (atom.p > 0) result = std::min(result, atom.loss);
  }
  if (curve) {
    const double end = view == View::kPoissonAdd ? curve->high : curve->low;
    const double limit = view == View::kPoissonRemove ? std::log1p(-rate) : -kInfinity;
    result = std::min(result, std::isinf(end) ? limit : loss(end));
  }
  return result;
}

double DominatingPair::relative_error() const {
  return curve ? 1e-13 : 4e-15;
}

std::vector<EventCount> flatten(const std::vector<Event>& events) {
  std::vector<EventCount> flat;
  std::unordered_map<std::string, std::size_t> places;
  flatten_into(events, 1, flat, places);
  return flat;
}

std::vector<PairCount> dominating_pairs(const std::vector<Event>& events, Direction direction) {
  std::vector<PairCount> result;
  Ratio mu_squared = 0;
  for (const EventCount& part : flatten(events)) {
    if (const auto* gaussian = std::get_if<events::Gaussian>(&part.kind)) {
      mu_squared += ratio_of_bits(part.count) * gaussian->l2_sensitivity *
                    gaussian->l2_sensitivity / (gaussian->sigma * gaussian->sigma);
    } else if (const auto* sparse = std::get_if<events::SparseVector>(&part.kind)) {
      result.push_back({approximate_pair(sparse->threshold_epsilon, 0), part.count});
      const double waits = part.count * static_cast<double>(sparse->positives);
      result.push_back({waiting_pair(sparse->positive_epsilon),
                        waits < 0x1p53 ? waits : std::nextafter(waits, kInfinity)});
    } else {
      result.push_back({pair_of(part.kind, direction), part.count});
    }
  }
  if (mu_squared > 0) result.push_back({gaussian_pair(mu_squared), 1});
  return result;
}

std::optional<NormalLoss> normal_loss(const std::vector<Event>& events) {
  NormalLoss total;
  bool any = false;
  const auto add_noise = [&](const Ratio& sensitivity, const Ratio& sigma, double count) {
    total.mu_squared += ratio_of_bits(count) * sensitivity * sensitivity / (sigma * sigma);
    any = true;
  };
  const std::vector<EventCount> parts = flatten(events);
  for (const EventCount& part : parts) {
    DominatingPair pair;
    if (const auto* gaussian = std::get_if<events::Gaussian>(&part.kind)) {
      add_noise(gaussian->l2_sensitivity, gaussian->sigma, part.count);
    } else if (const auto* fine = std::get_if<events::DiscreteGaussian>(&part.kind);
               fine && fine->dimension >= 1 && round_down(fine->sigma) > kLargestListedSigma) {
      add_noise(fine->l2_sensitivity, fine->sigma, part.count);
      pair = discrete_gaussian_pair(*fine);
    } else if (const auto* lone = std::get_if<events::Approximate>(&part.kind);
               lone && lone->epsilon == 0) {
      pair.p_only = round_up(lone->delta);
    } else {
      return std::nullopt;
    }
    total.leaked += part.count * pair.p_only;
    total.loss_slack += part.count * pair.loss_slack;
    total.mass_slack += part.count * pair.mass_slack;
  }
  if (!any) return std::nullopt;
  const double rounding = 1 + 4e-16 * (static_cast<double>(parts.size()) + 2);
  total.leaked *= rounding;
  total.loss_slack *= rounding;
  total.mass_slack *= rounding;
  return total;
}

bool has_direction(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (std::holds_alternative<events::PoissonSampled>(event.kind)) return true;
    if (const auto* composed = std::get_if<events::Composed>(&event.kind)) {
      if (has_direction(composed->events)) return true;
    }
  }
  return false;
}

std::vector<LossNode> loss_nodes(const DominatingPair& pair, double max_tilt,
                                 std::size_t most_atoms) {
  std::vector<LossNode> nodes;
  add_atoms(pair.atoms, most_atoms, nodes);
  if (pair.curve) add_curve(pair, max_tilt, nodes);
  return nodes;
}

}  // namespace gauze
