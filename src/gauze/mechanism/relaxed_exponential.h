#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// The exponential mechanism for scores whose sensitivity is bounded only with high probability:
/// chooses w with probability proportional to e^(temperature score(w)).
///
/// Privacy    (epsilon, delta)-DP, epsilon = 2 temperature bound + ln(1/(1 - delta)), if for every
///            pair of neighbours the chosen candidate's score differs by at most `bound`, except
///            with probability `delta` under either of the two.
/// Accuracy   score within ln(candidates/beta) / temperature of the best.
/// Numerics   the probabilities are exact for the binary values of the scores.
/// Time       O(candidates).
/// Argument   relaxed_exponential.md
class RelaxedExponential {
 public:
  struct Options {
    Required<Ratio> temperature;  ///< inverse temperature (alpha), > 0
    Required<Ratio> bound;        ///< what the score difference stays within (U), > 0
    Required<Ratio> delta;        ///< how often it does not, in [0, 1)
    Required<Relation> relation;  ///< under which (bound, delta) holds
  };

  explicit RelaxedExponential(Options options);

  Event event() const;
  /// How far the chosen score may lie below the best of `candidates`.
  Accuracy accuracy(std::uint64_t candidates, double confidence = 0.95) const;

  /// Charges the meter, then releases the index of one score. Throws `kInvalidInput` when there is
  /// none or one is not finite.
  Release<std::size_t> run(std::span<const double> scores, Context& context) const;

 private:
  Options options_;
};

}  // namespace gauze
