#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// The exponential mechanism for scores that are sums over records, score(w) = c(w) + sum of
/// L_w(x): it may use how little one record distinguishes candidates instead of how much it moves
/// them.
///
/// Privacy    pure DP, epsilon, of bounded range epsilon.
/// Accuracy   score within ln(candidates/beta) / rate of the best; the rate is
///            epsilon / (2 min(D1, D2)) under replace and epsilon / D2 under add_remove.
/// Numerics   the probabilities are exact for the binary values of the scores.
/// Time       O(candidates).
/// Argument   enhanced_exponential.md
class EnhancedExponential {
 public:
  struct Options {
    Required<Ratio> epsilon;  ///< loss of one choice, > 0
    /// D2: largest |L_w(x) - L_w'(x)| over records x of the domain and candidates w, w', > 0.
    Required<Ratio> candidate_spread;
    /// D1: largest |L_w(x) - L_w(x')| over records x, x' of the domain and candidates w, > 0. Only
    /// relation replace can use it.
    std::optional<Ratio> record_spread = std::nullopt;
    Required<Relation> relation;  ///< add_remove or replace
  };

  explicit EnhancedExponential(Options options);

  Event event() const;
  /// How far the chosen score may lie below the best of `candidates`.
  Accuracy accuracy(std::uint64_t candidates, double confidence = 0.95) const;

  /// Charges the meter, then releases the index of one score (larger is better). Throws
  /// `kInvalidInput` when there is none or one is not finite.
  Release<std::size_t> run(std::span<const double> scores, Context& context) const;

 private:
  Ratio rate() const;

  Options options_;
};

}  // namespace gauze
