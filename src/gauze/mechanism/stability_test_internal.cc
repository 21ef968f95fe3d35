#include "gauze/mechanism/stability_test_internal.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/numeric/interval.h"

namespace gauze::internal {

StabilityTest::StabilityTest(const Ratio& epsilon, const Ratio& delta, const Integer& unit)
    : scale_(Ratio(unit) / epsilon),
      noise_(std::make_shared<const AdditiveNoise>(AdditiveNoise::discrete_laplace(scale_))) {
  // P(X >= k) = e^(-k/scale) / (1 + e^(-1/scale)) for k >= 0.
  constexpr unsigned kBits = 256;
  const Interval rate(Ratio(1 / scale_), kBits);
  const Interval nats = -log(Interval(delta, kBits)) - log1p(exp(-rate));
  const double least = (nats / rate).upper();
  threshold_ = least > 0 ? ceil(ratio_of_bits(least)) : Integer(0);
}

bool StabilityTest::passes(const Integer& distance, BitSource& bits) const {
  return distance + draw_exactly(*noise_, bits) >= threshold_;
}

double StabilityTest::sure_from(double beta) const {
  const double tail = beta < 0.5 ? discrete_laplace_radius(scale_, 2 * beta) : 0;
  return std::nextafter(threshold_.convert_to<double>() + tail, INFINITY);
}

void check_stability(const Ratio& epsilon, const Ratio& delta) {
  require(epsilon > 0, "epsilon must be positive");
  require(delta > 0 && delta < 1, "delta must lie strictly between 0 and 1; 1e-6 is usual");
}

}  // namespace gauze::internal
