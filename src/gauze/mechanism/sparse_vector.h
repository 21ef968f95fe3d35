#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// What a question about a threshold got.
struct ThresholdAnswer {
  bool above = false;
  std::optional<double> value = {};  ///< of answers above, where numbers are paid for

  bool operator==(const ThresholdAnswer&) const = default;
};

/// Says of a stream of answers which are above a threshold, and ends after so many that are. Those
/// below are free: the price does not grow with the number of questions.
///
/// Privacy    pure DP, epsilon for the whole conversation, however questions depend on what was
///            said before. Only what it says is private: not the answers themselves, and not how
///            long a question took to compute.
/// Accuracy   `above` and `below` are right for all answers that are not within
///            query_scale * ln(questions/(2 beta)) or so of their threshold.
/// Numerics   answers are rounded to a public lattice of at most sensitivity/2^20 and compared with
///            exact integer noise.
/// Time       O(1) per question.
/// Argument   sparse_vector.md
class SparseVector {
 public:
  struct Options {
    Required<Ratio> epsilon;            ///< loss of the whole conversation, > 0
    Required<Ratio> sensitivity;        ///< how far one privacy unit moves any answer, > 0
    Required<std::uint64_t> positives;  ///< ends after so many answers above, >= 1
    Ratio threshold = 0;                ///< of questions that bring none of their own
    /// A promise of the caller's, which nothing can check: a privacy unit moves all answers the same
    /// way, as it does counts. add_remove only; half the noise.
    bool monotone = false;
    Ratio value_share = 0;      ///< of epsilon, for a number with each `above`; 0: none; < 1
    Ratio threshold_share = 0;  ///< of the rest, for the threshold's noise; 0: the best; < 1
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
  };

  explicit SparseVector(Options options);

  Event event() const;
  /// For all of so many comparisons at once: how far an answer may be on the wrong side.
  Accuracy accuracy(std::uint64_t questions, double confidence = 0.95) const;
  /// Of each number; `value_share` must be positive.
  Accuracy value_accuracy(double confidence = 0.95) const;

  /// Scales of the Laplace noise of the threshold and of each comparison.
  Ratio threshold_scale() const;
  Ratio query_scale() const;

  class Conversation;
  /// Charges the meter for everything, and draws the threshold's noise. The context's bits are used
  /// as long as the conversation lasts.
  Conversation start(Context& context) const;

  /// A conversation about all answers, each with its own threshold or with that of the options.
  /// Answers after the last positive get nothing: the result is shorter.
  Release<std::vector<ThresholdAnswer>> run(std::span<const double> answers,
                                            Context& context) const;
  Release<std::vector<ThresholdAnswer>> run(std::span<const double> answers,
                                            std::span<const double> thresholds,
                                            Context& context) const;

 private:
  struct Noise;
  Ratio comparison_epsilon() const;
  Ratio threshold_epsilon() const;

  Options options_;
  std::shared_ptr<const Noise> noise_;
};

/// One question at a time; each may depend on everything said before.
class SparseVector::Conversation {
 public:
  /// Whether the exact answer is above the threshold. Throws `kInvalidInput` unless it is finite,
  /// and `kBudgetExceeded` after the last positive.
  ThresholdAnswer ask(double answer);
  ThresholdAnswer ask(double answer, double threshold);
  /// The same for an answer that is no double.
  ThresholdAnswer ask_exactly(const Ratio& answer);

  /// How many more answers may be above; at none it has ended.
  std::uint64_t left() const { return left_; }
  bool ended() const { return left_ == 0; }

 private:
  friend class SparseVector;
  Conversation(std::shared_ptr<const Noise> noise, std::uint64_t positives, BitSource& bits);
  bool reaches(const Integer& answer, const Integer& barrier);
  template <class Number>
  ThresholdAnswer said(bool above, const Number& answer);

  std::shared_ptr<const Noise> noise_;
  std::uint64_t left_;
  BitSource& bits_;
  Integer threshold_noise_;                    // in steps, like both barriers
  Integer barrier_;                            // of questions without a threshold of their own
  std::optional<std::int64_t> small_barrier_;  // the same, where 64 bits are enough
};

}  // namespace gauze
