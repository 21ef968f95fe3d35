#include "gauze/accounting/accountant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "gauze/accounting/composition.h"
#include "gauze/accounting/gaussian.h"
#include "gauze/accounting/loss.h"
#include "gauze/accounting/pair.h"
#include "gauze/accounting/pld.h"
#include "gauze/accounting/rdp.h"
#include "gauze/accounting/zcdp.h"
#include "gauze/base/error.h"
#include "gauze/numeric/infinity.h"

namespace gauze {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"pure", "basic", "advanced", "zcdp",
                                                    "rdp",  "pld",   "gaussian", "best"};
// Above this many steps the grid of the PLD is coarse and the Renyi curve may be the tighter one.
constexpr double kManySteps = 1e6;

[[noreturn]] void no_theorem(Accountant accountant, const char* others) {
  throw Error(ErrorCode::kCannotCompose, "accountant " + std::string(name(accountant)) +
                                             " has no theorem for one of these events; use " +
                                             others);
}

Ratio pure_total(const std::vector<Event>& events) {
  Ratio total = 0;
  for (const Event& event : events) {
    const auto one = pure_epsilon(event);
    if (!one) no_theorem(Accountant::kPure, "zcdp, rdp, pld or best");
    total += *one;
  }
  return total;
}

ApproximateLoss basic_total(const std::vector<Event>& events) {
  ApproximateLoss total{0, 0};
  for (const Event& event : events) {
    const auto one = approximate_loss(event);
    if (!one) no_theorem(Accountant::kBasic, "zcdp, rdp, pld or best");
    total.epsilon += one->epsilon;
    total.delta += one->delta;
  }
  return total;
}

ConcentratedLoss concentrated_total(const std::vector<Event>& events) {
  ConcentratedLoss total{0, 0};
  for (const Event& event : events) {
    const auto one = concentrated_loss(event);
    if (!one) no_theorem(Accountant::kZcdp, "rdp, pld or best");
    total.rho += one->rho;
    total.delta += one->delta;
  }
  return total;
}

/// What is (epsilon, d) outside an event of probability `own` is (epsilon, own + (1 - own) d).
double concentrated_epsilon(const ConcentratedLoss& loss, double delta) {
  const Ratio given = ratio_of_decimal(delta);
  if (loss.delta > given) return kInfinity;
  if (loss.delta == 0) return zcdp_epsilon(loss.rho, delta);
  return zcdp_epsilon(loss.rho, round_down(Ratio((given - loss.delta) / (1 - loss.delta))));
}

double concentrated_delta(const ConcentratedLoss& loss, double epsilon) {
  const double rest = zcdp_delta(loss.rho, epsilon);
  if (loss.delta == 0) return rest;
  if (loss.delta >= 1) return 1;
  return std::min(1.0, round_up(loss.delta + (1 - loss.delta) * ratio_of_bits(rest)));
}

NormalLoss normal_total(const std::vector<Event>& events) {
  const auto total = normal_loss(events);
  if (!total) no_theorem(Accountant::kGaussian, "zcdp, rdp, pld or best");
  return *total;
}

/// Slacks and the rounding of this arithmetic, 8 operations at most, go upward (gaussian.md).
double normal_epsilon(const NormalLoss& loss, double delta) {
  if (loss.leaked == 0 && loss.mass_slack == 0) return gaussian_epsilon(loss.mu_squared, delta);
  const double left =
      (delta * (1 - 1e-15) - loss.leaked) * std::exp(-loss.mass_slack) * (1 - 1e-15);
  if (!(left > 0)) return kInfinity;
  return (gaussian_epsilon(loss.mu_squared, left) + loss.loss_slack) * (1 + 1e-15);
}

double normal_delta(const NormalLoss& loss, double epsilon) {
  if (loss.leaked == 0 && loss.mass_slack == 0) return gaussian_delta(loss.mu_squared, epsilon);
  const double at = epsilon * (1 - 1e-15) - loss.loss_slack;
  const double finite = std::exp(loss.mass_slack) * gaussian_delta(loss.mu_squared, at);
  return std::min(1.0, (finite + loss.leaked) * (1 + 1e-15));
}

std::vector<ApproximateCount> approximate_parts(const std::vector<Event>& events) {
  std::vector<ApproximateCount> parts;
  for (const EventCount& part : flatten(events)) {
    const auto one = approximate_loss({part.kind, Relation::kAddRemove, 1});
    if (!one) no_theorem(Accountant::kAdvanced, "zcdp, rdp, pld or best");
    parts.push_back({round_up(one->epsilon), round_up(one->delta), part.count});
  }
  return parts;
}

/// The smallest reading over the usual orders. Each order alone is a bound, and readings fall and then
/// rise with the order: every eighth is read first, then those around the best of them. Given curves
/// have orders of their own, and are read at all.
template <class Read>
double over_orders(const std::vector<Event>& events, Read read) {
  const std::vector<double> all = renyi_orders(events);
  if (all.size() > renyi_orders({}).size()) return read(renyi_curve(events, all));
  constexpr std::size_t kStride = 8;
  std::vector<double> few;
  for (std::size_t i = 0; i < all.size(); i += kStride) few.push_back(all[i]);
  RenyiCurve coarse = renyi_curve(events, few);
  const auto is_zero = [](double epsilon) { return epsilon == 0; };
  if (std::all_of(coarse.epsilons.begin(), coarse.epsilons.end(), is_zero)) return read(coarse);
  // A zero beside others is one that underflowed; alone it would read as no loss at all.
  const auto lift = [](RenyiCurve& curve) {
    for (double& epsilon : curve.epsilons) {
      epsilon = std::max(epsilon, std::numeric_limits<double>::denorm_min());
    }
  };
  lift(coarse);
  std::size_t best = 0;
  double least = kInfinity;
  for (std::size_t i = 0; i < few.size(); ++i) {
    const double value = read(RenyiCurve{{few[i]}, {coarse.epsilons[i]}});
    if (value < least) {
      least = value;
      best = i;
    }
  }
  const std::size_t from = best == 0 ? 0 : (best - 1) * kStride;
  const std::size_t to = std::min(all.size(), (best + 1) * kStride);
  const std::vector<double> near(all.begin() + static_cast<std::ptrdiff_t>(from),
                                 all.begin() + static_cast<std::ptrdiff_t>(to));
  RenyiCurve fine = renyi_curve(events, near);
  lift(fine);
  return std::min(least, read(fine));
}

template <class Read>
double over_directions(const std::vector<Event>& events, Read read) {
  const double remove = read(dominating_pairs(events, Direction::kRemove));
  if (!has_direction(events)) return remove;
  return std::max(remove, read(dominating_pairs(events, Direction::kAdd)));
}

/// A number the accountant computes: epsilon at a delta, or delta at an epsilon.
struct Question {
  const std::vector<Event>& events;
  bool wants_epsilon;
  double given;

  double answer(Accountant accountant) const {
    return wants_epsilon ? epsilon(accountant) : delta(accountant);
  }

 private:
  double epsilon(Accountant accountant) const {
    switch (accountant) {
      case Accountant::kPure:
        return round_up(pure_total(events));
      case Accountant::kBasic: {
        const ApproximateLoss total = basic_total(events);
        return total.delta <= ratio_of_decimal(given) ? round_up(total.epsilon) : kInfinity;
      }
      case Accountant::kAdvanced:
        return std::min(epsilon(Accountant::kBasic),
                        advanced_epsilon(approximate_parts(events), given));
      case Accountant::kZcdp:
        return concentrated_epsilon(concentrated_total(events), given);
      case Accountant::kRdp:
        return over_orders(events, [&](const auto& curve) { return renyi_epsilon(curve, given); });
      case Accountant::kPld:
        return over_directions(events,
                               [&](const auto& pairs) { return pld_epsilon(pairs, given); });
      case Accountant::kGaussian:
        return normal_epsilon(normal_total(events), given);
      case Accountant::kBest:
        break;
    }
    return kInfinity;
  }

  double delta(Accountant accountant) const {
    switch (accountant) {
      case Accountant::kPure:
        return pure_total(events) <= ratio_of_decimal(given) ? 0 : 1;
      case Accountant::kBasic: {
        const ApproximateLoss total = basic_total(events);
        return total.epsilon <= ratio_of_decimal(given) ? std::min(1.0, round_up(total.delta)) : 1;
      }
      case Accountant::kAdvanced:
        return std::min(delta(Accountant::kBasic),
                        advanced_delta(approximate_parts(events), given));
      case Accountant::kZcdp:
        return concentrated_delta(concentrated_total(events), given);
      case Accountant::kRdp:
        return over_orders(events, [&](const auto& curve) { return renyi_delta(curve, given); });
      case Accountant::kPld:
        return over_directions(events, [&](const auto& pairs) { return pld_delta(pairs, given); });
      case Accountant::kGaussian:
        return normal_delta(normal_total(events), given);
      case Accountant::kBest:
        break;
    }
    return 1;
  }
};

struct Answer {
  double value;
  Accountant accountant;
};

/// Nothing when the accountant has no theorem for the events.
std::optional<double> try_answer(const Question& question, Accountant accountant) {
  try {
    return question.answer(accountant);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCannotCompose) throw;
    return std::nullopt;
  }
}

/// The smallest answer of all accountants that apply. Gaussians alone have an exact one; where the
/// loss distribution is known, by formula or on a grid, Renyi curves only compete when there are very many
/// steps, or for choices of bounded range, whose pair covers more than any one of them.
Answer best(const Question& question) {
  std::optional<Answer> winner;
  const auto consider = [&](Accountant accountant) {
    const auto value = try_answer(question, accountant);
    if (value && (!winner || *value < winner->value)) winner = Answer{*value, accountant};
    return value.has_value();
  };
  const bool normal = consider(Accountant::kGaussian);
  if (normal && normal_total(question.events).mass_slack == 0) return *winner;
  consider(Accountant::kPure);
  consider(Accountant::kBasic);
  consider(Accountant::kZcdp);
  const bool has_pld = normal || consider(Accountant::kPld);
  double steps = 0;
  bool bounded_range = false;
  for (const EventCount& part : flatten(question.events)) {
    steps += part.count;
    bounded_range = bounded_range || std::holds_alternative<events::Exponential>(part.kind);
  }
  if (!has_pld || steps > kManySteps || std::isinf(winner->value) || bounded_range) {
    consider(Accountant::kAdvanced);
    consider(Accountant::kRdp);
  }
  if (!winner) no_theorem(Accountant::kBest, "events that some accountant covers");
  return *winner;
}

Answer ask(const Question& question, Accountant accountant) {
  for (const Event& event : question.events) event.validate();
  common_relation(question.events);
  if (question.events.empty()) return {0, Accountant::kPure};
  if (accountant == Accountant::kBest) return best(question);
  return {question.answer(accountant), accountant};
}

}  // namespace

std::string_view name(Accountant accountant) {
  return kNames[static_cast<std::size_t>(accountant)];
}

Accountant parse_accountant(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<Accountant>(i);
  }
  throw Error(ErrorCode::kUnknownName,
              "accountant '" + std::string(text.substr(0, 40)) +
                  "' is unknown; choose pure, basic, advanced, zcdp, rdp, pld, gaussian or best");
}

Guarantee epsilon_at(const std::vector<Event>& events, double delta, Accountant accountant) {
  require(delta >= 0 && delta < 1, "delta: must lie in [0, 1)");
  const Answer answer = ask({events, true, delta}, accountant);
  return {answer.value, delta, answer.accountant};
}

Guarantee delta_at(const std::vector<Event>& events, double epsilon, Accountant accountant) {
  require(epsilon >= 0 && std::isfinite(epsilon), "epsilon: must be finite and not negative");
  const Answer answer = ask({events, false, epsilon}, accountant);
  return {epsilon, answer.value, answer.accountant};
}

}  // namespace gauze
