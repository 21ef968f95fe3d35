#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/numeric/interval.h"
#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze::internal {

/// The largest probabilities of naming a key that n units have, for which one unit more or less is
/// (epsilon, delta)-DP: Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1.
class TruncatedGeometric {
 public:
  TruncatedGeometric(const Ratio& epsilon, const Ratio& delta);

  /// True with probability exactly that of n.
  bool names(std::uint64_t units, BitSource& bits) const;

  /// An interval around the probability; it may reach beyond 1, which means 1.
  Interval probability(std::uint64_t units, unsigned bits) const;

  /// The smallest n whose probability is at least `confidence`.
  std::uint64_t units_for(double confidence) const;

  /// Up to here the probability grows as fast as it may from below, afterwards from above.
  std::uint64_t turn() const { return turn_; }

 private:
  double estimate(std::uint64_t units) const;

  Ratio epsilon_;
  Ratio delta_;
  std::uint64_t turn_;
  bool estimates_;  // parameters are within the range in which doubles are good estimates
  double certain_;  // from here on the probability is 1
  long double small_epsilon_;
  long double small_delta_;
};

/// One round of noisy weights above a threshold, all in whole steps.
struct ThresholdRound {
  Ratio sigma;
  Integer threshold;  ///< kept when weight + noise >= threshold
  Ratio delta;        ///< at least the probability that keys of a single unit are named
};

/// Rounds for units that add integer weights to at most `keys_per_unit` keys.
struct ThresholdPlan {
  std::vector<std::uint32_t> weights;  ///< of each key of a unit that has m keys: weights[m]
  std::vector<ThresholdRound> rounds;
  Event event;

  /// Weight 1 for every key, one round.
  static ThresholdPlan counts(const Ratio& epsilon, const Ratio& delta,
                              std::uint64_t keys_per_unit);
  /// Weights that together have length 1, two rounds (Swanberg, Desfontaines and Haney 2023).
  static ThresholdPlan sips(const Ratio& epsilon, const Ratio& delta, std::uint64_t keys_per_unit);

  /// Units that half of the keys need by `counts`, nearly: without calibration.
  static double about_half_by_counts(const Ratio& epsilon, const Ratio& delta,
                                     std::uint64_t keys_per_unit);

  /// Units with full lists that a key needs to be named in the last round.
  double units_for(double confidence) const;
};

}  // namespace gauze::internal
