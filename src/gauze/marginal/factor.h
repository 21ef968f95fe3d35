#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gauze/histogram/cells.h"

namespace gauze {

/// Columns of a table by their number, increasing, each once.
using Clique = std::vector<std::uint32_t>;

Clique united(const Clique& a, const Clique& b);
Clique common(const Clique& a, const Clique& b);
Clique without(const Clique& a, const Clique& b);
bool contains(const Clique& whole, const Clique& part);
/// How many cells a table over these columns has, saturated at 2^64 - 1.
std::uint64_t cells_of(const Shape& domain, const Clique& clique);

/// A number for each combination of the values of some columns: counts, probabilities, or logarithms of
/// them. The last column runs fastest. No column at all is a single number.
///
///     Factor joint = of_a_and_b * of_b_and_c;        // over a, b and c
///     Factor of_a = joint.marginal({0});
///
/// Numerics   doubles; sums of logarithms are taken about their largest term.
/// Time       each operation is O(cells) of its larger operand.
/// Argument   factor.md
class Factor {
 public:
  Factor(const Shape& domain, Clique clique, double value = 0);
  /// Throws `kInvalidInput` unless there is one value for each cell.
  Factor(const Shape& domain, Clique clique, std::vector<double> values);

  const Clique& clique() const { return clique_; }
  /// How many values each of its columns has.
  const std::vector<std::uint32_t>& extents() const { return extents_; }
  std::size_t cells() const { return values_.size(); }
  std::span<const double> values() const { return values_; }
  std::span<double> values() { return values_; }
  double operator[](std::size_t cell) const { return values_[cell]; }

  /// Cell by cell, where the columns of `part` are among these. 0 / 0 is 0, and so is infinity less
  /// infinity, for both mean that nothing is there.
  Factor& operator+=(const Factor& part);
  Factor& operator-=(const Factor& part);
  Factor& operator*=(const Factor& part);
  Factor& operator/=(const Factor& part);
  Factor& operator*=(double factor);

  /// Over the columns of either.
  friend Factor operator*(const Factor& a, const Factor& b);
  friend Factor operator+(const Factor& a, const Factor& b);

  double sum() const;
  /// The logarithm of the sum of what the values are logarithms of.
  double log_sum() const;
  /// The sum of products of cells over the same columns.
  double dot(const Factor& other) const;
  /// Sums over the columns that are not in `onto`, which are among these.
  Factor marginal(const Clique& onto) const;
  /// The same for logarithms, and the largest value instead of the sum.
  Factor log_marginal(const Clique& onto) const;
  Factor max_marginal(const Clique& onto) const;
  /// e^(value - shift) in each cell.
  Factor exp(double shift = 0) const;

 private:
  Factor(Clique clique, std::vector<std::uint32_t> extents, double value);
  Factor over(const Clique& clique, double value) const;
  static Factor over_both(const Factor& a, const Factor& b, double value);

  Clique clique_;
  std::vector<std::uint32_t> extents_;
  std::vector<double> values_;
};

/// Where each cell of `part` begins in a table over `whole`: the sum of the offsets of a cell over `part`
/// and of one over the other columns is the number of the cell over all.
std::vector<std::size_t> offsets(const Shape& domain, const Clique& whole, const Clique& part);

}  // namespace gauze
