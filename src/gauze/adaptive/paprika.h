#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/adaptive/false_discovery.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/sparse_vector.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Tests hypotheses one after the other on the same private data, rejecting up to a fixed number,
/// with a bounded rate of false discoveries. Levels follow LORD++, a function of what was
/// rejected; the published candidacy rule is not private and is left out.
///
/// Privacy    pure DP, epsilon for all tests, if log_sensitivity and floor are right: one privacy
///            unit moves a p-value by at most a factor e^log_sensitivity, unless both values are
///            below `floor`.
/// Accuracy   false discovery rate at most `rate`, for independent p-values. A p-value is rejected
///            with probability 1 - beta if it is below its level by e^-(half width).
/// Numerics   logarithms of p-values are compared as by `SparseVector`; their rounding is paid for.
/// Time       O(rejections) per test.
/// Argument   paprika.md
class Paprika {
 public:
  struct Options {
    Required<double> rate;                   ///< of false discoveries, in (0, 1)
    Required<Ratio> log_sensitivity;         ///< of every p-value, > 0; about sqrt(ln n / n)
    Required<Ratio> floor;                   ///< p-values below count as this, in (0, 1)
    Required<std::uint64_t> rejections;      ///< ends after so many, >= 1
    Required<std::uint64_t> tests;           ///< how many there are at most, 1 to 2^24; public
    Required<Ratio> epsilon;                 ///< > 0
    Relation relation = Relation::kReplace;  ///< under which log_sensitivity holds
  };

  explicit Paprika(Options options);

  Event event() const { return noise_.event(); }
  /// How far below its level, in logarithms, a p-value must be to be rejected.
  Accuracy accuracy(double confidence = 0.95) const;
  /// By how much levels are lowered, in logarithms, so that noise makes no false discoveries.
  double shift() const { return shift_; }

  /// Charges the meter, then says of each p-value, in order, whether its hypothesis is rejected; of
  /// none after the last rejection. NaN counts as 1; throws `kInvalidInput` when there are more than
  /// `tests`.
  Release<std::vector<bool>> run(std::span<const double> p_values, Context& context) const;

 private:
  Options options_;
  SparseVector noise_;
  LordPlusPlus levels_;  // before the first test
  double shift_;
};

}  // namespace gauze
