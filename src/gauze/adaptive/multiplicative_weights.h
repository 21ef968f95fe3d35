#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/adaptive/history_answers.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Answers linear questions about a histogram, one after the other and each chosen after the answers
/// before, from an estimate of the histogram; asks the data only where the estimate is too far off,
/// and improves it by what it was told.
///
/// Privacy    pure DP, `epsilon`, under add_remove of a unit with at most `rows_per_unit` rows.
/// Accuracy   every answer within threshold + radius of a comparison, or within the noise of a number.
/// Numerics   exact answers are whole multiples of 2^-20, saturated at 2^32 rows; the estimate is
///            doubles, and only ever sees what was released.
/// Time       O(cells) per question; O(fresh * cells * passes) per fresh answer.
/// Argument   multiplicative_weights.md
class MultiplicativeWeights {
 public:
  struct Options {
    Required<std::uint64_t> cells;          ///< of the histogram: public, 1 to 2^20
    Required<Ratio> epsilon;                ///< loss of the whole conversation, > 0
    Required<std::uint64_t> rows_per_unit;  ///< how many rows one privacy unit may hold, >= 1
    Required<Ratio> threshold;              ///< how far off the estimate may be, in rows, >= 0
    Required<std::uint64_t> fresh;          ///< ends after so many answers from the data, >= 1
    Ratio total_share = Ratio(1, 20);       ///< of epsilon, for the number of rows; between 0 and 1
    std::uint32_t passes = 50;  ///< over all that was told, after each fresh answer, >= 1
  };

  explicit MultiplicativeWeights(Options options);

  Event event() const;
  /// Of all answers to so many questions at once.
  Accuracy accuracy(std::uint64_t questions, double confidence = 0.95) const;

  class Conversation;
  /// Charges the meter for everything and counts the rows. Counts below 0 are taken as 0. The
  /// context's bits are used as long as the conversation lasts. Throws `kInvalidInput` unless there
  /// is one count for each cell.
  Conversation start(std::span<const std::int64_t> counts, Context& context) const;

 private:
  Options options_;
  DiscreteLaplace total_;
  HistoryAnswers answers_;
};

/// One question at a time.
class MultiplicativeWeights::Conversation {
 public:
  /// The sum of weight times count over all cells. Weights lie in [0, 1] and are rounded to multiples
  /// of 2^-20. Throws `kInvalidInput` unless there is one for each cell, and `kBudgetExceeded` when
  /// it has ended.
  GuardedAnswer ask(std::span<const double> weights);

  /// The histogram as far as it is known: public.
  const std::vector<double>& estimate() const { return estimate_; }

  std::uint64_t left() const { return answers_.left(); }
  bool ended() const { return answers_.ended(); }

 private:
  friend class MultiplicativeWeights;
  struct Told {
    std::vector<double> weights;
    double value;
  };
  Conversation(std::span<const std::int64_t> counts, double total, std::uint32_t passes,
               HistoryAnswers::Conversation answers);
  void learn();

  std::vector<std::int64_t> counts_;
  std::vector<double> estimate_;
  double total_;
  std::uint32_t passes_;
  HistoryAnswers::Conversation answers_;
  std::vector<Told> told_;
};

}  // namespace gauze
