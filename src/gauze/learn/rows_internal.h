#pragma once

#include <cstddef>
#include <vector>

#include "gauze/learn/examples.h"

// Scores and gradients of rows, dense and sparse, for code that works on both.
namespace gauze::internal {

/// Four sums side by side, which a processor adds at once.
inline double dot(const double* a, const double* b, std::size_t size) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < size; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

struct DenseRows {
  const Examples& examples;

  double score(std::size_t row, const std::vector<double>& w) const {
    return dot(examples.values(row).data(), w.data(), w.size());
  }
  void add(std::size_t row, double slope, std::vector<double>& gradient) const {
    const double* values = examples.values(row).data();
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += slope * values[i];
  }
};

struct SparseRows {
  const Examples& examples;

  double score(std::size_t row, const std::vector<double>& w) const {
    const auto values = examples.values(row);
    const auto indices = examples.indices(row);
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * w[indices[i]];
    return sum;
  }
  void add(std::size_t row, double slope, std::vector<double>& gradient) const {
    const auto values = examples.values(row);
    const auto indices = examples.indices(row);
    for (std::size_t i = 0; i < values.size(); ++i) gradient[indices[i]] += slope * values[i];
  }
};

/// Adds the gradient of a unit's loss, the mean of its rows', at w.
template <class Rows, class Slope>
void add_unit(const Rows& rows, std::size_t unit, const std::vector<double>& w, const Slope& slope,
              std::vector<double>& gradient) {
  const auto [first, end] = rows.examples.rows_of(unit);
  const double weight = 1 / static_cast<double>(end - first);
  for (std::size_t row = first; row < end; ++row) {
    rows.add(row, weight * slope(row, rows.score(row, w)), gradient);
  }
}

}  // namespace gauze::internal
