#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

class AdditiveNoise;
namespace internal {
class LatticeNoise;
class RealRange;
struct Terms;
}  // namespace internal

/// The sum of a bounded column of reals; one record per privacy unit.
///
/// Privacy    pure DP, epsilon. Sensitivity max(|lower|, |upper|) under add_remove, upper - lower
///            under replace.
/// Accuracy   within sensitivity * ln(1/beta) / epsilon of the sum of the clamped values, with
///            probability 1 - beta.
/// Numerics   values are clamped (NaN counts as `lower`), summed exactly in any order, rounded to a
///            public lattice, noised there.
/// Time       O(records).
/// Argument   sum.md
class Sum {
 public:
  struct Options {
    Required<Ratio> lower;        ///< smallest value of the domain
    Required<Ratio> upper;        ///< largest value of the domain, > lower
    Required<Ratio> epsilon;      ///< > 0
    Required<Relation> relation;  ///< add_remove or replace
  };

  explicit Sum(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;
  /// What one privacy unit moves the sum by at most.
  Ratio sensitivity() const;

  /// Charges the meter, then releases the sum plus noise. Any doubles are accepted.
  Release<double> run(std::span<const double> values, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::RealRange> range_;
  std::shared_ptr<const internal::LatticeNoise> noise_;
  std::shared_ptr<const internal::Terms> terms_;
};

/// The sum of a bounded column of integers; one record per privacy unit. As `Sum`, with integer
/// noise and no rounding; the result saturates at the ends of 64 bits.
class IntegerSum {
 public:
  struct Options {
    Required<std::int64_t> lower;  ///< smallest value of the domain
    Required<std::int64_t> upper;  ///< largest value of the domain, > lower
    Required<Ratio> epsilon;       ///< > 0
    Required<Relation> relation;   ///< add_remove or replace
  };

  explicit IntegerSum(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;
  Integer sensitivity() const;

  Release<std::int64_t> run(std::span<const std::int64_t> values, Context& context) const;

 private:
  Ratio scale() const;

  Options options_;
  std::shared_ptr<const AdditiveNoise> noise_;
  std::shared_ptr<const internal::Terms> terms_;
};

}  // namespace gauze
