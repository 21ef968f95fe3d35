#include "gauze/accounting/event.h"

#include <array>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr std::array<std::string_view, 8> kRelations = {
    "add_remove", "replace", "edge", "node", "user", "event_level", "local", "pufferfish"};

constexpr std::array<std::string_view, std::variant_size_v<Event::Kind>> kTypes = {
    "laplace",
    "discrete_laplace",
    "gaussian",
    "discrete_gaussian",
    "pure",
    "approximate",
    "zcdp",
    "rdp",
    "randomized_response",
    "exponential",
    "permute_and_flip",
    "sparse_vector",
    "poisson_sampled",
    "sampled_without_replacement",
    "composed"};

void check_parts(const std::vector<Event>& parts, Relation relation, const char* what) {
  if (parts.empty()) {
    throw Error(ErrorCode::kInvalidOption, std::string(what) + ": needs at least one event");
  }
  for (const Event& part : parts) {
    if (part.relation != relation) {
      throw Error(ErrorCode::kCannotCompose,
                  std::string(what) + ": is under " + std::string(name(relation)) +
                      " but holds an event under " + std::string(name(part.relation)) +
                      "; give all the same relation");
    }
    part.validate();
  }
}

/// One rule per kind: what its parameters must satisfy.
struct Check {
  Relation relation;

  void operator()(const events::Laplace& e) const {
    require(e.scale > 0, "laplace: scale must be positive");
    require(e.l1_sensitivity > 0, "laplace: l1_sensitivity must be positive");
  }
  void operator()(const events::DiscreteLaplace& e) const {
    require(e.scale > 0, "discrete_laplace: scale must be positive");
    require(e.l1_sensitivity > 0 && denominator(e.l1_sensitivity) == 1,
            "discrete_laplace: l1_sensitivity must be a positive integer (round it up)");
  }
  void operator()(const events::Gaussian& e) const {
    require(e.sigma > 0, "gaussian: sigma must be positive");
    require(e.l2_sensitivity > 0, "gaussian: l2_sensitivity must be positive");
  }
  void operator()(const events::DiscreteGaussian& e) const {
    require(e.sigma > 0, "discrete_gaussian: sigma must be positive");
    require(e.l2_sensitivity > 0, "discrete_gaussian: l2_sensitivity must be positive");
    require(e.dimension != 1 || denominator(e.l2_sensitivity) == 1,
            "discrete_gaussian: l2_sensitivity must be an integer in one dimension (round it up)");
  }
  void operator()(const events::Pure& e) const {
    require(e.epsilon >= 0, "pure: epsilon must not be negative");
  }
  void operator()(const events::Approximate& e) const {
    require(e.epsilon >= 0, "approximate: epsilon must not be negative");
    require(e.delta >= 0 && e.delta <= 1, "approximate: delta must lie in [0, 1]");
  }
  void operator()(const events::Zcdp& e) const {
    require(e.rho >= 0, "zcdp: rho must not be negative");
  }
  void operator()(const events::Rdp& e) const {
    require(!e.orders.empty() && e.orders.size() == e.epsilons.size(),
            "rdp: orders and epsilons must be lists of the same length, at least 1");
    for (std::size_t i = 0; i < e.orders.size(); ++i) {
      require(e.orders[i] > 1 && std::isfinite(e.orders[i]),
              "rdp: orders must be finite and above 1");
      require(i == 0 || e.orders[i] > e.orders[i - 1], "rdp: orders must increase");
      require(e.epsilons[i] >= 0, "rdp: epsilons must not be negative or NaN");
    }
  }
  void operator()(const events::RandomizedResponse& e) const {
    require(e.options >= 2, "randomized_response: options must be at least 2");
    require(e.p > 0 && e.p < 1, "randomized_response: p must lie strictly between 0 and 1");
    require(
        e.p * e.options >= 1,
        "randomized_response: p must be at least 1/options, or lies are likelier than the truth");
  }
  void operator()(const events::Exponential& e) const {
    require(e.epsilon >= 0, "exponential: epsilon must not be negative");
  }
  void operator()(const events::PermuteAndFlip& e) const {
    require(e.epsilon >= 0, "permute_and_flip: epsilon must not be negative");
  }
  void operator()(const events::SparseVector& e) const {
    require(e.threshold_epsilon >= 0, "sparse_vector: threshold_epsilon must not be negative");
    require(e.positive_epsilon >= 0, "sparse_vector: positive_epsilon must not be negative");
    require(e.positives >= 1, "sparse_vector: positives must be at least 1");
  }
  void operator()(const events::PoissonSampled& e) const {
    require(e.rate > 0 && e.rate <= 1, "poisson_sampled: rate must lie in (0, 1]");
    // Inclusion of a unit must be one coin that is the unit's own: add or remove it.
    if (relation != Relation::kAddRemove) {
      throw Error(ErrorCode::kCannotCompose,
                  "poisson_sampled: amplification is proved here for relation add_remove only; "
                  "price the events without "
                  "sampling, or use sampled_without_replacement under replace");
    }
    check_parts(e.events, relation, "poisson_sampled");
  }
  void operator()(const events::SampledWithoutReplacement& e) const {
    require(e.population >= 1 && e.sample >= 1 && e.sample <= e.population,
            "sampled_without_replacement: needs 1 <= sample <= population");
    if (relation != Relation::kReplace) {
      throw Error(ErrorCode::kCannotCompose,
                  "sampled_without_replacement: amplification holds for relation replace only, "
                  "where the population's "
                  "size is public");
    }
    check_parts(e.events, relation, "sampled_without_replacement");
  }
  void operator()(const events::Composed& e) const { check_parts(e.events, relation, "composed"); }
};

}  // namespace

std::string_view name(Relation relation) {
  return kRelations[static_cast<std::size_t>(relation)];
}

Relation parse_relation(std::string_view text) {
  for (std::size_t i = 0; i < kRelations.size(); ++i) {
    if (kRelations[i] == text) return static_cast<Relation>(i);
  }
  throw Error(ErrorCode::kUnknownName,
              "relation '" + std::string(text) +
                  "' is unknown; choose add_remove, replace, edge, node, user, event_level, "
                  "local or pufferfish");
}

std::string_view type_name(const Event& event) {
  return kTypes[event.kind.index()];
}

void Event::validate() const {
  require(count >= 1, "count must be at least 1");
  std::visit(Check{relation}, kind);
}

Relation common_relation(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (event.relation != events.front().relation) {
      throw Error(ErrorCode::kCannotCompose,
                  "events under " + std::string(name(events.front().relation)) + " and under " +
                      std::string(name(event.relation)) +
                      " do not compose; state all of them for one relation (an add_remove "
                      "guarantee costs twice its "
                      "epsilon under replace)");
    }
  }
  return events.empty() ? Relation::kAddRemove : events.front().relation;
}

}  // namespace gauze
