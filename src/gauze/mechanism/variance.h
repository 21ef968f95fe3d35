#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// The variance (mean squared distance from the mean) of a bounded column of reals; one record per
/// privacy unit.
///
/// Privacy    pure DP, epsilon: noisy count, sum and sum of squares with a third each under
///            add_remove; sum and sum of squares with a half each under replace, where the number
///            of records is public.
/// Accuracy   of order h^2 ln(1/beta) / (n epsilon), where h = (upper - lower)/2.
/// Numerics   each record becomes a whole number of steps h/2^26 from the middle (NaN counts as
///            `lower`); sums and noise are integers. Clamped to [0, h^2].
/// Time       O(records).
/// Argument   variance.md
class Variance {
 public:
  struct Options {
    Required<Ratio> lower;        ///< smallest value of the domain
    Required<Ratio> upper;        ///< largest value of the domain, > lower
    Required<Ratio> epsilon;      ///< > 0
    Required<Relation> relation;  ///< add_remove or replace
  };

  explicit Variance(Options options);

  Event event() const;
  /// For data of this many records.
  Accuracy accuracy(std::uint64_t records, double confidence = 0.95) const;

  /// Charges the meter, then releases the variance. Its accuracy is computed from the noisy count.
  Release<double> run(std::span<const double> values, Context& context) const;

 private:
  struct Parts;

  Options options_;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace gauze
