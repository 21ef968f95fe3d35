#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// A hierarchy of counts that grows where its own noisy counts show rows: a block that is full is parted
/// further, with as little of the budget as shows its parts, a block that is nearly empty is counted
/// once more with all that is left for it. All counts are then fitted to each other.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   the number of rows; every answer states its own noise.
/// Time       O(cells).
/// Argument   adaptive_hierarchy.md
class AdaptiveHierarchy {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^24 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    std::uint64_t expected_rows =
        0;  ///< publicly known size of the data; 0 goes by the noisy total
  };

  explicit AdaptiveHierarchy(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  class Growth;

  /// Noise for so many of the equal parts that the budget comes in.
  CountNoise noise(std::uint32_t parts) const;
  /// Whether whole-numbered noise falls faster with epsilon than its inverse, so that what is spent on the
  /// way to the cells is dear.
  bool is_loud() const;

  Options options_;
};

}  // namespace gauze
