#pragma once

#include <cstdint>

#include "gauze/base/required.h"
#include "gauze/learn/loss.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// What a regulariser's weight is chosen from: public numbers, all of it.
struct PublicNumbers {
  Required<std::uint32_t> dimension;  ///< >= 1
  Required<std::uint64_t> records;    ///< >= 1
  Required<Ratio> epsilon;            ///< > 0
  Ratio delta = 0;                    ///< in [0, 1); above 0: Gaussian noise
};

/// sqrt(dimension / (records epsilon)): published, and too large where there are many features.
double simple_lambda(const PublicNumbers& numbers);

/// The lambda at which what regularisation and noise cost together is smallest, for models of norm about `norm`:
///
///     lambda norm^2 / 2 + smoothness / 2 * (variance of the noise in a score)
///
/// `change` is how far a unit moves the sum of gradients: the Lipschitz bound L under add_remove with a minimiser,
/// 2 L else. Argument: parameters.md. Throws `kInvalidOption` for numbers outside their ranges and losses without
/// smoothness.
double balanced_lambda(const PublicNumbers& numbers, const LossBounds& loss, double change,
                       double norm);

}  // namespace gauze
