#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/smooth_sensitivity.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class QuantileDomain;
}

/// The median of a bounded column with noise of its smooth sensitivity; how many records there are
/// is public. `Quantile` is usually more accurate.
///
/// Privacy    pure DP, epsilon, with Cauchy and Student noise; (epsilon, delta)-DP with Laplace.
///            One record replaced.
/// Accuracy   noise of about twice the smooth sensitivity over epsilon; promised beforehand is the
///            worst case, noise for the whole range.
/// Numerics   records go to the nearest point of a public grid of at least 2^40 (NaN counts as
///            `lower`); noise is exact on that grid.
/// Time       O(n log n + k^2), k the smaller of n and about 30/beta (60/epsilon with Cauchy noise).
/// Argument   smooth_median.md
class SmoothMedian {
 public:
  struct Options {
    Required<Ratio> lower;    ///< smallest value of the domain
    Required<Ratio> upper;    ///< largest value of the domain, > lower
    Required<Ratio> epsilon;  ///< > 0
    SmoothNoise noise = SmoothNoise::kCauchy;
    Ratio delta = 0;  ///< of Laplace noise, in (0, 1/3]; 0 for the others
  };

  explicit SmoothMedian(Options options);

  Event event() const { return noise_.event(); }
  Accuracy accuracy(double confidence = 0.95) const { return noise_.accuracy(confidence); }

  /// Charges the meter, then releases the median plus noise, which may lie outside the bounds. Any
  /// doubles are accepted, also none.
  Release<double> run(std::span<const double> values, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
  SmoothSensitivity noise_;
};

}  // namespace gauze
