#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/block_partition.h"
#include "gauze/histogram/buckets.h"

namespace gauze {

/// Data- and workload-aware histogram: a first part of the budget finds blocks of nearly equal counts, the
/// rest measures their totals, in one dimension with a hierarchy over the blocks, and a block's
/// total is spread evenly over its cells. Best for sparse or clustered data with many cells.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   noise of the total of each block; what spreading adds depends on the data.
/// Time       O(cells log cells).
/// Argument   dawa.md
class DawaHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^24 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio partition_share = Ratio(1, 3);  ///< of epsilon, for finding the blocks; between 0 and 1
    HistogramAim aim = HistogramAim::kRanges;
    /// What will be asked along the one axis, where that is known: cells begin <= cell < end. Cells that
    /// no range tells apart are then measured together, and where they make at most 256 parts no blocks
    /// are looked for.
    CellRanges asked = {};
  };

  explicit DawaHistogram(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  BucketMeasurement measurement() const;
  bool finds_blocks() const;
  bool along_axis() const { return options_.shape->axes() == 1; }
  RangeHistogram in_boxes(BlockTree tree, std::span<const std::int64_t> counts,
                          Context& context) const;

  Options options_;
  BlockPartition partition_;
  std::vector<std::uint32_t> edges_;  // where ranges that are asked begin or end; none if not known
  std::optional<MatrixMechanism> for_parts_;  // between edges, where no blocks are looked for
};

}  // namespace gauze
