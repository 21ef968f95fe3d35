#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/meter.h"
#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/mechanism/sparse_vector.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// A number that was guessed from what is public, or bought from the data.
struct GuardedAnswer {
  double value = 0;
  bool fresh = false;  ///< from the data, with noise; otherwise the guess itself

  bool operator==(const GuardedAnswer&) const = default;
};

/// Answers questions by guesses that come with them, and from the data only where a guess is too far
/// off. Good guesses are free: the price grows with the number of bad ones, not of questions.
///
/// Privacy    pure DP, epsilon for the whole conversation. Guesses may depend on everything that was
///            answered and on anything public, not on the data.
/// Accuracy   every answer within threshold + radius of a comparison, or within the noise of a number.
/// Numerics   distances are exact fractions; comparisons and numbers as `SparseVector` and `Laplace`.
/// Time       O(1) per question.
/// Argument   history_answers.md
class HistoryAnswers {
 public:
  struct Options {
    Required<Ratio> epsilon;                   ///< loss of the whole conversation, > 0
    Required<Ratio> sensitivity;               ///< how far one privacy unit moves any answer, > 0
    Required<Ratio> threshold;                 ///< how far off a guess may be, >= 0
    Required<std::uint64_t> fresh;             ///< ends after so many answers from the data, >= 1
    Ratio value_share = Ratio(1, 2);           ///< of epsilon, for their numbers; between 0 and 1
    Ratio first_guess = 0;                     ///< of `run`
    Relation relation = Relation::kAddRemove;  ///< under which the sensitivity holds
  };

  explicit HistoryAnswers(Options options);

  Event event() const;
  /// Of all answers to so many questions at once.
  Accuracy accuracy(std::uint64_t questions, double confidence = 0.95) const;

  class Conversation;
  /// Charges the meter for everything. The context's bits are used as long as the conversation lasts.
  Conversation start(Context& context) const;

  /// Follows a series: each guess is the last number that was bought. Ends early, with fewer answers,
  /// when all are bought.
  Release<std::vector<GuardedAnswer>> run(std::span<const double> answers, Context& context) const;

 private:
  Event values_event() const;

  Options options_;
  SparseVector comparisons_;
  Laplace values_;
};

/// One question at a time.
class HistoryAnswers::Conversation {
 public:
  /// `exact` is the answer on the data. Throws `kInvalidInput` unless both are finite, and
  /// `kBudgetExceeded` when it has ended.
  GuardedAnswer ask(double exact, double guess);

  /// How many more answers can be bought; at none it has ended.
  std::uint64_t left() const { return comparisons_.left(); }
  bool ended() const { return comparisons_.ended(); }

 private:
  friend class HistoryAnswers;
  Conversation(const HistoryAnswers& options, SparseVector::Conversation comparisons,
               BitSource& bits);

  SparseVector::Conversation comparisons_;
  Laplace values_;
  Meter meter_;
  BitSource& bits_;
};

}  // namespace gauze
