#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/quantile.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// A released quantile and an interval that contains the true one with the confidence asked for.
struct BracketedQuantile {
  double value = 0;
  double lower = 0;  ///< <= value
  double upper = 0;  ///< >= value
  bool operator==(const BracketedQuantile&) const = default;
};

/// Quantiles of a bounded column, each with an interval.
///
/// Three choices for each: one for the quantile itself, and two for the values whose ranks lie so far
/// below and above it that the error of a choice does not bring them past it.
///
/// Privacy    pure DP, epsilon in total: 3 m choices of bounded range epsilon/(3 m) for m
///            probabilities, which is epsilon^2/(24 m) of zCDP.
/// Accuracy   each interval contains the quantile of the records within the bounds with probability
///            at least `confidence`, whatever they are; every usual definition of a quantile between
///            two records is covered. Its ends are within `accuracy` of the wanted rank.
/// Numerics   as `Quantile`; the interval pays for rounding records to candidates.
/// Time       O(n log n) for n records, O(r) for r sorted counts.
/// Argument   quantile_interval.md
class QuantileInterval {
 public:
  struct Options {
    Required<Ratio> lower;        ///< smallest value of the domain
    Required<Ratio> upper;        ///< largest value of the domain, > lower
    Required<Ratio> epsilon;      ///< > 0, for all probabilities together
    Required<Relation> relation;  ///< add_remove or replace
    /// In [0, 1], in any order, each with a denominator of at most 2^20.
    Required<std::vector<Ratio>> probabilities;
    Ratio granularity = 0;               ///< distance of candidates; 0 is (upper - lower)/2^20
    std::uint64_t records_per_unit = 1;  ///< at most so many records belong to one unit, >= 1
    double confidence = 0.95;            ///< of each interval, in (0, 1)
  };

  explicit QuantileInterval(Options options);

  Event event() const;
  /// How many ranks the ends of an interval lie from the quantile at most, with this confidence.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases one quantile per probability. Without records the intervals
  /// mean nothing.
  Release<std::vector<BracketedQuantile>> run(std::span<const double> values,
                                              Context& context) const;
  /// The same for counted records, in any order; grid indices outside go to the nearer end.
  Release<std::vector<BracketedQuantile>> run(std::span<const GridCount> counts,
                                              Context& context) const;

 private:
  struct Choice;  // of one probability

  Ratio epsilon_of_choice() const;
  Choice choice(const Ratio& probability) const;
  /// `margin` is how far a record may lie from its candidate.
  std::vector<BracketedQuantile> choose(std::span<const internal::Run> runs, const Ratio& margin,
                                        BitSource& bits) const;

  Options options_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
};

}  // namespace gauze
