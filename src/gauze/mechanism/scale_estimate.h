#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/stable_value.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class QuantileDomain;
}

/// How far apart the quartiles of a column are, to a factor of the square root of 2, if that is
/// stable; how many records there are is public. For choosing bounds and noise, not for reading.
///
/// Privacy    (epsilon, delta)-DP, one record replaced: two tests with half of both.
/// Accuracy   log2 of the estimate is within 1/2 of log2 of the distance of the quartiles.
/// Numerics   records go to the nearest point of a public grid of at least 2^40 (NaN counts as
///            `lower`); buckets are compared as integers.
/// Time       O(n log n).
/// Argument   scale_estimate.md
class ScaleEstimate {
 public:
  struct Options {
    Required<Ratio> lower;    ///< smallest value of the domain; wide bounds cost nothing
    Required<Ratio> upper;    ///< largest value of the domain, > lower
    Required<Ratio> epsilon;  ///< > 0
    Required<Ratio> delta;    ///< in (0, 1)
  };

  explicit ScaleEstimate(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases the estimate, 0 if quartiles agree, or nothing. Any doubles
  /// are accepted, also none.
  Release<std::optional<double>> run(std::span<const double> values, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
  StableValue half_;
};

}  // namespace gauze
