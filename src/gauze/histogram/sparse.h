#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/histogram/cells.h"
#include "gauze/histogram/range_histogram.h"
#include "gauze/mechanism/discrete_gaussian.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// The cells of a huge histogram that hold enough rows to be named, with noisy counts. All others are
/// absent: they hold few rows or none. What is done with it costs nothing.
class SparseHistogram {
 public:
  struct Cell {
    std::uint64_t index;  ///< the last axis fastest
    std::int64_t count;   ///< noisy, at least the threshold
    bool operator==(const Cell&) const = default;
  };

  /// Cells by increasing index; the variance is that of the noise of each.
  SparseHistogram(Shape shape, std::vector<Cell> cells, double variance, bool gaussian);

  const Shape& shape() const { return shape_; }
  const std::vector<Cell>& cells() const { return cells_; }
  double variance() const { return variance_; }
  std::vector<std::uint32_t> coordinates(const Cell& cell) const;

  /// How many rows the named cells in the box hold; rows of absent cells are missing in it. Throws
  /// `kInvalidOption` for a box that is not inside the shape. O(named cells between its ends along the
  /// first axis).
  RangeEstimate range(const Box& box, double confidence = 0.95) const;

  bool operator==(const SparseHistogram&) const = default;

 private:
  Shape shape_;
  std::vector<Cell> cells_;
  double variance_;
  bool gaussian_;
};

enum class ThresholdNoise : std::uint8_t {
  kBest,  ///< the one with the lower threshold
  kLaplace,
  kGaussian,
};

/// Noise on the cells that are not empty; those that reach a threshold are named. For domains in which
/// nearly all cells are empty, of any size.
///
/// Privacy    (epsilon, delta)-DP. The event says more: the noise, beside (0, delta').
/// Accuracy   each cell, when an absent one is read as 0; a cell without rows is never named.
/// Numerics   integers throughout; thresholds are rounded up.
/// Time       O(rows log rows), whatever the size of the domain.
/// Argument   sparse.md
class ThresholdHistogram {
 public:
  struct Options {
    Required<Shape> shape;  ///< at most 2^63 cells
    Required<Ratio> epsilon;
    Required<Ratio> delta;  ///< in (0, 1): no threshold is certain
    Required<std::uint64_t> rows_per_unit;
    /// How many rows of one unit can lie in one cell; 0 is all of them. Fewer make Gaussian noise small.
    std::uint64_t rows_per_cell = 0;
    ThresholdNoise noise = ThresholdNoise::kBest;
  };

  explicit ThresholdHistogram(Options options);

  /// Noisy counts from here on are released.
  std::int64_t threshold() const { return rule_.threshold; }
  bool is_gaussian() const { return std::holds_alternative<DiscreteGaussian>(rule_.noise); }
  /// Of the noise of one count.
  double variance() const { return rule_.variance; }

  Event event() const { return rule_.event; }
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` for points outside of the shape.
  Release<SparseHistogram> run(const Points& points, Context& context) const;

  struct Rule {
    std::variant<DiscreteLaplace, DiscreteGaussian> noise;
    double variance;
    std::int64_t threshold;
    Event event;
  };

 private:
  Options options_;
  Rule rule_;
};

}  // namespace gauze
