#include "gauze/learn/examples.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {

namespace {

/// Scales the row to length 1 if it is longer, whatever its magnitude.
void into_ball(std::span<double> row) {
  double largest = 0;
  for (double& value : row) {
    if (!std::isfinite(value)) value = 0;
    largest = std::fmax(largest, std::fabs(value));
  }
  if (largest > 1) {
    for (double& value : row) value /= largest;
  }
  double squares = 0;
  for (const double value : row) squares += value * value;
  if (squares <= 1) return;
  const double norm = std::sqrt(squares);
  for (double& value : row) value /= norm;
}

}  // namespace

Examples::Examples(std::uint32_t dimension, std::uint64_t rows_per_unit, bool sparse)
    : dimension_(dimension), rows_per_unit_(rows_per_unit), sparse_(sparse), starts_(1, 0) {
  require(dimension >= 1 && dimension <= 1u << 24, "dimension must lie in [1, 2^24]");
  require(rows_per_unit >= 1, "rows_per_unit must be at least 1");
}

Examples Examples::dense(std::uint32_t dimension, std::uint64_t rows_per_unit) {
  return {dimension, rows_per_unit, false};
}

Examples Examples::sparse(std::uint32_t dimension, std::uint64_t rows_per_unit) {
  return {dimension, rows_per_unit, true};
}

void Examples::start_unit() {
  first_rows_.push_back(rows());
}

bool Examples::takes_row() const {
  if (first_rows_.empty()) {
    throw Error(ErrorCode::kInvalidInput, "a row before its unit: call start_unit first");
  }
  return rows() - first_rows_.back() < rows_per_unit_;
}

void Examples::end_row(std::size_t first_value, double label) {
  into_ball(std::span(values_).subspan(first_value));
  if (sparse_) starts_.push_back(values_.size());
  labels_.push_back(std::fmin(std::fmax(label, -1), 1));
}

void Examples::add_row(std::span<const double> row, double label) {
  if (row.size() != dimension_) {
    throw Error(ErrorCode::kInvalidInput, "a row has another length than the dimension");
  }
  if (!takes_row()) return;
  const std::size_t first = values_.size();
  if (sparse_) {
    for (std::uint32_t i = 0; i < dimension_; ++i) {
      if (row[i] == 0) continue;
      indices_.push_back(i);
      values_.push_back(row[i]);
    }
  } else {
    values_.insert(values_.end(), row.begin(), row.end());
  }
  end_row(first, label);
}

void Examples::add_row(std::span<const Entry> row, double label) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].index >= dimension_ || (i > 0 && row[i].index <= row[i - 1].index)) {
      throw Error(ErrorCode::kInvalidInput,
                  "a sparse row's indices must increase and stay below the dimension");
    }
  }
  if (!takes_row()) return;
  const std::size_t first = values_.size();
  if (sparse_) {
    for (const Entry& entry : row) {
      indices_.push_back(entry.index);
      values_.push_back(entry.value);
    }
  } else {
    values_.resize(first + dimension_, 0);
    for (const Entry& entry : row) values_[first + entry.index] = entry.value;
  }
  end_row(first, label);
}

}  // namespace gauze
