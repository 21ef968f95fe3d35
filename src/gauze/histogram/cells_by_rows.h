#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Single cells of a large domain, by how many rows there are: noise on every cell, pruned, where cells can
/// stand out from it; a share for large blocks where few can; an adaptive hierarchy where none can.
///
/// Privacy    pure DP, `epsilon`.
/// Accuracy   the noise of each cell where there are many rows; every answer states its own.
/// Time       O(cells).
/// Argument   cells_by_rows.md
class CellsByRows {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^24 cells
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    std::uint64_t expected_rows = 0;  ///< publicly known size of the data; 0 pays for estimates
  };

  explicit CellsByRows(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  struct Look;

  /// So many of the equal parts that the budget comes in, as an epsilon.
  Ratio share(std::uint32_t parts) const;
  /// How many rows there are for a unit of the noise of a cell, with noise for so many parts.
  double strength(std::int64_t rows, std::uint32_t parts, BitSource& bits) const;
  /// How many rows there are, and what is left of the budget.
  Look look(std::span<const std::int64_t> counts, BitSource& bits) const;

  Options options_;
};

}  // namespace gauze
