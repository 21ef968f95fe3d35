#pragma once

#include <cstdint>
#include <optional>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/buckets.h"
#include "gauze/histogram/hdmm.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// Chooses the method by the shape, the budget and the questions, and says why; the method goes on by a paid estimate
/// of how many rows there are.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP.
/// Accuracy   that of the method it takes; every answer states its own noise.
/// Time       O(rows + cells).
/// Argument   auto_histogram.md
class AutoHistogram {
 public:
  struct Options {
    Required<Shape> shape;
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
    HistogramAim aim =
        HistogramAim::kRanges;  ///< where a workload is not declared, or not worth it
    /// What will be asked and nothing else, along the axes of the shape; anything when it is not said.
    std::optional<Workload> workload = {};
    std::uint64_t expected_rows = 0;  ///< publicly known size of the data; 0 pays for an estimate
  };

  explicit AutoHistogram(Options options);

  Event event() const { return event_; }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases; the histogram's note says what was taken and why. Throws
  /// `kInvalidInput` for points outside of the shape.
  Release<RangeHistogram> run(const Points& points, Context& context) const;

 private:
  enum class Method : std::uint8_t { kFlat, kCells, kCellsByRows, kLevels, kGrid };

  Method method() const;
  /// Whether a strategy of its own is worth it for the workload, and from how many rows on.
  void declare();
  Release<RangeHistogram> by_rows(const Points& points, Context& context) const;

  Options options_;
  std::optional<HdmmHistogram> declared_;  // where it is, with what a look at the rows leaves
  double enough_rows_ = 0;                 // for that, in units of noise; 0 is any number
  Event event_;
};

}  // namespace gauze
