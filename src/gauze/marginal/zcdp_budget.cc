#include "gauze/marginal/zcdp_budget.h"

#include <cmath>

#include "gauze/accounting/zcdp.h"
#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr int kDigits = 9;

Ratio power_of_ten(int exponent) {
  Ratio power = 1;
  for (int i = 0; i < std::abs(exponent); ++i) power *= 10;
  return exponent < 0 ? Ratio(1 / power) : power;
}

/// One in the last of nine digits of a number.
Ratio last_digit(double x) {
  return power_of_ten(static_cast<int>(std::floor(std::log10(x))) - (kDigits - 1));
}

/// The smallest decimal near x, from below, for which `holds`, which is true from some point on.
template <class Holds>
Ratio smallest(double x, Holds holds) {
  const Ratio step = last_digit(x);
  Ratio found = floor(Ratio(ratio_of_bits(x) / step)) * step;
  while (!holds(found)) found += step;
  return found;
}

/// The largest decimal near x, from above, for which `holds`, which is true up to some point.
template <class Holds>
Ratio largest(double x, Holds holds) {
  const Ratio step = last_digit(x);
  Ratio found = ceil(Ratio(ratio_of_bits(x) / step)) * step;
  while (!holds(found)) found -= step;
  return found;
}

}  // namespace

Ratio rho_for(const Ratio& epsilon, const Ratio& delta) {
  require(epsilon > 0, "epsilon must be positive");
  require(delta > 0 && delta < 1,
          "delta must be above 0 and below 1: these tables are measured with Gaussian noise");
  const double least_epsilon = round_down(epsilon), least_delta = round_down(delta);
  require(least_epsilon > 1e-150 && least_epsilon < 1e9 && least_delta > 0,
          "epsilon must be from 1e-150 to 1e9, and delta above 1e-300");
  const auto holds = [&](const Ratio& rho) {
    return zcdp_delta(rho, least_epsilon) <= least_delta;
  };
  // Between nothing and epsilon, which implies (epsilon, 1/2) or worse, the logarithm is halved.
  double low = std::log(least_epsilon) - 800, high = std::log(least_epsilon);
  for (int i = 0; i < 45; ++i) {
    const double middle = (low + high) / 2;
    (holds(ratio_of_bits(std::exp(middle))) ? low : high) = middle;
  }
  return largest(std::exp(low), holds);
}

Ratio sigma_for(const Ratio& rho, std::uint64_t l2_sensitivity) {
  const Ratio sensitivity = Integer(l2_sensitivity);
  return smallest(round_down(sensitivity) / std::sqrt(2 * round_up(rho)), [&](const Ratio& sigma) {
    return sigma > 0 && sensitivity * sensitivity <= 2 * rho * sigma * sigma;
  });
}

Ratio choice_epsilon_for(const Ratio& rho) {
  return largest(std::sqrt(8 * round_up(rho)),
                 [&](const Ratio& epsilon) { return epsilon * epsilon <= 8 * rho; });
}

}  // namespace gauze
