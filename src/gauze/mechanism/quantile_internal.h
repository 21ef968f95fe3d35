#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/mechanism/quantile.h"
#include "gauze/mechanism/range_internal.h"
#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze::internal {

/// Records with one value, by the index of their candidate.
struct Run {
  std::uint64_t index;
  std::uint64_t count;
};

/// The candidates of a quantile: lower, lower + granularity, ..., up to upper, by their index.
class QuantileDomain {
 public:
  /// `granularity` 0 makes 2^20 steps. Throws `kInvalidOption` when there would be more than 2^50
  /// candidates or fewer than two.
  QuantileDomain(const Ratio& lower, const Ratio& upper, const Ratio& granularity);

  std::uint64_t size() const { return size_; }

  /// The records at their nearest candidates, by increasing index. A map of each record by itself,
  /// so its floating-point rounding is harmless.
  std::vector<Run> runs(std::span<const double> values) const;
  /// The same for records that are already counted by index; indices outside go to the nearer end.
  std::vector<Run> runs(std::span<const GridCount> counts) const;
  const Ratio& granularity() const { return granularity_; }
  /// The candidate itself, and the double nearest to it.
  Ratio exact(std::uint64_t index) const;
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

/// Throws `kInvalidOption` unless 1 <= records <= 2^32.
void check_records_per_unit(std::uint64_t records);

/// How far one unit with at most `records` records moves a score, in ranks: max(p, 1 - p) under
/// add_remove, 1 under replace, for each record.
Ratio rank_sensitivity(const Ratio& probability, Relation relation, std::uint64_t records = 1);

/// Which rank is wanted among n records: probability * n + shift. With a shift the end of the
/// candidates on that side stands for all ranks beyond it, so that some candidate always fits.
struct RankTarget {
  Ratio probability;
  std::int64_t shift = 0;
};

/// Chooses an index in [first, last] with probability proportional to e^(-rate * distance), where
/// distance is how far the wanted rank lies from the ranks the index can have. Exact. Candidates more
/// than `far_nats` / rate away are proposed together and then accepted one by one, so that time does
/// not grow with the number of different values beyond one pass.
std::uint64_t choose_quantile(std::span<const Run> runs, std::uint64_t first, std::uint64_t last,
                              const RankTarget& target, const Ratio& rate, BitSource& bits,
                              unsigned far_nats = 100);

}  // namespace gauze::internal
