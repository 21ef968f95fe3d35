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

enum class ThresholdNoise : std::uint8_t {
  kBest,  ///< the one with the lower threshold
  kLaplace,
  kGaussian,
};

/// Noise on the cells that are not empty; those that reach a threshold are named. For domains in which
/// nearly all cells are empty, of any size. The leaves of the result with noise are the named cells; the
/// others, read as 0, hold few rows or none and have variance 0.
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
  Release<RangeHistogram> run(const Points& points, Context& context) const;

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
