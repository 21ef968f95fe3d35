#include "gauze/accounting/calibrate.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::min();
// Relative width of the final bracket.
constexpr double kTolerance = 1e-10;

/// ln(epsilon / target) as a function of the noise: falls, and is 0 at the answer.
class Excess {
 public:
  Excess(const std::function<std::vector<Event>(const Ratio&)>& family, const Target& target)
      : family_(family), target_(target) {}

  double operator()(double noise) const {
    const double epsilon =
        epsilon_at(family_(ratio_of_decimal(noise)), target_.delta, target_.accountant).epsilon;
    if (epsilon <= target_.epsilon) {
      // Zero means met exactly; below, how far: used to steer the search.
      return epsilon == 0 ? -kFar : std::max(-kFar, std::log(epsilon / target_.epsilon));
    }
    return std::isinf(epsilon)
               ? kFar
               : std::max(std::log(epsilon / target_.epsilon), std::numeric_limits<double>::min());
  }

  static constexpr double kFar = 1e4;

 private:
  const std::function<std::vector<Event>(const Ratio&)>& family_;
  const Target& target_;
};

[[noreturn]] void unreachable() {
  throw Error(ErrorCode::kUnreachable,
              "no noise reaches this epsilon and delta with this mechanism and accountant; allow a "
              "larger epsilon, or a positive delta");
}

struct Bracket {
  double low;      // too little noise
  double low_at;   // excess there, > 0
  double high;     // enough
  double high_at;  // excess there, <= 0
};

/// Noise levels around the answer, by steps whose exponent doubles.
Bracket bracket(const Excess& excess) {
  double step = 4;
  double noise = 1;
  double at = excess(noise);
  Bracket b{noise, at, noise, at};
  while (at > 0) {
    b.low = noise;
    b.low_at = at;
    if (noise == kLargest) unreachable();
    // Losses fall at least about as fast as noise^-1/2 grows once noise matters; jump there.
    const double jump = at < Excess::kFar ? std::exp(std::min(at, 600.0)) * 1.5 : step;
    noise = std::min(kLargest, noise * std::max(jump, 1.0 + 1e-9));
    step = std::min(step * step, 1e100);
    at = excess(noise);
  }
  b.high = noise;
  b.high_at = at;
  if (b.low_at > 0) return b;
  step = 4;
  while (at <= 0) {
    b.high = noise;
    b.high_at = at;
    if (noise == kSmallest) return {kSmallest, 1, kSmallest, at};
    const double jump = at > -Excess::kFar ? std::exp(std::min(-at, 600.0)) * 1.5 : step;
    noise = std::max(kSmallest, noise / std::max(jump, 1.0 + 1e-9));
    step = std::min(step * step, 1e100);
    at = excess(noise);
  }
  b.low = noise;
  b.low_at = at;
  return b;
}

}  // namespace

double calibrate(const std::function<std::vector<Event>(const Ratio& noise)>& family,
                 const Target& target) {
  require(target.epsilon > 0 && std::isfinite(target.epsilon),
          "epsilon: must be positive and finite");
  require(target.delta >= 0 && target.delta < 1, "delta: must lie in [0, 1)");
  const Excess excess(family, target);
  const Bracket b = bracket(excess);
  if (b.low == b.high) return b.high;
  // TOMS 748 (Alefeld, Potra and Shi 1995) on ln(noise): both ends always enclose the answer, and
  // the one that is returned was tried.
  std::uintmax_t tries = 100;
  const auto [low, high] = boost::math::tools::toms748_solve(
      [&](double x) { return excess(std::exp(x)); }, std::log(b.low), std::log(b.high), b.low_at,
      b.high_at, [](double from, double to) { return to - from <= kTolerance; }, tries);
  const double noise = std::exp(high);
  return excess(noise) <= 0 ? noise : b.high;
}

}  // namespace gauze
