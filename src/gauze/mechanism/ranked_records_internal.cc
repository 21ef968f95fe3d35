#include "gauze/mechanism/ranked_records_internal.h"

#include <algorithm>

#include "gauze/numeric/lattice.h"

namespace gauze::internal {

RankedRecords::RankedRecords(const QuantileDomain& domain, std::span<const double> values)
    : last_(static_cast<std::int64_t>(domain.size() - 1)) {
  sorted_.reserve(values.size());
  for (const Run& run : domain.runs(values)) {
    sorted_.insert(sorted_.end(), run.count, static_cast<std::int64_t>(run.index));
  }
}

std::int64_t RankedRecords::at(std::int64_t rank) const {
  if (rank < 1) return 0;
  if (rank > static_cast<std::int64_t>(sorted_.size())) return last_;
  return sorted_[static_cast<std::size_t>(rank - 1)];
}

std::int64_t RankedRecords::middle() const {
  return static_cast<std::int64_t>((size() + 1) / 2);
}

std::int64_t RankedRecords::lower_quartile() const {
  return static_cast<std::int64_t>((size() + 3) / 4);
}

std::int64_t RankedRecords::upper_quartile() const {
  return static_cast<std::int64_t>(size()) + 1 - lower_quartile();
}

// Nissim, Raskhodnikova and Smith 2007, section 3.1.
std::int64_t RankedRecords::median_move(std::int64_t k) const {
  std::int64_t largest = 0;
  for (std::int64_t t = 0; t <= k + 1; ++t) {
    largest = std::max(largest, at(middle() + t) - at(middle() + t - k - 1));
  }
  return largest;
}

// A replaced record lowers the lower quartile by a rank, or raises the upper one, not both.
std::int64_t RankedRecords::largest_quartile_distance(std::int64_t k) const {
  std::int64_t largest = 0;
  if (size() < 2) return largest;
  for (std::int64_t up = 0; up <= k; ++up) {
    largest = std::max(largest, at(upper_quartile() + up) - at(lower_quartile() - (k - up)));
  }
  return largest;
}

std::int64_t RankedRecords::smallest_quartile_distance(std::int64_t k) const {
  if (size() < 2) return 0;
  std::int64_t smallest = last_;
  for (std::int64_t down = 0; down <= k; ++down) {
    smallest = std::min(smallest, at(upper_quartile() - down) - at(lower_quartile() + (k - down)));
  }
  return std::max<std::int64_t>(smallest, 0);
}

QuantileDomain fine_domain(const Ratio& lower, const Ratio& upper) {
  RealRange range(lower, upper);
  return QuantileDomain(lower, upper, Lattice::within(range.width() * power_of_two(-40)).step());
}

}  // namespace gauze::internal
