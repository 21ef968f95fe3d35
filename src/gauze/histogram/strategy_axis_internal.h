#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <vector>

#include "gauze/histogram/workload.h"

namespace gauze::internal {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
__extension__ typedef __int128 Wide;

/// Whole-numbered measurements along one axis, A = [diag(d); T], and the inverse of A'A: by the p x p
/// matrix I + T D^-2 T' (Woodbury) where there is a diagonal, else dense.
class StrategyAxis {
 public:
  StrategyAxis(std::vector<std::int64_t> diagonal, std::vector<std::int64_t> rows,
               std::size_t cells);

  std::size_t cells() const { return cells_; }
  std::size_t measurements() const { return diagonal_.size() + rows_.size() / cells_; }
  std::int64_t l1_norm() const;       // the largest column
  std::int64_t squared_norm() const;  // the largest column

  /// Tensors are outer x (this axis) x inner; each call replaces this axis.
  std::vector<Wide> measure(std::span<const Wide> cells, std::size_t inner) const;
  std::vector<double> transposed(std::span<const double> measurements, std::size_t inner) const;
  std::vector<double> solve(std::span<const double> cells, std::size_t inner) const;

  /// tr((A'A)^-1 G), and the diagonal of (A'A)^-1.
  double trace(const AxisWorkload& workload) const;
  Eigen::VectorXd inverse_diagonal() const;

 private:
  std::size_t cells_;
  std::vector<std::int64_t> diagonal_;
  std::vector<std::int64_t> rows_;
  Eigen::VectorXd inverse_squares_;  // of the diagonal
  Eigen::MatrixXd scaled_;           // T D^-2
  // Of something, for what was never computed may not be copied.
  Eigen::LLT<Eigen::MatrixXd> small_{Eigen::MatrixXd::Identity(1, 1)};
  Eigen::MatrixXd inverse_;  // of A'A, without a diagonal
};

/// Of G, the product's Gram matrix: the trace on each of the spaces of vectors that sum to zero along the
/// axes of a set and are even along the others, by set. Times the square of the product's weight.
std::vector<double> spectrum(const Workload::Product& product);

}  // namespace gauze::internal
