#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/noisy_max.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Records as steps of their log-likelihood ratio ln(P1(x)/P0(x)), where P0 is the law before the
/// change and P1 the one after it. Clamped to [lower, upper]; one record is worth at most kRange.
class LikelihoodSteps {
 public:
  static constexpr std::int64_t kRange = 1 << 20;
  static Ratio range() { return Ratio(Integer(kRange)); }

  /// Throws `kInvalidOption` unless lower < 0 < upper.
  LikelihoodSteps(const Ratio& lower, const Ratio& upper);

  /// From -kRange to kRange; NaN counts as `lower`.
  std::int64_t operator()(double ratio) const;
  /// The log-likelihood of so many steps.
  double size(double steps) const { return steps * step_; }
  const Ratio& width() const { return width_; }

 private:
  Ratio width_;
  double lower_;
  double upper_;
  double step_;
};

/// The log-likelihood, in steps, of a change at each position: the sum of all records from it on.
/// Whole numbers; a replaced record moves all that it is in by the same amount, and no other.
std::vector<double> change_likelihoods(std::span<const double> ratios,
                                       const LikelihoodSteps& steps);

/// Where in a sequence of records their law changed, by the largest noisy likelihood; before and
/// after are known laws. How many records there are is public.
///
/// Privacy    pure DP, epsilon, one record replaced, whatever laws the records have.
/// Accuracy   the log-likelihood of the change is within (upper - lower) ln(n/beta) / epsilon of the
///            largest.
/// Numerics   ratios are rounded to steps of (upper - lower)/2^20; sums and noise are integers.
/// Time       O(n).
/// Argument   change_point.md
class ChangePoint {
 public:
  struct Options {
    Required<Ratio> lower;    ///< of log-likelihood ratios, < 0; smaller ones are raised to it
    Required<Ratio> upper;    ///< of log-likelihood ratios, > 0; larger ones are cut to it
    Required<Ratio> epsilon;  ///< > 0
  };

  explicit ChangePoint(Options options);

  Event event() const;
  /// For so many records.
  Accuracy accuracy(std::uint64_t records, double confidence = 0.95) const;

  /// Charges the meter, then releases the position, from 0, of the first record after the change.
  /// `ratios` are the records' log-likelihood ratios, 1 to 2^31 of them: throws `kInvalidInput`.
  Release<std::size_t> run(std::span<const double> ratios, Context& context) const;

 private:
  Options options_;
  LikelihoodSteps steps_;
  ReportNoisyMax choice_;
};

}  // namespace gauze
