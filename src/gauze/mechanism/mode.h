#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// The most frequent value of an integer column; one record per privacy unit.
///
/// Privacy    pure DP, epsilon, of bounded range epsilon.
/// Accuracy   its count within ln(values/beta) / epsilon of the largest under add_remove (counts
///            are monotone there), twice that under replace; `values` is the size of the domain.
/// Numerics   the probabilities are exact.
/// Time       O(n log n) for n records, whatever the size of the domain.
/// Argument   mode.md
class Mode {
 public:
  struct Options {
    Required<std::int64_t> lower;  ///< smallest value of the domain
    Required<std::int64_t> upper;  ///< largest value of the domain, > lower
    Required<Ratio> epsilon;       ///< > 0
    Required<Relation> relation;   ///< add_remove or replace
  };

  explicit Mode(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases a value of the domain. Records outside it support no value.
  Release<std::int64_t> run(std::span<const std::int64_t> values, Context& context) const;

 private:
  Integer domain_size() const;
  Ratio rate() const;

  Options options_;
};

}  // namespace gauze
