#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "gauze/noise/additive.h"
#include "gauze/random/bit_source.h"

namespace gauze::testing {

/// What a variant said, question by question, until it stopped: `kBelow`, `kAbove`, or a number
/// where it gives numbers away.
using Transcript = std::vector<double>;
inline constexpr double kBelow = -std::numeric_limits<double>::infinity();
inline constexpr double kAbove = std::numeric_limits<double>::infinity();

/// How a variant of the sparse vector technique makes its noise, for answers of sensitivity 1, and
/// what it gives away. All noise is Laplace.
struct SparseVectorRecipe {
  double threshold_scale = 0;  ///< of the noise that all comparisons share
  double refresh_scale = 0;    ///< with which that is drawn anew after `above`; 0: never
  double query_scale = 0;      ///< of the noise of each comparison; 0: there is none
  std::uint64_t positives = std::numeric_limits<std::uint64_t>::max();  ///< stops after so many
  bool gives_the_compared_number = false;                               ///< instead of `above`
};

/// Published variants of the sparse vector technique, most of them broken: negative controls for
/// audits, with exact noise on a lattice of 2^-20, so that nothing but the recipe is wrong.
///
/// Time       about 20 ns per question, and an allocation per run.
/// Argument   broken_sparse_vector.md
class SparseVectorVariant {
 public:
  explicit SparseVectorVariant(const SparseVectorRecipe& recipe);

  const SparseVectorRecipe& recipe() const { return recipe_; }

  /// Compares each answer with its threshold, or with the only one.
  Transcript run(std::span<const double> answers, std::span<const double> thresholds,
                 BitSource& bits) const;

  /// The probability that the transcript begins like `said`, by quadrature with continuous noise. A
  /// number in `said` stands for all numbers up to it.
  double probability(std::span<const double> answers, std::span<const double> thresholds,
                     std::span<const double> said) const;

 private:
  SparseVectorRecipe recipe_;
  std::shared_ptr<const AdditiveNoise> threshold_noise_;
  std::shared_ptr<const AdditiveNoise> refresh_noise_;
  std::shared_ptr<const AdditiveNoise> query_noise_;
};

/// Numbers are those of Li, Lyu, Su and Yang 2016, chapter 7. Sound: 12 and 13, and 18 where
/// monotone answers are monotone.
SparseVectorVariant algorithm_12(double epsilon, std::uint64_t positives);
SparseVectorVariant algorithm_13(double epsilon, std::uint64_t positives);
SparseVectorVariant algorithm_18(double threshold_epsilon, double query_epsilon,
                                 std::uint64_t positives, bool monotone);

/// Not private, or not with their epsilon: gives away the number it compared;
SparseVectorVariant algorithm_14(double epsilon, std::uint64_t positives);
/// noise for one positive, whatever their number: ((1 + 6 positives)/4) epsilon;
SparseVectorVariant algorithm_15(double epsilon, std::uint64_t positives);
/// no noise on comparisons, and no end;
SparseVectorVariant algorithm_16(double epsilon);
/// noise for one positive, and no end;
SparseVectorVariant algorithm_17(double epsilon);
/// the same with any split of epsilon.
SparseVectorVariant gptt(double threshold_epsilon, double query_epsilon);

/// Lyu, Su and Li 2017 count from 1, and so does DP-Auditorium; its variants 5 and 6 stop after so
/// many positives.
SparseVectorVariant auditorium_svt2(double epsilon, std::uint64_t positives);  // sound
SparseVectorVariant auditorium_svt3(double epsilon, std::uint64_t positives);
SparseVectorVariant auditorium_svt5(double epsilon, std::uint64_t positives);
SparseVectorVariant auditorium_svt6(double epsilon, std::uint64_t positives);

}  // namespace gauze::testing
