#pragma once

#include <cstdint>

#include "gauze/mechanism/ranked_records_internal.h"
#include "gauze/mechanism/stable_value.h"

namespace gauze::internal {

/// Widths with nearly the same logarithm: from `begin` to before `end`, 2 log2 of the centre.
struct ScaleBucket {
  std::int64_t twice_log2_centre;  ///< -1 for width 0, which is a bucket of its own
  std::int64_t begin;
  std::int64_t end;
};

/// The bucket of a width below 2^60: [2^j, 2^(j+1)) or, shifted, [2^(j-1/2), 2^(j+1/2)).
ScaleBucket bucket_of(std::int64_t width, bool shifted);

/// The bucket of the distance of the quartiles, and how many replacements it survives.
StableChoice stable_bucket(const RankedRecords& records, bool shifted);

}  // namespace gauze::internal
