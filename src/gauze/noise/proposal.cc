#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/noise/proposal_internal.h"

namespace gauze::noise_internal {

double quantise(std::span<const double> weights, std::span<std::uint64_t> out) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  const std::size_t heaviest =
      static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  if (std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }) < 2 ||
      !std::isfinite(sum) || weights.size() > (std::size_t{1} << 32)) {
    throw Error(ErrorCode::kInternal, "proposal weights must be finite and at least two positive");
  }

  // A 2^-20 part is held back so that rounding every share up cannot overrun the total; the
  // heaviest gets what is left. `share` is at most 1 - 2^-21, so its product with 2^64 fits.
  constexpr double kHeldBack = 0x1p-20;
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double share = weights[i] / sum * (1 - kHeldBack);
    out[i] = weights[i] > 0 ? static_cast<std::uint64_t>(share * 0x1p64) + 1 : 0;
    used += out[i];
  }
  out[heaviest] += 0 - used;  // 2^64 - used, modulo 2^64

  // out[i] > share_i 2^64 in double arithmetic; the last factor covers its rounding (a few 2^-53,
  // and n 2^-53 in `sum`) and the weights' own error.
  return (1 - kHeldBack) * (1 - 0x1p-34) / sum;
}

}  // namespace gauze::noise_internal
