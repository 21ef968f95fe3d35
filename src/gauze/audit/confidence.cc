#include "gauze/audit/confidence.h"

#include <boost/math/distributions/beta.hpp>

namespace gauze::audit {

double probability_at_least(std::uint64_t hits, std::uint64_t trials, double failure) {
  if (hits == 0) return 0;
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(trials);
  return boost::math::quantile(boost::math::beta_distribution<double>(k, n - k + 1), failure);
}

double probability_at_most(std::uint64_t hits, std::uint64_t trials, double failure) {
  if (hits == trials) return 1;
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(trials);
  return boost::math::quantile(
      boost::math::complement(boost::math::beta_distribution<double>(k + 1, n - k), failure));
}

}  // namespace gauze::audit
