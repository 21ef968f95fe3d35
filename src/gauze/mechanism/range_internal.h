#pragma once

#include <span>

#include "gauze/accounting/event.h"
#include "gauze/numeric/exact_sum.h"
#include "gauze/numeric/ratio.h"

namespace gauze::internal {

/// The public range of one column: brings any double inside, so that nothing later depends on what
/// the data contained. NaN becomes `lower`; infinities, and all else outside, the nearest end.
/// Every record still counts once.
class RealRange {
 public:
  /// Throws `kInvalidOption` unless lower < upper with two doubles between them.
  RealRange(const Ratio& lower, const Ratio& upper);

  const Ratio& lower() const { return lower_; }
  const Ratio& upper() const { return upper_; }
  Ratio width() const { return upper_ - lower_; }
  Ratio middle() const { return (lower_ + upper_) / 2; }

  double clamp(double value) const {
    if (!(value > low_)) return low_;  // also NaN
    return value < high_ ? value : high_;
  }
  Ratio clamp(const Ratio& value) const;

  ExactSum sum(std::span<const double> values) const;

 private:
  Ratio lower_;
  Ratio upper_;
  double low_;   // the smallest double in the range
  double high_;  // the largest
};

/// Throws `kInvalidOption` unless the relation is add_remove or replace and epsilon > 0.
void check_tabular(const Ratio& epsilon, Relation relation);

}  // namespace gauze::internal
