#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

class AdditiveNoise;

/// The noise of `ReportNoisyMax` and `TopK`.
enum class MaxNoise : std::uint8_t {
  kGeometric,  ///< on 0, 1, 2, ...
  kLaplace,    ///< on all integers
};

/// Adds noise to every score and reports which one is largest, not the score itself.
///
/// Privacy    pure DP, epsilon.
/// Accuracy   score within (2/rate) ln(candidates/beta) of the best, rate = epsilon/(2 sensitivity)
///            or, for monotone scores, epsilon/sensitivity; half of it with geometric noise.
/// Numerics   scores are rounded down to multiples of sensitivity/2^20, noise and comparison are
///            integer; ties go to the first.
/// Time       O(candidates).
/// Argument   noisy_max.md
class ReportNoisyMax {
 public:
  struct Options {
    Required<Ratio> epsilon;      ///< loss of one choice, > 0
    Required<Ratio> sensitivity;  ///< how far one privacy unit moves any score, > 0
    bool monotone = false;        ///< a unit moves all scores the same way; add_remove only
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
    MaxNoise noise = MaxNoise::kGeometric;     ///< one-sided noise is never worse
  };

  explicit ReportNoisyMax(Options options);

  Event event() const;
  /// How far the chosen score may lie below the best of `candidates`.
  Accuracy accuracy(std::uint64_t candidates, double confidence = 0.95) const;

  /// Charges the meter, then releases the index of one score. Throws `kInvalidInput` when there is
  /// none or one is not finite.
  Release<std::size_t> run(std::span<const double> scores, Context& context) const;

 private:
  Ratio rate() const;

  Options options_;
  std::shared_ptr<const AdditiveNoise> noise_;
};

}  // namespace gauze
