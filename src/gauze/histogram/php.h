#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/buckets.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {

/// P-HPartition: buckets are bisected level by level, each time at the position that the exponential
/// mechanism finds best; so many of these cuts as are worth their noise are kept, and the totals of the
/// buckets measured and spread evenly.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   noise of the total of each bucket; what spreading adds depends on the data.
/// Numerics   scores are whole numbers.
/// Time       O(depth cells log cells).
/// Argument   php.md
class PhpHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< one axis of at most 2^20 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    std::uint32_t depth = 0;  ///< levels of bisection, at most 24; 0 is 4 + log2 of the cells
    Ratio partition_share = Ratio(1, 2);  ///< of epsilon, for finding buckets; between 0 and 1
    HistogramAim aim = HistogramAim::kRanges;
  };

  explicit PhpHistogram(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  struct Cuts;

  ExponentialMechanism choice(const Ratio& epsilon) const;
  ExponentialMechanism cutting() const;   // at one level
  ExponentialMechanism stopping() const;  // after so many cuts
  BucketMeasurement measurement() const;
  Cuts cuts(std::span<const std::int64_t> counts, Context& context) const;
  std::size_t enough(const Cuts& cuts, Context& context) const;

  Options options_;
};

}  // namespace gauze
