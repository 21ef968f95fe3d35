#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

class AdditiveNoise;

/// How `TopK` chooses.
enum class TopKMethod : std::uint8_t {
  kOneShot,  ///< geometric noise once, the k largest; the better choice for a pure budget
  kPeeling,  ///< the exponential mechanism k times without replacement; composes better with others
};

/// Chooses k candidates with large scores, best first.
///
/// Privacy    pure DP, epsilon for the whole ordered list. Peeling: k events of bounded range
///            epsilon/k, so rho = epsilon^2 / (8 k).
/// Accuracy   every chosen score within (1/rate) ln(candidates k/beta) of the score that rank
///            deserves, rate = epsilon/(2 k sensitivity), or without the 2 for monotone scores.
/// Numerics   as `ReportNoisyMax` (one shot) and `ExponentialMechanism` (peeling).
/// Time       one shot O(candidates log k); peeling O(candidates k).
/// Argument   top_k.md
class TopK {
 public:
  struct Options {
    Required<std::uint64_t> k;    ///< how many to choose, >= 1
    Required<Ratio> epsilon;      ///< loss of the whole list, > 0
    Required<Ratio> sensitivity;  ///< how far one privacy unit moves any score, > 0
    bool monotone = false;        ///< a unit moves all scores the same way; add_remove only
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
    TopKMethod method = TopKMethod::kOneShot;
  };

  explicit TopK(Options options);

  Event event() const;
  Accuracy accuracy(std::uint64_t candidates, double confidence = 0.95) const;

  /// Charges the meter, then releases k different indices. Throws `kInvalidInput` when there are
  /// fewer than k scores or one is not finite.
  Release<std::vector<std::size_t>> run(std::span<const double> scores, Context& context) const;

 private:
  Ratio epsilon_of_one() const;
  Ratio rate() const;
  std::vector<std::size_t> peel(std::span<const double> scores, BitSource& bits) const;

  Options options_;
  std::shared_ptr<const AdditiveNoise> noise_;
};

}  // namespace gauze
