#pragma once

#include <cstdint>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/adaptive/history_answers.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// The reusable holdout: an analyst asks for means of functions with values in [0, 1], each chosen
/// after the answers before, and is told when the training set has been overfitted.
///
/// Privacy    pure DP of the holdout under replace, budget / (tolerance holdout_size). The training
///            set is answered from exactly: it has no protection at all.
/// Accuracy   of the holdout's mean; what that says of the population: thresholdout.md
/// Numerics   means are exact sums, rounded once; as `HistoryAnswers`.
/// Time       O(1) per question, besides the means.
/// Argument   thresholdout.md
class Thresholdout {
 public:
  struct Options {
    Required<std::uint64_t> holdout_size;  ///< rows of the holdout: public, >= 1
    Required<Ratio> threshold;             ///< how far training and holdout may differ, >= 0
    Required<Ratio> tolerance;             ///< noise of an answer is twice this, > 0
    Required<std::uint64_t> budget;        ///< ends after so many answers from the holdout, >= 1
  };

  explicit Thresholdout(const Options& options);

  Event event() const;
  /// Of the distance of all of so many answers from the holdout's means.
  Accuracy accuracy(std::uint64_t questions, double confidence = 0.95) const;

  class Conversation;
  /// Charges the meter for everything. The context's bits are used as long as the conversation lasts.
  Conversation start(Context& context) const;

  /// The mean of values brought into [0, 1]; what is no number counts as 0. Throws `kInvalidInput`
  /// when there are none.
  static double mean(std::span<const double> values);

  /// Pairs of a holdout's and a training set's mean, fixed beforehand.
  Release<std::vector<GuardedAnswer>> run(std::span<const std::pair<double, double>> means,
                                          Context& context) const;

 private:
  HistoryAnswers answers_;
};

/// One question at a time.
class Thresholdout::Conversation {
 public:
  /// The means of one function on both sets, from `mean` or as exact, in [0, 1]: what is outside is
  /// brought inside. `fresh` answers come from the holdout. Throws `kBudgetExceeded` when it has
  /// ended.
  GuardedAnswer ask(double holdout_mean, double training_mean);

  std::uint64_t left() const { return answers_.left(); }
  bool ended() const { return answers_.ended(); }

 private:
  friend class Thresholdout;
  explicit Conversation(HistoryAnswers::Conversation answers) : answers_(std::move(answers)) {}

  HistoryAnswers::Conversation answers_;
};

}  // namespace gauze
