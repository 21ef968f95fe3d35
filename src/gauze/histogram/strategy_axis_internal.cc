#include "gauze/histogram/strategy_axis_internal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gauze/base/error.h"

namespace gauze::internal {
namespace {

Eigen::Index index(std::size_t i) {
  return static_cast<Eigen::Index>(i);
}

}  // namespace

StrategyAxis::StrategyAxis(std::vector<std::int64_t> diagonal, std::vector<std::int64_t> rows,
                           std::size_t cells)
    : cells_(cells), diagonal_(std::move(diagonal)), rows_(std::move(rows)) {
  const Eigen::Index p = index(rows_.size() / cells_);
  RowMajor t(p, index(cells_));
  for (std::size_t i = 0; i < rows_.size(); ++i) t.data()[i] = static_cast<double>(rows_[i]);
  if (!diagonal_.empty()) {
    inverse_squares_.resize(index(cells_));
    for (std::size_t i = 0; i < cells_; ++i)
      inverse_squares_[index(i)] = 1 / std::pow(static_cast<double>(diagonal_[i]), 2);
    scaled_ = t * inverse_squares_.asDiagonal();
    small_.compute(Eigen::MatrixXd::Identity(p, p) + scaled_ * t.transpose());
    return;
  }
  require(cells_ <= 8192, "strategy: a matrix without a diagonal may have at most 8192 columns");
  const Eigen::MatrixXd normal = t.transpose() * t;
  const Eigen::LDLT<Eigen::MatrixXd> factors(normal);
  const Eigen::VectorXd pivots = factors.vectorD();
  require(pivots.minCoeff() > 1e-12 * pivots.maxCoeff(),
          "strategy: must determine every cell, so its rank must be the number of cells");
  inverse_ = factors.solve(Eigen::MatrixXd::Identity(index(cells_), index(cells_)));
}

std::int64_t StrategyAxis::l1_norm() const {
  std::vector<std::int64_t> sums(cells_, 0);
  for (std::size_t i = 0; i < diagonal_.size(); ++i) sums[i] = diagonal_[i];
  for (std::size_t i = 0; i < rows_.size(); ++i) sums[i % cells_] += std::abs(rows_[i]);
  return *std::max_element(sums.begin(), sums.end());
}

std::int64_t StrategyAxis::squared_norm() const {
  std::vector<std::int64_t> sums(cells_, 0);
  for (std::size_t i = 0; i < diagonal_.size(); ++i) sums[i] = diagonal_[i] * diagonal_[i];
  for (std::size_t i = 0; i < rows_.size(); ++i) sums[i % cells_] += rows_[i] * rows_[i];
  return *std::max_element(sums.begin(), sums.end());
}

std::vector<Wide> StrategyAxis::measure(std::span<const Wide> cells, std::size_t inner) const {
  const std::size_t outer = cells.size() / (cells_ * inner);
  const std::size_t sums = rows_.size() / cells_;
  std::vector<Wide> result(outer * measurements() * inner, 0);
  for (std::size_t o = 0; o < outer; ++o) {
    const Wide* in = cells.data() + o * cells_ * inner;
    Wide* out = result.data() + o * measurements() * inner;
    for (std::size_t c = 0; c < diagonal_.size(); ++c)
      for (std::size_t i = 0; i < inner; ++i) out[c * inner + i] = diagonal_[c] * in[c * inner + i];
    out += diagonal_.size() * inner;
    for (std::size_t r = 0; r < sums; ++r)
      for (std::size_t c = 0; c < cells_; ++c)
        if (const std::int64_t weight = rows_[r * cells_ + c]; weight != 0)
          for (std::size_t i = 0; i < inner; ++i) out[r * inner + i] += weight * in[c * inner + i];
  }
  return result;
}

std::vector<double> StrategyAxis::transposed(std::span<const double> measured,
                                             std::size_t inner) const {
  const std::size_t outer = measured.size() / (measurements() * inner);
  const std::size_t sums = rows_.size() / cells_;
  std::vector<double> result(outer * cells_ * inner, 0.0);
  for (std::size_t o = 0; o < outer; ++o) {
    const double* in = measured.data() + o * measurements() * inner;
    double* out = result.data() + o * cells_ * inner;
    for (std::size_t c = 0; c < diagonal_.size(); ++c)
      for (std::size_t i = 0; i < inner; ++i)
        out[c * inner + i] = static_cast<double>(diagonal_[c]) * in[c * inner + i];
    in += diagonal_.size() * inner;
    for (std::size_t r = 0; r < sums; ++r)
      for (std::size_t c = 0; c < cells_; ++c)
        if (const auto weight = static_cast<double>(rows_[r * cells_ + c]); weight != 0)
          for (std::size_t i = 0; i < inner; ++i) out[c * inner + i] += weight * in[r * inner + i];
  }
  return result;
}

std::vector<double> StrategyAxis::solve(std::span<const double> cells, std::size_t inner) const {
  std::vector<double> result(cells.size());
  const std::size_t block = cells_ * inner;
  for (std::size_t first = 0; first < cells.size(); first += block) {
    const Eigen::Map<const RowMajor> in(cells.data() + first, index(cells_), index(inner));
    Eigen::Map<RowMajor> out(result.data() + first, index(cells_), index(inner));
    if (diagonal_.empty()) {
      out = inverse_ * in;
    } else {
      out = inverse_squares_.asDiagonal() * in;
      if (scaled_.rows() > 0) out -= scaled_.transpose() * small_.solve(scaled_ * in);
    }
  }
  return result;
}

double StrategyAxis::trace(const AxisWorkload& workload) const {
  const auto gram = [&](const Eigen::VectorXd& v) {
    return workload.gram_times(std::span(v.data(), static_cast<std::size_t>(v.size())));
  };
  double sum = 0;
  if (diagonal_.empty()) {
    for (Eigen::Index i = 0; i < inverse_.cols(); ++i)
      sum += gram(inverse_.col(i))[static_cast<std::size_t>(i)];
    return sum;
  }
  const std::vector<double> diagonal = workload.gram_diagonal();
  for (std::size_t i = 0; i < cells_; ++i) sum += diagonal[i] * inverse_squares_[index(i)];
  // T D^-2 G D^-2 T'
  Eigen::MatrixXd product(scaled_.rows(), scaled_.rows());
  for (Eigen::Index row = 0; row < scaled_.rows(); ++row) {
    const std::vector<double> times = gram(scaled_.row(row));
    product.col(row) = scaled_ * Eigen::Map<const Eigen::VectorXd>(times.data(), index(cells_));
  }
  return sum - small_.solve(product).trace();
}

Eigen::VectorXd StrategyAxis::inverse_diagonal() const {
  if (diagonal_.empty()) return inverse_.diagonal();
  const Eigen::MatrixXd half = small_.matrixL().solve(scaled_);
  return inverse_squares_ - half.colwise().squaredNorm().transpose();
}

std::vector<double> spectrum(const Workload::Product& product) {
  std::vector<double> traces = {product.weight * product.weight};
  for (std::size_t axis = 0; axis < product.axes.size(); ++axis) {
    const AxisWorkload& workload = product.axes[axis];
    const std::vector<double> diagonal = workload.gram_diagonal();
    const std::vector<double> ones(workload.cells(), 1.0);
    const std::vector<double> times = workload.gram_times(ones);
    const double even =
        std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(workload.cells());
    const double rest = std::accumulate(diagonal.begin(), diagonal.end(), 0.0) - even;
    const std::size_t sets = traces.size();
    for (std::size_t set = 0; set < sets; ++set) {
      traces.push_back(traces[set] * std::max(rest, 0.0));
      traces[set] *= even;
    }
  }
  return traces;
}

}  // namespace gauze::internal
