#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// What a histogram is tuned for.
enum class HistogramAim : std::uint8_t {
  kRanges,  ///< sums of many neighbouring cells
  kCells,   ///< single cells
};

/// How the second half of methods that first find buckets, runs of neighbouring cells with nearly equal
/// counts, measures them: a hierarchical histogram of the bucket totals with the branching that is best
/// for so many (ranges), or a flat one (cells), spread evenly over the cells of each bucket.
/// Argument: buckets.md
struct BucketMeasurement {
  Ratio epsilon;
  std::uint64_t rows_per_unit;
  HistogramAim aim = HistogramAim::kRanges;

  /// How many levels there are depends on how many buckets were found, hence a pure price.
  Event event() const;
  /// For the total of each bucket when there are at most so many.
  Accuracy accuracy(std::uint64_t buckets, double confidence) const;
  /// Bucket i holds the cells from begins[i] up to begins[i + 1]; the last entry is the number of cells.
  RangeHistogram run(std::span<const std::int64_t> counts, std::span<const std::uint32_t> begins,
                     Context& context) const;
};

}  // namespace gauze
