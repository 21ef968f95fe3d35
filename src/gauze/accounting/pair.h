#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gauze/accounting/event.h"

namespace gauze {

/// One value of the privacy loss ln(p/q) and its probability under P and under Q.
struct LossAtom {
  double loss;
  double p;
  double q;
};

/// Losses spread over [low, high] with P-density e^(log_height + l/2 - curvature l^2 / 2) and
/// Q-density e^(-l) times that. Gaussian noise has curvature 1/mu^2 on the whole line; the middle
/// part of Laplace noise and the exponential mechanism have curvature 0.
struct LossCurve {
  double log_height;
  double curvature;
  double low;
  double high;
};

/// Two distributions, given by the law of their loss, that are at least as far apart as the outputs
/// of a mechanism on any neighbours: what the mechanism leaks at any epsilon, alone or composed,
/// is at most what the pair does. Argument: pair.md
struct DominatingPair {
  /// How `curve` is to be read: its own losses, or those of the sampled mechanism.
  enum class View : std::uint8_t { kPlain, kPoissonRemove, kPoissonAdd, kWithoutReplacement };

  std::vector<LossAtom> atoms;
  std::optional<LossCurve> curve;
  View view = View::kPlain;
  double rate = 1;
  double p_only = 0;      ///< P-probability of what is impossible under Q: infinite loss
  double q_only = 0;      ///< Q-probability of what is impossible under P
  double spacing = 0;     ///< the atoms' losses are multiples of this; 0 when they are not
  double loss_slack = 0;  ///< the true loss may exceed the pair's by this much,
  double mass_slack = 0;  ///< and probabilities by the factor e^mass_slack
  double lattice_mu =
      0;  ///< when positive, the atoms are those of Gaussian noise on a lattice, mu =
          ///< shift/sigma; they go on for ever, and only 38 sigma are listed

  double loss(double l) const;     ///< what the base loss l of the curve becomes in this view
  double base(double loss) const;  ///< the inverse of `loss`; infinite outside its range
  double log_p(double l) const;    ///< logarithm of the P-density in this view, by base loss
  std::pair<double, double> loss_and_log_p(double l) const;  ///< both at once, faster
  double largest() const;         ///< least upper bound of finite losses; may be infinite
  double smallest() const;        ///< greatest lower bound of losses; may be -infinity
  double relative_error() const;  ///< bound on the relative error of every computed probability
};

/// Which of two neighbours has the unit.
enum class Direction : std::uint8_t { kRemove, kAdd };

/// A pair and how often it is composed.
struct PairCount {
  DominatingPair pair;
  double count;
};

/// The pairs of all events in one direction, equal events merged, Gaussians merged into one; a sparse
/// vector has two.
/// Throws `kCannotCompose` for events that have no loss distribution (zcdp, rdp, vectors of
/// discrete Gaussian noise).
std::vector<PairCount> dominating_pairs(const std::vector<Event>& events, Direction direction);

/// Compositions of Gaussian noise, of discrete Gaussian noise so fine that it is compared with the normal
/// distribution, and of (0, delta) alone: the loss is that of one Gaussian, up to the slacks of the pairs.
struct NormalLoss {
  Ratio mu_squared = 0;   ///< sum of (l2_sensitivity/sigma)^2
  double leaked = 0;      ///< probability of infinite loss, at most
  double loss_slack = 0;  ///< of all pairs together
  double mass_slack = 0;
};

/// Nothing when something else is among the events, or no noise is.
std::optional<NormalLoss> normal_loss(const std::vector<Event>& events);

/// True when the two directions can differ: something is Poisson-sampled.
bool has_direction(const std::vector<Event>& events);

/// Equal events merged, nested compositions opened: the same composition as a flat list.
struct EventCount {
  Event::Kind kind;
  double count;  ///< rounded up
};
std::vector<EventCount> flatten(const std::vector<Event>& events);

/// A point of a quadrature for integrals over the loss under P.
struct LossNode {
  double loss;
  double log_weight;
};

/// Points and weights, exact to about 1e-13, of E_P[f(loss)] for f = e^(t loss) with t up to about
/// `max_tilt`; what lies outside has a weight below every double. More than `most_atoms` atoms are
/// merged in runs, which makes it an estimate.
std::vector<LossNode> loss_nodes(const DominatingPair& pair, double max_tilt,
                                 std::size_t most_atoms = SIZE_MAX);

}  // namespace gauze
