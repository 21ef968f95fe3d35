#include "gauze/engine/meaning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr double kRefusedFrom = 10;
constexpr double kLargeDeltaFrom = 0.01;

void check(double epsilon, double delta) {
  require(epsilon >= 0, "epsilon must not be negative or NaN");
  require(delta >= 0 && delta <= 1, "delta must lie in [0, 1]");
}

void check_probability(double p) {
  require(p >= 0 && p <= 1, "a probability must lie in [0, 1]");
}

/// e^epsilon * x, where nothing stays nothing even when e^epsilon is infinite.
double amplified(double x, double epsilon) {
  return x == 0 ? 0 : x * std::exp(epsilon);
}

double up(double value) {
  return std::nextafter(value, std::numeric_limits<double>::infinity());
}

/// k * epsilon, rounded up only where it has to be rounded.
double times_up(double k, double epsilon) {
  const double product = k * epsilon;
  return std::fma(k, epsilon, -product) > 0 ? up(product) : product;
}

}  // namespace

Closeness close_probabilities(double p, double epsilon, double delta) {
  check(epsilon, delta);
  check_probability(p);
  const double shrink = std::exp(-epsilon);
  return {.lowest = std::max({0.0, (p - delta) * shrink, 1 - amplified(1 - p, epsilon) - delta}),
          .highest = std::min({1.0, amplified(p, epsilon) + delta, 1 - (1 - p - delta) * shrink})};
}

// The power of a test is the probability of the decision "used" in the world where it was; its
// false-positive rate is the probability of the same decision in the other.
double highest_power(double false_positive, double epsilon, double delta) {
  return close_probabilities(false_positive, epsilon, delta).highest;
}

double best_guess(double epsilon, double delta) {
  check(epsilon, delta);
  // (e^eps + delta) / (e^eps + 1), divided through by e^eps.
  const double shrink = std::exp(-epsilon);
  return (1 + delta * shrink) / (1 + shrink);
}

GroupGuarantee group_guarantee(std::uint64_t size, double epsilon, double delta) {
  check(epsilon, delta);
  require(size >= 1, "a group has at least one member");
  if (size == 1) return {.epsilon = epsilon, .delta = delta};
  const auto nearest = static_cast<double>(size);
  const double k = nearest < 0x1p53 ? nearest : up(nearest);
  const double epsilons = times_up(k, epsilon);
  if (delta == 0) return {.epsilon = epsilons, .delta = 0};
  // The sum of e^(i epsilon) for i < k; k itself when epsilon vanishes.
  const double factor = epsilon < 1e-12 ? k * up(std::exp(k * epsilon))
                                        : std::expm1(k * epsilon) / std::expm1(epsilon);
  constexpr double kSlack = 1 + 1e-12;  // covers the rounding of the few operations above
  const double together = std::isfinite(factor) ? factor * delta * kSlack : 1;
  return {.epsilon = epsilons, .delta = std::min(1.0, together)};
}

Band band(double epsilon, double delta) {
  check(epsilon, delta);
  if (epsilon < kRefusedFrom && delta >= kLargeDeltaFrom) return Band::kLargeDelta;
  if (epsilon <= 0.1) return Band::kStrong;
  if (epsilon <= 1) return Band::kAcceptable;
  if (epsilon < 5) return Band::kJustify;
  if (epsilon < kRefusedFrom) return Band::kDiscouraged;
  return Band::kRefused;
}

std::string_view name(Band band) {
  switch (band) {
    case Band::kStrong:
      return "strong";
    case Band::kAcceptable:
      return "acceptable";
    case Band::kJustify:
      return "needs_justification";
    case Band::kDiscouraged:
      return "discouraged";
    case Band::kRefused:
      return "refused";
    case Band::kLargeDelta:
      return "large_delta";
  }
  return "unknown";
}

std::string_view verdict(Band band) {
  switch (band) {
    case Band::kStrong:
      return "reasonably strong, and enough for most purposes";
    case Band::kAcceptable:
      return "acceptable for many purposes";
    case Band::kJustify:
      return "needs a justification: write down why less would not do";
    case Band::kDiscouraged:
      return "unsuitable in most cases: some decisions become near certain";
    case Band::kRefused:
      return "virtually no protection: refused unless you insist";
    case Band::kLargeDelta:
      return "promises little, for delta is large: refused unless you insist";
  }
  return "unknown";
}

void refuse_weak(double epsilon, double delta, bool accept_weak) {
  const Band reached = band(epsilon, delta);
  if (accept_weak || (reached != Band::kRefused && reached != Band::kLargeDelta)) return;
  if (reached == Band::kLargeDelta)
    throw Error(ErrorCode::kInvalidOption,
                "delta: 0.01 or more is refused, for with that probability anything may come out "
                "about each person; choose much less than one over the number of people, like "
                "1e-6, or say accept_weak (--accept-weak) if you must");
  throw Error(ErrorCode::kInvalidOption,
              "epsilon: 10 or more protects virtually nobody and is refused; choose one below 10 "
              "(0.1 is strong, 1 is usual), or say accept_weak (--accept-weak) if you must");
}

}  // namespace gauze
