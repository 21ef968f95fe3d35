#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/histogram/workload.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// What is measured of a histogram: weighted sums of its cells, from which all cells are estimated by
/// least squares. Weights are whole numbers, so that measurements and their sensitivity are exact: real
/// ones are multiplied by a power of two and rounded, to 16 bits over all axes together, and what is
/// rounded is the strategy.
class Strategy {
 public:
  /// Measurements along one axis: each cell times a number, if `diagonal` has any, and the sums in `rows`.
  struct Axis {
    std::vector<double> diagonal = {};  ///< none, or a positive number for each cell
    DenseMatrix rows = {};              ///< one sum in each row
  };

  /// All products of one measurement per axis. Throws `kInvalidOption` unless they determine every cell.
  static Strategy product(std::vector<Axis> axes);
  static Strategy matrix(DenseMatrix rows) { return product({Axis{{}, std::move(rows)}}); }
  static Strategy identity(const Shape& shape);
  /// Tables over sets of axes, the others summed out: weights[s] is that of the table over the axes in
  /// the bits of s, 0 for none. What no table tells is spread evenly over cells.
  static Strategy marginals(const Shape& shape, std::vector<double> weights);

  Shape shape() const;
  std::size_t measurements() const;
  /// How far one row more or less moves the measurements at most, in the first and the second norm (the
  /// latter rounded up to a whole number).
  Integer l1_norm() const;
  Integer l2_norm() const;

  /// The sums, exact; beyond 64 bits saturated.
  std::vector<std::int64_t> measure(std::span<const std::int64_t> counts) const;
  /// The least-squares cells.
  std::vector<double> estimate(std::span<const double> measurements) const;
  /// Of the sum of estimated cells with these weights, when measurements have independent noise of
  /// variance 1. O(cells * measurements on an axis).
  double variance(std::span<const double> weights) const;
  /// The same of a single cell, as one factor for each axis and place on it.
  std::vector<std::vector<double>> cell_variances() const;
  double largest_cell_variance() const;
  /// The same, summed over all questions of a workload, each times the square of its weight; infinite
  /// where tables do not answer one. Axes must be those of the strategy; throws `kInvalidOption`.
  double total_variance(const Workload& workload) const;

 private:
  struct Parts;
  explicit Strategy(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::vector<double> solve(std::vector<double> cells) const;

  std::shared_ptr<const Parts> parts_;
};

}  // namespace gauze
