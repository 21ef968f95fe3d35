#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gauze/audit/claim.h"

namespace gauze::audit {

/// Numbers in [low, high], and by how much they are expected to beat the claim.
struct TellingInterval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  /// ln of the ratio of what the likely side is expected to be shown to have and of what the claim
  /// allows, at the point of the claim where that is largest: above 0 it is refuted.
  double margin = -std::numeric_limits<double>::infinity();
};

/// What `judged` runs of each input will be held against, and how sure it is to be.
struct Judgement {
  std::span<const Claim::Point> points;
  std::uint64_t judged = 0;
  double failure = 1e-3;  ///< of each bound
};

/// The interval that will show most: ends are quantiles of both samples, finer towards the tails, and
/// single values while there are few. Both samples are sorted.
TellingInterval most_telling(std::span<const double> likely, std::span<const double> unlikely,
                             const Judgement& judgement);

/// What is proved by `hits` and `misses` of one event among `likely_runs` runs that should have it and
/// `unlikely_runs` that should not: a lower bound on epsilon at `delta`, 0 when there is none. It
/// fails with probability at most 2 `failure`.
double epsilon_at_least(std::uint64_t hits, std::uint64_t likely_runs, std::uint64_t misses,
                        std::uint64_t unlikely_runs, double delta, double failure);

}  // namespace gauze::audit
