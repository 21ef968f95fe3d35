#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/buckets.h"

namespace gauze {

/// A part of the budget finds buckets of nearly equal counts, from the last to the first, by the
/// exponential mechanism with squared errors; the rest measures their totals, each spread evenly over its
/// cells. Of historical interest: `DawaHistogram` finds better buckets.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   noise of the total of each bucket; what spreading adds depends on the data.
/// Numerics   squared errors are rounded down to whole numbers, and the rounding is paid for.
/// Time       O(cells^2).
/// Argument   structure_first.md
class StructureFirstHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< one axis of at most 2^14 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    /// Counts above this are taken for this in the search for buckets (not in their totals): public, at
    /// least 1. Small is more private per choice, so less noisy.
    Required<std::uint64_t> count_limit;
    std::uint32_t buckets =
        0;  ///< at most so many, at least 1; 0 is a tenth of the cells, at most 16
    Ratio partition_share = Ratio(1, 2);  ///< of epsilon, for finding them; between 0 and 1
  };

  explicit StructureFirstHistogram(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  BucketMeasurement measurement() const;
  Event choice_event() const;  ///< of all choices
  std::vector<std::uint32_t> find_buckets(std::span<const std::int64_t> counts,
                                          Context& context) const;

  Options options_;
};

}  // namespace gauze
