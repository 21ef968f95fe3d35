#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gauze/numeric/ratio.h"

namespace gauze {

/// What makes two data sets neighbours. Every event carries one; guarantees under different
/// relations do not compose.
enum class Relation : std::uint8_t {
  kAddRemove,   ///< one privacy unit more or less; sizes are not public
  kReplace,     ///< one privacy unit changed; sizes are public
  kEdge,        ///< one edge of a graph
  kNode,        ///< one node with all its edges
  kUser,        ///< everything of one user in a stream
  kEventLevel,  ///< one element of a stream
  kLocal,       ///< one person's whole input, no trusted curator
  kPufferfish,  ///< a pair of secrets
};

/// `add_remove`, `replace`, ...: the spelling in JSON and on the command line. `parse_relation`
/// throws `kUnknownName`.
std::string_view name(Relation relation);
Relation parse_relation(std::string_view text);

struct Event;

namespace events {

/// Laplace noise on the reals (or on a lattice) with density proportional to e^(-|x|/scale).
struct Laplace {
  Ratio scale;
  Ratio l1_sensitivity;
  bool operator==(const Laplace&) const = default;
};
/// Noise with P(x) proportional to e^(-|x|/scale) on the integers; the sensitivity is an integer.
struct DiscreteLaplace {
  Ratio scale;
  Ratio l1_sensitivity;
  bool operator==(const DiscreteLaplace&) const = default;
};
/// Normal noise with standard deviation sigma in every coordinate.
struct Gaussian {
  Ratio sigma;
  Ratio l2_sensitivity;
  bool operator==(const Gaussian&) const = default;
};
/// Noise with P(x) proportional to e^(-x^2 / (2 sigma^2)) on the integers. `dimension` is the number
/// of coordinates, 0 when it is not known; accountants that know it are tighter.
struct DiscreteGaussian {
  Ratio sigma;
  Ratio l2_sensitivity;
  std::uint64_t dimension = 0;
  bool operator==(const DiscreteGaussian&) const = default;
};
/// epsilon-differential privacy of which nothing more is known.
struct Pure {
  Ratio epsilon;
  bool operator==(const Pure&) const = default;
};
/// (epsilon, delta)-differential privacy of which nothing more is known.
struct Approximate {
  Ratio epsilon;
  Ratio delta;
  bool operator==(const Approximate&) const = default;
};
/// rho-zero-concentrated differential privacy.
struct Zcdp {
  Ratio rho;
  bool operator==(const Zcdp&) const = default;
};
/// Renyi differential privacy: at order orders[i] the divergence is at most epsilons[i]. Orders
/// increase, all > 1.
struct Rdp {
  std::vector<double> orders;
  std::vector<double> epsilons;
  bool operator==(const Rdp&) const = default;
};
/// Says the truth with probability p, each of the other `options` - 1 answers with equal
/// probability.
struct RandomizedResponse {
  Ratio p;
  std::uint64_t options = 2;
  bool operator==(const RandomizedResponse&) const = default;
};
/// The exponential mechanism: epsilon-DP, and of bounded range, which composes better.
struct Exponential {
  Ratio epsilon;
  bool operator==(const Exponential&) const = default;
};
/// Permute-and-flip: epsilon-DP, not of bounded range.
struct PermuteAndFlip {
  Ratio epsilon;
  bool operator==(const PermuteAndFlip&) const = default;
};
/// The sparse vector technique: what is said about all questions, until `positives` answers were
/// above. The threshold's noise costs `threshold_epsilon`, each answer above `positive_epsilon`.
struct SparseVector {
  Ratio threshold_epsilon;
  Ratio positive_epsilon;
  std::uint64_t positives = 1;
  bool operator==(const SparseVector&) const = default;
};
/// Each unit takes part independently with probability `rate`; all `events` see the same sample.
struct PoissonSampled {
  Ratio rate;
  std::vector<Event> events;
  bool operator==(const PoissonSampled&) const = default;
};
/// `sample` of `population` units take part, every such set equally likely; relation `replace`
/// only.
struct SampledWithoutReplacement {
  std::uint64_t sample = 0;
  std::uint64_t population = 0;
  std::vector<Event> events;
  bool operator==(const SampledWithoutReplacement&) const = default;
};
/// All of these on the same data, each may depend on the answers before it.
struct Composed {
  std::vector<Event> events;
  bool operator==(const Composed&) const = default;
};

}  // namespace events

/// What was done to the data, as a value: it depends on public parameters alone and accountants
/// price it. An event with `count` n stands for n such events in sequence.
struct Event {
  using Kind =
      std::variant<events::Laplace, events::DiscreteLaplace, events::Gaussian,
                   events::DiscreteGaussian, events::Pure, events::Approximate, events::Zcdp,
                   events::Rdp, events::RandomizedResponse, events::Exponential,
                   events::PermuteAndFlip, events::SparseVector, events::PoissonSampled,
                   events::SampledWithoutReplacement, events::Composed>;

  Kind kind;
  Relation relation;
  std::uint64_t count = 1;

  /// Throws `kInvalidOption` unless every parameter is in its range (scales and rates positive, 0
  /// <= delta <= 1, ...), and `kCannotCompose` when nested relations differ or the relation does
  /// not fit the kind.
  void validate() const;

  bool operator==(const Event&) const = default;
};

/// `laplace`, `poisson_sampled`, ...: the type's name in JSON.
std::string_view type_name(const Event& event);

/// The JSON form, version 1: {"type": "laplace", "scale": 2, "l1_sensitivity": 1, "relation":
/// "add_remove", "count": 3}. Numbers are exact: a fraction that has no short decimal form is
/// written as a string, "7/3"; both are read.
nlohmann::json to_json(const Event& event);

/// Reads the JSON form. A missing `relation` is the kind's usual one: `local` for randomised
/// response, `replace` for sampling without replacement, `add_remove` for the rest. Sampled events
/// may hold one "event" or a list "events". Throws `kInvalidInput`, `kUnknownName` or what
/// `validate` throws; messages name the field.
Event event_from_json(const nlohmann::json& json);

/// Reads {"version": 1, "events": [...]}; a list or a single event are accepted too.
std::vector<Event> events_from_json(const nlohmann::json& json);
nlohmann::json to_json(const std::vector<Event>& events);

/// The relation all events share; throws `kCannotCompose` when they differ. An empty list is
/// `add_remove`.
Relation common_relation(const std::vector<Event>& events);

}  // namespace gauze
