#pragma once

#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze::testing {

/// The samplers of Canonne, Kamath and Steinke 2020 (arXiv 2004.00010, Algorithms 1 to 3) as they are
/// written there, with fractions of any size: slow, plain, and independent of the production ones, which
/// are compared with them.
bool plain_bernoulli_exp(BitSource& bits, const Ratio& x);
Integer plain_geometric(BitSource& bits, const Ratio& scale);
Integer plain_discrete_laplace(BitSource& bits, const Ratio& scale);
Integer plain_discrete_gaussian(BitSource& bits, const Ratio& sigma_squared);

}  // namespace gauze::testing
