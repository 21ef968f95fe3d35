// Rejection from shells that double in size (student.md).
#include "gauze/noise/student.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/numeric/interval.h"
#include "gauze/random/uniform.h"

namespace gauze {

StudentNoise::StudentNoise(const Ratio& scale, unsigned degrees)
    : spread_(Ratio(degrees) * scale * scale),
      estimate_(spread_.convert_to<double>()),
      degrees_(degrees),
      bits_(0) {
  require(scale > 0, "student: scale must be positive");
  require(degrees % 2 == 1 && degrees <= 15, "student: degrees must be odd, from 1 to 15");
  while (Ratio(Integer(1) << (2 * bits_)) < spread_) ++bits_;
}

Integer StudentNoise::draw(BitSource& bits) const {
  const std::uint64_t outside = std::uint64_t{1} << degrees_;
  const unsigned power = (degrees_ + 1) / 2;
  while (true) {
    // The core weighs as much as one, the shells around it 1, 2^-degrees, 4^-degrees, ...
    const bool core = uniform_below(bits, 2 * outside - 1) < outside - 1;
    unsigned doublings = 0;
    while (!core && uniform_below(bits, outside) == 0) ++doublings;
    Integer size = uniform_bits(bits, bits_ + doublings);
    if (!core) size += Integer(1) << (bits_ + doublings);
    const Integer value = (bits.next() >> 63) == 0 ? size : Integer(-size - 1);

    const double x = value.convert_to<double>();
    const double share =
        std::ldexp(estimate_ / (estimate_ + x * x), 2 * static_cast<int>(doublings));
    const auto accepted = [&](unsigned precision) {
      const Ratio exact = spread_ * Ratio(Integer(1) << (2 * doublings)) /
                          (spread_ + Ratio(Integer(value * value)));
      Interval result(exact, precision);
      for (unsigned i = 1; i < power; ++i) result = result * Interval(exact, precision);
      return result;
    };
    LazyUniform uniform(bits);
    // Beyond this the squares leave the doubles.
    const bool ordinary = doublings < 200 && estimate_ < 1e200 && estimate_ > 1e-200;
    const bool keep =
        ordinary ? uniform.below(std::pow(share, power), accepted) : uniform.below(accepted);
    if (keep) return value;
  }
}

}  // namespace gauze
