#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gauze/histogram/cells.h"

namespace gauze {

/// Numbers in rows, the first row first.
struct DenseMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values = {};

  double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

/// Questions about one axis: each is a weighted sum of its cells. Known by W'W, the Gram matrix of the
/// matrix W of weights, never by W itself, which may have millions of rows.
class AxisWorkload {
 public:
  enum class Kind : std::uint8_t {
    kIdentity,   ///< every cell
    kTotal,      ///< the sum of all
    kPrefix,     ///< the first cell, the first two, ...
    kAllRanges,  ///< all intervals
    kRanges,     ///< those given
    kMatrix,
  };

  static AxisWorkload identity(std::uint32_t cells) { return {Kind::kIdentity, cells}; }
  static AxisWorkload total(std::uint32_t cells) { return {Kind::kTotal, cells}; }
  static AxisWorkload prefix(std::uint32_t cells) { return {Kind::kPrefix, cells}; }
  static AxisWorkload all_ranges(std::uint32_t cells) { return {Kind::kAllRanges, cells}; }
  /// Intervals begin <= cell < end. Throws `kInvalidOption` for one that is not inside.
  static AxisWorkload ranges(std::uint32_t cells,
                             std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges);
  /// One question in each row. Throws `kInvalidOption` for numbers that are not finite.
  static AxisWorkload matrix(DenseMatrix weights);
  /// As many questions as cells, with this Gram matrix, which is symmetric.
  static AxisWorkload with_gram(const DenseMatrix& gram);

  Kind kind() const { return kind_; }
  std::uint32_t cells() const { return cells_; }
  double queries() const;

  /// W'W v. O(cells), or O(cells + ranges), or O(size of the matrix).
  std::vector<double> gram_times(std::span<const double> v) const;
  std::vector<double> gram_diagonal() const;
  /// The intervals that are given, or the one of the total; none of other kinds.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> intervals() const;
  /// The questions themselves where there are no more than `most` and they are not all cells or all
  /// intervals; else no rows.
  DenseMatrix questions(std::size_t most) const;

 private:
  AxisWorkload(Kind kind, std::uint32_t cells);

  Kind kind_;
  std::uint32_t cells_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_ = {};
  DenseMatrix weights_ = {};
};

/// Questions about a histogram: products of questions about its axes (the box that is one interval on
/// each axis, ...), and several such sets together, each with a weight.
class Workload {
 public:
  /// All products of one question per axis.
  struct Product {
    double weight = 1;  ///< of every question in it: how much its error matters
    std::vector<AxisWorkload> axes;
  };

  /// Throws `kInvalidOption` unless there are products, all about the same number of cells along the
  /// same axes, with positive weights.
  explicit Workload(std::vector<Product> products);

  static Workload identity(const Shape& shape);
  static Workload prefix(const Shape& shape);
  static Workload all_ranges(const Shape& shape);
  /// All tables over `way` of the axes, the others summed out.
  static Workload marginals(const Shape& shape, std::size_t way);

  const std::vector<Product>& products() const { return products_; }
  Shape shape() const;
  double queries() const;

 private:
  std::vector<Product> products_;
};

}  // namespace gauze
