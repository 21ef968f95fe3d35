#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/mechanism/quantile_internal.h"

namespace gauze::internal {

/// The records of a bounded column on a fine public grid, in order, of which any may be replaced:
/// what rank statistics can become when k records change.
class RankedRecords {
 public:
  RankedRecords(const QuantileDomain& domain, std::span<const double> values);

  std::uint64_t size() const { return sorted_.size(); }

  /// The index of the record with this rank, counted from 1; the ends of the domain beyond.
  std::int64_t at(std::int64_t rank) const;

  /// The smallest k from 0 to size with `happens(k)`, which is false up to it and true from then on;
  /// `size` if there is none.
  template <class Happens>
  std::uint64_t first_change(Happens happens) const {
    if (happens(0)) return 0;
    std::int64_t from = 0;
    auto to = static_cast<std::int64_t>(size());
    // Looking near first: a look at k takes k steps.
    for (std::int64_t k = 1; k < to; k *= 2) {
      if (happens(k)) {
        to = k;
        break;
      }
      from = k;
    }
    while (from < to) {
      const std::int64_t k = from + (to - from) / 2;
      if (happens(k)) {
        to = k;
      } else {
        from = k + 1;
      }
    }
    return static_cast<std::uint64_t>(to);
  }

  /// The record of rank ceil(size/2).
  std::int64_t median() const { return at(middle()); }
  /// How far one replacement can move the median after up to k others: the largest x(m + t) -
  /// x(m + t - k - 1) over t from 0 to k + 1.
  std::int64_t median_move(std::int64_t k) const;

  /// The distance between the records of rank ceil(size/4) and size + 1 - ceil(size/4), and what up
  /// to k replacements can make of it; 0 for fewer than two records.
  std::int64_t quartile_distance() const { return largest_quartile_distance(0); }
  std::int64_t largest_quartile_distance(std::int64_t k) const;
  std::int64_t smallest_quartile_distance(std::int64_t k) const;

 private:
  std::int64_t middle() const;
  std::int64_t lower_quartile() const;
  std::int64_t upper_quartile() const;

  std::vector<std::int64_t> sorted_;
  std::int64_t last_;
};

/// The grid on which stable statistics of a column live: steps of at most width/2^40.
QuantileDomain fine_domain(const Ratio& lower, const Ratio& upper);

}  // namespace gauze::internal
