#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gauze/mechanism/stable_value.h"
#include "gauze/noise/additive.h"
#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze::internal {

/// Whether a private distance from trouble is surely positive: passes with probability at most delta
/// for distances up to 0, and costs epsilon for distances that one unit moves by at most `unit`.
class StabilityTest {
 public:
  /// epsilon > 0, 0 < delta < 1, unit >= 1.
  StabilityTest(const Ratio& epsilon, const Ratio& delta, const Integer& unit = 1);

  bool passes(const Integer& distance, BitSource& bits) const;

  /// distance + noise must reach this.
  const Integer& threshold() const { return threshold_; }
  /// From this distance on it passes, except with probability `beta`.
  double sure_from(double beta) const;

 private:
  Ratio scale_;
  Integer threshold_;
  std::shared_ptr<const AdditiveNoise> noise_;
};

/// The most frequent value, the smallest if there are several, and how many changes it survives that
/// each take at most `lead_per_change` off its lead.
StableChoice stable_mode(std::span<const std::int64_t> values, std::uint64_t lead_per_change);

/// Throws `kInvalidOption` unless epsilon > 0 and 0 < delta < 1.
void check_stability(const Ratio& epsilon, const Ratio& delta);

}  // namespace gauze::internal
