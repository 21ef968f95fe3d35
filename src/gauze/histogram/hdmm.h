#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/matrix_mechanism.h"
#include "gauze/histogram/range_histogram.h"
#include "gauze/histogram/workload.h"

namespace gauze {

/// Finds a strategy that suits the questions that will be asked, and runs the matrix mechanism with it.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP. The search sees no data.
/// Accuracy   each cell; every answer states its own variance.
/// Time       the search once, O(cells^2) and more along each axis: 2 s for 1,024; then as the matrix
///            mechanism.
/// Argument   hdmm.md
class HdmmHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^28 cells, 2^14 along an axis
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
    /// What will be asked, along the axes of the shape; all ranges when it is not said.
    std::optional<Workload> workload = {};
  };

  explicit HdmmHistogram(Options options);

  /// Of the noise of a question of the workload, averaged over them, each times its weight squared.
  double average_variance() const { return average_variance_; }
  const Strategy& strategy() const { return strategy_; }

  Event event() const { return mechanism_.event(); }
  Accuracy accuracy(double confidence = 0.95) const { return mechanism_.accuracy(confidence); }

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const {
    return mechanism_.run(counts, context);
  }

 private:
  struct Chosen {
    Strategy strategy;
    MatrixMechanism mechanism;
    double average_variance;
  };
  static Chosen choose(const Options& options);
  explicit HdmmHistogram(Chosen chosen);

  Strategy strategy_;
  MatrixMechanism mechanism_;
  double average_variance_;
};

}  // namespace gauze
