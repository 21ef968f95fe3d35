#include "gauze/adaptive/multiplicative_weights.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr double kWeightSteps = 0x1p20;
constexpr std::int64_t kMostRows = std::int64_t{1} << 32;

void check(const MultiplicativeWeights::Options& options) {
  require(options.cells >= 1 && options.cells <= 1u << 20, "cells must be 1 to 2^20");
  require(options.epsilon.get() > 0, "epsilon must be positive");
  require(options.rows_per_unit >= 1, "rows_per_unit must be at least 1");
  require(options.total_share > 0 && options.total_share < 1,
          "total_share must lie strictly between 0 and 1");
  require(options.passes >= 1, "passes must be at least 1");
}

Ratio rows(const MultiplicativeWeights::Options& options) {
  return Ratio(Integer(options.rows_per_unit.get()));
}

/// min(sum, most), which moves no further than the sum does.
std::int64_t capped_sum(std::span<const std::int64_t> terms, std::int64_t most) {
  std::int64_t sum = 0;
  for (const std::int64_t term : terms) sum = std::min(saturating_add(sum, term), most);
  return sum;
}

double inner(std::span<const double> weights, std::span<const double> cells) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) sum += weights[i] * cells[i];
  return sum;
}

}  // namespace

MultiplicativeWeights::MultiplicativeWeights(Options options)
    : options_((check(options), std::move(options))),
      total_({.l1_sensitivity = options_.rows_per_unit,
              .scale = Ratio(rows(options_) / (options_.epsilon.get() * options_.total_share))}),
      answers_({.epsilon = Ratio(options_.epsilon.get() * (1 - options_.total_share)),
                .sensitivity = rows(options_),
                .threshold = options_.threshold,
                .fresh = options_.fresh}) {}

Event MultiplicativeWeights::event() const {
  return {events::Composed{{total_.event(), answers_.event()}}, Relation::kAddRemove};
}

// Rounding of weights moves an answer by at most half a step for each row.
Accuracy MultiplicativeWeights::accuracy(std::uint64_t questions, double confidence) const {
  return answers_.accuracy(questions, confidence);
}

MultiplicativeWeights::Conversation MultiplicativeWeights::start(
    std::span<const std::int64_t> counts, Context& context) const {
  if (counts.size() != options_.cells)
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell");
  context.meter.charge(event());
  Meter paid(event());
  Context steps{paid, context.bits};
  std::vector<std::int64_t> whole(counts.begin(), counts.end());
  for (std::int64_t& count : whole) count = std::clamp<std::int64_t>(count, 0, kMostRows);
  const std::int64_t total = total_.run(capped_sum(whole, kMostRows), steps).value;
  return {whole, std::max(1.0, static_cast<double>(total)), options_.passes, answers_.start(steps)};
}

MultiplicativeWeights::Conversation::Conversation(std::span<const std::int64_t> counts,
                                                  double total, std::uint32_t passes,
                                                  HistoryAnswers::Conversation answers)
    : counts_(counts.begin(), counts.end()),
      estimate_(counts.size(), total / static_cast<double>(counts.size())),
      total_(total),
      passes_(passes),
      answers_(std::move(answers)) {}

GuardedAnswer MultiplicativeWeights::Conversation::ask(std::span<const double> weights) {
  const bool fits = weights.size() == counts_.size() &&
                    std::all_of(weights.begin(), weights.end(),
                                [](double weight) { return weight >= 0 && weight <= 1; });
  if (!fits)
    throw Error(ErrorCode::kInvalidInput, "weights: must lie in [0, 1], one for each cell");
  std::vector<double> rounded;
  std::vector<std::int64_t> terms;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto steps = static_cast<std::int64_t>(std::round(weights[i] * kWeightSteps));
    rounded.push_back(static_cast<double>(steps) / kWeightSteps);
    terms.push_back(steps * counts_[i]);
  }
  const auto steps = capped_sum(terms, kMostRows << 20);
  const double exact = static_cast<double>(steps) / kWeightSteps;  // fewer than 53 bits
  const GuardedAnswer answer = answers_.ask(exact, inner(rounded, estimate_));
  if (answer.fresh) {
    told_.push_back({std::move(rounded), answer.value});
    learn();
  }
  return answer;
}

// Cells grow or shrink by e^(weight * gap / (2 total)), over and over for all that was told.
void MultiplicativeWeights::Conversation::learn() {
  for (std::uint32_t pass = 0; pass < passes_; ++pass) {
    for (const Told& each : told_) {
      const double gap = each.value - inner(each.weights, estimate_);
      const double rate = std::clamp(gap / (2 * total_), -1.0, 1.0);
      double all = 0;
      for (std::size_t i = 0; i < estimate_.size(); ++i)
        all += estimate_[i] *= std::exp(rate * each.weights[i]);
      for (double& cell : estimate_) cell *= total_ / all;
    }
  }
}

}  // namespace gauze
