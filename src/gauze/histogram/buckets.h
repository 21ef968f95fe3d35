#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/histogram/matrix_mechanism.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// What a histogram is tuned for.
enum class HistogramAim : std::uint8_t {
  kRanges,  ///< sums of many neighbouring cells
  kCells,   ///< single cells
};

using CellRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// How the second half of methods that first find buckets, runs of neighbouring cells with nearly equal
/// counts, measures them: a hierarchical histogram of the bucket totals with the branching that is best
/// for so many (ranges), or a flat one (cells), or what suits the ranges that will be asked, spread
/// evenly over the cells of each bucket.
/// Argument: buckets.md
struct BucketMeasurement {
  static constexpr std::size_t kMostSearched = 256;  ///< buckets for which a strategy is searched

  Ratio epsilon;
  std::uint64_t rows_per_unit;
  HistogramAim aim = HistogramAim::kRanges;
  /// What will be asked, cells begin <= cell < end, where that is known.
  CellRanges asked = {};

  /// How many levels there are depends on how many buckets were found, hence a pure price.
  Event event() const;
  /// For the total of each bucket when there are at most so many.
  Accuracy accuracy(std::uint64_t buckets, double confidence) const;
  /// Bucket i holds the cells from begins[i] up to begins[i + 1]; the last entry is the number of cells.
  RangeHistogram run(std::span<const std::int64_t> counts, std::span<const std::uint32_t> begins,
                     Context& context) const {
    return run(counts, begins, searched(begins), context);
  }

  /// What suits the ranges that will be asked of these buckets, searched for without a look at data: none
  /// where they are not known, or not better. It takes half a second for 256 buckets.
  std::optional<MatrixMechanism> searched(std::span<const std::uint32_t> begins) const;
  RangeHistogram run(std::span<const std::int64_t> counts, std::span<const std::uint32_t> begins,
                     const std::optional<MatrixMechanism>& found, Context& context) const;
};

}  // namespace gauze
