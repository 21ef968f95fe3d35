#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class LatticeNoise;
class QuantileDomain;
class StabilityTest;
}  // namespace internal

/// An answer, and how many changes away the nearest data is whose neighbours move it by more than
/// the proposed bound; 0 if this data is such. Neighbours' distances differ by at most 1.
struct ProposedAnswer {
  double value = 0;
  std::uint64_t distance = 0;
};

/// Tests privately whether an answer moves by at most a proposed bound here, and then releases it
/// with noise for that bound, else nothing.
///
/// Privacy    (epsilon, delta)-DP: half of epsilon for the test, half for the noise.
/// Accuracy   within 2 bound ln(1/beta) / epsilon when released.
/// Numerics   the test is in integers; the answer is rounded to a public lattice.
/// Time       O(1).
/// Argument   propose_test_release.md
class ProposeTestRelease {
 public:
  struct Options {
    Required<Ratio> bound;        ///< the proposed sensitivity, > 0
    Required<Ratio> epsilon;      ///< > 0
    Required<Ratio> delta;        ///< in (0, 1)
    Required<Relation> relation;  ///< whose neighbours the distance counts
  };

  explicit ProposeTestRelease(Options options);

  Event event() const;
  /// Of what is released.
  Accuracy accuracy(double confidence = 0.95) const;
  /// From which distance on there is a release, with probability `confidence`.
  double distance_enough(double confidence = 0.95) const;

  /// Charges the meter, then releases value plus noise, or nothing. The value must be finite: throws
  /// `kInvalidInput`.
  Release<std::optional<double>> run(const ProposedAnswer& answer, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::StabilityTest> test_;
  std::shared_ptr<const internal::LatticeNoise> noise_;
};

/// The median of a bounded column, if the records about it are so dense that `bound` is enough; how
/// many records there are is public.
///
/// Privacy    (epsilon, delta)-DP, one record replaced.
/// Accuracy   within 2 bound ln(1/beta) / epsilon when released.
/// Numerics   records go to the nearest point of a public grid of at least 2^40 (NaN counts as
///            `lower`).
/// Time       O(n log n).
/// Argument   propose_test_release.md
class ProposedMedian {
 public:
  struct Options {
    Required<Ratio> lower;    ///< smallest value of the domain
    Required<Ratio> upper;    ///< largest value of the domain, > lower
    Required<Ratio> bound;    ///< how far one record may move the median, > 0, at most the width
    Required<Ratio> epsilon;  ///< > 0
    Required<Ratio> delta;    ///< in (0, 1)
  };

  explicit ProposedMedian(Options options);

  Event event() const { return release_.event(); }
  Accuracy accuracy(double confidence = 0.95) const { return release_.accuracy(confidence); }

  /// Charges the meter, then releases the median plus noise, or nothing. Any doubles are accepted.
  Release<std::optional<double>> run(std::span<const double> values, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
  ProposeTestRelease release_;
};

}  // namespace gauze
