#include "gauze/histogram/workload.h"

#include <Eigen/Eigenvalues>
#include <bit>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {

AxisWorkload::AxisWorkload(Kind kind, std::uint32_t cells) : kind_(kind), cells_(cells) {
  require(cells >= 1, "workload: an axis must have at least one cell");
}

AxisWorkload AxisWorkload::ranges(std::uint32_t cells,
                                  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges) {
  AxisWorkload result(Kind::kRanges, cells);
  require(!ranges.empty(), "ranges: must be at least one");
  for (const auto& [begin, end] : ranges)
    require(begin < end && end <= cells, "ranges: must begin before they end, inside of the axis");
  result.ranges_ = std::move(ranges);
  return result;
}

AxisWorkload AxisWorkload::matrix(DenseMatrix weights) {
  AxisWorkload result(Kind::kMatrix, static_cast<std::uint32_t>(weights.columns));
  require(weights.rows >= 1 && weights.values.size() == weights.rows * weights.columns,
          "matrix: must have at least one row, and all rows must be full");
  for (const double weight : weights.values)
    require(std::isfinite(weight), "matrix: weights must be finite");
  result.weights_ = std::move(weights);
  return result;
}

AxisWorkload AxisWorkload::with_gram(const DenseMatrix& gram) {
  const auto n = static_cast<Eigen::Index>(gram.columns);
  const Eigen::Map<const Eigen::MatrixXd> square(gram.values.data(), n, n);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(square);
  DenseMatrix rows{gram.columns, gram.columns, {}};
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      rows.values.push_back(std::sqrt(std::max(0.0, solved.eigenvalues()[i])) *
                            solved.eigenvectors()(j, i));
  return matrix(std::move(rows));
}

double AxisWorkload::queries() const {
  const double n = cells_;
  switch (kind_) {
    case Kind::kTotal:
      return 1;
    case Kind::kAllRanges:
      return n * (n + 1) / 2;
    case Kind::kRanges:
      return static_cast<double>(ranges_.size());
    case Kind::kMatrix:
      return static_cast<double>(weights_.rows);
    default:
      return n;
  }
}

namespace {

/// Cell i and cell j lie together in (min + 1)(n - max) intervals.
std::vector<double> all_ranges_times(std::span<const double> v) {
  const std::size_t n = v.size();
  std::vector<double> result(n);
  double before = 0;
  for (std::size_t i = 0; i < n; ++i) {
    before += static_cast<double>(i + 1) * v[i];
    result[i] = static_cast<double>(n - i) * before;
  }
  double after = 0;
  for (std::size_t i = n; i-- > 0;) {
    result[i] += static_cast<double>(i + 1) * after;
    after += static_cast<double>(n - i) * v[i];
  }
  return result;
}

/// And in n - max prefixes.
std::vector<double> prefix_times(std::span<const double> v) {
  const std::size_t n = v.size();
  std::vector<double> result(n);
  double before = 0;
  for (std::size_t i = 0; i < n; ++i) {
    before += v[i];
    result[i] = static_cast<double>(n - i) * before;
  }
  double after = 0;
  for (std::size_t i = n; i-- > 0;) {
    result[i] += after;
    after += static_cast<double>(n - i) * v[i];
  }
  return result;
}

std::vector<double> running_sums(std::span<const double> steps) {
  std::vector<double> sums(steps.size());
  double sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) sums[i] = sum += steps[i];
  return sums;
}

std::vector<double> matrix_times(const DenseMatrix& weights, std::span<const double> v) {
  std::vector<double> result(v.size(), 0.0);
  for (std::size_t row = 0; row < weights.rows; ++row) {
    double answer = 0;
    for (std::size_t i = 0; i < v.size(); ++i) answer += weights.at(row, i) * v[i];
    for (std::size_t i = 0; i < v.size(); ++i) result[i] += weights.at(row, i) * answer;
  }
  return result;
}

}  // namespace

std::vector<double> AxisWorkload::gram_times(std::span<const double> v) const {
  switch (kind_) {
    case Kind::kIdentity:
      return {v.begin(), v.end()};
    case Kind::kTotal:
      return std::vector<double>(cells_, running_sums(v).back());
    case Kind::kPrefix:
      return prefix_times(v);
    case Kind::kAllRanges:
      return all_ranges_times(v);
    case Kind::kMatrix:
      return matrix_times(weights_, v);
    case Kind::kRanges:
      break;
  }
  const std::vector<double> sums = running_sums(v);
  std::vector<double> steps(cells_ + 1, 0.0);
  for (const auto& [begin, end] : ranges_) {
    const double answer = sums[end - 1] - (begin == 0 ? 0 : sums[begin - 1]);
    steps[begin] += answer;
    steps[end] -= answer;
  }
  return running_sums(std::span(steps).first(cells_));
}

std::vector<double> AxisWorkload::gram_diagonal() const {
  std::vector<double> diagonal(cells_, 1.0);
  std::vector<double> steps(cells_ + 1, 0.0);
  for (const auto& [begin, end] : ranges_) {
    steps[begin] += 1;
    steps[end] -= 1;
  }
  if (kind_ == Kind::kRanges) return running_sums(std::span(steps).first(cells_));
  for (std::size_t i = 0; i < cells_; ++i) {
    if (kind_ == Kind::kPrefix) diagonal[i] = static_cast<double>(cells_ - i);
    if (kind_ == Kind::kAllRanges) diagonal[i] = static_cast<double>(i + 1) * double(cells_ - i);
    if (kind_ != Kind::kMatrix) continue;
    diagonal[i] = 0;
    for (std::size_t row = 0; row < weights_.rows; ++row)
      diagonal[i] += weights_.at(row, i) * weights_.at(row, i);
  }
  return diagonal;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> AxisWorkload::intervals() const {
  if (kind_ == Kind::kTotal) return {{0, cells_}};
  return ranges_;
}

DenseMatrix AxisWorkload::questions(std::size_t most) const {
  DenseMatrix result{0, cells_, {}};
  if (kind_ == Kind::kTotal && most > 0) return {1, cells_, std::vector<double>(cells_, 1.0)};
  if (kind_ == Kind::kMatrix && weights_.rows <= most) return weights_;
  if (kind_ != Kind::kRanges || ranges_.size() > most) return result;
  result.rows = ranges_.size();
  result.values.assign(result.rows * cells_, 0.0);
  for (std::size_t row = 0; row < result.rows; ++row)
    for (std::size_t i = ranges_[row].first; i < ranges_[row].second; ++i) result.at(row, i) = 1;
  return result;
}

Workload::Workload(std::vector<Product> products) : products_(std::move(products)) {
  require(!products_.empty(), "workload: must have at least one product");
  for (const Product& product : products_) {
    require(std::isfinite(product.weight) && product.weight > 0,
            "workload: weights must be positive and finite");
    const auto& first = products_.front().axes;
    require(!product.axes.empty() && product.axes.size() == first.size(),
            "workload: all products must be about the same axes");
    for (std::size_t axis = 0; axis < first.size(); ++axis)
      require(product.axes[axis].cells() == first[axis].cells(),
              "workload: all products must be about the same cells");
  }
}

namespace {

Workload same_on_all(const Shape& shape, AxisWorkload (*make)(std::uint32_t)) {
  check_shape(shape);
  Workload::Product product;
  for (const std::uint32_t cells : shape.extents) product.axes.push_back(make(cells));
  return Workload({product});
}

}  // namespace

Workload Workload::identity(const Shape& shape) {
  return same_on_all(shape, AxisWorkload::identity);
}
Workload Workload::prefix(const Shape& shape) {
  return same_on_all(shape, AxisWorkload::prefix);
}
Workload Workload::all_ranges(const Shape& shape) {
  return same_on_all(shape, AxisWorkload::all_ranges);
}

Workload Workload::marginals(const Shape& shape, std::size_t way) {
  check_shape(shape);
  require(way <= shape.axes(), "way: must be at most the number of axes");
  std::vector<Product> products;
  for (std::uint32_t kept = 0; kept < 1u << shape.axes(); ++kept) {
    if (static_cast<std::size_t>(std::popcount(kept)) != way) continue;
    Product product;
    for (std::size_t axis = 0; axis < shape.axes(); ++axis)
      product.axes.push_back(kept >> axis & 1 ? AxisWorkload::identity(shape.extents[axis])
                                              : AxisWorkload::total(shape.extents[axis]));
    products.push_back(std::move(product));
  }
  return Workload(std::move(products));
}

Shape Workload::shape() const {
  Shape shape;
  for (const AxisWorkload& axis : products_.front().axes) shape.extents.push_back(axis.cells());
  return shape;
}

double Workload::queries() const {
  double sum = 0;
  for (const Product& product : products_) {
    double queries = 1;
    for (const AxisWorkload& axis : product.axes) queries *= axis.queries();
    sum += queries;
  }
  return sum;
}

}  // namespace gauze
