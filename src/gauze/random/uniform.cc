#include "gauze/random/uniform.h"

#include <cmath>

#include "gauze/base/error.h"

namespace gauze {

// Lemire 2019, "Fast Random Integer Generation in an Interval": the product's high word is uniform
// once the few low words that would favour small results are rejected.
std::uint64_t uniform_below(BitSource& bits, std::uint64_t bound) {
  require(bound >= 1, "uniform_below: bound must be at least 1");
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{bits.next()} * bound;
  auto low = static_cast<std::uint64_t>(product);
  if (low < bound) {
    const std::uint64_t uneven = (0 - bound) % bound;
    while (low < uneven) {
      product = Wide{bits.next()} * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

Integer uniform_bits(BitSource& bits, unsigned count) {
  Integer result = 0;
  unsigned left = count;
  for (; left >= 64; left -= 64) result = (result << 64) + bits.next();
  if (left > 0) result = (result << left) + (bits.next() >> (64 - left));
  return result;
}

Integer uniform_below(BitSource& bits, const Integer& bound) {
  require(bound >= 1, "uniform_below: bound must be at least 1");
  const Integer largest = bound - 1;
  const unsigned width = largest == 0 ? 0 : static_cast<unsigned>(msb(largest)) + 1;
  while (true) {
    const Integer candidate = uniform_bits(bits, width);
    if (candidate < bound) return candidate;
  }
}

bool bernoulli(BitSource& bits, const Ratio& p) {
  require(p >= 0 && p <= 1, "bernoulli: p must lie in [0, 1]");
  return uniform_below(bits, Integer(denominator(p))) < numerator(p);
}

bool bernoulli_exp(BitSource& bits, const Ratio& x) {
  require(x >= 0, "bernoulli_exp: x must not be negative");
  if (x == 0) return true;
  // exp of a double within half an ulp of x: the relative error is at most x * 2^-52, below 2^-42
  // where it matters (x < 700); beyond, both e^-x and the estimate are below 2^-100.
  const double estimate = std::exp(-x.convert_to<double>());
  return LazyUniform(bits).below(estimate,
                                 [&](unsigned precision) { return exp(-Interval(x, precision)); });
}

}  // namespace gauze
