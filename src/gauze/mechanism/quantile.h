#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class QuantileDomain;
struct Run;
}  // namespace internal

/// How many records have the candidate lower + grid * granularity: the rows of a GROUP BY.
using GridCount = std::pair<std::int64_t, std::uint64_t>;

/// A quantile of a bounded column by the exponential mechanism; probability 1/2 is the median.
///
/// Privacy    pure DP, epsilon, of bounded range epsilon.
/// Accuracy   its rank within 2 sensitivity ln(candidates/beta) / epsilon of probability * n, with
///            probability 1 - beta; sensitivity is max(p, 1 - p) under add_remove, 1 under replace,
///            times the records per unit.
/// Numerics   records go to the nearest of lower, lower + granularity, ... (NaN counts as `lower`);
///            the choice among those is exact.
/// Time       O(n log n) for n records, whatever the number of candidates.
/// Argument   quantile.md
class Quantile {
 public:
  struct Options {
    Required<Ratio> lower;               ///< smallest value of the domain
    Required<Ratio> upper;               ///< largest value of the domain, > lower
    Required<Ratio> epsilon;             ///< > 0
    Required<Relation> relation;         ///< add_remove or replace
    Ratio probability = Ratio(1, 2);     ///< in [0, 1], denominator at most 2^20
    Ratio granularity = 0;               ///< distance of candidates; 0 is (upper - lower)/2^20
    std::uint64_t records_per_unit = 1;  ///< at most so many records belong to one unit, >= 1
  };

  explicit Quantile(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases a candidate. Any doubles are accepted, also none.
  Release<double> run(std::span<const double> values, Context& context) const;
  /// The same for counted records, in any order; grid indices outside go to the nearer end.
  Release<double> run(std::span<const GridCount> counts, Context& context) const;

 private:
  Ratio rate() const;

  Options options_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
};

/// The distance between the quartiles of a bounded column: two quantiles, each with half of
/// epsilon.
///
/// Privacy    pure DP, epsilon.
/// Accuracy   the rank of each quartile, as `Quantile` at probability 3/4 with half of epsilon.
/// Numerics, time, argument: as `Quantile`.
class InterquartileRange {
 public:
  struct Options {
    Required<Ratio> lower;        ///< smallest value of the domain
    Required<Ratio> upper;        ///< largest value of the domain, > lower
    Required<Ratio> epsilon;      ///< > 0
    Required<Relation> relation;  ///< add_remove or replace
    Ratio granularity = 0;        ///< distance of candidates; 0 is (upper - lower)/2^20
  };

  explicit InterquartileRange(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases upper minus lower quartile, never negative.
  Release<double> run(std::span<const double> values, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
};

/// Many quantiles of a bounded column by recursive splitting: the middle one first, then each half
/// of the data by itself.
///
/// Privacy    pure DP, epsilon for all of them. ceil(log2(m + 1)) levels for m quantiles; a record
///            takes part once per level under add_remove, so each level gets an equal share of
///            epsilon, and half of that under replace; records of one unit share it.
/// Accuracy   every rank within levels * 2 ln(candidates m/beta) / (epsilon of a level), if values
///            are distinct.
/// Numerics   as `Quantile`; the results are non-decreasing.
/// Time       O(n log n + n levels).
/// Argument   quantile.md
class Quantiles {
 public:
  struct Options {
    Required<Ratio> lower;        ///< smallest value of the domain
    Required<Ratio> upper;        ///< largest value of the domain, > lower
    Required<Ratio> epsilon;      ///< > 0
    Required<Relation> relation;  ///< add_remove or replace
    /// Increasing, strictly between 0 and 1, common denominator at most 2^20.
    Required<std::vector<Ratio>> probabilities;
    Ratio granularity = 0;               ///< distance of candidates; 0 is (upper - lower)/2^20
    std::uint64_t records_per_unit = 1;  ///< at most so many records belong to one unit, >= 1
  };

  explicit Quantiles(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases one candidate per probability.
  Release<std::vector<double>> run(std::span<const double> values, Context& context) const;
  Release<std::vector<double>> run(std::span<const GridCount> counts, Context& context) const;

 private:
  std::uint64_t levels() const;
  Ratio epsilon_of_record() const;
  std::vector<double> choose(std::span<const internal::Run> runs, BitSource& bits) const;

  Options options_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
};

}  // namespace gauze
