#pragma once

#include <span>

#include "gauze/random/bit_source.h"

namespace gauze::testing {

/// The median of an odd number of sorted values with Laplace-like noise of their local sensitivity
/// over epsilon: not private, since the size of the noise tells what the records are (Li, Lyu, Su
/// and Yang 2016, section 8.1). For audits that must catch it.
double local_sensitivity_median(std::span<const double> sorted, double epsilon, BitSource& bits);

}  // namespace gauze::testing
