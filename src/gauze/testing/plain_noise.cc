#include "gauze/testing/plain_noise.h"

#include "gauze/random/uniform.h"

namespace gauze::testing {

bool plain_bernoulli_exp(BitSource& bits, const Ratio& x) {
  Ratio rest = x;
  for (; rest > 1; rest -= 1) {
    if (!plain_bernoulli_exp(bits, 1)) return false;
  }
  std::uint64_t k = 1;
  while (bernoulli(bits, rest / Ratio(k))) ++k;
  return k % 2 == 1;
}

Integer plain_geometric(BitSource& bits, const Ratio& scale) {
  const Integer t = numerator(scale);
  const Integer s = denominator(scale);
  Integer u;
  do {
    u = uniform_below(bits, t);
  } while (!plain_bernoulli_exp(bits, Ratio(u, t)));
  Integer v = 0;
  while (plain_bernoulli_exp(bits, 1)) ++v;
  return (u + t * v) / s;
}

Integer plain_discrete_laplace(BitSource& bits, const Ratio& scale) {
  while (true) {
    const Integer magnitude = plain_geometric(bits, scale);
    const bool negative = bernoulli(bits, Ratio(1, 2));
    if (negative && magnitude == 0) continue;
    return negative ? Integer(-magnitude) : magnitude;
  }
}

Integer plain_discrete_gaussian(BitSource& bits, const Ratio& sigma_squared) {
  const Ratio t(sqrt(floor(sigma_squared)) + 1);
  while (true) {
    const Integer candidate = plain_discrete_laplace(bits, t);
    const Ratio gap = Ratio(abs(candidate)) - sigma_squared / t;
    if (plain_bernoulli_exp(bits, gap * gap / (2 * sigma_squared))) return candidate;
  }
}

}  // namespace gauze::testing
