#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// How `Mean` works; each is epsilon-DP, they differ in accuracy.
enum class MeanMethod : std::uint8_t {
  kNormalised,    ///< noisy sum of distances from the middle, over a noisy count
  kSumOverCount,  ///< noisy sum over noisy count; add_remove only
  kDirect,        ///< noise for the worst data set on the mean itself: does not shrink with n
  kExponential,   ///< exponential mechanism over a grid of means
};

/// The mean of a bounded column of reals; one record per privacy unit. No records: the middle of
/// the range.
///
/// Privacy    pure DP, epsilon. Under replace the number of records is public.
/// Accuracy   about width * ln(1/beta) / (n epsilon), where width = upper - lower.
/// Numerics   values are clamped (NaN counts as `lower`), summed exactly in any order, rounded to a
///            public lattice, noised there; the division comes after the noise.
/// Time       O(records), plus O(grid) for the exponential method.
/// Argument   mean.md
class Mean {
 public:
  struct Options {
    Required<Ratio> lower;        ///< smallest value of the domain
    Required<Ratio> upper;        ///< largest value of the domain, > lower
    Required<Ratio> epsilon;      ///< > 0
    Required<Relation> relation;  ///< add_remove or replace
    MeanMethod method = MeanMethod::kNormalised;
    std::uint32_t grid = 1025;  ///< candidates of the exponential method, >= 2
  };

  explicit Mean(Options options);

  Event event() const;
  /// For data of this many records.
  Accuracy accuracy(std::uint64_t records, double confidence = 0.95) const;

  /// Charges the meter, then releases the mean, inside the range. Its accuracy is computed from the
  /// noisy count; the direct and exponential methods know no count and state `accuracy(1)`.
  Release<double> run(std::span<const double> values, Context& context) const;

 private:
  struct Parts;

  Options options_;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace gauze
