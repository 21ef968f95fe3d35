#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/mechanism/range_internal.h"
#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze::internal {

/// The candidates of a quantile: lower, lower + granularity, ..., up to upper, by their index.
class QuantileDomain {
 public:
  /// `granularity` 0 makes 2^20 steps. Throws `kInvalidOption` when there would be more than 2^50
  /// candidates or fewer than two.
  QuantileDomain(const Ratio& lower, const Ratio& upper, const Ratio& granularity);

  std::uint64_t size() const { return size_; }

  /// The records as indices of their nearest candidates, sorted. A map of each record by itself, so
  /// its floating-point rounding is harmless.
  std::vector<std::uint64_t> indices(std::span<const double> values) const;
  double value(std::uint64_t index) const;

 private:
  RealRange range_;
  Ratio granularity_;
  std::uint64_t size_ = 0;
  // Indices are computed in units of 2^-shift, where the granularity lies in [1, 2): neither a
  // subnormal nor a huge range leaves the doubles.
  int shift_ = 0;
  double low_ = 0;
  double per_unit_ = 0;
};

/// Throws `kInvalidOption` unless 0 <= probability <= 1 with a denominator of at most 2^20.
void check_quantile_probability(const Ratio& probability);

/// How far one unit moves a score, in ranks: max(p, 1 - p) under add_remove, 1 under replace.
Ratio rank_sensitivity(const Ratio& probability, Relation relation);

/// Chooses an index in [first, last] with probability proportional to e^(-rate * distance), where
/// distance is how far probability * n lies from the ranks the index can have among the n sorted
/// records. Exact.
std::uint64_t choose_quantile(std::span<const std::uint64_t> sorted, std::uint64_t first,
                              std::uint64_t last, const Ratio& probability, const Ratio& rate,
                              BitSource& bits);

}  // namespace gauze::internal
