#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/matrix_mechanism.h"
#include "gauze/histogram/range_histogram.h"
#include "gauze/histogram/workload_parts.h"

namespace gauze {

/// Finds a strategy that suits the questions that will be asked, and runs the matrix mechanism with it; cells
/// that no question tells apart are counted as one, and spread evenly.
///
/// Privacy    pure DP, `epsilon`; with delta > 0 (epsilon, delta)-DP. The search sees no data.
/// Accuracy   each cell; every answer states its own variance.
/// Time       the search once, O(cells^2) and more along each axis: 2 s for 1,024; then as the matrix
///            mechanism.
/// Argument   hdmm.md
class HdmmHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^28 cells, 2^14 along an axis or told apart
    Required<Ratio> epsilon;
    Required<std::uint64_t> rows_per_unit;
    Ratio delta = 0;  ///< above 0 allows Gaussian noise where that is smaller
    /// What will be asked, along the axes of the shape; all ranges when it is not said.
    std::optional<Workload> workload = {};
  };

  explicit HdmmHistogram(Options options);
  /// The same strategy with another budget, without a search. Only without delta.
  HdmmHistogram with(const Ratio& epsilon) const;

  /// Of the noise of a question of the workload, averaged over them, each times its weight squared.
  double average_variance() const { return average_variance_; }
  /// What is measured, of the cells or of the parts that the workload tells apart.
  const Strategy& strategy() const { return strategy_; }

  Event event() const { return mechanism_.event(); }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless there is one count for each cell.
  Release<RangeHistogram> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  struct Chosen {
    Strategy strategy;
    MatrixMechanism mechanism;
    double average_variance;
    std::optional<WorkloadParts> parts;
  };
  static Chosen choose(const Options& options);
  HdmmHistogram(const Options& options, Chosen chosen);

  Shape shape_;
  std::uint64_t rows_per_unit_;
  Strategy strategy_;
  MatrixMechanism mechanism_;
  double average_variance_;
  std::shared_ptr<const WorkloadParts> parts_;  // none where all cells are told apart
};

}  // namespace gauze
